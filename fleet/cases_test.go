package fleet_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
)

// Failures of other schedulers and simulators, as inputs for this one. The numbers S1 … name the kind; links are GitHub issues or
// pull requests of OWNER/REPO.

// incident returns the first incident of a kind.
func incident(r *fleet.Run, kind fleet.Kind) (fleet.Incident, bool) {
	for _, i := range r.Incidents {
		if i.Kind == kind {
			return i, true
		}
	}
	return fleet.Incident{}, false
}

// wantIncident asserts that there is an incident of this kind that says all of these.
func wantIncident(t *testing.T, r *fleet.Run, kind fleet.Kind, says ...string) {
	t.Helper()
	i, ok := incident(r, kind)
	if !ok {
		t.Fatalf("no incident of kind %q in %v", kind, r.Incidents)
	}
	for _, want := range says {
		if !strings.Contains(i.Text, want) {
			t.Errorf("incident %q does not say %q", i.Text, want)
		}
	}
}

// fill puts one long job of one GPU on each of the nodes from first to before last: first fit sends 8 jobs to each node, so the
// other 7 end after ten seconds.
func fill(c *fleet.Config, nodes int, hold func(node int) (work time.Duration, priority int)) {
	for n := range nodes {
		work, priority := hold(n)
		for g := range 8 {
			w := 10 * time.Second
			if g == 0 {
				w = work
			}
			c.Jobs = append(c.Jobs, fleet.Job{ID: n*8 + g + 1, GPUs: 1, Arrival: time.Duration(n*8+g) * time.Millisecond, Work: w, Priority: priority, Restart: time.Minute})
		}
	}
}

// bigAt adds the 1,000-GPU job.
func bigAt(c *fleet.Config, at time.Duration) {
	c.Jobs = append(c.Jobs, fleet.Job{ID: 1_000_000, GPUs: 1000, Arrival: at, Work: time.Hour, Priority: 10})
	c.Big = 1_000_000
}

func evictions(r *fleet.Run) (n int) {
	for _, q := range r.Queue {
		n += q.Evicts
	}
	return n
}

// S1 kueue#5243, volcano#5026: nobody is evicted if the gang would not fit even then, and the incident says so.
func TestS1NoEvictionThatDoesNotHelp(t *testing.T) {
	for _, policy := range []fleet.Policy{fleet.FCFS, fleet.BestFit, fleet.Preemption} {
		c := small(300)
		c.Policy, c.Preempt = policy, true
		fill(&c, 300, func(n int) (time.Duration, int) {
			if n%124 == 100 { // in every run of 125 nodes sits one of higher priority
				return 100 * time.Hour, 11
			}
			return 100 * time.Hour, 0
		})
		bigAt(&c, time.Hour)
		r := simulate(t, c)
		if n := evictions(r); n != 0 {
			t.Errorf("%v: %d jobs evicted", policy, n)
		}
		wantIncident(t, r, fleet.NoEviction, "nobody is evicted for job 1000000", "125 consecutive")
	}
}

// S2 volcano#5984: needed one victim, took ten.
func TestS2OneVictimIsEnough(t *testing.T) {
	c := small(300)
	c.Preempt = true
	c.Checkpoint = 24 * time.Hour
	fill(&c, 300, func(n int) (time.Duration, int) {
		if n >= 100 && n < 224 {
			return 10 * time.Second, 0 // becomes a hole of 124 nodes
		}
		return 100 * time.Hour, 0
	})
	bigAt(&c, 5*time.Hour)
	r := simulate(t, c)
	if n := evictions(r); n != 1 {
		t.Fatalf("%d jobs evicted, one was enough", n)
	}
	if i := len(c.Jobs) - 1; r.Queue[i].FirstRun != 5*time.Hour {
		t.Errorf("the gang starts at %v", r.Queue[i].FirstRun)
	}
	if r.Queue[99*8].Evicts+r.Queue[224*8].Evicts != 1 {
		t.Error("the victim is not beside the hole")
	}
}

