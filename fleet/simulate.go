package fleet

import (
	"fmt"
	"math/bits"
	"slices"
	"time"
)

// Simulate runs a configuration to its horizon. Equal configurations give equal runs; nothing else enters: no clock, no random
// source, no environment. The error wraps ErrConfig or ErrPolicy.
func Simulate(c Config) (*Run, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("simulate: %w", err)
	}
	s := newSim(c)
	for s.step() {
		if s.err != nil {
			return nil, fmt.Errorf("simulate: %w", s.err)
		}
	}
	s.close()
	return s.run, nil
}

// sim is the state machine behind Simulate: one event at a time, mutate, ask the policy, record.
type sim struct {
	run  *Run
	cfg  *Config // of run, with times in whole steps of Resolution
	jobs []Job
	topo Topology
	now  time.Duration
	err  error

	agenda agenda

	// Nodes.
	free      []uint16 // GPUs that nobody holds, one bit each, whether the node is up or down
	down      []int32  // faults not yet repaired
	outage    []int32  // the open entry of run.Outages, if down
	kept      []int32  // plan that keeps the node for a gang, plus 1; 0 for none
	onNode    [][]int32
	byFree    []bitset // open nodes by number of free GPUs
	nodesWith []int    // how many are in each of these
	histogram []int    // nodes that are up, by number of free GPUs
	empty     bitset   // nodes that are up and wholly free
	holeStale bool
	hole      int // first node and length of the longest run in empty
	holeLen   int

	// Jobs.
	state  []jobState
	queues []queue // one for each priority that occurs, highest first
	live   []int32 // spans that run, unordered
	liveAt []int32 // where a span stands in live
	plans  []evictionPlan

	working, idle, failed int
	queued                int
	fgdWeight             []float64 // by number of free GPUs: GPUs of such a node that FGD counts as fragmented
	pausedUntil           time.Duration
	replanAt              time.Duration
}

// jobState is what the simulation knows about a job that Config.Jobs does not.
type jobState struct {
	saved    time.Duration // work in its last checkpoint
	redo     []redo
	since    time.Duration // when it last entered the queue
	deadline time.Duration // condemned to end then, or Never
	span     int32         // the span that runs, or -1
	restarts bool          // it was killed before: the next span begins with a restart
	failed   bool          // the last kill was a node's fault
	said     [3]bool       // what was logged since it last entered the queue: waits, no eviction, no migration
}

type queue struct {
	priority int
	waiting  []int32 // jobs, by index: that is by arrival
}

func newSim(c Config) *sim {
	c = inSteps(c)
	t := c.Topology
	n, g := t.Nodes(), t.GPUsPerNode
	s := &sim{
		run:  &Run{Config: c, Queue: make([]Waiting, len(c.Jobs)), jobIndex: make(map[int]int, 1)},
		jobs: c.Jobs, topo: t, replanAt: Never, pausedUntil: Never,
		free: make([]uint16, n), down: make([]int32, n), outage: make([]int32, n), kept: make([]int32, n), onNode: make([][]int32, n),
		byFree: make([]bitset, g+1), nodesWith: make([]int, g+1), histogram: make([]int, g+1), empty: newBitset(n), holeLen: n,
		state: make([]jobState, len(c.Jobs)), idle: t.GPUs(),
	}
	s.cfg = &s.run.Config
	s.run.Spans = make([]Span, 0, len(c.Jobs)+len(c.Jobs)/8)
	s.run.Samples = make([]Sample, 0, 2*len(c.Jobs)+len(c.Faults))
	for k := range s.byFree {
		s.byFree[k] = newBitset(n)
	}
	onNode := make([]int32, n*g)
	for i := range s.free {
		s.free[i] = 1<<g - 1
		s.byFree[g].add(i)
		s.empty.add(i)
		s.onNode[i] = onNode[i*g : i*g : (i+1)*g]
	}
	s.nodesWith[g], s.histogram[g] = n, n
	s.enlist()
	s.fgdWeight = fgdWeights(c)
	for i, j := range c.Jobs {
		s.agenda.plan(j.Arrival, evArrive, int32(i))
	}
	for i, f := range c.Faults {
		s.agenda.plan(f.At, evFault, int32(i))
	}
	s.sample()
	return s
}

