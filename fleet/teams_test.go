package fleet_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
)

// A job over its team's quota waits without blocking anybody, even in strict order, and the log says once why.
func TestQuotaHoldsBackTheTeamAlone(t *testing.T) {
	for _, policy := range []fleet.Policy{fleet.FCFS, fleet.BestFit, fleet.EASY, fleet.Preemption, &fleet.Queueing{Order: fleet.ByShare}} {
		c := small(4)
		c.Policy, c.Teams = policy, []fleet.Team{{Name: "vision", Quota: 20}, {Name: "speech"}}
		c.Jobs = []fleet.Job{
			{ID: 1, GPUs: 8, Team: 1, Work: 2 * time.Hour},
			{ID: 2, GPUs: 9, Team: 1, Work: time.Hour},                       // holds 2 nodes: 24 GPUs would be over 20
			{ID: 3, GPUs: 8, Team: 1, Work: time.Hour, Arrival: time.Minute}, // 16 of 20
			{ID: 4, GPUs: 16, Team: 2, Work: time.Hour, Arrival: time.Minute},
			{ID: 5, GPUs: 3, Team: 1, Work: time.Hour, Arrival: 2 * time.Minute}, // 19 of 20, but no node is free
		}
		r := simulate(t, c)
		for i, want := range []time.Duration{0, 2 * time.Hour, time.Minute, time.Minute, time.Hour + time.Minute} {
			if i == 1 { // starts when jobs 1 and 3 have left, and 5 takes no more than 4 GPUs
				want = 2 * time.Hour
			}
			if got := r.Queue[i].FirstRun; got != want {
				t.Errorf("%v: job %d starts at %v, want %v", policy, i+1, got, want)
			}
		}
		said := 0
		for _, x := range r.Incidents {
			if x.Kind == fleet.OverQuota && x.Job == 2 {
				said++
			}
		}
		if said != 1 {
			t.Errorf("%v: %d words of the quota: %v", policy, said, r.Incidents)
		}
		wantIncident(t, r, fleet.OverQuota, "job 2 waits: team vision holds 8 GPUs of its quota of 20, and the job would take 16", "AssocGrpGRES")
		withinQuotas(t, r)
	}
}

// Nobody is evicted and nothing moves for a job that its quota keeps from starting.
func TestQuotaComesBeforeEviction(t *testing.T) {
	for _, policy := range []fleet.Policy{fleet.FCFS, fleet.BestFit, fleet.EASY, fleet.Preemption} {
		c := small(300)
		c.Policy, c.Preempt, c.Defrag = policy, true, true
		c.Teams = []fleet.Team{{Quota: 999}}
		fill(&c, 300, func(int) (time.Duration, int) { return 100 * time.Hour, 0 })
		bigAt(&c, time.Hour)
		c.Jobs[len(c.Jobs)-1].Team = 1
		r := simulate(t, c)
		if l := r.Ledger(); l.Evictions+l.Migrations != 0 || l.BigStart != fleet.Never {
			t.Errorf("%v: %d evictions, %d migrations, starts at %v", policy, l.Evictions, l.Migrations, l.BigStart)
		}
		wantIncident(t, r, fleet.OverQuota, "job 1000000 waits: team 1 holds 0 GPUs of its quota of 999, and the job would take 1,000")
	}
}

// While a place is cleared for a job its team's quota is kept for it, too.
func TestQuotaIsKeptForAPlan(t *testing.T) {
	c := small(2)
	c.Policy, c.Grace, c.Teams = fleet.Queueing{Order: fleet.ByPriority, Evicts: true, Backfill: fleet.Greedy}, 10*time.Minute, []fleet.Team{{Quota: 8}}
	c.Jobs = []fleet.Job{
		{ID: 1, GPUs: 8, Work: 10 * time.Hour},
		{ID: 2, GPUs: 4, Work: 10 * time.Hour},
		{ID: 3, GPUs: 8, Team: 1, Work: time.Hour, Arrival: time.Hour, Priority: 1},
		{ID: 4, GPUs: 4, Team: 1, Work: time.Hour, Arrival: time.Hour + time.Minute}, // has a place, but job 3 needs all of the quota
	}
	r := simulate(t, c)
	if r.Queue[2].FirstRun != time.Hour+10*time.Minute || r.Queue[3].FirstRun < 2*time.Hour+10*time.Minute {
		t.Errorf("job 3 starts at %v, job 4 at %v", r.Queue[2].FirstRun, r.Queue[3].FirstRun)
	}
	withinQuotas(t, r)
}