// S2 on one node: a job of 4 GPUs takes no more victims than it needs.
func TestS2OneVictimOnANode(t *testing.T) {
	c := small(1)
	c.Policy = fleet.Preemption
	for i, gpus := range []int{1, 1, 1, 1, 4} {
		c.Jobs = append(c.Jobs, fleet.Job{ID: i + 1, GPUs: gpus, Work: 10 * time.Hour})
	}
	c.Jobs = append(c.Jobs, fleet.Job{ID: 9, GPUs: 4, Work: time.Hour, Arrival: time.Hour, Priority: 1})
	r := simulate(t, c)
	if n := evictions(r); n != 1 && n != 4 || r.Queue[5].FirstRun != time.Hour {
		t.Fatalf("%d evicted, the urgent job starts at %v", n, r.Queue[5].FirstRun)
	}
	if r.Queue[4].Evicts == 1 && r.Queue[0].Evicts == 1 {
		t.Error("took victims that it did not need")
	}
}

// S3 volcano#3291: preempted although empty nodes were there.
func TestS3NoEvictionBesideAHole(t *testing.T) {
	for _, policy := range []fleet.Policy{fleet.FCFS, fleet.BestFit, fleet.Preemption} {
		c := small(300)
		c.Policy, c.Preempt = policy, true
		fill(&c, 170, func(int) (time.Duration, int) { return 100 * time.Hour, 0 }) // leaves 130
		bigAt(&c, time.Hour)
		r := simulate(t, c)
		if n := evictions(r); n != 0 || r.Queue[len(c.Jobs)-1].FirstRun != time.Hour {
			t.Errorf("%v: %d evicted, the gang starts at %v", policy, n, r.Queue[len(c.Jobs)-1].FirstRun)
		}
	}
}

// S4 kueue#4329: quota fits, topology doesn't.
func TestS4EnoughGPUsButNoRun(t *testing.T) {
	c := fleet.Default()
	fill(&c, 1250, func(int) (time.Duration, int) { return 100 * time.Hour, 0 })
	bigAt(&c, time.Hour)
	r := simulate(t, c)
	if s := r.At(time.Hour); s.Idle < 2000 || s.LargestHole != 0 {
		t.Fatalf("%d GPUs idle, largest hole %d", s.Idle, s.LargestHole)
	}
	if r.Queue[len(c.Jobs)-1].FirstRun != fleet.Never {
		t.Error("the gang started without a place")
	}
	wantIncident(t, r, fleet.BigWaits, "needs 125 consecutive nodes", "largest hole 0", "8,750 GPUs are idle")
}

// S5 scheduler-plugins#117, koordinator#872: two gangs each hold half and wait for ever.
func TestS5GangsHoldAllOrNothing(t *testing.T) {
	for _, policy := range []fleet.Policy{fleet.FCFS, fleet.BestFit, fleet.Preemption} {
		c := small(125)
		c.Policy = policy
		c.Jobs = []fleet.Job{{ID: 1, GPUs: 700, Work: 2 * time.Hour}, {ID: 2, GPUs: 700, Work: 2 * time.Hour}}
		r := simulate(t, c)
		if s := r.At(time.Hour); s.Working != 700 || s.Stranded != 4 || s.Queued != 1 {
			t.Errorf("%v: after an hour %d GPUs work, %d are stranded and %d jobs wait", policy, s.Working, s.Stranded, s.Queued)
		}
		if r.Queue[0].Done != 2*time.Hour || r.Queue[1].FirstRun != 2*time.Hour || r.Queue[1].Done != 4*time.Hour {
			t.Errorf("%v: %+v", policy, r.Queue)
		}
		if got := r.SplitAt(c.Horizon)[fleet.Stranded].Hours(); got != 4*4 { // 88 nodes hold 704 GPUs for 700
			t.Errorf("%v: %v GPU-h stranded, want 16", policy, got)
		}
	}
}

