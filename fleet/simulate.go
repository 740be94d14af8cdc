package fleet

import (
	"cmp"
	"fmt"
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
	changes               int           // how often a node has changed
	hopeless              int           // the job that evicting and migrating were last found to be of no help to, or Nobody
	inVain                int           // changes at that time
	replanAt              time.Duration // not before this instant is that looked at again
	replanning            bool          // an event for it is planned
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
		run:  &Run{Config: c, Queue: make([]Waiting, len(c.Jobs))},
		jobs: c.Jobs, topo: t, replanAt: Never, pausedUntil: Never, hopeless: Nobody,
		free: make([]uint16, n), down: make([]int32, n), outage: make([]int32, n), kept: make([]int32, n), onNode: make([][]int32, n),
		byFree: make([]bitset, g+1), nodesWith: make([]int, g+1), histogram: make([]int, g+1), empty: newBitset(n), holeLen: n,
		state: make([]jobState, len(c.Jobs)), idle: t.GPUs(),
		agenda: agenda{jobs: c.Jobs, faults: c.Faults},
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
	s.sample()
	return s
}

// enlist makes the jobs' states and one queue for each priority.
func (s *sim) enlist() {
	for i, j := range s.jobs {
		s.state[i] = jobState{deadline: Never, span: -1}
		s.run.Queue[i] = Waiting{FirstRun: Never, Done: Never}
		if j.ID == s.cfg.Big {
			s.run.big = i
			s.agenda.plan(j.Arrival+s.cfg.SLA.Start+Resolution, evPromise, int32(i))
		}
		if !slices.ContainsFunc(s.queues, func(q queue) bool { return q.priority == j.Priority }) {
			s.queues = append(s.queues, queue{priority: j.Priority})
		}
	}
	slices.SortFunc(s.queues, func(a, b queue) int { return cmp.Compare(b.priority, a.priority) })
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
	first, some := s.agenda.next()
	if !some || first.at >= s.cfg.Horizon {
		return false
	}
	s.now = first.at
	for e := first; some && e.at == s.now; e, some = s.agenda.next() {
		s.handle(s.agenda.take())
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
