package elastic

// Batch is the global batch of an optimizer step, cut into micro-batches.
//
// With Keep the batch is the same however many replicas there are: each does ⌈MicroBatches / alive⌉ of its micro-batches, and the step
// takes as long as the replica with the most. The tokens of a step are unchanged, and the step gets longer by the rounded-up number.
// Here is the trap: with 128 replicas and 2,048 micro-batches each does 16; with 118 left some have to do 18, the step takes 9/8 of its
// time, and the speed is 88.9 % although 92.2 % of the GPUs are at work. The missing part is replicas that wait for the slowest. (Real
// pipelines have a bubble at the start and end of each step that a longer step makes relatively shorter; it is left out here, and
// would soften the loss.)
//
// Without Keep the batch shrinks with the replicas: the step takes its usual time and has alive / full of its tokens.
type Batch struct {
	MicroBatches int  // of the full job's step, a multiple of its replicas: else the full job would wait for the slowest too, and its own speed would be no measure
	Keep         bool // keep the global batch
}

// PerReplica is the number of micro-batches that the busiest of so many replicas does in one step of a job with full of them; 0 without
// replicas.
func (b Batch) PerReplica(full, alive int) int {
	switch {
	case full < 1 || alive < 1:
		return 0
	case b.Keep:
		return (b.MicroBatches + alive - 1) / alive
	default:
		return b.MicroBatches / full
	}
}

// Rate is the speed with alive of full replicas, in tokens per time, against the speed of all: an exact fraction of at most alive / full.
// Without replicas it is 0 / 1.
func (b Batch) Rate(full, alive int) (num, den int) {
	switch {
	case full < 1 || alive < 1:
		return 0, 1
	case b.Keep:
		return b.PerReplica(full, full), b.PerReplica(full, alive)
	default:
		return alive, full
	}
}

// StepGrowth is how much longer a step takes with alive of full replicas; 0 without replicas.
func (b Batch) StepGrowth(full, alive int) float64 {
	if full < 1 || alive < 1 || b.MicroBatches < full {
		return 0
	}
	return float64(b.PerReplica(full, alive)) / float64(b.PerReplica(full, full))
}

// TokensShare is the part of the full job's tokens that a step with alive of full replicas has, 0–1.
func (b Batch) TokensShare(full, alive int) float64 {
	switch {
	case full < 1 || alive < 1:
		return 0
	case b.Keep:
		return 1
	default:
		return float64(alive) / float64(full)
	}
}