// graceConfig has one node held by a long job, and two urgent jobs that want it within the grace period.
func graceConfig() fleet.Config {
	c := small(1)
	c.Policy, c.Grace = fleet.Preemption, time.Minute
	c.Jobs = []fleet.Job{
		{ID: 1, GPUs: 8, Work: 10 * time.Hour},
		{ID: 2, GPUs: 8, Work: time.Hour, Arrival: 3600 * time.Second, Priority: 1},
		{ID: 3, GPUs: 8, Work: time.Hour, Arrival: 3640 * time.Second, Priority: 2},
	}
	return c
}

// S7 slurm PR#216: the end time was reset during grace, so the job could never be preempted. It ends once, at the first deadline.
func TestS7GraceEndsAtTheFirstDeadline(t *testing.T) {
	r := simulate(t, graceConfig())
	if sp := r.Spans[0]; sp.End != 3660*time.Second || sp.Reason != fleet.Evicted {
		t.Errorf("the victim ends at %v (%v), want 1h1m0s", sp.End, sp.Reason)
	}
	if r.Queue[0].Evicts != 1 {
		t.Errorf("evicted %d times", r.Queue[0].Evicts)
	}
	if r.Queue[2].FirstRun != 3660*time.Second {
		t.Errorf("the most urgent job starts at %v", r.Queue[2].FirstRun)
	}
	if r.Queue[1].FirstRun != 3660*time.Second+time.Hour {
		t.Errorf("the other urgent job starts at %v", r.Queue[1].FirstRun)
	}
}

// A victim that finishes within its grace period is no eviction.
func TestGraceLetsAJobFinish(t *testing.T) {
	c := graceConfig()
	c.Jobs[0].Work = 3630 * time.Second
	r := simulate(t, c)
	if r.Queue[0].Evicts != 0 || r.Queue[0].Done != 3630*time.Second {
		t.Errorf("%+v", r.Queue[0])
	}
}

// A plan whose place breaks is given up, and its victims are spared.
func TestGraceSparesVictimsOfABrokenPlan(t *testing.T) {
	c := small(4)
	c.Preempt, c.Grace = true, 10*time.Minute
	for n := range 4 {
		c.Jobs = append(c.Jobs, fleet.Job{ID: n + 1, GPUs: 8, Work: 20 * time.Hour})
	}
	c.Jobs = append(c.Jobs, fleet.Job{ID: 9, GPUs: 24, Work: time.Hour, Arrival: time.Hour, Priority: 1})
	c.Big = 9
	c.Faults = []fleet.Fault{{Node: 1, At: time.Hour + 5*time.Minute, Repair: 100 * time.Hour}}
	r := simulate(t, c)
	if evictions(r) != 0 || r.Queue[4].FirstRun != fleet.Never {
		t.Errorf("%d evicted, the gang starts at %v", evictions(r), r.Queue[4].FirstRun)
	}
	wantIncident(t, r, fleet.NodeFailed, "node 1")
	found := false
	for _, i := range r.Incidents {
		found = found || i.Kind == fleet.NoEviction && strings.Contains(i.Text, "given up: a node of its place failed; 2 jobs spared")
	}
	if !found {
		t.Errorf("no word of the plan given up: %v", r.Incidents)
	}
}

// S8 spur PR#431: preemptions counted as failures.
func TestS8EvictionsAreNoFailures(t *testing.T) {
	c := small(125)
	for n := range 50 {
		c.Jobs = append(c.Jobs, fleet.Job{ID: n + 1, GPUs: 8, Work: 100 * time.Hour})
	}
	bigAt(&c, time.Hour)
	c.Faults = []fleet.Fault{{Node: 124, At: 10 * time.Hour, Repair: time.Hour}, {Node: 123, At: 11 * time.Hour, Repair: time.Hour}}
	calm := simulate(t, c).Ledger()
	c.Preempt = true
	l := simulate(t, c).Ledger()
	if l.Evictions != 50 {
		t.Fatalf("%d evictions, want 50", l.Evictions)
	}
	if l.Failures != 2 || l.Failures != calm.Failures || l.MTBF != calm.MTBF || l.MTBF != 23*time.Hour/2 {
		t.Errorf("%d failures, MTBF %v; without evictions %d, %v", l.Failures, l.MTBF, calm.Failures, calm.MTBF)
	}
	if l.LostToFailures != 0 {
		t.Errorf("%v GPU-ms lost to failures, though they hit nobody's work", l.LostToFailures)
	}
}

