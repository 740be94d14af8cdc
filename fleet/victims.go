package fleet

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// This file chooses victims: the cheapest set of jobs whose places together hold the one that has none.

// price is the GPU-time that evicting a span throws away: its work since the last checkpoint and the restart to be paid for it.
// A span that is condemned already costs nothing more.
func (s *sim) price(id int32) GPUTime {
	sp := &s.run.Spans[id]
	if s.state[sp.Job].deadline != Never {
		return 0
	}
	p, j := s.run.pace(sp, s.now), &s.jobs[sp.Job]
	return over(j.GPUs, sp.from+p.work-s.saved(sp, p)+j.Restart)
}

// planEviction is the cheapest set of victims whose places together hold the job, or nil: nobody is evicted unless the job then
// fits. Of equally cheap ones it takes the one with the fewest victims, then the lowest node. If only exempt jobs are in the way, again
// is when enough of them will not be any more, else forever.
func (s *sim) planEviction(job int) (p *evictionPlan, again time.Duration) {
	if j := &s.jobs[job]; j.GPUs > s.topo.GPUsPerNode {
		return s.planGang(job, j)
	}
	return s.planOnNode(job, &s.jobs[job])
}

// taken tells whether a node is down, or kept for a job that one of this priority must not push aside.
func (s *sim) taken(node, priority int) bool {
	k := s.kept[node]
	return s.broken[node] != 0 || k > 0 && s.jobs[s.plans[k-1].job].Priority >= priority
}

// evictable is the time from which a span may be evicted for a job of this priority: forever if it must not. As with Slurm's
// PreemptExemptTime its job has to have run for Config.Exempt since its last start. One that is condemned already is not exempt.
func (s *sim) evictable(id int32, priority int) time.Duration {
	job := s.run.Spans[id].Job
	switch st := &s.state[job]; {
	case s.jobs[job].Priority >= priority:
		return forever
	case st.deadline != Never:
		return 0
	default:
		return st.began + s.cfg.Exempt
	}
}

// clearable is the time from which a node can be emptied for a job of this priority: forever if it can't.
func (s *sim) clearable(node, priority int) (at time.Duration) {
	if s.taken(node, priority) {
		return forever
	}
	for _, id := range s.onNode[node] {
		at = max(at, s.evictable(id, priority))
	}
	return at
}

// planGang chooses the nodes to empty for a gang.
func (s *sim) planGang(job int, j *Job) (*evictionPlan, time.Duration) {
	need, l := s.topo.NodesFor(j.GPUs), j.near()
	clear := make([]time.Duration, len(s.free))
	for n := range clear {
		clear[n] = s.clearable(n, j.Priority)
	}
	p := &evictionPlan{job: job}
	if l == Contiguous {
		p.nodes, p.cost = s.cheapestWindow(clear, need)
	} else {
		p.nodes, p.cost = s.cheapestNodes(clear, need, s.topo.domain(l))
	}
	if p.nodes == nil {
		return nil, earliest(s.topo, clear, need, l)
	}
	for _, n := range p.nodes {
		p.victims = append(p.victims, s.onNode[n]...)
	}
	slices.Sort(p.victims)
	p.victims = slices.Compact(p.victims) // a gang is on several nodes
	return p, forever
}

// cheapestWindow slides a window of the gang's size over the nodes. A gang counts once, on however many of its nodes.
func (s *sim) cheapestWindow(clear []time.Duration, need int) ([]int, GPUTime) {
	prices := make(map[int32]GPUTime, len(s.live))
	inside := make(map[int32]int, 4*need) // nodes of the window that a span is on
	at, least := -1, GPUTime(math.MaxInt64)
	var cost GPUTime
	victims, blocked, fewest := 0, 0, 0
	for n := range clear {
		blocked += bit(clear[n] > s.now)
		for _, id := range s.onNode[n] {
			if inside[id]++; inside[id] == 1 {
				prices[id] = s.price(id)
				cost, victims = cost+prices[id], victims+1
			}
		}
		out := n - need
		if out >= 0 {
			blocked -= bit(clear[out] > s.now)
			for _, id := range s.onNode[out] {
				if inside[id]--; inside[id] == 0 {
					delete(inside, id)
					cost, victims = cost-prices[id], victims-1
				}
			}
		}
		if out >= -1 && blocked == 0 && (cost < least || cost == least && victims < fewest) {
			at, least, fewest = out+1, cost, victims
		}
	}
	if at < 0 {
		return nil, 0
	}
	return runOf(at, need), least
}

// toll is the price of emptying nodes.
type toll struct {
	cost    GPUTime
	victims int
}

func (t toll) plus(o toll) toll { return toll{t.cost + o.cost, t.victims + o.victims} }

func (t toll) compare(o toll) int {
	return cmp.Or(cmp.Compare(t.cost, o.cost), cmp.Compare(t.victims, o.victims))
}

// lot is nodes that are emptied together: one with the small jobs on it, or those of a gang.
type lot struct {
	nodes []int
	toll  toll
}

// cheapestNodes chooses need nodes of one domain: a rack, a pod or the fleet. Gangs hold whole nodes, so a node is either free, or has
// small jobs, or belongs to one gang. That makes it a knapsack, and small enough to be solved exactly.
func (s *sim) cheapestNodes(clear []time.Duration, need, size int) (nodes []int, cost GPUTime) {
	var best toll
	for from := 0; from < len(clear); from += size {
		if chosen, t := s.cheapestIn(clear, from, from+size, need); chosen != nil && (nodes == nil || t.compare(best) < 0) {
			nodes, best = chosen, t
		}
	}
	return nodes, best.cost
}

