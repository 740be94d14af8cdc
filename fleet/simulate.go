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
	fullMask  uint16    // all GPUs of a node
	free      []uint16  // GPUs that nobody holds, one bit each, whether they work or not
	broken    []uint16  // GPUs that are down
	faults    []int32   // by GPU: faults not yet repaired
	outages   [][]int32 // by node: the open entries of run.Outages
	taints    []corruption
	kept      []int32 // plan that keeps the node for a gang, plus 1; 0 for none
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
	queues []queue // one for each priority and team that occur, highest priority first
	live   []int32 // spans that run, unordered
	liveAt []int32 // where a span stands in live
	plans  []evictionPlan
	teams  []account // one per team, from 1, and one for the jobs without a team; nil if there are none
	decay  uint64    // see decayOf

	// What policies look up.
	forecasts []*forecast // by GPUs per node, those that were asked for
	reserved  bitset      // the nodes of EASY's reservation, during one decision
	scratch   bitset      // free nodes that are not to be avoided, during one search

	working, stranded, idle, failed int
	queued                          int
	sizes                           []int32   // how many jobs wait, by GPUs
	smallest                        int       // the fewest GPUs that a waiting job needs; more than there are if none waits
	trainings                       []int     // all training jobs
	wounded                         []int     // those that lost nodes at this instant
	fgdWeight                       []float64 // by number of free GPUs: GPUs of such a node that FGD counts as fragmented
	pausedUntil                     time.Duration
	changes                         int           // how often a node has changed
	hopeless                        int           // the job that evicting and migrating were last found to be of no help to, or Nobody
	inVain                          int           // changes at that time
	exemptAt                        time.Duration // when an eviction for it becomes possible, as its victims will not be exempt any more, or forever
	replanAt                        time.Duration // not before this instant is that looked at again
	replanning                      bool          // an event for it is planned
}

// jobState is what the simulation knows about a job that Config.Jobs does not.
type jobState struct {
	saved    time.Duration // work in its last checkpoint
	redo     []redo
	since    time.Duration  // when it last entered the queue
	deadline time.Duration  // condemned to end then, or Never
	began    time.Duration  // start of this attempt, later by the time that the fleet stood still since
	span     int32          // the span that runs, or -1
	restarts bool           // it was killed before: the next span begins with a restart
	failed   bool           // the last kill was a node's fault
	booked   bool           // on its team's account
	training *trainingState // of training jobs only
	said     [sorts]bool    // what was logged since it last entered the queue
}

func newSim(c Config) *sim {
	c = inSteps(c)
	t := c.Topology
	n, g := t.Nodes(), t.GPUsPerNode
	s := &sim{
		run:  &Run{Config: c, Queue: make([]Waiting, len(c.Jobs))},
		jobs: c.Jobs, topo: t, replanAt: Never, pausedUntil: Never, hopeless: Nobody, exemptAt: forever,
		fullMask: 1<<g - 1, free: make([]uint16, n), broken: make([]uint16, n), faults: make([]int32, n*g), outages: make([][]int32, n),
		kept: make([]int32, n), onNode: make([][]int32, n),
		byFree: make([]bitset, g+1), nodesWith: make([]int, g+1), histogram: make([]int, g+1), empty: newBitset(n), holeLen: n, reserved: newBitset(n), scratch: newBitset(n),
		state: make([]jobState, len(c.Jobs)), idle: t.GPUs(), sizes: make([]int32, t.GPUs()+1), smallest: t.GPUs() + 1,
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
		s.free[i] = s.fullMask
		s.byFree[g].add(i)
		s.empty.add(i)
		s.onNode[i] = onNode[i*g : i*g : (i+1)*g]
	}
	s.nodesWith[g], s.histogram[g] = n, n
	s.enlist()
	s.openAccounts()
	s.fgdWeight = fgdWeights(c)
	s.sample()
	return s
}

// enlist makes the jobs' states and one queue for each priority.
func (s *sim) enlist() {
	for i, j := range s.jobs {
		s.state[i] = jobState{deadline: Never, span: -1}
		s.run.Queue[i] = Waiting{FirstRun: Never, Done: Never, GaveUp: Never}
		if j.Train != nil {
			s.state[i].training = &trainingState{asked: -1}
			s.trainings = append(s.trainings, i)
		}
		if j.ID == s.cfg.Big {
			s.run.big = i
			s.agenda.plan(j.Arrival+s.cfg.SLA.Start+Resolution, evPromise, int32(i))
		}
		if !slices.ContainsFunc(s.queues, func(q queue) bool { return q.priority == j.Priority && q.team == j.Team }) {
			s.queues = append(s.queues, queue{priority: j.Priority, team: j.Team})
		}
	}
	slices.SortFunc(s.queues, func(a, b queue) int { return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.team, b.team)) })
}

// inSteps rounds every time to the resolution, so that GPU-time is a whole number.
func inSteps(c Config) Config {
	roundAll(&c.Horizon, &c.Checkpoint, &c.Grace, &c.Exempt, &c.Migration.Move, &c.Migration.TaxFor, &c.SLA.Start, &c.SLA.Wait)
	c.Jobs = rounded(c.Jobs, Job.inSteps)
	c.Faults = rounded(c.Faults, Fault.inSteps)
	return c
}

func roundAll(times ...*time.Duration) {
	for _, d := range times {
		*d = d.Round(Resolution)
	}
}

// rounded is a list with each element rounded: a new list only if that changes one.
func rounded[T comparable](list []T, inSteps func(T) T) []T {
	given := true
	for i, x := range list {
		if y := inSteps(x); y != x {
			if given {
				list, given = slices.Clone(list), false
			}
			list[i] = y
		}
	}
	return list
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
	if s.now == s.pausedUntil && len(s.wounded) == 0 {
		s.schedule() // the hole that the migration made is for the job that waits
	}
	s.regroup()
	s.schedule()
	if s.grow() { // a plan that was given up has left nodes
		s.schedule()
	}
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
		if s.cfg.Faults[e.arg].Silent > 0 {
			s.corrupt(e.arg)
		} else {
			s.strike(e.arg)
		}
	case evNotice:
		s.strike(e.arg)
	case evRepair:
		s.repair(e.arg)
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
	if s.working+s.stranded+s.idle+s.failed != s.topo.GPUs() {
		panic(fmt.Sprintf("fleet: %d working, %d stranded, %d idle and %d failed GPUs at %v are not %d",
			s.working, s.stranded, s.idle, s.failed, s.now, s.topo.GPUs()))
	}
	if s.holeStale {
		s.hole, s.holeLen = s.empty.longestRun()
		s.holeStale = false
	}
	n := Sample{At: s.now, Working: s.working, Stranded: s.stranded, Idle: s.idle, Failed: s.failed, Queued: s.queued, LargestHole: s.holeLen}
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
	for i := range s.state {
		if s.run.Queue[i].Done == Never {
			s.settleRedo(i)
		}
	}
	s.logPromise()
}

// settleRedo notes what a job lost and has not done again.
func (s *sim) settleRedo(job int) {
	list, progress := s.state[job].redo, s.state[job].saved
	if id := s.state[job].span; id >= 0 {
		sp := &s.run.Spans[id]
		list, progress = sp.redo, sp.from+s.run.pace(sp, s.now).work
	}
	for _, r := range list {
		if r.upTo > progress {
			s.run.undone = append(s.run.undone, undone{job, over(s.jobs[job].GPUs, r.upTo-progress), r.part})
			progress = r.upTo
		}
	}
}