// S9 batsim#51: a killed job's used time was wrong. Its loss is the work since its last checkpoint, to the second.
func TestS9LostWorkIsCountedFromTheLastCheckpoint(t *testing.T) {
	for _, c := range []struct {
		name               string
		tau, write, killAt time.Duration
		lost               time.Duration
	}{
		{"half of its run, no checkpoint yet", 24 * time.Hour, time.Minute, 5 * time.Hour, 5 * time.Hour},
		{"free checkpoints", time.Hour, 0, 5*time.Hour + 1234*time.Second, 1234 * time.Second},
		{"writes of 1 minute", time.Hour, time.Minute, 5*61*time.Minute + 7*time.Second, 7 * time.Second},
		{"in the middle of a write", time.Hour, time.Minute, 61*time.Minute + 60*time.Minute + 30*time.Second, time.Hour},
	} {
		for _, byFailure := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, by failure %v", c.name, byFailure), func(t *testing.T) {
				config := small(1)
				config.Policy, config.Checkpoint = fleet.Preemption, c.tau
				config.Jobs = []fleet.Job{{ID: 1, GPUs: 3, Work: 10 * time.Hour, Write: c.write, Restart: 2 * time.Minute}}
				if byFailure {
					config.Faults = []fleet.Fault{{At: c.killAt, Repair: time.Hour}}
				} else {
					config.Jobs = append(config.Jobs, fleet.Job{ID: 2, GPUs: 8, Arrival: c.killAt, Work: time.Hour, Priority: 1})
				}
				l := simulate(t, config).Ledger()
				got, part := l.Price.Lost, fleet.Preempted
				if byFailure {
					got, part = l.LostToFailures, fleet.Rework
				}
				want := 3 * fleet.GPUTime(c.lost/fleet.Resolution)
				if got != want {
					t.Errorf("lost %v GPU-h, want %v", got.Hours(), want.Hours())
				}
				if l.Split[part] != want {
					t.Errorf("%v GPU-h of %v, want the lost work done once more: %v", l.Split[part].Hours(), part, want.Hours())
				}
				if l.Split[fleet.Restart].Hours() != 3*2.0/60 {
					t.Errorf("%v GPU-h of restart", l.Split[fleet.Restart].Hours())
				}
			})
		}
	}
}

// S10 opendc PR#332: checkpoint tests injected no failures, so they proved nothing. Here failures are asserted, and a shorter
// interval must lose less and write more.
func TestS10CheckpointsHelpAgainstFailuresThatHappen(t *testing.T) {
	var rework, writes [2]fleet.GPUTime
	for k, tau := range []time.Duration{10 * time.Minute, 10 * time.Hour} {
		c := small(8)
		c.Checkpoint, c.Horizon = tau, 20*24*time.Hour
		for n := range 8 {
			c.Jobs = append(c.Jobs, fleet.Job{ID: n + 1, GPUs: 8, Work: 300 * time.Hour, Write: 30 * time.Second, Restart: 5 * time.Minute})
		}
		for i := range 20 {
			c.Faults = append(c.Faults, fleet.Fault{Node: i % 8, At: time.Duration(i+1) * 13 * time.Hour, Repair: time.Hour})
		}
		r := simulate(t, c)
		kills := 0
		for _, q := range r.Queue {
			kills += q.Kills
		}
		if l := r.Ledger(); l.Failures != 20 || kills != 20 {
			t.Fatalf("%d failures killed %d jobs, want 20 and 20", l.Failures, kills)
		}
		split := r.SplitAt(c.Horizon)
		rework[k], writes[k] = split[fleet.Rework], split[fleet.Checkpoint]
	}
	if rework[0]*4 > rework[1] || writes[1]*4 > writes[0] {
		t.Errorf("rework %v, writes %v", rework, writes)
	}
}

