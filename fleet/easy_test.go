package fleet_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/scenario"
)

// dumbEASY is EASY with nothing remembered and nothing clever: everything is worked out anew, from what any policy may see. It knows jobs
// on one node, gangs of consecutive nodes and gangs that may have any nodes.
type dumbEASY struct{}

func (dumbEASY) Decide(v fleet.View) fleet.Decision {
	var head *fleet.Reservation
	waits := fleet.Decision{Job: fleet.Nobody, Node: fleet.Wait}
	for i, j := range v.Queue() {
		var avoid []int
		inTime := head == nil || head.At == fleet.Never || j.Limit > 0 && v.Now()+j.Limit <= head.At
		if !inTime && j.GPUs > head.Spare {
			avoid = head.Nodes
		}
		if nodes := dumbPlace(v, j, avoid); nodes != nil {
			return fleet.Decision{Job: i, Node: nodes[0], Nodes: nodes}
		}
		if head == nil {
			r := dumbReservation(v, j)
			head, waits.Job = &r, i
		}
	}
	return waits
}

// dumbPlace is first fit.
func dumbPlace(v fleet.View, j fleet.Job, avoid []int) []int {
	return lowestPlace(v, j, func(n, gpus int) bool { return v.Free(n) >= gpus && !slices.Contains(avoid, n) })
}

// lowestPlace is the lowest nodes that will do for a job, all in one rack or pod if it asks for that.
func lowestPlace(v fleet.View, j fleet.Job, fits func(n, gpus int) bool) (nodes []int) {
	gpus := min(j.GPUs, v.GPUsPerNode())
	if j.GPUs > v.GPUsPerNode() {
		gpus = v.GPUsPerNode()
	}
	for n := range v.Nodes() {
		if gang := j.GPUs > v.GPUsPerNode(); gang && near(j) != fleet.Contiguous && n%domain(v.Topology(), near(j)) == 0 {
			nodes = nil
		}
		switch {
		case fits(n, gpus):
			nodes = append(nodes, n)
		case near(j) == fleet.Contiguous:
			nodes = nil
		}
		if len(nodes) == v.Topology().NodesFor(j.GPUs) {
			return nodes
		}
	}
	return nil
}

// dumbReservation tries each expected end as the shadow time.
func dumbReservation(v fleet.View, j fleet.Job) fleet.Reservation {
	var ends []time.Duration
	for _, s := range v.Running() {
		if s.Ends != fleet.Never {
			ends = append(ends, s.Ends)
		}
	}
	slices.Sort(ends)
	for _, at := range ends {
		free := make([]int, v.Nodes())
		for n := range free {
			free[n] = v.Free(n)
		}
		for _, s := range v.Running() {
			for _, n := range s.Nodes {
				if s.Ends != fleet.Never && s.Ends <= at {
					free[n] += s.GPUs
				}
			}
		}
		nodes := lowestPlace(v, j, func(n, gpus int) bool { return free[n] >= gpus })
		switch {
		case nodes == nil:
			continue
		case len(nodes) == 1 && j.GPUs <= v.GPUsPerNode():
			return fleet.Reservation{At: at, Nodes: nodes, Spare: free[nodes[0]] - j.GPUs}
		case near(j) != fleet.Contiguous: // those that are busy now first
			size := domain(v.Topology(), near(j))
			from := nodes[0] / size * size
			nodes = nil
			for n := from; n < from+size; n++ {
				if free[n] == v.GPUsPerNode() {
					nodes = append(nodes, n)
				}
			}
			slices.SortStableFunc(nodes, func(a, b int) int {
				return cmp.Compare(v.Free(a)/v.GPUsPerNode(), v.Free(b)/v.GPUsPerNode())
			})
			nodes = nodes[:v.Topology().NodesFor(j.GPUs)]
			slices.Sort(nodes)
		}
		return fleet.Reservation{At: at, Nodes: nodes}
	}
	return fleet.Reservation{At: fleet.Never}
}

// near is the locality that a job really needs.
func near(j fleet.Job) fleet.Locality {
	if j.Prefer {
		return fleet.Anywhere
	}
	return j.Locality
}

// countingEASY is the rule by counting processors, as the literature has it: one GPU per node, any nodes will do.
type countingEASY struct{}

