package fleet_test

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/elastic"
)

// small is a fleet of nodes × 8 GPUs in one rack with nothing that costs extra.
func small(nodes int) fleet.Config {
	c := fleet.Default()
	c.Topology = fleet.Topology{Pods: 1, RacksPerPod: 1, NodesPerRack: nodes, GPUsPerNode: 8}
	c.Horizon = 24 * time.Hour
	return c
}

func simulate(t testing.TB, c fleet.Config) *fleet.Run {
	t.Helper()
	r, err := fleet.Simulate(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// digest is a hash of all that a run shows.
func digest(r *fleet.Run) uint64 {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%+v|%+v|%+v|%+v|%+v|%+v|%+v", r.Spans, r.Outages, r.Pauses, r.Incidents, r.Samples, r.Queue, r.Ledger())
	return h.Sum64()
}

// random draws a configuration that uses every mechanism: nodes of 1 to 16 GPUs, sizes up to gangs that do not fill their last node, priorities, failures
// that overlap and flap, evictions with and without grace, migrations, checkpoints with and without cost; and what organize adds.
func random(seed uint64) fleet.Config {
	rng := rand.New(rand.NewPCG(seed, 99))
	pick := func(d ...time.Duration) time.Duration { return d[rng.IntN(len(d))] }
	c := small(4 + rng.IntN(20))
	g := []int{8, 8, 8, 1, 4, 16}[rng.IntN(6)]
	c.Topology.GPUsPerNode = g
	c.Policy = []fleet.Policy{fleet.FCFS, fleet.BestFit, fleet.Preemption}[rng.IntN(3)]
	c.Preempt, c.Defrag = rng.IntN(2) == 0, rng.IntN(2) == 0
	c.Checkpoint = pick(time.Minute, 7*time.Minute, time.Hour, 24*time.Hour)
	c.Grace = pick(0, 0, 30*time.Second, 10*time.Minute)
	c.Migration.Concurrency, c.Migration.Tax = 1+rng.IntN(5), []float64{0, 0.1, 0.37}[rng.IntN(3)]
	c.Migration.TaxFor = pick(0, time.Minute, time.Hour)
	c.Rescale = []elastic.Rescaler{elastic.Restart, elastic.WaitForSpare, elastic.DropReplicas, elastic.Reshard}[rng.IntN(4)]
	gpus := c.Topology.GPUs()
	var at time.Duration
	for id := 1; id <= 150; id++ {
		at += time.Duration(rng.ExpFloat64() * float64(4*time.Minute))
		j := fleet.Job{
			ID: id, GPUs: 1 + rng.IntN(g), Arrival: at, Work: time.Second + time.Duration(rng.ExpFloat64()*float64(2*time.Hour)),
			Priority: rng.IntN(2), Write: pick(0, 30*time.Second, 3*time.Minute), Restart: pick(0, 2*time.Minute),
			Phase: rng.IntN(2) * rng.IntN(1000),
		}
		if rng.IntN(12) == 0 {
			j.GPUs, j.Priority = g+1+rng.IntN(gpus-g), rng.IntN(4)
		}
		if c.Big == 0 && j.GPUs > g {
			c.Big, j.Priority = id, 5
		}
		if rng.IntN(3) == 0 {
			j.Locality, j.Prefer = fleet.Locality(rng.IntN(4)), rng.IntN(2) == 0
		}
		j.Persist = pick(0, 0, time.Minute, 20*time.Minute)
		if rng.IntN(20) == 0 {
			train(rng, &j, c.Topology)
		}
		c.Jobs = append(c.Jobs, j)
	}
	at = 0
	for range 40 {
		at += time.Duration(rng.IntN(5)) * time.Duration(rng.ExpFloat64()*float64(5*time.Minute))
		f := fleet.Fault{Node: rng.IntN(c.Topology.Nodes()), At: at, Repair: time.Millisecond + time.Duration(rng.ExpFloat64()*float64(pick(time.Minute, time.Hour)))}
		switch rng.IntN(6) {
		case 0:
			f.Scope, f.GPU = fleet.OneGPU, rng.IntN(g)
		case 1:
			f.Scope, f.Repair = fleet.Software, 0
		case 2:
			f.Nodes = 1 + rng.IntN(min(4, c.Topology.Nodes()-f.Node))
		case 3:
			f.Silent = pick(time.Minute, time.Hour)
		}
		c.Faults = append(c.Faults, f)
	}
	organize(rand.New(rand.NewPCG(seed, 100)), &c)
	return c
}

// organize adds what only some fleets have: racks and pods, other policies, exempt time, limits, and teams with quotas and shares. Every
// job can still run: quotas hold each of their jobs, and gangs that are larger than a rack or pod only prefer one.
func organize(rng *rand.Rand, c *fleet.Config) {
	t := &c.Topology
	for range rng.IntN(3) {
		if t.NodesPerRack%2 == 0 {
			t.NodesPerRack, t.RacksPerPod = t.NodesPerRack/2, t.RacksPerPod*2
		}
	}
	if rng.IntN(2) == 0 && t.RacksPerPod%2 == 0 {
		t.RacksPerPod, t.Pods = t.RacksPerPod/2, t.Pods*2
	}
	switch rng.IntN(4) {
	case 0:
		c.Policy = fleet.EASY
	case 1:
		q := fleet.Queueing{
			Name: "parts", Order: fleet.Order(rng.IntN(3)), Backfill: fleet.Backfill(rng.IntN(3)), Fit: fleet.Fit(rng.IntN(3)), Evicts: rng.IntN(2) == 0,
		}
		if q.Order == fleet.ByPriority {
			q.Ageing = []time.Duration{0, time.Second, 20 * time.Minute}[rng.IntN(3)]
		}
		if q.Order == fleet.ByShare {
			q.HalfLife = []time.Duration{0, 5 * time.Minute, time.Hour}[rng.IntN(3)]
		}
		c.Policy = q
	}
	c.Exempt = []time.Duration{0, 0, time.Minute, time.Hour}[rng.IntN(4)]
	for range rng.IntN(2) * rng.IntN(4) {
		c.Teams = append(c.Teams, fleet.Team{Quota: rng.IntN(2) * (1 + rng.IntN(t.GPUs())), Shares: rng.IntN(3)})
	}
	for i := range c.Jobs {
		j := &c.Jobs[i]
		j.Limit = time.Duration([]float64{0, 0.5, 1, 1.2, 5}[rng.IntN(5)] * float64(j.Work))
		j.Team = rng.IntN(len(c.Teams) + 1)
		if j.Team > 0 && c.Teams[j.Team-1].Quota > 0 {
			c.Teams[j.Team-1].Quota = max(c.Teams[j.Team-1].Quota, t.NodesFor(j.GPUs)*t.GPUsPerNode)
		}
		j.Prefer = j.Prefer || t.NodesFor(j.GPUs) > domain(*t, j.Locality)
	}
}

// withinQuotas checks that no team ever holds more than it may.
func withinQuotas(t *testing.T, r *fleet.Run) {
	t.Helper()
	for k, team := range r.Config.Teams {
		for i := range r.Spans {
			if team.Quota == 0 || r.Config.Jobs[r.Spans[i].Job].Team != k+1 {
				continue
			}
			held, at := 0, r.Spans[i].Start // it can only grow when a span starts
			for x := range r.Spans {
				if sp := &r.Spans[x]; sp.Start <= at && at < sp.End && r.Config.Jobs[sp.Job].Team == k+1 {
					held += sp.GPUs()
				}
			}
			if held > team.Quota {
				t.Fatalf("at %v team %d holds %d GPUs, its quota is %d", at, k+1, held, team.Quota)
			}
		}
	}
}

// exemptAreSpared checks that nobody is evicted who has run for less than the exempt time since the last start.
func exemptAreSpared(t *testing.T, r *fleet.Run) {
	t.Helper()
	began := map[int]time.Duration{} // by job
	for i := range r.Spans {
		sp := &r.Spans[i]
		goesOn := slices.ContainsFunc(r.Spans[:i], func(b fleet.Span) bool {
			return b.Job == sp.Job && b.End == sp.Start && (b.Reason == fleet.Migrated || b.Reason == fleet.Rescaled)
		})
		if !goesOn {
			began[sp.Job] = sp.Start
		}
		if ran := sp.End - began[sp.Job]; sp.Reason == fleet.Evicted && ran < r.Config.Exempt {
			t.Fatalf("job %d is evicted at %v after %v, exempt for %v", r.Config.Jobs[sp.Job].ID, sp.End, ran, r.Config.Exempt)
		}
	}
}

// train makes a job an elastic one of 2 to 4 replicas of one or two nodes, if the fleet has so many.
func train(rng *rand.Rand, j *fleet.Job, topo fleet.Topology) {
	nodes, dp := 1+rng.IntN(2), 2+rng.IntN(3)
	if nodes*dp > topo.Nodes() {
		return
	}
	j.GPUs = nodes * dp * topo.GPUsPerNode
	j.Train = &fleet.Training{
		TP: topo.GPUsPerNode, PP: nodes, CP: 1, DP: dp, MicroBatches: dp * rng.IntN(5), KeepBatch: rng.IntN(2) == 0,
		MinReplicas: rng.IntN(dp), Stall: 3 * time.Minute, Move: time.Minute,
		Restart: fleet.RestartParts{Detect: j.Restart / 4, Load: j.Restart - j.Restart/4},
	}
}

// accountsAddUp checks the account of each training job.
func accountsAddUp(t *testing.T, r *fleet.Run) {
	t.Helper()
	for i, j := range r.Config.Jobs {
		if j.Train == nil {
			continue
		}
		l := r.Training(j.ID)
		if l.Lacking < 0 || l.Goodput < 0 || l.Goodput > 1 || l.Work > j.Work || l.Crashes != r.Queue[i].Kills {
			t.Fatalf("job %d: %+v", j.ID, l)
		}
		if parts := l.Detect + l.Reschedule + l.Load + l.WarmUp + l.Stall; parts != l.Split[fleet.Restart] {
			t.Fatalf("job %d: restarts and stalls are %d GPU-ms, their parts %d: %+v", j.ID, l.Split[fleet.Restart], parts, l)
		}
		if r.Queue[i].Done != fleet.Never && l.Split[fleet.Useful] != fleet.GPUTime(j.GPUs)*fleet.GPUTime(j.Work/fleet.Resolution) {
			t.Fatalf("job %d is done with %d GPU-ms of useful work: %+v", j.ID, l.Split[fleet.Useful], l)
		}
		for _, s := range r.Strengths(j.ID) {
			if s.Replicas < 0 || s.Replicas > j.Train.DP || s.Stranded > s.GPUs || s.Speed < 0 || s.Speed > 1 || s.GPUs > j.GPUs {
				t.Fatalf("job %d: %+v", j.ID, s)
			}
		}
	}
}

// The parts add up to capacity × time at every event, nobody shares a GPU, and what is recorded in two ways agrees.
func TestConservationAtEveryEvent(t *testing.T) {
	var evictions, migrations, kills, stranded int
	for seed := range uint64(60) {
		c := random(seed)
		r := simulate(t, c)
		for i, s := range r.Samples {
			if s.Working+s.Stranded+s.Idle+s.Failed != c.Topology.GPUs() {
				t.Fatalf("seed %d at %v: %d + %d + %d + %d GPUs", seed, s.At, s.Working, s.Stranded, s.Idle, s.Failed)
			}
			split := r.SplitAt(s.At)
			if want := fleet.GPUTime(c.Topology.GPUs()) * fleet.GPUTime(s.At/fleet.Resolution); split.Total() != want {
				t.Fatalf("seed %d at %v: parts add up to %d GPU-ms of %d: %v", seed, s.At, split.Total(), want, split)
			}
			for p, g := range split {
				if g < 0 {
					t.Fatalf("seed %d at %v: %v is %d GPU-ms", seed, s.At, fleet.Part(p), g)
				}
			}
			if i%7 == 0 {
				checkSnapshot(t, r, s)
			}
		}
		nobodyShares(t, r)
		withinQuotas(t, r)
		exemptAreSpared(t, r)
		nobodyIsEvictedInVain(t, r)
		accountsAddUp(t, r)
		l := r.Ledger()
		evictions, migrations = evictions+l.Evictions, migrations+l.Migrations
		for _, q := range r.Queue {
			kills += q.Kills
		}
		if l.Split[fleet.Stranded] > 0 {
			stranded++
		}
	}
	if evictions == 0 || migrations == 0 || kills == 0 || stranded == 0 { // else the test proves nothing
		t.Fatalf("%d evictions, %d migrations, %d kills by failure, %d runs with stranded GPUs", evictions, migrations, kills, stranded)
	}
}

// checkSnapshot compares a sample, which the simulation counted, with the snapshot, which is rebuilt from spans and outages.
func checkSnapshot(t *testing.T, r *fleet.Run, s fleet.Sample) {
	t.Helper()
	if s.At >= r.Config.Horizon {
		return
	}
	snap := r.At(s.At)
	var n [4]int
	for _, state := range snap.State {
		n[state]++
	}
	if n[fleet.GPUIdle] != s.Idle || n[fleet.GPUWorking] != s.Working || n[fleet.GPUFailed] != s.Failed || n[fleet.GPUStranded] != s.Stranded {
		t.Fatalf("at %v the snapshot has %v, the sample %+v", s.At, n, s)
	}
	g, longest, run := r.Config.Topology.GPUsPerNode, 0, 0
	for node := range r.Config.Topology.Nodes() {
		run++
		for gpu := range g {
			if snap.State[node*g+gpu] != fleet.GPUIdle {
				run = 0
			}
		}
		longest = max(longest, run)
	}
	if longest != s.LargestHole {
		t.Fatalf("at %v the largest hole is %d nodes, the sample says %d", s.At, longest, s.LargestHole)
	}
}

// nobodyShares checks that no two spans hold one GPU at the same time, that gangs hold all of their place or nothing, that no job
// has two spans at once, and that no span is on a node that is down.
func nobodyShares(t *testing.T, r *fleet.Run) {
	t.Helper()
	for i := range r.Spans {
		a := &r.Spans[i]
		if j := r.Config.Jobs[a.Job]; j.Train == nil && (a.GPUs() < j.GPUs || a.Nodes != r.Config.Topology.NodesFor(j.GPUs)) {
			t.Fatalf("job %d wants %d GPUs and holds %d on %d nodes", j.ID, j.GPUs, a.GPUs(), a.Nodes)
		}
		if a.End < a.Start {
			t.Fatalf("span %+v ends before it starts", a)
		}
		for k := i + 1; k < len(r.Spans) && r.Spans[k].Start < a.End; k++ {
			b := &r.Spans[k]
			if b.Start == b.End {
				continue
			}
			if a.Job == b.Job || a.Mask&b.Mask != 0 && meet(a, b) {
				t.Fatalf("spans %+v and %+v overlap", a, b)
			}
		}
		for _, o := range r.Outages {
			if a.Mask&o.Mask != 0 && a.Start < o.End && o.Start < a.End && slices.Contains(slices.Collect(a.On), o.Node) {
				t.Fatalf("span %+v runs on GPUs that are down: %+v", a, o)
			}
		}
	}
}

// nobodyIsEvictedInVain checks that at the instant of each eviction a job of higher priority starts on a node of the victim. With a grace
// period something may happen in between, so that is not looked at.
func nobodyIsEvictedInVain(t *testing.T, r *fleet.Run) {
	t.Helper()
	if r.Config.Grace > 0 {
		return
	}
	for i := range r.Spans {
		victim := &r.Spans[i]
		if victim.Reason != fleet.Evicted {
			continue
		}
		some := slices.ContainsFunc(r.Spans, func(s fleet.Span) bool {
			return s.Start == victim.End && r.Config.Jobs[s.Job].Priority > r.Config.Jobs[victim.Job].Priority && meet(&s, victim)
		})
		if !some {
			t.Fatalf("job %d was evicted at %v and nobody of higher priority started there", r.Config.Jobs[victim.Job].ID, victim.End)
		}
	}
}

// meet tells whether two spans have a node in common.
func meet(a, b *fleet.Span) bool {
	if a.Set == nil && b.Set == nil {
		return a.Node < b.Node+b.Nodes && b.Node < a.Node+a.Nodes
	}
	nodes := slices.Collect(a.On)
	for n := range b.On {
		if slices.Contains(nodes, n) {
			return true
		}
	}
	return false
}

// All work that a finished job asked for is booked as useful exactly once, however often parts of it were lost.
func TestUsefulWorkIsBookedOnce(t *testing.T) {
	for seed := range uint64(60) {
		c := random(seed)
		c.Horizon = 100 * 24 * time.Hour
		for _, j := range c.Jobs {
			if j.Train != nil {
				j.Train.MinReplicas = 0 // or it may give up
			}
		}
		r := simulate(t, c)
		var want fleet.GPUTime
		for i, q := range r.Queue {
			j := r.Config.Jobs[i]
			if q.Done == fleet.Never {
				t.Fatalf("seed %d: job %d has not finished in 100 days", seed, j.ID)
			}
			want += fleet.GPUTime(j.GPUs) * fleet.GPUTime(j.Work/fleet.Resolution)
		}
		if got := r.SplitAt(c.Horizon)[fleet.Useful]; got != want {
			t.Fatalf("seed %d: %d GPU-ms useful, the jobs asked for %d", seed, got, want)
		}
	}
}

func TestSameConfigSameRun(t *testing.T) {
	for seed := range uint64(20) {
		first := digest(simulate(t, random(seed)))
		for range 2 {
			if again := digest(simulate(t, random(seed))); again != first {
				t.Fatalf("seed %d: runs differ", seed)
			}
		}
	}
}

func TestSweepGivesTheSameRuns(t *testing.T) {
	configs := make([]fleet.Config, 30)
	for i := range configs {
		configs[i] = random(uint64(i))
	}
	got := make([]uint64, len(configs))
	if err := fleet.Sweep(configs, func(i int, r *fleet.Run) { got[i] = digest(r) }); err != nil {
		t.Fatal(err)
	}
	for i, c := range configs {
		if want := digest(simulate(t, c)); got[i] != want {
			t.Errorf("setting %d differs from its own run", i)
		}
	}
	configs[3].Checkpoint = 0
	visited := make([]bool, len(configs))
	err := fleet.Sweep(configs, func(i int, _ *fleet.Run) { visited[i] = true })
	if !errors.Is(err, fleet.ErrConfig) || !strings.Contains(err.Error(), "setting 3") || visited[3] || !visited[4] {
		t.Errorf("a bad setting among good ones: %v, visited %v", err, visited)
	}
}

func TestValidateNamesFieldValueAndRange(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(c *fleet.Config)
		want []string
	}{
		{"pods", func(c *fleet.Config) { c.Topology.Pods = 0 }, []string{"Topology.Pods 0", "between 1 and 1000"}},
		{"gpus per node", func(c *fleet.Config) { c.Topology.GPUsPerNode = 17 }, []string{"Topology.GPUsPerNode 17", "between 1 and 16"}},
		{"capacity", func(c *fleet.Config) { c.Topology.Pods, c.Topology.RacksPerPod = 1000, 1000 }, []string{"Topology.GPUs()", "200000"}},
		{"horizon", func(c *fleet.Config) { c.Horizon = -1 }, []string{"Horizon -1ns", "between 1s and 87600h"}},
		{"policy", func(c *fleet.Config) { c.Policy = nil }, []string{"Policy nil", "FCFS"}},
		{"rescale", func(c *fleet.Config) { c.Rescale = nil }, []string{"Rescale nil", "DropReplicas"}},
		{"checkpoint low", func(c *fleet.Config) { c.Checkpoint = 59 * time.Second }, []string{"Checkpoint 59s", "between 1m0s and 24h0m0s"}},
		{"checkpoint high", func(c *fleet.Config) { c.Checkpoint = 25 * time.Hour }, []string{"Checkpoint 25h0m0s"}},
		{"grace", func(c *fleet.Config) { c.Grace = -time.Second }, []string{"Grace -1s", "between 0s and 1h0m0s"}},
		{"concurrency", func(c *fleet.Config) { c.Migration.Concurrency = 0 }, []string{"Migration.Concurrency 0"}},
		{"move", func(c *fleet.Config) { c.Migration.Move = 0 }, []string{"Migration.Move 0s"}},
		{"tax", func(c *fleet.Config) { c.Migration.Tax = 1 }, []string{"Migration.Tax 1", "between 0 and 0.9"}},
		{"tax NaN", func(c *fleet.Config) { c.Migration.Tax = math.NaN() }, []string{"Migration.Tax NaN"}},
		{"tax for", func(c *fleet.Config) { c.Migration.TaxFor = -1 }, []string{"Migration.TaxFor"}},
		{"sla", func(c *fleet.Config) { c.SLA.Start = -1 }, []string{"SLA.Start"}},
		{"sla wait", func(c *fleet.Config) { c.SLA.Wait = -1 }, []string{"SLA.Wait"}},
		{"rate", func(c *fleet.Config) { c.RateUSD = math.Inf(1) }, []string{"RateUSD +Inf", "between 0 and 1000"}},
		{"mfu", func(c *fleet.Config) { c.MFU = 0 }, []string{"MFU 0", "above 0"}},
		{"job id", func(c *fleet.Config) { c.Jobs = []fleet.Job{{ID: 0, GPUs: 1, Work: time.Hour}} }, []string{"Jobs[0].ID 0"}},
		{"job twice", func(c *fleet.Config) {
			c.Jobs = []fleet.Job{{ID: 1, GPUs: 1, Work: time.Hour}, {ID: 1, GPUs: 1, Work: time.Hour}}
		}, []string{"Jobs[1].ID 1", "unique"}},
		{"job too large", func(c *fleet.Config) { c.Jobs = []fleet.Job{{ID: 1, GPUs: 10001, Work: time.Hour}} }, []string{"Jobs[0].GPUs 10001", "10000"}},
		{"job order", func(c *fleet.Config) {
			c.Jobs = []fleet.Job{{ID: 1, GPUs: 1, Work: time.Hour, Arrival: 2}, {ID: 2, GPUs: 1, Work: time.Hour, Arrival: 1}}
		}, []string{"Jobs[1].Arrival"}},
		{"job work", func(c *fleet.Config) { c.Jobs = []fleet.Job{{ID: 1, GPUs: 1}} }, []string{"Jobs[0].Work 0s"}},
		{"job write", func(c *fleet.Config) { c.Jobs = []fleet.Job{{ID: 1, GPUs: 1, Work: 1e9, Write: -1}} }, []string{"Jobs[0].Write"}},
		{"job restart", func(c *fleet.Config) { c.Jobs = []fleet.Job{{ID: 1, GPUs: 1, Work: 1e9, Restart: -1}} }, []string{"Jobs[0].Restart"}},
		{"job phase", func(c *fleet.Config) { c.Jobs = []fleet.Job{{ID: 1, GPUs: 1, Work: 1e9, Phase: 1000}} }, []string{"Jobs[0].Phase 1000", "999"}},
		{"job writes for centuries", func(c *fleet.Config) {
			c.Checkpoint = time.Minute
			c.Jobs = []fleet.Job{{ID: 1, GPUs: 1, Work: 10 * 365 * 24 * time.Hour, Write: 24 * time.Hour}}
		}, []string{"Jobs[0].Write 24h", "876000h"}},
		{"big", func(c *fleet.Config) { c.Big = 7 }, []string{"Big 7"}},
		{"fault node", func(c *fleet.Config) { c.Faults = []fleet.Fault{{Node: 1250, Repair: time.Hour}} }, []string{"Faults[0].Node 1250", "1249"}},
		{"fault order", func(c *fleet.Config) {
			c.Faults = []fleet.Fault{{At: 2, Repair: time.Hour}, {At: 1, Repair: time.Hour}}
		}, []string{"Faults[1].At"}},
		{"fault repair", func(c *fleet.Config) { c.Faults = []fleet.Fault{{}} }, []string{"Faults[0].Repair 0s"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := fleet.Default()
			c.set(&config)
			_, err := fleet.Simulate(config)
			if !errors.Is(err, fleet.ErrConfig) {
				t.Fatalf("got %v, want ErrConfig", err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
		})
	}
	if err := fleet.Default().Validate(); err != nil {
		t.Error(err)
	}
}

// A policy may be a student's: whatever it does ends in an error that says what was wrong.
func TestPolicyErrors(t *testing.T) {
	place := func(n int) fleet.Policy {
		return fleet.Placing("Mine", func(fleet.View, fleet.Job) int { return n })
	}
	decide := func(d fleet.Decision) fleet.Policy { return policyFunc(func(fleet.View) fleet.Decision { return d }) }
	for _, c := range []struct {
		name   string
		policy fleet.Policy
		want   string
	}{
		{"full node", place(0), "job 2 needs 5 GPUs of node 0, which has 3 free"},
		{"no such node", place(99), "node 99: must be between 0 and 1"},
		{"panic", fleet.Placing("Mine", func(fleet.View, fleet.Job) int { panic("oops") }), "policy Mine at 0 s: panic: oops"},
		{"no such job", decide(fleet.Decision{Job: 17, Node: 0}), "job index 17"},
		{"not in the queue", decide(fleet.Decision{Job: 2, Node: 0}), "job 3 is not in the queue"},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := small(2)
			config.Policy = c.policy
			config.Jobs = []fleet.Job{{ID: 1, GPUs: 5, Work: time.Hour}, {ID: 2, GPUs: 5, Work: time.Hour}, {ID: 3, GPUs: 1, Work: time.Hour, Arrival: time.Minute}}
			_, err := fleet.Simulate(config)
			if !errors.Is(err, fleet.ErrPolicy) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want ErrPolicy with %q", err, c.want)
			}
		})
	}
}