// enlist makes the jobs' states and one queue for each priority.
func (s *sim) enlist() {
	for i, j := range s.jobs {
		s.state[i] = jobState{deadline: Never, span: -1}
		s.run.Queue[i] = Waiting{FirstRun: Never, Done: Never}
		if j.ID == s.cfg.Big {
			s.run.jobIndex[j.ID] = i
			s.agenda.plan(j.Arrival+s.cfg.SLA.Start+Resolution, evPromise, int32(i))
		}
		if !slices.ContainsFunc(s.queues, func(q queue) bool { return q.priority == j.Priority }) {
			s.queues = append(s.queues, queue{priority: j.Priority})
		}
	}
	slices.SortFunc(s.queues, func(a, b queue) int { return b.priority - a.priority })
}

// inSteps rounds every time to the resolution, so that GPU-time is a whole number.
func inSteps(c Config) Config {
	for _, d := range []*time.Duration{&c.Horizon, &c.Checkpoint, &c.Grace, &c.Migration.Move, &c.Migration.TaxFor, &c.SLA.Start, &c.SLA.Wait} {
		*d = d.Round(Resolution)
	}
	even := func(d time.Duration) bool { return d%Resolution == 0 }
	if slices.ContainsFunc(c.Jobs, func(j Job) bool {
		return !even(j.Arrival) || !even(j.Work) || !even(j.Write) || !even(j.Restart)
	}) {
		c.Jobs = slices.Clone(c.Jobs)
		for i := range c.Jobs {
			j := &c.Jobs[i]
			j.Arrival, j.Work = j.Arrival.Round(Resolution), j.Work.Round(Resolution)
			j.Write, j.Restart = j.Write.Round(Resolution), j.Restart.Round(Resolution)
		}
	}
	if slices.ContainsFunc(c.Faults, func(f Fault) bool { return !even(f.At) || !even(f.Repair) }) {
		c.Faults = slices.Clone(c.Faults)
		for i := range c.Faults {
			f := &c.Faults[i]
			f.At, f.Repair = f.At.Round(Resolution), max(Resolution, f.Repair.Round(Resolution))
		}
	}
	return c
}

// step handles everything that happens at the next instant, and tells whether there was one before the horizon.
func (s *sim) step() bool {
	a := &s.agenda
	if len(a.heap) == 0 || a.heap[0].at >= s.cfg.Horizon {
		return false
	}
	s.now = a.heap[0].at
	for len(a.heap) > 0 && a.heap[0].at == s.now {
		s.handle(a.pop())
	}
	s.schedule()
	s.sample()
	return true
}

func (s *sim) handle(e event) {
	switch e.kind {
	case evEnd:
		if s.liveAt[e.arg] >= 0 && s.run.Spans[e.arg].End == s.now { // else it was killed or delayed
			s.finished(e.arg)
		}
	case evArrive:
		s.enqueue(int(e.arg))
	case evFault:
		f := s.cfg.Faults[e.arg]
		s.agenda.plan(s.now+f.Repair, evRepair, int32(f.Node))
		s.fail(f)
	case evRepair:
		s.repair(int(e.arg))
	case evDeadline:
		if d := s.state[s.run.Spans[e.arg].Job].deadline; s.liveAt[e.arg] >= 0 && d == s.now {
			s.condemned(e.arg)
		}
	case evPromise:
		s.promise(int(e.arg))
	case evResume, evReplan: // schedule does the rest
	}
}

// open tells whether a node takes jobs: up, and not kept for a gang.
func (s *sim) open(node int) bool { return s.down[node] == 0 && s.kept[node] == 0 }

// change brackets a change of a node: the indexes forget it, f changes it, the indexes learn it again.
func (s *sim) change(node int, f func()) {
	s.index(node, -1)
	f()
	s.index(node, 1)
}

func (s *sim) index(node, by int) {
	k := bits.OnesCount16(s.free[node])
	if s.down[node] > 0 {
		return
	}
	s.histogram[k] += by
	if k == s.topo.GPUsPerNode {
		s.holeStale = true
		if by > 0 {
			s.empty.add(node)
		} else {
			s.empty.remove(node)
		}
	}
	if s.kept[node] > 0 {
		return
	}
	s.nodesWith[k] += by
	if by > 0 {
		s.byFree[k].add(node)
	} else {
		s.byFree[k].remove(node)
	}
}