// The engine holds the quota against every policy.
func TestQuotaIsEnforcedForOwnPolicies(t *testing.T) {
	c := small(2)
	c.Teams = []fleet.Team{{Name: "vision", Quota: 4}}
	c.Jobs = []fleet.Job{{ID: 7, GPUs: 5, Team: 1, Work: time.Hour}}
	seen := false
	c.Policy = policyFunc(func(v fleet.View) fleet.Decision {
		seen = seen || v.WithinQuota(0) || v.Held(1) != 0 || v.Held(2) != 0
		return fleet.Decision{Job: 0, Node: 0}
	})
	_, err := fleet.Simulate(c)
	if !errors.Is(err, fleet.ErrPolicy) || !strings.Contains(err.Error(), "job 7 starts: team vision would hold 5 GPUs, and its quota is 4") || seen {
		t.Errorf("got %v", err)
	}
}

// A head of the same team needs its part of the quota: nobody who passes takes it.
func TestBackfillLeavesTheHeadItsQuota(t *testing.T) {
	c := small(2)
	c.Policy, c.Teams = fleet.EASY, []fleet.Team{{Quota: 18}}
	c.Jobs = []fleet.Job{
		{ID: 1, GPUs: 8, Work: 2 * time.Hour, Limit: 2 * time.Hour},
		{ID: 2, GPUs: 16, Team: 1, Work: time.Hour, Limit: time.Hour, Arrival: time.Minute},                // the head, at 2 h
		{ID: 3, GPUs: 4, Team: 1, Work: 3 * time.Hour / 2, Limit: 3 * time.Hour / 2, Arrival: time.Minute}, // would end in time, but 20 > 18
		{ID: 4, GPUs: 2, Team: 1, Work: 3 * time.Hour / 2, Limit: 3 * time.Hour / 2, Arrival: time.Minute}, // 18
		{ID: 5, GPUs: 2, Team: 0, Work: 3 * time.Hour / 2, Limit: 3 * time.Hour / 2, Arrival: time.Minute}, // no quota
		{ID: 6, GPUs: 2, Team: 0, Work: 3 * time.Hour, Limit: 3 * time.Hour, Arrival: time.Minute},         // not in time
		{ID: 7, GPUs: 2, Team: 0, Work: 3 * time.Hour, Arrival: time.Minute},                               // no limit
	}
	r := simulate(t, c)
	for i, want := range []time.Duration{0, 2 * time.Hour, 3 * time.Hour, time.Minute, time.Minute, 3 * time.Hour, 3 * time.Hour} {
		if got := r.Queue[i].FirstRun; got != want {
			t.Errorf("job %d starts at %v, want %v", i+1, got, want)
		}
	}
}

// Over a long time each team gets the fleet in the proportion of its shares, however much each asks for.
func TestFairShareDividesByShares(t *testing.T) {
	for _, halfLife := range []time.Duration{0, 24 * time.Hour} {
		c := small(4)
		c.Horizon = 10 * 24 * time.Hour
		c.Policy = fleet.Queueing{Name: "fair", Order: fleet.ByShare, HalfLife: halfLife}
		c.Teams = []fleet.Team{{Shares: 1}, {Shares: 3}, {}}
		for id := 1; id <= 9000; id++ { // both ask for more than they get, team 3 for nothing
			c.Jobs = append(c.Jobs, fleet.Job{ID: id, GPUs: 1 + id%2, Team: 1 + id%2, Work: time.Hour + time.Duration(id%59)*time.Minute})
		}
		r := simulate(t, c)
		var used [3]float64
		for i := range r.Spans {
			used[c.Jobs[r.Spans[i].Job].Team] += float64(r.Spans[i].GPUs()) * (r.Spans[i].End - r.Spans[i].Start).Hours()
		}
		if ratio := used[2] / used[1]; math.Abs(ratio-3) > 0.1 {
			t.Errorf("half-life %v: %v GPU-h, ratio %.2f, want 3", halfLife, used[1:], ratio)
		}
	}
}