// S11 legion#691: utilisation ignored GPUs that were never used.
func TestS11TheDenominatorIsTheWholeFleet(t *testing.T) {
	c := fleet.Default()
	c.Jobs = []fleet.Job{{ID: 1, GPUs: 1, Work: c.Horizon}}
	l := simulate(t, c).Ledger()
	if l.Goodput != 1.0/10_000 {
		t.Errorf("goodput %v of one job on 10,000 GPUs", l.Goodput)
	}
	if got := l.Split.Total().Hours(); got != 120_000 {
		t.Errorf("capacity × time is %v GPU-h", got)
	}
	if l.ClusterMFU != c.MFU/10_000 || l.CostPerHourUSD != 10_000*c.RateUSD {
		t.Errorf("MFU %v, %v $/h", l.ClusterMFU, l.CostPerHourUSD)
	}
}

// S14 kueue PR#13043: a flapping node was counted free while jobs ran on it.
func TestS14FlappingNode(t *testing.T) {
	for _, repair := range []time.Duration{10 * time.Second, 20 * time.Second, 30 * time.Second} { // before, at and after the second fault
		c := small(2)
		for n := range 40 {
			c.Jobs = append(c.Jobs, fleet.Job{ID: n + 1, GPUs: 1 + n%8, Arrival: time.Duration(n) * 5 * time.Second, Work: 3 * time.Minute})
		}
		for k := range 3 {
			c.Faults = append(c.Faults, fleet.Fault{Node: 0, At: time.Minute + time.Duration(k)*20*time.Second, Repair: repair})
		}
		r := simulate(t, c)
		nobodyShares(t, r)
		for _, s := range r.Samples {
			if total := r.SplitAt(s.At).Total(); total != 16*fleet.GPUTime(s.At/fleet.Resolution) {
				t.Fatalf("repair %v, at %v: parts add up to %d GPU-ms", repair, s.At, total)
			}
			checkSnapshot(t, r, s)
		}
		if l := r.Ledger(); l.Failures != 3 {
			t.Errorf("%d failures, want 3", l.Failures)
		}
		down := 3 * repair
		if repair > 20*time.Second {
			down = 40*time.Second + repair // the faults overlap: the node is back when all are repaired
		}
		if got := r.SplitAt(c.Horizon)[fleet.Failed]; got != 8*fleet.GPUTime(down/fleet.Resolution) {
			t.Errorf("repair %v: %d GPU-ms failed", repair, got)
		}
	}
}

// S15 descheduler#725: defragmentation that changes nothing, or puts it back.
func TestS15CompactFleetStaysPut(t *testing.T) {
	c := small(300)
	c.Defrag = true
	for n := range 200 {
		c.Jobs = append(c.Jobs, fleet.Job{ID: n + 1, GPUs: 8, Work: 100 * time.Hour})
	}
	bigAt(&c, time.Hour) // 100 nodes are free in one run: no packing makes 125
	r := simulate(t, c)
	if l := r.Ledger(); l.Migrations != 0 || len(r.Pauses) != 0 || l.Split[fleet.Pause] != 0 {
		t.Errorf("%d migrations, pauses %v", l.Migrations, r.Pauses)
	}
	wantIncident(t, r, fleet.NoMigration, "nothing migrates for job 1000000")
}