// lots divides the nodes of a domain that can be emptied now.
func (s *sim) lots(clear []time.Duration, from, to int) (single, gangs []lot) {
	of := map[int32]int{} // span of a gang to its lot
	for n := from; n < to; n++ {
		if clear[n] > s.now {
			continue
		}
		x := lot{nodes: []int{n}}
		gang := int32(-1)
		for _, id := range s.onNode[n] {
			x.toll = x.toll.plus(toll{s.price(id), 1})
			if s.run.Spans[id].Nodes > 1 {
				gang = id
			}
		}
		if gang < 0 {
			single = append(single, x)
		} else if k, known := of[gang]; known {
			gangs[k].nodes = append(gangs[k].nodes, n)
		} else {
			of[gang] = len(gangs)
			gangs = append(gangs, x)
		}
	}
	slices.SortStableFunc(single, func(a, b lot) int { return a.toll.compare(b.toll) })
	return single, gangs
}

// cheapestIn is the best choice in one domain: the cheapest gangs that free k nodes together, for each k, and the cheapest single nodes
// for the rest.
func (s *sim) cheapestIn(clear []time.Duration, from, to, need int) ([]int, toll) {
	single, gangs := s.lots(clear, from, to)
	never := toll{cost: math.MaxInt64}
	least := make([]toll, need+1) // by nodes that come from gangs; what is beyond need counts as need
	for k := range least {
		least[k] = never
	}
	least[0] = toll{}
	came := make([][]int32, len(gangs)) // by gang and k: the k before this gang was added, -1 if it was not
	for g, x := range gangs {
		came[g] = make([]int32, need+1)
		with := slices.Clone(least)
		for k := range came[g] {
			came[g][k] = -1
		}
		for k, t := range least {
			if t == never || k == need {
				continue
			}
			if more := min(need, k+len(x.nodes)); t.plus(x.toll).compare(with[more]) < 0 {
				with[more], came[g][more] = t.plus(x.toll), int32(k)
			}
		}
		least = with
	}
	best, at := never, -1
	var rest toll // of the need − k cheapest single nodes
	for k := need; k >= 0 && need-k <= len(single); k-- {
		if k < need {
			rest = rest.plus(single[need-k-1].toll)
		}
		if least[k] != never && least[k].plus(rest).compare(best) < 0 {
			best, at = least[k].plus(rest), k
		}
	}
	if at < 0 {
		return nil, never
	}
	var nodes []int
	for _, x := range single[:need-at] {
		nodes = append(nodes, x.nodes...)
	}
	for g := len(gangs) - 1; g >= 0; g-- {
		if k := came[g][at]; k >= 0 {
			nodes, at = append(nodes, gangs[g].nodes...), int(k)
		}
	}
	nodes = nodes[:need] // a gang may leave some over
	slices.Sort(nodes)
	return nodes, best
}

// planOnNode looks for the node on which the cheapest victims make room for a job that fits into one. A gang that has a part of itself
// on the node can be a victim, too, at the price of the whole.
func (s *sim) planOnNode(job int, j *Job) (best *evictionPlan, again time.Duration) {
	again = forever
	for n := range s.free {
		if s.taken(n, j.Priority) {
			continue
		}
		var now, later []int32
		for _, id := range s.onNode[n] {
			switch at := s.evictable(id, j.Priority); {
			case at <= s.now:
				now = append(now, id)
			case at < forever:
				later = append(later, id)
			}
		}
		p := s.victimsOn(n, j, now)
		if p == nil {
			again = min(again, s.roomAfter(n, j, now, later))
			continue
		}
		p.job = job
		if best == nil || p.cost < best.cost || p.cost == best.cost && len(p.victims) < len(best.victims) {
			best = p
		}
	}
	return best, again
}

// held is the number of GPUs that a span has on each of its nodes.
func (s *sim) held(id int32) int { return s.run.Spans[id].GPUs() / s.run.Spans[id].Nodes }

// victimsOn makes room for a job on one node, by the cheapest first, and then spares those that are not needed after all.
func (s *sim) victimsOn(node int, j *Job, candidates []int32) *evictionPlan {
	p := &evictionPlan{nodes: []int{node}}
	gpus := (View{s}).Free(node)
	slices.SortFunc(candidates, func(a, b int32) int { return cmp.Or(cmp.Compare(s.price(a), s.price(b)), cmp.Compare(a, b)) })
	for _, id := range candidates {
		if gpus < j.GPUs {
			gpus += s.held(id)
			p.victims = append(p.victims, id)
		}
	}
	if gpus < j.GPUs {
		return nil
	}
	p.victims = slices.DeleteFunc(p.victims, func(id int32) bool {
		spare := gpus-s.held(id) >= j.GPUs
		if spare {
			gpus -= s.held(id)
		}
		return spare
	})
	for _, id := range p.victims {
		p.cost += s.price(id)
	}
	return p
}

// roomAfter is when enough jobs of a node will not be exempt any more.
func (s *sim) roomAfter(node int, j *Job, now, later []int32) time.Duration {
	gpus := (View{s}).Free(node)
	for _, id := range now {
		gpus += s.held(id)
	}
	slices.SortFunc(later, func(a, b int32) int { return cmp.Compare(s.evictable(a, j.Priority), s.evictable(b, j.Priority)) })
	for _, id := range later {
		if gpus += s.held(id); gpus >= j.GPUs {
			return s.evictable(id, j.Priority)
		}
	}
	return forever
}
