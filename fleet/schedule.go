package fleet

import (
	"fmt"
	"slices"
	"time"
)

// This file asks the policy, and moves jobs through their life: into the queue, onto GPUs, to their end or back into the queue.

// schedule asks the policy until it starts nobody else, then helps the one that has no place.
func (s *sim) schedule() {
	if s.now < s.pausedUntil {
		return
	}
	s.settlePlans()
	for {
		d, err := s.ask()
		if err == nil {
			err = s.checkDecision(d)
		}
		if err != nil {
			s.err = err
			return
		}
		if d.Job == Nobody {
			break
		}
		if d.Node != Wait {
			s.cancelPlan(d.Job, "it found another place")
			s.start(d)
			continue
		}
		if !s.help(d.Job) {
			break
		}
	}
	s.logQuotas()
}

// ask turns a panic inside a policy, which may be a student's, into an error.
func (s *sim) ask() (d Decision, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("policy %s at %s: panic: %v: %w", PolicyName(s.cfg.Policy), FormatDuration(s.now), p, ErrPolicy)
		}
	}()
	if s.holeStale {
		s.hole, s.holeLen = s.empty.longestRun()
		s.holeStale = false
	}
	return s.cfg.Policy.Decide(View{s}), nil
}

// checkDecision rejects a decision that cannot be carried out, and says why.
func (s *sim) checkDecision(d Decision) error {
	if d.Job == Nobody {
		return nil
	}
	bad := func(format string, args ...any) error {
		return fmt.Errorf("policy %s at %s: %s: %w", PolicyName(s.cfg.Policy), FormatDuration(s.now), fmt.Sprintf(format, args...), ErrPolicy)
	}
	if d.Job < 0 || d.Job >= len(s.jobs) {
		return bad("job index %d: must be between 0 and %d, or Nobody", d.Job, len(s.jobs)-1)
	}
	j := s.jobs[d.Job]
	if !s.waits(d.Job) {
		return bad("job %d is not in the queue", j.ID)
	}
	if d.Node == Wait {
		return nil
	}
	if !s.quotaAllows(d.Job, nil) {
		would := s.holds(j.Team, d.Job) + s.charge(&j)
		return bad("job %d starts: team %s would hold %d GPUs, and its quota is %d", j.ID, s.team(j.Team), would, s.cfg.Teams[j.Team-1].Quota)
	}
	count := s.topo.NodesFor(j.GPUs)
	if d.Nodes == nil && (d.Node < 0 || d.Node+count > len(s.free)) {
		return bad("job %d on node %d: must be between 0 and %d, or Wait", j.ID, d.Node, len(s.free)-count)
	}
	need := j.GPUs
	if count > 1 {
		need = s.topo.GPUsPerNode
	}
	if d.Nodes != nil && len(d.Nodes) != count {
		return bad("job %d needs %s, not %d", j.ID, plural(count, "node"), len(d.Nodes))
	}
	var seen bitset // consecutive nodes are different ones
	if d.Nodes != nil {
		seen = newBitset(len(s.free))
	}
	for k := range count {
		n := d.node(k)
		if free := (View{s}).Free(n); free < need {
			return bad("job %d needs %d GPUs of node %d, which has %d free", j.ID, need, n, free)
		}
		if seen != nil {
			if seen.has(n) {
				return bad("job %d is given node %d twice", j.ID, n)
			}
			seen.add(n)
		}
	}
	if count > 1 && !j.Prefer && !s.near(d, count, j.Locality) {
		return bad("job %d is given nodes %v: must be %v", j.ID, s.placeOf(d), j.Locality)
	}
	return nil
}

// node is the k-th node of a decision.
func (d *Decision) node(k int) int {
	if d.Nodes != nil {
		return d.Nodes[k]
	}
	return d.Node + k
}

// near tells whether the nodes of a decision are as near to each other as a locality asks.
func (s *sim) near(d Decision, count int, l Locality) bool {
	first := d.node(0)
	for k := range count {
		n := d.node(k)
		if l == Contiguous && n != first+k || l == SameRack && s.topo.Rack(n) != s.topo.Rack(first) || l == SamePod && s.topo.Pod(n) != s.topo.Pod(first) {
			return false
		}
	}
	return true
}

// placeOf is the nodes that a decision gives to a job.
func (s *sim) placeOf(d Decision) []int {
	if d.Nodes != nil {
		return d.Nodes
	}
	return runOf(d.Node, s.topo.NodesFor(s.jobs[d.Job].GPUs))
}