// Migration moves work, it does not lose any: everything but the pause and the tax is as if the jobs had run on.
func TestMigrationLosesNothing(t *testing.T) {
	c := small(300)
	c.Defrag = true
	fill(&c, 300, func(int) (time.Duration, int) { return 10 * time.Hour, 0 })
	bigAt(&c, time.Hour)
	r := simulate(t, c)
	l := r.Ledger()
	pause := r.Pauses[0].End - r.Pauses[0].Start
	batches := time.Duration((l.Migrations + c.Migration.Concurrency - 1) / c.Migration.Concurrency)
	if l.Migrations == 0 || len(r.Pauses) != 1 || pause != batches*c.Migration.Move {
		t.Fatalf("%d migrations, pauses %v", l.Migrations, r.Pauses)
	}
	if l.Split[fleet.Pause] != 300*fleet.GPUTime(pause/fleet.Resolution) {
		t.Errorf("%v GPU-h of pause for 300 running GPUs and %v", l.Split[fleet.Pause].Hours(), pause)
	}
	if want := fleet.GPUTime(l.Migrations) * fleet.GPUTime(c.Migration.TaxFor/fleet.Resolution) / 10; l.Split[fleet.Tax] != want {
		t.Errorf("%v GPU-h of tax, want %v", l.Split[fleet.Tax].Hours(), want.Hours())
	}
	if l.Price.Lost != 0 || l.BigWait != pause || l.Fragmentation > 0.1 {
		t.Errorf("lost %v, the gang waits %v, fragmentation %v", l.Price.Lost, l.BigWait, l.Fragmentation)
	}
	for i, q := range r.Queue[:len(c.Jobs)-1] {
		if q.Evicts+q.Kills > 0 || q.Done == fleet.Never {
			t.Fatalf("job %d: %+v", c.Jobs[i].ID, q)
		}
	}
}

// A hopeless job keeps nobody else from being helped, and costs no time: without changes it is not looked at again.
func TestHopelessJobDoesNotBlockHelp(t *testing.T) {
	c := small(4)
	c.Policy, c.Horizon = fleet.Preemption, 400*24*time.Hour
	c.Jobs = []fleet.Job{
		{ID: 1, GPUs: 8, Work: 9000 * time.Hour, Priority: 5},
		{ID: 2, GPUs: 24, Work: 9000 * time.Hour, Priority: 0},
		{ID: 3, GPUs: 32, Work: time.Hour, Arrival: time.Hour, Priority: 2},              // job 1 is in its way
		{ID: 4, GPUs: 8, Work: time.Hour, Arrival: time.Hour + time.Second, Priority: 7}, // evicts job 1, which in turn evicts job 2
	}
	r := simulate(t, c)
	if r.Queue[3].FirstRun != time.Hour+time.Second || evictions(r) != 2 || r.Queue[0].Evicts != 1 || r.Queue[1].Evicts != 1 {
		t.Errorf("the urgent job starts at %v, %d evicted", r.Queue[3].FirstRun, evictions(r))
	}
	wantIncident(t, r, fleet.NoEviction, "nobody is evicted for job 3")
}

// S12 dmtcp PR#783 in a whole run: with a write of 10 min and an interval of 20 min a failure after 65 min finds two checkpoints and 5 min
// of work since.
func TestS12LossIsTheWorkSinceTheLastWrite(t *testing.T) {
	c := small(2)
	c.Checkpoint = 20 * time.Minute
	c.Jobs = []fleet.Job{{ID: 1, GPUs: 8, Work: 10 * time.Hour, Write: 10 * time.Minute}}
	c.Faults = []fleet.Fault{{Node: 0, At: 65 * time.Minute, Repair: time.Hour}}
	r := simulate(t, c)
	split := r.SplitAt(65 * time.Minute)
	if split[fleet.Useful] != 8*45*gpuMin || split[fleet.Checkpoint] != 8*20*gpuMin {
		t.Errorf("%v", split)
	}
	if lost := r.Ledger().LostToFailures; lost != 8*5*gpuMin {
		t.Errorf("%d GPU-min lost, want 8 × 5", lost/gpuMin)
	}
}
