package fleet

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/fleetlab/fleetlab/fleet/elastic"
)

// randomConfig is a small fleet with forty jobs, most of them training jobs, that all have time to finish, and every kind of fault.
func randomConfig(seed uint64) Config {
	rng := rand.New(rand.NewPCG(seed, 4242))
	pick := func(d ...time.Duration) time.Duration { return d[rng.IntN(len(d))] }
	after := func(mean time.Duration) time.Duration {
		return time.Duration(rng.ExpFloat64() * float64(mean)).Round(time.Second)
	}
	c := Default()
	g := []int{8, 2, 1, 4}[rng.IntN(4)]
	c.Topology = Topology{Pods: 1 + rng.IntN(2), RacksPerPod: 1 + rng.IntN(3), NodesPerRack: 2 + rng.IntN(4), GPUsPerNode: g}
	n := c.Topology.Nodes()
	c.Horizon = 60 * 24 * time.Hour
	c.Policy = []Policy{
		FCFS, BestFit, EASY, Preemption, Queueing{Name: "ageing", Order: ByPriority, Backfill: Greedy, Evicts: true, Ageing: time.Hour},
		Queueing{Name: "fair share", Order: ByShare, Backfill: Reserve},
	}[rng.IntN(6)]
	c.Defrag = rng.IntN(2) == 0
	c.Checkpoint = pick(time.Minute, 7*time.Minute, time.Hour)
	c.Grace = pick(0, 30*time.Second, 10*time.Minute)
	c.Rescale = elastic.Strategies()[rng.IntN(4)]
	c.Teams = []Team{{}, {Quota: c.Topology.GPUs()}}
	var at time.Duration
	for id := 1; id <= 40; id++ {
		at += after(20 * time.Minute)
		j := Job{
			ID: id, GPUs: 1 + rng.IntN(g), Arrival: at, Work: time.Second + after(3*time.Hour), Priority: rng.IntN(3), Write: pick(0, 30*time.Second, 3*time.Minute),
			Restart: pick(0, 5*time.Minute), Persist: pick(0, 0, 10*time.Minute), Locality: Locality(rng.IntN(4)), Team: rng.IntN(3), Limit: pick(0, time.Hour, 4*time.Hour),
		}
		if rng.IntN(3) > 0 {
			k := 1 + rng.IntN(2)
			dp := 1 + rng.IntN(min(4, n/k))
			if j.Locality == SameRack && k*dp > c.Topology.NodesPerRack || j.Locality == SamePod && k*dp > n/c.Topology.Pods {
				j.Locality = Anywhere
			}
			j.GPUs = k * dp * g
			j.Train = &Training{
				TP: g, PP: k, CP: 1, DP: dp, Stall: pick(0, 3*time.Minute), Move: pick(0, 2*time.Minute), KeepBatch: rng.IntN(2) == 0, MicroBatches: dp * 3,
			}
		}
		c.Jobs = append(c.Jobs, j)
	}
	at = 0
	for range rng.IntN(40) {
		at += after(30 * time.Minute)
		f := Fault{Node: rng.IntN(n), At: at, Repair: pick(time.Millisecond, time.Minute, time.Hour, 5*time.Hour)}
		switch rng.IntN(4) {
		case 0:
			f.Scope, f.GPU = OneGPU, rng.IntN(g)
		case 1:
			f.Scope, f.Repair = Software, 0
		case 2:
			f.Nodes = 1 + rng.IntN(n-f.Node)
		}
		if rng.IntN(4) == 0 {
			f.Silent = pick(time.Minute, time.Hour, 5*time.Hour)
		}
		c.Faults = append(c.Faults, f)
		if rng.IntN(4) == 0 { // two at once
			f.Node, f.Nodes = rng.IntN(n), 0
			c.Faults = append(c.Faults, f)
		}
	}
	return c
}

// In random runs with every kind of fault no GPU has two jobs, or a job while it is down; every job gets exactly its work done; what was
// lost is what was done again; and the same config gives the same run.
func TestRandomRunsKeepTheirAccounts(t *testing.T) {
	lostRuns := 0
	for seed := range uint64(800) {
		c := randomConfig(seed)
		r, err := Simulate(c)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		checkExclusive(t, seed, r)
		checkJobs(t, seed, r)
		split := r.SplitAt(c.Horizon)
		var lost GPUTime
		for _, x := range r.losses {
			lost += x.work
		}
		if again := split[Rework] + split[Preempted]; lost != again {
			t.Errorf("seed %d: %d GPU-ms lost, %d done again", seed, lost, again)
		} else if lost > 0 {
			lostRuns++
		}
		if again, err := Simulate(c); err != nil || !reflect.DeepEqual(r, again) {
			t.Errorf("seed %d: two runs differ, %v", seed, err)
		}
	}
	if lostRuns < 400 {
		t.Errorf("only %d of 800 runs lost work: the faults prove nothing", lostRuns)
	}
}

// checkExclusive looks for GPUs that two jobs hold at once, or that a job holds while they are down.
func checkExclusive(t *testing.T, seed uint64, r *Run) {
	t.Helper()
	type stay struct {
		Interval
		mask uint16
	}
	on := make([][]stay, r.Config.Topology.Nodes())
	put := func(n int, s stay) {
		for _, o := range on[n] {
			if o.Start < s.End && s.Start < o.End && o.mask&s.mask != 0 {
				t.Errorf("seed %d: GPUs %b and %b of node %d are taken twice, %v and %v", seed, o.mask, s.mask, n, o.Interval, s.Interval)
			}
		}
		on[n] = append(on[n], s)
	}
	for i := range r.Spans {
		s := &r.Spans[i]
		j := &r.Config.Jobs[s.Job]
		for n := range s.On {
			put(n, stay{Interval{s.Start, s.End}, s.Mask})
			if rack := r.Config.Topology.Rack; j.Locality == SameRack && rack(n) != rack(s.Node) {
				t.Errorf("seed %d: job %d has nodes of two racks", seed, j.ID)
			}
		}
	}
	for _, o := range r.Outages {
		put(o.Node, stay{Interval{o.Start, o.End}, o.Mask})
	}
}

// checkJobs adds up each job's account. All jobs finish.
func checkJobs(t *testing.T, seed uint64, r *Run) {
	t.Helper()
	for i, j := range r.Config.Jobs {
		if r.Queue[i].Done == Never {
			t.Errorf("seed %d: job %d has not finished", seed, j.ID)
		}
		l := r.Training(j.ID)
		if l.Split[Useful] != over(j.GPUs, j.Work) || l.Work != j.Work {
			t.Errorf("seed %d: %d GPU-ms of job %d are useful and it got %v done, it has work for %d and %v", seed, l.Split[Useful], j.ID, l.Work, over(j.GPUs, j.Work), j.Work)
		}
		if l.Goodput <= 0 || l.Goodput > 1 || l.Lacking < 0 {
			t.Errorf("seed %d: job %d has goodput %v and lacks %d GPU-ms", seed, j.ID, l.Goodput, l.Lacking)
		}
		for p, g := range l.Split {
			if g < 0 {
				t.Errorf("seed %d: job %d has %d GPU-ms of %v", seed, j.ID, g, Part(p))
			}
		}
		if l.Stall > l.Split[Restart] {
			t.Errorf("seed %d: job %d stalled for %d GPU-ms of %d", seed, j.ID, l.Stall, l.Split[Restart])
		}
	}
}