type policyFunc func(fleet.View) fleet.Decision

func (f policyFunc) Decide(v fleet.View) fleet.Decision { return f(v) }

// A placement that never finds a place leaves everybody waiting, and the run still ends.
func TestPolicyThatAlwaysWaits(t *testing.T) {
	c := small(2)
	c.Policy = fleet.Placing("Lazy", func(fleet.View, fleet.Job) int { return fleet.Wait })
	c.Jobs = []fleet.Job{{ID: 1, GPUs: 1, Work: time.Hour}}
	if r := simulate(t, c); r.Queue[0].Wait != c.Horizon || r.Queue[0].FirstRun != fleet.Never {
		t.Errorf("got %+v", r.Queue[0])
	}
}

// One's own first fit and best fit give the runs of the built-in ones.
func TestOwnPlacementEqualsBuiltIn(t *testing.T) {
	own := fleet.Placing("Best-Fit", func(v fleet.View, j fleet.Job) int {
		best := fleet.Wait
		for n := range v.Nodes() {
			if v.Free(n) >= j.GPUs && (best == fleet.Wait || v.Free(n) < v.Free(best)) {
				best = n
			}
		}
		return best
	})
	for seed := range uint64(20) {
		c := random(seed)
		c.Policy, c.Preempt = fleet.BestFit, false
		want := simulate(t, c)
		c.Policy = own
		if got := simulate(t, c); digest(got) != digest(want) {
			t.Fatalf("seed %d: the same rule gives another run", seed)
		}
	}
}

