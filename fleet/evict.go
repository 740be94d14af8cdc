package fleet

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// planEvery is how long the fleet waits, at least, before it looks again whether evicting or migrating helps a job for which it did
// not; it looks again only if a job has started or ended, or a node has failed or come back.
// Slurm's backfill scheduler looks again every 30 s too (bf_interval).
const planEvery = 30 * time.Second

// evictionPlan makes room for one job: its nodes are kept for it until the victims are gone.
type evictionPlan struct {
	job     int
	node    int
	nodes   int
	victims []int32 // spans
	killed  []int   // IDs of the jobs that were killed so far
	lost    GPUTime // what they lost
	cost    GPUTime // what was expected to be thrown away: work since the last checkpoints, and restarts to be paid
}

// help looks for a way to start a job that has no place: evict others, or migrate. It tells whether it found one.
func (s *sim) help(job int) bool {
	if s.cfg.Big != 0 && passes(s.cfg.Policy) && s.waits(s.run.big) {
		job = s.run.big // others are passing it
	}
	j := s.jobs[job]
	s.logWaits(job)
	evict := j.Priority > s.queues[len(s.queues)-1].priority && (Preempts(s.cfg.Policy) || s.cfg.Preempt && j.ID == s.cfg.Big)
	migrate := s.cfg.Defrag && j.GPUs > s.topo.GPUsPerNode && len(s.plans) == 0
	if !evict && !migrate || s.planned(job) {
		return false
	}
	if s.hopeless == job && s.inVain == s.changes { // nothing has changed since the last attempt
		return false
	}
	if s.hopeless == job && s.now < s.replanAt {
		if !s.replanning {
			s.replanning = true
			s.agenda.plan(s.replanAt, evReplan, 0)
		}
		return false
	}
	kill, move := (*evictionPlan)(nil), (*migrationPlan)(nil)
	if evict {
		if kill = s.planEviction(job); kill == nil {
			s.logNoEviction(job)
		}
	}
	if migrate {
		if move = s.planMigration(s.topo.NodesFor(j.GPUs)); move == nil {
			s.logNoMigration(job)
		}
	}
	switch {
	case kill == nil && move == nil:
		s.hopeless, s.inVain = job, s.changes
		s.replanAt, s.replanning = s.now+planEvery, false
		return false
	case move == nil || kill != nil && kill.cost <= move.cost:
		s.evict(*kill)
		return true
	default:
		s.migrate(move, job)
		return false // nothing starts before the fleet runs again
	}
}

// planned tells whether a place is being cleared for a job.
func (s *sim) planned(job int) bool {
	return slices.ContainsFunc(s.plans, func(p evictionPlan) bool { return p.job == job })
}

// waits tells whether a job is in the queue.
func (s *sim) waits(job int) bool {
	return s.state[job].span < 0 && !s.over(job) && s.jobs[job].Arrival <= s.now
}

// price is the GPU-time that evicting a span throws away: its work since the last checkpoint and the restart to be paid for it.
// A span that is condemned already costs nothing more.
func (s *sim) price(id int32) GPUTime {
	sp := &s.run.Spans[id]
	if s.state[sp.Job].deadline != Never {
		return 0
	}
	p, j := s.run.pace(sp, s.now), &s.jobs[sp.Job]
	return over(j.GPUs, p.work-p.saved+j.Restart)
}

// planEviction is the cheapest set of victims whose places together hold the job, or nil: nobody is evicted unless the job then
// fits. Of equally cheap ones it takes the one with the fewest victims, then the lowest node.
func (s *sim) planEviction(job int) *evictionPlan {
	if j := s.jobs[job]; j.GPUs <= s.topo.GPUsPerNode {
		return s.planOnNode(job, j)
	}
	return s.planWindow(job, s.jobs[job])
}

// taken tells whether a node is down, or kept for a job that one of this priority must not push aside.
func (s *sim) taken(node, priority int) bool {
	k := s.kept[node]
	return s.broken[node] != 0 || k > 0 && s.jobs[s.plans[k-1].job].Priority >= priority
}

// forbidden tells whether a node cannot be emptied for a job of this priority.
func (s *sim) forbidden(node, priority int) bool {
	return s.taken(node, priority) || slices.ContainsFunc(s.onNode[node], func(id int32) bool { return s.jobs[s.run.Spans[id].Job].Priority >= priority })
}

// planWindow slides a window of the gang's size over the nodes.
func (s *sim) planWindow(job int, j Job) *evictionPlan {
	need := s.topo.NodesFor(j.GPUs)
	prices := make(map[int32]GPUTime, len(s.live))
	inside := make(map[int32]int, 4*need) // nodes of the window that a span is on
	best := &evictionPlan{job: job, node: -1, nodes: need, cost: math.MaxInt64}
	var cost GPUTime
	victims, blocked, fewest := 0, 0, 0
	for n := range s.free {
		if s.forbidden(n, j.Priority) {
			blocked++
		}
		for _, id := range s.onNode[n] {
			if inside[id]++; inside[id] == 1 {
				prices[id] = s.price(id)
				cost, victims = cost+prices[id], victims+1
			}
		}
		out := n - need
		if out >= 0 {
			if s.forbidden(out, j.Priority) {
				blocked--
			}
			for _, id := range s.onNode[out] {
				if inside[id]--; inside[id] == 0 {
					delete(inside, id)
					cost, victims = cost-prices[id], victims-1
				}
			}
		}
		if out >= -1 && blocked == 0 && (cost < best.cost || cost == best.cost && victims < fewest) {
			best.node, best.cost, fewest = out+1, cost, victims
		}
	}
	if best.node < 0 {
		return nil
	}
	for n := best.node; n < best.node+need; n++ {
		best.victims = append(best.victims, s.onNode[n]...)
	}
	slices.Sort(best.victims)
	best.victims = slices.Compact(best.victims) // a gang is on several nodes
	return best
}