func (s *sim) enqueue(job int) {
	j := s.jobs[job]
	for k := range s.queues {
		q := &s.queues[k]
		if q.priority == j.Priority {
			at, _ := slices.BinarySearch(q.waiting, int32(job))
			q.waiting = slices.Insert(q.waiting, at, int32(job))
		}
	}
	s.queued++
	s.state[job].since = s.now
	if j.ID == s.cfg.Big && s.run.Queue[job].FirstRun == Never {
		s.log(BigArrived, -1, j.ID, "%v arrives with priority %d and needs %v; %s GPUs are idle",
			s.name(job), j.Priority, s.need(j), count(s.idle))
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
	s.run.Queue[job].Wait += s.now - s.state[job].since
}

// start puts a waiting job on its place, which must be free: the callers have checked it.
func (s *sim) start(job, node int) {
	s.dequeue(job)
	st, j := &s.state[job], s.jobs[job]
	sp := Span{Job: job, Node: node, Nodes: s.topo.NodesFor(j.GPUs), Start: s.now, from: st.saved, redo: st.redo}
	if st.restarts {
		sp.restart = j.Restart
	}
	s.occupy(&sp)
	if w := &s.run.Queue[job]; w.FirstRun == Never {
		w.FirstRun = s.now
	}
	s.logStart(job, node)
	st.failed, st.said = false, [3]bool{}
}

// occupy takes the lowest free GPUs of the span's nodes and records the span.
func (s *sim) occupy(sp *Span) {
	j, full := s.jobs[sp.Job], uint16(1<<s.topo.GPUsPerNode-1)
	sp.Mask = full
	if sp.Nodes == 1 {
		sp.Mask = lowest(s.free[sp.Node], j.GPUs)
	}
	id := int32(len(s.run.Spans))
	for n := sp.Node; n < sp.Node+sp.Nodes; n++ {
		if s.free[n]&sp.Mask != sp.Mask || s.down[n] > 0 {
			panic(fmt.Sprintf("fleet: job %d takes GPUs of node %d that are not free", j.ID, n))
		}
		s.change(n, func() { s.free[n] &^= sp.Mask })
		s.onNode[n] = append(s.onNode[n], id)
	}
	s.working += sp.GPUs()
	s.idle -= sp.GPUs()
	sp.End = s.run.finish(sp)
	s.run.Spans = append(s.run.Spans, *sp)
	s.liveAt = append(s.liveAt, int32(len(s.live)))
	s.live = append(s.live, id)
	s.state[sp.Job].span = id
	s.agenda.plan(sp.End, evEnd, id)
}

// lowest is the n lowest bits that are set in free.
func lowest(free uint16, n int) (mask uint16) {
	for ; n > 0 && free != 0; n-- {
		bit := free & -free
		mask |= bit
		free &^= bit
	}
	return mask
}

// release frees the GPUs of a span that ends now.
func (s *sim) release(id int32, why Reason) *Span {
	sp := &s.run.Spans[id]
	sp.End, sp.Reason = s.now, why
	for n := sp.Node; n < sp.Node+sp.Nodes; n++ {
		s.change(n, func() { s.free[n] |= sp.Mask })
		at := slices.Index(s.onNode[n], id)
		s.onNode[n] = slices.Delete(s.onNode[n], at, at+1)
	}
	s.working -= sp.GPUs()
	s.idle += sp.GPUs()
	last := s.live[len(s.live)-1]
	s.live[s.liveAt[id]], s.liveAt[last] = last, s.liveAt[id]
	s.live, s.liveAt[id] = s.live[:len(s.live)-1], -1
	s.state[sp.Job].span = -1
	return sp
}

func (s *sim) finished(id int32) {
	sp := s.release(id, Done)
	s.run.Queue[sp.Job].Done = s.now
	s.state[sp.Job].deadline = Never
	if j := s.jobs[sp.Job]; j.ID == s.cfg.Big {
		s.log(BigDone, -1, j.ID, "%v has done its %s of work", s.name(sp.Job), FormatDuration(j.Work))
	}
}

// end kills a span and sends its job back to the queue. What it did since its last checkpoint is lost: that much is returned.
func (s *sim) end(id int32, why Reason) GPUTime {
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
	st.saved = sp.from + p.saved
	st.redo = lose(sp.redo, st.saved, sp.from+p.work, cause)
	st.restarts, st.deadline = true, Never
	lost := over(j.GPUs, p.work-p.saved)
	s.run.losses = append(s.run.losses, loss{s.now, lost, over(j.GPUs, j.Restart), cause})
	s.enqueue(sp.Job)
	return lost
}

func (s *sim) fail(f Fault) {
	n := f.Node
	first := s.down[n] == 0
	var lost GPUTime
	var hit []int
	for len(s.onNode[n]) > 0 { // none if the node was down already
		id := s.onNode[n][0]
		hit = append(hit, s.jobs[s.run.Spans[id].Job].ID)
		lost += s.end(id, Killed)
	}
	s.change(n, func() { s.down[n]++ })
	if first {
		s.idle -= s.topo.GPUsPerNode
		s.failed += s.topo.GPUsPerNode
		s.outage[n] = int32(len(s.run.Outages))
		s.run.Outages = append(s.run.Outages, Outage{Node: n, Start: s.now, End: s.cfg.Horizon})
	}
	s.run.failures = append(s.run.failures, s.now)
	s.logFailure(f, hit, lost)
}

func (s *sim) repair(n int) {
	s.change(n, func() { s.down[n]-- })
	if s.down[n] > 0 {
		return
	}
	s.idle += s.topo.GPUsPerNode
	s.failed -= s.topo.GPUsPerNode
	s.run.Outages[s.outage[n]].End = s.now
	s.log(NodeRepaired, n, 0, "%s is back after %s", s.where(n), FormatDuration(s.now-s.run.Outages[s.outage[n]].Start))
}

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
			return
		}
		if d.Node != Wait {
			s.cancelPlan(d.Job, "it found another place")
			s.start(d.Job, d.Node)
			continue
		}
		if !s.help(d.Job) {
			return
		}
	}
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
	if st := s.state[d.Job]; st.span >= 0 || s.run.Queue[d.Job].Done != Never || j.Arrival > s.now {
		return bad("job %d is not in the queue", j.ID)
	}
	if d.Node == Wait {
		return nil
	}
	nodes := s.topo.NodesFor(j.GPUs)
	if d.Node < 0 || d.Node+nodes > len(s.free) {
		return bad("job %d on node %d: must be between 0 and %d, or Wait", j.ID, d.Node, len(s.free)-nodes)
	}
	need := j.GPUs
	if nodes > 1 {
		need = s.topo.GPUsPerNode
	}
	for n := d.Node; n < d.Node+nodes; n++ {
		if free := (View{s}).Free(n); free < need {
			return bad("job %d needs %d GPUs of node %d, which has %d free", j.ID, need, n, free)
		}
	}
	return nil
}