// Usage decays by half in a half-life, and a team that has used much in the past is forgiven.
func TestUsageDecaysByHalf(t *testing.T) {
	c := small(1)
	c.Horizon = 30 * 24 * time.Hour
	c.Teams = []fleet.Team{{}, {}}
	c.Jobs = []fleet.Job{{ID: 1, GPUs: 8, Team: 1, Work: 5 * time.Minute}}
	for d := range 29 {
		c.Jobs = append(c.Jobs, fleet.Job{ID: d + 2, GPUs: 1, Arrival: time.Duration(d+1) * 24 * time.Hour, Work: time.Second})
	}
	used := map[time.Duration]float64{}
	c.Policy = policyFunc(func(v fleet.View) fleet.Decision {
		used[v.Now()] = v.Used(1).Hours()
		return fleet.FCFS.Decide(v)
	})
	simulate(t, c)
	for weeks := range 4 {
		at := time.Duration(weeks+1) * 7 * 24 * time.Hour
		if got, want := used[at], 8.0/12/math.Exp2(float64(weeks+1)); math.Abs(got-want) > 1e-3 { // a fraction of a GPU-ms is forgotten every 5 minutes
			t.Errorf("after %d weeks %v GPU-h, want %v", weeks+1, got, want)
		}
	}
}

// A job rises by a level for each Ageing of waiting, up to MaxAge, and never evicts for it.
func TestAgeingRaisesWaitingJobs(t *testing.T) {
	start := func(q fleet.Queueing) (old, fresh time.Duration, evicted int) {
		c := small(1)
		q.Order, q.Evicts = fleet.ByPriority, true
		c.Policy = q
		c.Horizon = 100 * 24 * time.Hour
		c.Jobs = []fleet.Job{{ID: 1, GPUs: 8, Work: 30 * time.Hour, Priority: 3}, {ID: 2, GPUs: 8, Work: 1000 * time.Hour}} // the old one has priority 0
		for k := range 400 {
			c.Jobs = append(c.Jobs, fleet.Job{ID: 10 + k, GPUs: 8, Work: time.Hour, Arrival: time.Duration(25+k) * time.Hour, Priority: 3})
		}
		r := simulate(t, c)
		return r.Queue[1].FirstRun, r.Queue[2].FirstRun, evictions(r)
	}
	if old, fresh, _ := start(fleet.Queueing{}); old < 400*time.Hour || fresh != 30*time.Hour {
		t.Errorf("without ageing the old job starts at %v, the first fresh one at %v", old, fresh)
	}
	// At 30 h it has 3 levels and equals the fresh ones, but came before them.
	// It then runs until the next fresh one is asked for, which has the higher Job.Priority and evicts it; it evicts nobody.
	if old, fresh, n := start(fleet.Queueing{Ageing: 10 * time.Hour}); old != 30*time.Hour || fresh < 30*time.Hour || n == 0 {
		t.Errorf("with ageing it starts at %v, the first fresh one at %v, %d evicted", old, fresh, n)
	}
	if old, _, _ := start(fleet.Queueing{Ageing: 10 * time.Hour, MaxAge: 29 * time.Hour}); old < 400*time.Hour {
		t.Errorf("capped at 2 levels it starts at %v", old)
	}
	if old, _, _ := start(fleet.Queueing{Ageing: 60 * time.Hour}); old < 400*time.Hour {
		t.Errorf("with 60 h a level it needs 180 h, more than the 7 days that count, and starts at %v", old)
	}
	if old, _, _ := start(fleet.Queueing{Ageing: 60 * time.Hour, MaxAge: 200 * time.Hour}); old != 180*time.Hour {
		t.Errorf("if more counts it starts at %v, want 180 h", old)
	}
}

// Whom an eviction kills has a lower Job.Priority, however old the other is.
func TestAgeingEvictsNobody(t *testing.T) {
	c := small(1)
	c.Policy = fleet.Queueing{Order: fleet.ByPriority, Ageing: time.Second, Evicts: true}
	c.Jobs = []fleet.Job{
		{ID: 1, GPUs: 8, Work: 10 * time.Hour, Priority: 1, Arrival: time.Minute},
		{ID: 2, GPUs: 8, Work: time.Hour, Priority: 1, Arrival: 2 * time.Minute},
		{ID: 3, GPUs: 1, Work: time.Hour, Arrival: 2 * time.Minute},
	}
	if r := simulate(t, c); evictions(r) != 0 || r.Queue[1].FirstRun != 10*time.Hour+time.Minute {
		t.Errorf("%d evicted, job 2 starts at %v", evictions(r), r.Queue[1].FirstRun)
	}
}

