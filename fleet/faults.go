package fleet

import (
	"math/bits"
	"slices"
	"time"
)

// This file breaks things and mends them: GPUs, nodes, several nodes at once, software, and data that goes wrong in silence.

// nodes is the number of nodes that a fault takes down.
func (f Fault) nodes() int { return max(1, f.Nodes) }

// mask is the GPUs of each of its nodes that a fault hits.
func (f Fault) mask(full uint16) uint16 {
	if f.Scope == OneGPU {
		return 1 << f.GPU
	}
	return full
}

// strike is what a fault does at the instant at which it is noticed.
func (s *sim) strike(i int32) {
	f := s.cfg.Faults[i]
	if f.Scope != Software {
		s.agenda.plan(s.now+f.Repair, evRepair, i)
	}
	var h hits
	for _, t := range s.untaint(i) {
		s.rollBack(t, &h)
	}
	for n := f.Node; n < f.Node+f.nodes(); n++ {
		for _, job := range s.wounded { // it was here until another fault of this instant took it off
			if slices.Contains(s.state[job].training.rank, int32(n)) {
				s.wound(job, n, f.Scope, Never, &h)
			}
		}
		for _, id := range slices.Clone(s.onNode[n]) {
			if s.run.Spans[id].Mask&f.mask(s.fullMask) != 0 {
				s.hit(id, n, f.Scope, Never, &h)
			}
		}
		if f.Scope != Software {
			s.breakGPUs(n, f.mask(s.fullMask))
		}
	}
	s.run.failures = append(s.run.failures, s.now)
	s.logFailure(f, h)
}

// nowhere stands for a node where there is none.
const nowhere = -1

// hits is what a fault did to jobs.
type hits struct {
	killed   []int   // IDs of the jobs that it sent back to the queue
	lost     GPUTime // work since their last good checkpoints
	broken   []int   // IDs of the training jobs that decide for themselves how they go on
	shrunk   []int   // IDs of the training jobs that lost nothing but a node they had no use for
	recalled []int   // IDs of the jobs in the queue whose checkpoints turn out to be bad
	wrong    GPUTime // work since the good ones
	spoiled  []int   // IDs of the jobs that had finished with wrong results before anybody noticed
}

// hit stops the job of a span, because of its node or, if that is nowhere, for another reason. It falls back to its last checkpoint, or
// to clean if that is earlier and not Never. A training job that has been condemned by an eviction is not asked how it goes on.
func (s *sim) hit(id int32, node int, scope Scope, clean time.Duration, h *hits) {
	job := s.run.Spans[id].Job
	if s.jobs[job].Train != nil && s.state[job].deadline == Never {
		s.wound(job, node, scope, clean, h)
		return
	}
	h.killed = append(h.killed, s.jobs[job].ID)
	h.lost += s.end(id, Killed, clean)
}

// breakGPUs takes healthy GPUs of a node, which nobody holds, out of the fleet.
func (s *sim) breakGPUs(n int, mask uint16) {
	fresh := s.countFaults(n, mask, 1, 1)
	if fresh == 0 {
		return
	}
	s.change(n, func() { s.broken[n] |= fresh })
	s.idle -= bits.OnesCount16(fresh)
	s.failed += bits.OnesCount16(fresh)
	s.openOutage(n, fresh, s.now)
}

// countFaults changes the number of faults of a node's GPUs, and returns those that now have so many.
func (s *sim) countFaults(n int, mask uint16, by, now int32) (changed uint16) {
	for g := range s.topo.GPUsPerNode {
		if mask>>g&1 == 0 {
			continue
		}
		gpu := n*s.topo.GPUsPerNode + g
		if s.faults[gpu] += by; s.faults[gpu] == now {
			changed |= 1 << g
		}
	}
	return changed
}

// openOutage records that GPUs went down.
func (s *sim) openOutage(n int, mask uint16, since time.Duration) {
	s.outages[n] = append(s.outages[n], int32(len(s.run.Outages)))
	s.run.Outages = append(s.run.Outages, Outage{Node: n, Mask: mask, Start: s.now, End: s.cfg.Horizon, since: since})
}

// repair ends one fault of a node's GPUs. Those that no other fault keeps down are back.
func (s *sim) repair(i int32) {
	f := s.cfg.Faults[i]
	for n := f.Node; n < f.Node+f.nodes(); n++ {
		s.repairGPUs(n, f.mask(s.fullMask))
	}
}