// sample records the state of the fleet after an instant, and carries the integrals on.
func (s *sim) sample() {
	if s.working+s.idle+s.failed != s.topo.GPUs() {
		panic(fmt.Sprintf("fleet: %d working, %d idle and %d failed GPUs at %v are not %d", s.working, s.idle, s.failed, s.now, s.topo.GPUs()))
	}
	if s.holeStale {
		s.hole, s.holeLen = s.empty.longestRun()
		s.holeStale = false
	}
	n := Sample{At: s.now, Working: s.working, Idle: s.idle, Failed: s.failed, Queued: s.queued, LargestHole: s.holeLen}
	for k, nodes := range s.histogram {
		n.FGD += float64(nodes) * s.fgdWeight[k]
	}
	if last := len(s.run.Samples) - 1; last >= 0 {
		n.integrate(&s.run.Samples[last], s.topo.GPUsPerNode)
		if s.run.Samples[last].At == s.now {
			s.run.Samples = s.run.Samples[:last]
		}
	}
	s.run.Samples = append(s.run.Samples, n)
}

// close ends what still runs at the horizon.
func (s *sim) close() {
	s.now = s.cfg.Horizon
	for _, id := range s.live {
		sp := &s.run.Spans[id]
		if sp.End > s.now {
			sp.End, sp.Reason = s.now, Horizon
		} else {
			s.run.Queue[sp.Job].Done = s.now
		}
	}
	for _, q := range s.queues {
		for _, i := range q.waiting {
			s.run.Queue[i].Wait += s.now - s.state[i].since
		}
	}
	s.logPromise()
}