// A job is no victim before it has run for Exempt, and as soon as it has, without any other event, the plan is carried out.
func TestExemptJobsAreEvictedWhenTheirTimeIsUp(t *testing.T) {
	for _, x := range []struct {
		name     string
		big      fleet.Job
		start    time.Duration
		evicted  int
		defrag   bool
		locality fleet.Locality
	}{
		{"on one node", fleet.Job{GPUs: 8}, 2 * time.Hour, 1, false, 0},                           // node 0 since 0 s
		{"consecutive", fleet.Job{GPUs: 16}, 2*time.Hour + 10*time.Minute, 2, false, 0},           // nodes 0 and 1
		{"anywhere", fleet.Job{GPUs: 24}, 2*time.Hour + 20*time.Minute, 3, false, fleet.Anywhere}, // and node 2
	} {
		t.Run(x.name, func(t *testing.T) {
			c := small(4)
			c.Policy, c.Exempt, c.Preempt = fleet.FCFS, 2*time.Hour, true
			for n := range 4 {
				c.Jobs = append(c.Jobs, fleet.Job{ID: n + 1, GPUs: 8, Arrival: time.Duration(n) * 10 * time.Minute, Work: 20 * time.Hour})
			}
			x.big.ID, x.big.Arrival, x.big.Work, x.big.Priority, x.big.Locality = 9, time.Hour, time.Hour, 1, x.locality
			c.Big, c.Jobs = 9, append(c.Jobs, x.big)
			r := simulate(t, c)
			if got := r.Queue[4].FirstRun; got != x.start || evictions(r) != x.evicted {
				t.Errorf("starts at %v after %d evictions, want %v and %d", got, evictions(r), x.start, x.evicted)
			}
			wantIncident(t, r, fleet.NoEviction, "nobody is evicted for job 9 yet", "exempt until they have run for 2 h", "the next look is in 1 h")
		})
	}
}

// One who is evicted again and again runs for Exempt each time.
func TestExemptionBeginsAnewWithEachStart(t *testing.T) {
	c := small(1)
	c.Policy, c.Exempt, c.Checkpoint = fleet.Preemption, time.Hour, time.Minute
	c.Jobs = []fleet.Job{{ID: 1, GPUs: 8, Work: 4 * time.Hour}}
	for k := range 300 {
		c.Jobs = append(c.Jobs, fleet.Job{ID: k + 2, GPUs: 1, Arrival: time.Duration(k) * time.Minute, Work: time.Second, Priority: 1})
	}
	r := simulate(t, c)
	for i := range r.Spans {
		if sp := &r.Spans[i]; sp.Reason == fleet.Evicted && sp.End-sp.Start < time.Hour {
			t.Errorf("evicted after %v", sp.End-sp.Start)
		}
	}
	if r.Queue[0].Evicts < 2 || r.Queue[0].Done == fleet.Never {
		t.Errorf("%+v", r.Queue[0])
	}
}

func TestQueueingIsValidated(t *testing.T) {
	for want, q := range map[string]fleet.Queueing{
		"Policy.Order unknown (7)":    {Order: 7},
		"Policy.Backfill unknown (9)": {Backfill: 9},
		"Policy.Fit unknown (3)":      {Fit: 3},
		"Policy.Ageing 1ms":           {Order: fleet.ByPriority, Ageing: time.Millisecond},
		"Policy.Ageing 1h0m0s: must be 0s unless Order is ByPriority": {Ageing: time.Hour},
		"Policy.MaxAge 1h0m0s: must be 0s unless Ageing is set":       {Order: fleet.ByPriority, MaxAge: time.Hour},
		"Policy.HalfLife -1ns": {Order: fleet.ByShare, HalfLife: -1},
		"Policy.HalfLife 1h0m0s: must be 0s unless Order is ByShare": {HalfLife: time.Hour},
	} {
		for _, p := range []fleet.Policy{q, &q} {
			c := fleet.Default()
			c.Policy = p
			if _, err := fleet.Simulate(c); !errors.Is(err, fleet.ErrConfig) || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		}
	}
	c := fleet.Default()
	c.Policy = fleet.Placing("mine", nil)
	if _, err := fleet.Simulate(c); !errors.Is(err, fleet.ErrConfig) || !strings.Contains(err.Error(), "Policy nil: must be FCFS, BestFit, EASY, Preemption or a policy of your own") {
		t.Errorf("got %v", err)
	}
	for _, p := range []fleet.Policy{fleet.FCFS, fleet.BestFit, fleet.EASY, fleet.Preemption} {
		if fleet.Preempts(p) != (fleet.PolicyName(p) == "Preemption") {
			t.Errorf("%v preempts: %v", p, fleet.Preempts(p))
		}
	}
}
