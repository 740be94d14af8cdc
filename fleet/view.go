package fleet

import (
	"iter"
	"slices"
	"time"
)

// View is the fleet as a policy may see it. It is read-only and valid during one call of Decide.
type View struct{ s *sim }

// Now is the simulated time since the start of the run.
func (v View) Now() time.Duration { return v.s.now }

// Topology is the shape of the fleet.
func (v View) Topology() Topology { return v.s.topo }

// Nodes is the number of nodes, up or down.
func (v View) Nodes() int { return len(v.s.free) }

// GPUsPerNode is the size of a node.
func (v View) GPUsPerNode() int { return v.s.topo.GPUsPerNode }

// Free is the number of GPUs of a node that a job could have now: 0 for a node that is down, that is kept for another job, or
// that does not exist.
func (v View) Free(node int) int {
	if node < 0 || node >= len(v.s.free) || !v.s.open(node) {
		return 0
	}
	return v.s.freeGPUs(node)
}

// LargestHole is the longest run of consecutive wholly idle nodes, in nodes.
func (v View) LargestHole() int { return v.s.holeLen }

// Queue yields the waiting jobs with their index into Config.Jobs, in order of arrival.
func (v View) Queue() iter.Seq2[int, Job] {
	return func(yield func(int, Job) bool) {
		for i := range v.s.order(&Queueing{}) {
			if !yield(i, v.s.jobs[i]) {
				return
			}
		}
	}
}

// Place is where a job can start now, as the nodes of one decision: one node for a job that fits into it, as many as it needs for a
// gang, nil if there is no place. It stays away from the nodes of avoid.
func (v View) Place(j Job, f Fit, avoid ...int) []int {
	var closed bitset
	if len(avoid) > 0 {
		closed = newBitset(v.Nodes())
		for _, n := range avoid {
			if n >= 0 && n < v.Nodes() {
				closed.add(n)
			}
		}
	}
	if j.GPUs < 1 || j.GPUs > v.s.topo.GPUs() {
		return nil
	}
	d := v.s.place(&j, f, closed)
	switch {
	case d.Node == Wait:
		return nil
	case d.Nodes != nil:
		return d.Nodes
	}
	return runOf(d.Node, v.s.topo.NodesFor(j.GPUs))
}

// Stay is a running job as a policy may see it.
type Stay struct {
	Nodes []int         // in ascending order
	GPUs  int           // held on each of them
	Start time.Duration // of this attempt; a migration or a rescale does not begin a new one, and standing still for one does not count
	Ends  time.Duration // expected: Start + Job.Limit; the next instant if that has passed, Never if the job has no limit
}

// Running yields the running jobs with their index into Config.Jobs, in the order of the nodes they are on.
func (v View) Running() iter.Seq2[int, Stay] {
	return func(yield func(int, Stay) bool) {
		s := v.s
		seen := make(map[int32]bool, len(s.live))
		for n := range s.onNode {
			for _, id := range slices.Sorted(slices.Values(s.onNode[n])) {
				if seen[id] {
					continue
				}
				seen[id] = true
				sp := &s.run.Spans[id]
				stay := Stay{Nodes: slices.Sorted(sp.On), GPUs: s.held(id), Start: s.state[sp.Job].began, Ends: Never}
				if due := s.due(id); due < forever {
					stay.Ends = max(due, s.now+Resolution)
				}
				if !yield(sp.Job, stay) {
					return
				}
			}
		}
	}
}

// Reservation is the first place that a job would get if nobody else started: EASY keeps it clear for the head of the queue.
type Reservation struct {
	At    time.Duration // when the running jobs are expected to have left it, later than now; or Never, and the rest is zero
	Nodes []int         // in ascending order
	Spare int           // GPUs that will be free on its node and that the job does not need; 0 for a gang, which needs whole nodes
}

// Reservation works that out for a job from the limits of those that run. Nodes that are down or kept for another job do not count, and a
// gang that only prefers its locality gets any nodes.
func (v View) Reservation(j Job) Reservation {
	if j.GPUs < 1 || j.GPUs > v.s.topo.GPUs() {
		return Reservation{At: Never}
	}
	r := v.s.reserve(&j, newBitset(v.Nodes()))
	if r.at == forever {
		return Reservation{At: Never}
	}
	return Reservation{At: r.at, Nodes: slices.Collect(r.nodes.elements), Spare: r.spare}
}

// Held is the number of GPUs that the running jobs of a team hold, and those that are being cleared for one. Team 0 is the jobs without
// a team.
func (v View) Held(team int) int {
	if team < 0 || team >= len(v.s.teams) {
		return 0
	}
	return v.s.holds(team, Nobody)
}

// Used is the GPU-time that a team has held, decayed with the half-life of the policy, 7 days for one of your own.
func (v View) Used(team int) GPUTime {
	if team < 0 || team >= len(v.s.teams) {
		return 0
	}
	v.s.accrue(team)
	return GPUTime(v.s.teams[team].used)
}

// WithinQuota tells whether a waiting job could start without taking its team over its quota. A policy has to pass over the others.
func (v View) WithinQuota(job int) bool {
	return job >= 0 && job < len(v.s.jobs) && v.s.quotaAllows(job, nil)
}