// runOf is so many consecutive nodes.
func runOf(first, n int) []int {
	nodes := make([]int, n)
	for i := range nodes {
		nodes[i] = first + i
	}
	return nodes
}

func (s *sim) enqueue(job int) {
	j := s.jobs[job]
	for k := range s.queues {
		q := &s.queues[k]
		if q.priority == j.Priority && q.team == j.Team {
			at, _ := slices.BinarySearch(q.waiting, int32(job))
			q.waiting = slices.Insert(q.waiting, at, int32(job))
		}
	}
	s.queued++
	s.sizes[j.GPUs]++
	s.smallest = min(s.smallest, j.GPUs)
	s.leave(job)
	s.state[job].since = s.now
	if j.ID == s.cfg.Big && s.run.Queue[job].FirstRun == Never {
		s.log(BigArrived, -1, j.ID, "%v arrives with priority %d and needs %v; %s GPUs are idle",
			s.name(job), j.Priority, s.need(j), FormatCount(s.idle))
	}
}

func (s *sim) dequeue(job int) {
	for k := range s.queues {
		q := &s.queues[k]
		if at, found := slices.BinarySearch(q.waiting, int32(job)); found {
			q.waiting = slices.Delete(q.waiting, at, at+1)
		}
	}
	s.queued--
	if s.sizes[s.jobs[job].GPUs]--; s.queued == 0 {
		s.smallest = len(s.sizes)
	}
	for s.smallest < len(s.sizes) && s.sizes[s.smallest] == 0 {
		s.smallest++
	}
	s.run.Queue[job].Wait += s.now - s.state[job].since
}

// start puts a waiting job on its place, which must be free: the callers have checked it.
func (s *sim) start(d Decision) {
	job := d.Job
	s.dequeue(job)
	s.join(job)
	st, j := &s.state[job], s.jobs[job]
	sp := Span{Job: job, Node: d.Node, Nodes: s.topo.NodesFor(j.GPUs), Busy: j.GPUs, Start: s.now, from: st.saved, redo: st.redo, started: true}
	if d.Nodes != nil || j.Train != nil {
		for _, n := range s.placeOf(d) {
			sp.Set = append(sp.Set, int32(n))
		}
		sp.Node = int(sp.Set[0])
	}
	if t := st.training; t != nil {
		t.rank, t.running, t.still = slices.Clone(sp.Set), j.Train.DP, false
	}
	if st.restarts {
		sp.restart = j.Restart
	} else {
		sp.holders = sp.Nodes
		sp.phase = (s.run.planOf(&sp).tau * time.Duration(j.Phase) / 1000).Truncate(Resolution)
	}
	s.occupy(&sp)
	if w := &s.run.Queue[job]; w.FirstRun == Never {
		w.FirstRun = s.now
	}
	s.logStart(job, &sp)
	st.failed, st.said = false, [sorts]bool{}
}

func (s *sim) finished(id int32) {
	sp := s.release(id, Done)
	s.run.Queue[sp.Job].Done = s.now
	s.state[sp.Job].deadline = Never
	s.leave(sp.Job)
	if j := s.jobs[sp.Job]; j.ID == s.cfg.Big {
		s.log(BigDone, -1, j.ID, "%v has done its %s of work", s.name(sp.Job), FormatDuration(j.Work))
	}
}

// end kills a span and sends its job back to the queue. What it did since its last checkpoint is lost: that much is returned.
// If what it computed is wrong, clean is its last good progress, else Never.
func (s *sim) end(id int32, why Reason, clean time.Duration) GPUTime {
	sp := s.release(id, why)
	st, j, w := &s.state[sp.Job], s.jobs[sp.Job], &s.run.Queue[sp.Job]
	p := s.run.pace(sp, s.now)
	cause := Preempted
	if why == Killed {
		cause = Rework
		w.Kills++
		st.failed = true
	} else {
		w.Evicts++
	}
	if st.saved = s.saved(sp, p); clean != Never {
		st.saved = min(st.saved, clean)
	}
	s.cleanse(sp.Job)
	st.redo = lose(sp.redo, st.saved, sp.from+p.work, cause)
	st.restarts, st.deadline = true, Never
	lost := over(j.GPUs, sp.from+p.work-st.saved)
	s.run.losses = append(s.run.losses, loss{s.now, lost, over(j.GPUs, j.Restart), cause})
	s.enqueue(sp.Job)
	return lost
}