func (countingEASY) Decide(v fleet.View) fleet.Decision {
	var free []int
	for n := range v.Nodes() {
		if v.Free(n) > 0 {
			free = append(free, n)
		}
	}
	head, shadow, spare := fleet.Nobody, fleet.Never, 0
	for i, j := range v.Queue() {
		inTime := head == fleet.Nobody || shadow == fleet.Never || j.Limit > 0 && v.Now()+j.Limit <= shadow
		if j.GPUs <= len(free) && (inTime || j.GPUs <= spare) {
			return fleet.Decision{Job: i, Node: free[0], Nodes: free[:j.GPUs]}
		}
		if head != fleet.Nobody {
			continue
		}
		head = i
		var ends []time.Duration
		for _, s := range v.Running() {
			for range s.Nodes {
				if s.Ends != fleet.Never {
					ends = append(ends, s.Ends)
				}
			}
		}
		slices.Sort(ends)
		if need := j.GPUs - len(free); need <= len(ends) {
			shadow = ends[need-1]
			for _, e := range ends {
				if e <= shadow {
					spare++
				}
			}
			spare += len(free) - j.GPUs
		}
	}
	return fleet.Decision{Job: head, Node: fleet.Wait}
}

// ownEASY is EASY as a policy of one's own has it, from the parts that View offers.
type ownEASY struct{}

func (ownEASY) Decide(v fleet.View) fleet.Decision {
	waits := fleet.Decision{Job: fleet.Nobody, Node: fleet.Wait}
	var held fleet.Reservation // of the head
	for i, j := range v.Queue() {
		avoid := held.Nodes
		if j.Limit > 0 && v.Now()+j.Limit <= held.At || j.GPUs <= held.Spare {
			avoid = nil // gone by then, or small enough
		}
		if nodes := v.Place(j, fleet.FitFirst, avoid...); nodes != nil {
			return fleet.Decision{Job: i, Node: nodes[0], Nodes: nodes}
		}
		if waits.Job == fleet.Nobody {
			waits.Job, held = i, v.Reservation(j)
		}
	}
	return waits
}

// backlog draws a queue that is always long: jobs on one node and gangs of the given localities, limits above, at and below the run
// time or missing, checkpoints that make runs longer, and nodes that fail.
func backlog(seed uint64, topo fleet.Topology, localities ...fleet.Locality) fleet.Config {
	rng := rand.New(rand.NewPCG(seed, 7))
	c := fleet.Default()
	c.Topology, c.Policy = topo, fleet.EASY
	c.Horizon, c.Checkpoint = 10*24*time.Hour, 20*time.Minute
	g, nodes := topo.GPUsPerNode, topo.Nodes()
	var at time.Duration
	for id := 1; id <= 120; id++ {
		at += time.Duration(rng.IntN(10)) * time.Minute
		j := fleet.Job{
			ID: id, GPUs: 1 + rng.IntN(g), Arrival: at, Work: time.Duration(1+rng.IntN(180)) * time.Minute,
			Write: time.Duration(rng.IntN(3)) * time.Minute, Restart: time.Minute,
		}
		if rng.IntN(3) == 0 && nodes > 1 {
			j.GPUs, j.Locality = g+1+rng.IntN(g*(nodes-1)), localities[rng.IntN(len(localities))]
		}
		j.Limit = time.Duration([]float64{0, 0.5, 1, 1, 1.5, 3, 3}[rng.IntN(7)] * float64(j.Work))
		c.Jobs = append(c.Jobs, j)
	}
	at = 0
	for range rng.IntN(6) {
		at += time.Duration(rng.IntN(300)) * time.Minute
		c.Faults = append(c.Faults, fleet.Fault{Node: rng.IntN(nodes), At: at, Repair: time.Duration(1+rng.IntN(300)) * time.Minute})
	}
	return c
}

func sameStarts(t *testing.T, seed uint64, got, want *fleet.Run) {
	t.Helper()
	for i := range got.Queue {
		if got.Queue[i] != want.Queue[i] {
			t.Fatalf("seed %d: job %d (%d GPUs): %+v, by the slow way %+v", seed, got.Config.Jobs[i].ID, got.Config.Jobs[i].GPUs, got.Queue[i], want.Queue[i])
		}
	}
}

// EASY with its forecasts, which are kept up to date, gives the runs of one that works everything out anew.
func TestEASYAgreesWithTheSlowWay(t *testing.T) {
	overtaken := 0
	for seed := range uint64(150) {
		topo := fleet.Topology{Pods: 1, RacksPerPod: 2, NodesPerRack: 2 + int(seed%6), GPUsPerNode: []int{1, 2, 4, 8}[seed%4]}
		c := backlog(seed, topo, fleet.Contiguous, fleet.Contiguous, fleet.SameRack, fleet.Anywhere)
		fast := simulate(t, c)
		for _, c.Policy = range []fleet.Policy{dumbEASY{}, ownEASY{}} {
			sameStarts(t, seed, fast, simulate(t, c))
		}
		overtaken += overtakers(fast)
	}
	if overtaken < 1000 {
		t.Errorf("%d jobs overtook another", overtaken)
	}
}