// Times that are no whole milliseconds are rounded, and everything still adds up.
func TestTimesAreRoundedToTheResolution(t *testing.T) {
	c := small(2)
	c.Jobs = []fleet.Job{{ID: 1, GPUs: 3, Work: time.Hour + 333*time.Microsecond, Arrival: 1234567}}
	c.Faults = []fleet.Fault{{Node: 1, At: 999999, Repair: 1000001}}
	r := simulate(t, c)
	if s := r.Spans[0]; s.Start != time.Millisecond || s.End != time.Hour+time.Millisecond {
		t.Errorf("span from %v to %v", s.Start, s.End)
	}
	if got := r.SplitAt(c.Horizon).Total().Hours(); got != 16*24 {
		t.Errorf("parts add up to %v GPU-h", got)
	}
	if c.Jobs[0].Arrival != 1234567 {
		t.Error("the caller's jobs were changed")
	}
}

// FuzzSimulate draws configurations from a seed: go test ./fleet -fuzz FuzzSimulate.
func FuzzSimulate(f *testing.F) {
	f.Add(uint64(0))
	f.Fuzz(func(t *testing.T, seed uint64) {
		c := random(seed)
		r := simulate(t, c)
		nobodyShares(t, r)
		withinQuotas(t, r)
		exemptAreSpared(t, r)
		nobodyIsEvictedInVain(t, r)
		accountsAddUp(t, r)
		if digest(simulate(t, c)) != digest(r) {
			t.Fatalf("seed %d: the same configuration gives another run", seed)
		}
		for _, at := range []time.Duration{c.Horizon / 7, c.Horizon / 3, c.Horizon / 2} {
			for p, g := range r.SplitAt(at) {
				if g < 0 {
					t.Fatalf("seed %d at %v: %v is %d GPU-ms", seed, at, fleet.Part(p), g)
				}
			}
		}
		if total, want := r.SplitAt(c.Horizon).Total(), fleet.GPUTime(c.Topology.GPUs())*fleet.GPUTime(c.Horizon/fleet.Resolution); total != want {
			t.Fatalf("seed %d: parts add up to %d GPU-ms of %d", seed, total, want)
		}
		for i, q := range r.Queue {
			if q.Evicts > 0 && r.Ledger().Evictions == 0 && c.Jobs[i].Arrival > r.Ledger().Window.Start {
				t.Fatalf("seed %d: job %d was evicted and the ledger counts none", seed, c.Jobs[i].ID)
			}
		}
	})
}
