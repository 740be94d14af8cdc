package fleet

import (
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
	nodes   []int   // in ascending order
	victims []int32 // spans
	killed  []int   // IDs of the jobs that were killed so far
	lost    GPUTime // what they lost
	cost    GPUTime // what was expected to be thrown away: work since the last checkpoints, and restarts to be paid
}

// help looks for a way to start a job that has no place: evict others, or migrate. It tells whether it found one.
func (s *sim) help(head int) bool {
	job := head
	if s.cfg.Big != 0 && passes(s.cfg.Policy) && s.waits(s.run.big) && s.quotaAllows(s.run.big, nil) {
		job = s.run.big // others are passing it
	}
	j := s.jobs[job]
	if !s.quotaAllows(job, nil) {
		return false // a place is of no use to it; logQuotas says so
	}
	s.logWaits(job, job == head)
	evict := j.Priority > s.queues[len(s.queues)-1].priority && (Preempts(s.cfg.Policy) || s.cfg.Preempt && j.ID == s.cfg.Big)
	migrate := s.cfg.Defrag && j.GPUs > s.topo.GPUsPerNode && len(s.plans) == 0
	if !evict && !migrate || s.planned(job) {
		return false
	}
	if s.hopeless == job && !s.worthAnotherLook() {
		return false
	}
	kill, move := (*evictionPlan)(nil), (*migrationPlan)(nil)
	again := forever // when the exemption of those that are in the way runs out
	if evict {
		if kill, again = s.planEviction(job); kill == nil {
			s.logNoEviction(job, again)
		}
	}
	if migrate {
		if move = s.planMigration(&j); move == nil {
			s.logNoMigration(job)
		}
	}
	switch {
	case kill == nil && move == nil:
		s.hopeless, s.inVain = job, s.changes
		s.replanAt, s.replanning = s.now+planEvery, false
		if s.exemptAt = again; again < forever {
			s.agenda.plan(again, evReplan, 0)
		}
		return false
	case move == nil || kill != nil && kill.cost <= move.cost:
		s.evict(*kill)
		return true
	default:
		s.migrate(move, job)
		return false // nothing starts before the fleet runs again
	}
}

// worthAnotherLook tells whether the job for which nothing helped at the last attempt may be helped now. If it is only too early to look
// again, it sees to it that somebody does.
func (s *sim) worthAnotherLook() bool {
	switch {
	case s.now >= s.exemptAt: // those that were in the way may be evicted now
		return true
	case s.inVain == s.changes: // nothing has changed since
		return false
	case s.now >= s.replanAt:
		return true
	case !s.replanning:
		s.replanning = true
		s.agenda.plan(s.replanAt, evReplan, 0)
	}
	return false
}

// planned tells whether a place is being cleared for a job.
func (s *sim) planned(job int) bool {
	return slices.ContainsFunc(s.plans, func(p evictionPlan) bool { return p.job == job })
}

// waits tells whether a job is in the queue.
func (s *sim) waits(job int) bool {
	return s.state[job].span < 0 && !s.over(job) && s.jobs[job].Arrival <= s.now
}

// evict carries a plan out: the victims end after the grace period, or at the deadline that they have already.
func (s *sim) evict(p evictionPlan) {
	for _, n := range p.nodes {
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
	for _, n := range p.nodes {
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
		broken := false
		for _, n := range p.nodes {
			broken = broken || s.broken[n] != 0
			room = room && s.freeGPUs(n) >= need
		}
		switch {
		case broken:
			s.cancelPlan(p.job, "a node of its place failed")
			k--
		case room:
			s.logEviction(p)
			s.spare(k, nil)
			d := Decision{Job: p.job, Node: p.nodes[0]}
			if last := len(p.nodes) - 1; p.nodes[last] != d.Node+last {
				d.Nodes = p.nodes
			}
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
	s.logCancel(&s.plans[k], why, s.spare(k, still))
	s.dropPlan(k)
}

// spare lets the victims of a plan go that still run and that no other plan condemns, also not the one that is about to be made with
// the victims still. It returns how many there are.
func (s *sim) spare(k int, still []int32) (spared int) {
	for _, id := range s.plans[k].victims {
		elsewhere := slices.Contains(still, id)
		for i := range s.plans {
			elsewhere = elsewhere || i != k && slices.Contains(s.plans[i].victims, id)
		}
		if s.liveAt[id] >= 0 && !elsewhere {
			s.state[s.run.Spans[id].Job].deadline = Never
			spared++
		}
	}
	return spared
}