func (s *sim) repairGPUs(n int, mask uint16) {
	back := s.countFaults(n, mask, -1, 0)
	if back == 0 {
		return
	}
	s.change(n, func() { s.broken[n] &^= back })
	s.idle += bits.OnesCount16(back)
	s.failed -= bits.OnesCount16(back)
	since := s.now
	for _, id := range slices.Clone(s.outages[n]) {
		o := &s.run.Outages[id]
		if o.Mask&back == 0 {
			continue
		}
		o.End, since = s.now, min(since, o.since)
		s.outages[n] = slices.DeleteFunc(s.outages[n], func(other int32) bool { return other == id })
		if rest := o.Mask &^ back; rest != 0 { // some of its GPUs are still kept down, by other faults
			s.openOutage(n, rest, o.since)
		}
	}
	s.logRepair(n, back, since)
}

// corruption is a fault that has happened and that nobody has noticed yet.
type corruption struct {
	fault int32
	jobs  []tainted
}

// tainted is a job that has computed on bad hardware, and the progress that its last good checkpoint holds.
type tainted struct {
	job   int
	clean time.Duration
}

// corrupt begins a silent corruption: the checkpoints that the jobs on the bad GPUs have now are their last good ones.
func (s *sim) corrupt(i int32) {
	f := s.cfg.Faults[i]
	s.agenda.plan(s.now+f.Silent, evNotice, i)
	s.taints = append(s.taints, corruption{fault: i})
	for n := f.Node; n < f.Node+f.nodes(); n++ {
		for _, id := range s.onNode[n] {
			sp := &s.run.Spans[id]
			s.taint(n, sp.busyMask(sp.rankOf(n)), sp.Job)
		}
	}
}

// taint notes that a job computes on GPUs of a node of which some may be bad.
func (s *sim) taint(n int, mask uint16, job int) {
	for k := range s.taints {
		c := &s.taints[k]
		f := s.cfg.Faults[c.fault]
		if n < f.Node || n >= f.Node+f.nodes() || mask&f.mask(s.fullMask) == 0 ||
			slices.ContainsFunc(c.jobs, func(t tainted) bool { return t.job == job }) {
			continue
		}
		c.jobs = append(c.jobs, tainted{job, s.savedNow(job)})
	}
}

// savedNow is the progress that a job's checkpoints hold at this instant.
func (s *sim) savedNow(job int) time.Duration {
	if st := s.state[job]; st.span >= 0 {
		sp := &s.run.Spans[st.span]
		return s.saved(sp, s.run.pace(sp, s.now))
	}
	return s.state[job].saved
}

// saved is the progress that the checkpoints of a span's job hold when the span has come so far.
func (s *sim) saved(sp *Span, p pace) time.Duration {
	if p.saves > 0 {
		return sp.from + p.saved
	}
	return s.state[sp.Job].saved
}

// cleanse forgets the corruptions of a job that has fallen back to a checkpoint from before them. If it starts on bad GPUs again they
// spoil it again.
func (s *sim) cleanse(job int) {
	for k := range s.taints {
		c := &s.taints[k]
		c.jobs = slices.DeleteFunc(c.jobs, func(t tainted) bool { return t.job == job && s.state[job].saved <= t.clean })
	}
}

// untaint forgets a corruption that has been noticed, and returns the jobs that it spoiled.
func (s *sim) untaint(i int32) (jobs []tainted) {
	for k, c := range s.taints {
		if c.fault == i {
			s.taints = slices.Delete(s.taints, k, k+1)
			return c.jobs
		}
	}
	return nil
}

// rollBack takes a job that computed wrong results back to its last good checkpoint, wherever it is now.
func (s *sim) rollBack(t tainted, h *hits) {
	st := &s.state[t.job]
	switch {
	case s.over(t.job):
		h.spoiled = append(h.spoiled, s.jobs[t.job].ID)
	case st.span >= 0:
		s.hit(st.span, nowhere, WholeNode, t.clean, h)
	case st.training != nil && st.training.wounded:
		s.wound(t.job, nowhere, WholeNode, t.clean, h)
	case t.clean < st.saved: // in the queue
		lost := over(s.jobs[t.job].GPUs, st.saved-t.clean)
		h.recalled, h.wrong = append(h.recalled, s.jobs[t.job].ID), h.wrong+lost
		s.run.losses = append(s.run.losses, loss{at: s.now, work: lost, why: Rework})
		st.redo = lose(st.redo, t.clean, st.saved, Rework)
		st.saved = t.clean
		s.cleanse(t.job)
	}
}