// auditing compares the reservations of the first jobs of the queue with those worked out anew.
type auditing struct {
	fleet.Policy
	t        *testing.T
	jobs     int
	compared *int
}

func (a auditing) Decide(v fleet.View) fleet.Decision {
	left := a.jobs
	for _, j := range v.Queue() {
		got, want := v.Reservation(j), dumbReservation(v, j)
		fitsNow := dumbPlace(v, j, nil) != nil // then there is nothing to foresee
		if !fitsNow && (got.At != want.At || got.Spare != want.Spare || !slices.Equal(got.Nodes, want.Nodes)) {
			a.t.Fatalf("at %v for job %d (%d GPUs, %v): %+v, worked out anew %+v", v.Now(), j.ID, j.GPUs, j.Locality, got, want)
		}
		*a.compared++
		if left--; left == 0 {
			break
		}
	}
	return a.Policy.Decide(v)
}

// Forecasts are right through failures, evictions, migrations and rescaling, whatever the policy.
func TestReservationsAreKeptUpToDate(t *testing.T) {
	compared := 0
	for seed := range uint64(60) {
		c := random(seed)
		c.Grace = 0 // which nodes are kept for a plan is not for a policy to see
		c.Policy = auditing{c.Policy, t, 1 + int(seed%2), &compared}
		simulate(t, c)
	}
	if compared < 10_000 {
		t.Errorf("%d reservations compared", compared)
	}
}

// A reservation of nodes leaves to others what the rule by counting processors leaves.
func TestEASYAnywhereIsTheCountingRule(t *testing.T) {
	overtaken := 0
	for seed := range uint64(150) {
		topo := fleet.Topology{Pods: 1, RacksPerPod: 1, NodesPerRack: 3 + int(seed%30), GPUsPerNode: 1}
		c := backlog(seed, topo, fleet.Anywhere)
		c.Faults = nil // the rule counts nodes and does not say which: a fault would hit other jobs
		fast := simulate(t, c)
		c.Policy = countingEASY{}
		sameStarts(t, seed, fast, simulate(t, c))
		overtaken += overtakers(fast)
	}
	if overtaken < 1000 {
		t.Errorf("%d jobs overtook another", overtaken)
	}
}

func overtakers(r *fleet.Run) (n int) {
	latest := time.Duration(0)
	for _, q := range r.Queue {
		if q.FirstRun < latest {
			n++
		}
		latest = max(latest, q.FirstRun)
	}
	return n
}

// watching notes what EASY first promises to each job that is at the head of the queue.
type watching struct {
	first map[int]time.Duration // by job
	fit   fleet.Fit
}

func (w watching) Decide(v fleet.View) fleet.Decision {
	d := fleet.Queueing{Backfill: fleet.Reserve, Fit: w.fit}.Decide(v)
	for i, j := range v.Queue() {
		if _, known := w.first[i]; !known && d.Job != i {
			if r := v.Reservation(j); r.At != fleet.Never {
				w.first[i] = r.At
			}
		}
		break
	}
	return d
}

// With exact limits and no failures nobody who passes delays the head beyond the time that was first promised to it.
func TestEASYKeepsItsPromise(t *testing.T) {
	promises, early := 0, 0
	for seed := range uint64(200) {
		topo := fleet.Topology{Pods: 2, RacksPerPod: 2, NodesPerRack: 1 + int(seed%5), GPUsPerNode: []int{1, 2, 4, 8}[seed%4]}
		c := backlog(seed, topo, fleet.Contiguous, fleet.SameRack, fleet.SamePod, fleet.Anywhere)
		c.Faults = nil
		for i := range c.Jobs {
			j := &c.Jobs[i]
			j.Write, j.Limit = 0, j.Work
			if i%3 == 0 {
				j.Limit += time.Hour // too much is no breach
			}
			if j.GPUs > topo.GPUsPerNode { // or it fits into no domain
				j.GPUs = min(j.GPUs, domain(topo, j.Locality)*topo.GPUsPerNode)
			}
		}
		w := watching{first: map[int]time.Duration{}, fit: fleet.Fit(seed % 3)}
		c.Policy = w
		r := simulate(t, c)
		for i, promised := range w.first {
			switch start := r.Queue[i].FirstRun; {
			case start == fleet.Never || start > promised:
				t.Fatalf("seed %d: job %d starts at %v, promised %v", seed, c.Jobs[i].ID, start, promised)
			case start < promised:
				early++
			}
			promises++
		}
	}
	if promises < 1000 || early < 100 {
		t.Errorf("%d promises, %d starts before", promises, early)
	}
}