// planOnNode looks for the node on which the cheapest victims make room for a job that fits into one.
func (s *sim) planOnNode(job int, j Job) *evictionPlan {
	var best *evictionPlan
	for n := range s.free {
		if s.taken(n, j.Priority) {
			continue
		}
		p := &evictionPlan{job: job, node: n, nodes: 1}
		gpus := (View{s}).Free(n)
		var candidates []int32
		for _, id := range s.onNode[n] {
			if s.jobs[s.run.Spans[id].Job].Priority < j.Priority && s.run.Spans[id].Nodes == 1 {
				candidates = append(candidates, id)
			}
		}
		slices.SortFunc(candidates, func(a, b int32) int { return cmp.Or(cmp.Compare(s.price(a), s.price(b)), cmp.Compare(a, b)) })
		for _, id := range candidates {
			if gpus < j.GPUs {
				gpus += s.run.Spans[id].GPUs()
				p.victims = append(p.victims, id)
			}
		}
		if gpus < j.GPUs {
			continue
		}
		p.victims = slices.DeleteFunc(p.victims, func(id int32) bool { // spare those that are not needed after all
			spare := gpus-s.run.Spans[id].GPUs() >= j.GPUs
			if spare {
				gpus -= s.run.Spans[id].GPUs()
			}
			return spare
		})
		for _, id := range p.victims {
			p.cost += s.price(id)
		}
		if best == nil || p.cost < best.cost || p.cost == best.cost && len(p.victims) < len(best.victims) {
			best = p
		}
	}
	return best
}

// evict carries a plan out: the victims end after the grace period, or at the deadline that they have already.
func (s *sim) evict(p evictionPlan) {
	for n := p.node; n < p.node+p.nodes; n++ {
		if s.kept[n] > 0 {
			s.cancelPlan(s.plans[s.kept[n]-1].job, "a job of higher priority takes its nodes", p.victims...)
		}
	}
	s.plans = append(s.plans, p)
	s.keep(len(s.plans)-1, true)
	for _, id := range p.victims {
		if st := &s.state[s.run.Spans[id].Job]; st.deadline == Never {
			st.deadline = s.now + s.cfg.Grace
			s.agenda.plan(st.deadline, evDeadline, id)
		}
	}
	if s.cfg.Grace > 0 {
		s.logNotice(&p)
		return
	}
	for _, id := range p.victims {
		s.condemned(id)
	}
	s.settlePlans()
}

// keep closes the nodes of a plan to all other jobs, or opens them again.
func (s *sim) keep(plan int, closed bool) {
	p := &s.plans[plan]
	for n := p.node; n < p.node+p.nodes; n++ {
		s.change(n, func() {
			s.kept[n] = 0
			if closed {
				s.kept[n] = int32(plan) + 1
			}
		})
	}
}

// condemned kills a span whose grace period is over, and books it on the plan that it made room for.
func (s *sim) condemned(id int32) {
	lost := s.end(id, Evicted, Never)
	for k := range s.plans {
		if p := &s.plans[k]; slices.Contains(p.victims, id) {
			p.killed = append(p.killed, s.jobs[s.run.Spans[id].Job].ID)
			p.lost += lost
			break
		}
	}
}

// settlePlans starts the jobs whose place is empty now, and gives plans up that a failure has broken.
func (s *sim) settlePlans() {
	for k := 0; k < len(s.plans); k++ {
		p := &s.plans[k]
		j := s.jobs[p.job]
		need, room := min(j.GPUs, s.topo.GPUsPerNode), true
		if p.nodes > 1 {
			need = s.topo.GPUsPerNode
		}
		broken := false
		for n := p.node; n < p.node+p.nodes; n++ {
			broken = broken || s.broken[n] != 0
			room = room && s.freeGPUs(n) >= need
		}
		switch {
		case broken:
			s.cancelPlan(p.job, "a node of its place failed")
			k--
		case room:
			s.logEviction(p)
			d := Decision{Job: p.job, Node: p.node}
			s.dropPlan(k)
			s.start(d)
			k--
		}
	}
}

// dropPlan opens the nodes of a plan again and forgets it.
func (s *sim) dropPlan(k int) {
	s.keep(k, false)
	s.plans = slices.Delete(s.plans, k, k+1)
	for i := k; i < len(s.plans); i++ {
		s.keep(i, true) // under its new number
	}
}

// cancelPlan gives up the plan for a job, if there is one. Its victims are spared, but for those that another plan condemns too.
func (s *sim) cancelPlan(job int, why string, still ...int32) {
	k := slices.IndexFunc(s.plans, func(p evictionPlan) bool { return p.job == job })
	if k < 0 {
		return
	}
	spared := 0
	for _, id := range s.plans[k].victims {
		if s.liveAt[id] >= 0 && !slices.Contains(still, id) {
			s.state[s.run.Spans[id].Job].deadline = Never
			spared++
		}
	}
	s.logCancel(&s.plans[k], why, spared)
	s.dropPlan(k)
}
