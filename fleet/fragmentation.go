package fleet

import "time"

// This file has the two measures of fragmentation. Both are GPU-time over GPU-time, and each names its denominator.
//
//  1. Contiguity loss, the badge: of the idle GPUs, the share that lies outside the largest run of wholly idle nodes,
//     1 − largest run × GPUsPerNode / idle; 0 when nothing is idle. It is a figure of one instant; over a window both terms are
//     integrated first, so that an hour with many idle GPUs counts more than one with few.
//  2. FGD (Weng et al., USENIX ATC '23): of each node's idle GPUs, those that the expected next task cannot use,
//     Σ over task classes m of p(m) × (all idle GPUs of the node if m cannot run there, else 0), over idle or over all GPUs. Classes
//     are the sizes in Config.Jobs, weighted by their number of jobs; a gang needs whole nodes. (The full measure also counts
//     residues of fractional GPUs; jobs here hold whole ones.)

// Fragmentation is the contiguity loss of one instant, 0–1.
func (s Sample) Fragmentation(gpusPerNode int) float64 {
	return contiguityLoss(GPUTime(s.LargestHole*gpusPerNode), GPUTime(s.Idle))
}

func contiguityLoss(hole, idle GPUTime) float64 {
	if idle == 0 {
		return 0
	}
	return 1 - float64(hole)/float64(idle)
}

// fgdWeights is, by number of free GPUs of a node, how many of them FGD counts as fragmented.
func fgdWeights(c Config) []float64 {
	g := c.Topology.GPUsPerNode
	weights := make([]float64, g+1)
	for free := range weights {
		misfits := 0
		for _, j := range c.Jobs {
			if min(j.GPUs, g) > free {
				misfits++
			}
		}
		if len(c.Jobs) > 0 {
			weights[free] = float64(free) * float64(misfits) / float64(len(c.Jobs))
		}
	}
	return weights
}

// integrate carries the integrals of the sample before on to s.
func (s *Sample) integrate(before *Sample, gpusPerNode int) {
	d := s.At - before.At
	s.idle = before.idle + over(before.Idle, d)
	s.failed = before.failed + over(before.Failed, d)
	s.hole = before.hole + over(before.LargestHole*gpusPerNode, d)
}

// SampleAt is the state of the fleet at t, counted: At without the GPUs one by one.
func (r *Run) SampleAt(t time.Duration) Sample {
	lo, hi := 0, len(r.Samples)
	for lo+1 < hi { // the last sample that is not after t
		if mid := (lo + hi) / 2; r.Samples[mid].At <= t {
			lo = mid
		} else {
			hi = mid
		}
	}
	s := r.Samples[lo]
	s.At = t
	s.integrate(&r.Samples[lo], r.Config.Topology.GPUsPerNode)
	return s
}
