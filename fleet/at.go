package fleet

import "time"

// At is the fleet at one instant from 0 to the horizon, GPU by GPU; an instant outside is moved to the nearer end. What begins at
// t has begun, what ends at t has ended; at the horizon it shows the last instant before it.
func (r *Run) At(t time.Duration) Snapshot {
	t = max(0, min(t, r.Config.Horizon-Resolution))
	topo := r.Config.Topology
	snap := Snapshot{
		Sample: r.SampleAt(t), Paused: r.paused(t, t+Resolution) > 0,
		State: make([]State, topo.GPUs()), Job: make([]int32, topo.GPUs()),
	}
	for i := range r.Spans {
		sp := &r.Spans[i]
		if sp.Start > t {
			break
		}
		if sp.End <= t {
			continue
		}
		held := 0
		for n := range sp.On {
			for g := range topo.GPUsPerNode {
				if sp.Mask>>g&1 == 0 {
					continue
				}
				gpu := n*topo.GPUsPerNode + g
				snap.State[gpu], snap.Job[gpu] = GPUStranded, int32(r.Config.Jobs[sp.Job].ID)
				if held < sp.Busy {
					snap.State[gpu] = GPUWorking
				}
				held++
			}
		}
	}
	for _, o := range r.Outages {
		if o.Start <= t && t < o.End {
			for g := range topo.GPUsPerNode {
				if o.Mask>>g&1 == 1 {
					snap.State[o.Node*topo.GPUsPerNode+g] = GPUFailed
				}
			}
		}
	}
	empty := newBitset(topo.Nodes())
	for n := range topo.Nodes() {
		wholly := true
		for g := range topo.GPUsPerNode {
			wholly = wholly && snap.State[n*topo.GPUsPerNode+g] == GPUIdle
		}
		if wholly {
			empty.add(n)
		}
	}
	snap.Hole, _ = empty.longestRun()
	return snap
}
