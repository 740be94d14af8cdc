package fleet

import "time"

// Training says how a job that trains one model in parallel is laid out and what it does when nodes are lost. The unit of loss is the
// data-parallel replica: TP × PP × CP GPUs that hold one copy of the model. If one of them breaks, the others of its replica have
// nothing to do; they are stranded until the replica is whole again.
type Training struct {
	TP, PP, CP, DP int // tensor, pipeline, context and data parallelism, each at least 1; their product is Job.GPUs, and TP × PP × CP fills whole nodes

	MicroBatches int           // micro-batches of one optimizer step over all replicas, a multiple of DP; 0 means DP
	KeepBatch    bool          // with fewer replicas each does more micro-batches, rounded up, and the step gets longer; else the global batch shrinks
	StepTokens   int64         // tokens of one step of the full job, 0 if nobody counts them
	StepTime     time.Duration // of the full job; at least 1 ms if StepTokens is set

	MinReplicas int // with fewer the job ends for good; 0 means 1

	Stall time.Duration // going on without a restart: notice the loss, meet again, warm up
	Move  time.Duration // added to Stall if nodes have to be given the model's state
}