// Under EASY the preemption switch lets only the big job kill, and defragmentation works, as under the other policies.
func TestEASYWithTheSwitches(t *testing.T) {
	for _, grace := range []time.Duration{0, 10 * time.Minute} {
		c := actI(1.5)
		c.Grace = grace
		idle := simulate(t, c).Ledger()
		c.Preempt = true
		kill := simulate(t, c).Ledger()
		c.Preempt, c.Defrag = false, true
		move := simulate(t, c).Ledger()
		t.Logf("grace %v: the big job waits %v; %v with preemption, %v with migration; students' median %v", grace, idle.BigWait, kill.BigWait, move.BigWait, idle.StudentMedian)
		if idle.BigStart != fleet.Never || kill.BigWait != grace || kill.Evictions == 0 || move.BigWait == 0 || move.BigStart == fleet.Never || move.Migrations == 0 {
			t.Errorf("grace %v: starts at %v, %v after %d evictions, %v after %d migrations",
				grace, idle.BigStart, kill.BigStart, kill.Evictions, move.BigStart, move.Migrations)
		}
	}
}

// S6 KAI-Scheduler#1969: a steady stream of small jobs starves the large gang. Under EASY the reservation holds, and it starts by its
// shadow time; if everybody may pass it never does.
func TestS6ReservationHoldsAgainstAStreamOfSmallJobs(t *testing.T) {
	c := small(4)
	for n := range 1400 {
		at := time.Duration(n) * time.Minute
		c.Jobs = append(c.Jobs, fleet.Job{ID: n + 1, GPUs: 1, Arrival: at, Work: 40 * time.Minute, Limit: time.Hour})
		if n == 100 {
			c.Jobs = append(c.Jobs, fleet.Job{ID: 9999, GPUs: 16, Arrival: at, Work: time.Hour, Limit: time.Hour})
		}
	}
	const gang = 101
	w := watching{first: map[int]time.Duration{}}
	c.Policy = w
	r := simulate(t, c)
	if promised := w.first[gang]; promised == 0 || promised > 200*time.Minute || r.Queue[gang].FirstRun > promised {
		t.Errorf("the gang starts at %v, promised %v", r.Queue[gang].FirstRun, promised)
	}
	c.Policy = fleet.EASY
	r = simulate(t, c)
	wantIncident(t, r, fleet.BigWaits, "job 9999 waits: needs 2 consecutive nodes", " reserved for it, free in ")
	passed := 0
	for _, q := range r.Queue[gang+1:] {
		passed += b2i(q.FirstRun >= 0 && q.FirstRun < r.Queue[gang].FirstRun)
	}
	if passed == 0 {
		t.Error("nobody passed the gang: this is no backfill")
	}
	c.Policy = fleet.Queueing{Name: "greedy", Backfill: fleet.Greedy}
	if r = simulate(t, c); r.Queue[gang].FirstRun != fleet.Never {
		t.Errorf("without a reservation the gang starts at %v: the stream is no stream", r.Queue[gang].FirstRun)
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// domain is the number of nodes in a rack, a pod or the fleet.
func domain(t fleet.Topology, l fleet.Locality) int {
	switch l {
	case fleet.SameRack:
		return t.NodesPerRack
	case fleet.SamePod:
		return t.NodesPerRack * t.RacksPerPod
	default:
		return t.Nodes()
	}
}

// actI is the day of Act I with what its users might have asked for: factor × the run time.
func actI(factor float64) fleet.Config {
	c := fleet.Default()
	c.Policy = fleet.EASY
	c = scenario.Fragmented(c)
	for i := range c.Jobs {
		c.Jobs[i].Limit = time.Duration(factor * float64(c.Jobs[i].Work))
	}
	return c
}

// A lever must feel instant under EASY too, whose head waits for hours: make bench shows the time against the limit of 50 ms.
func BenchmarkActI(b *testing.B) {
	for _, factor := range []float64{0, 1, 1.5, 3} {
		b.Run(fmt.Sprintf("EASY/limit=%g×work", factor), func(b *testing.B) {
			c := actI(factor)
			b.ReportAllocs()
			for b.Loop() {
				simulate(b, c)
			}
		})
	}
}
