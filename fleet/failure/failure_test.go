package failure_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/facts"
	"github.com/fleetlab/fleetlab/fleet/failure"
)

// llama is Llama 3's fleet: 2,048 nodes, two to a rack.
func llama() failure.Model {
	return failure.Llama3(fleet.Topology{Pods: 8, RacksPerPod: 128, NodesPerRack: 2, GPUsPerNode: 8})
}

func draw(t testing.TB, m failure.Model) []fleet.Fault {
	t.Helper()
	faults, err := m.Faults()
	if err != nil {
		t.Fatal(err)
	}
	return faults
}

// The paper's 419 interruptions in 54 days on 2,048 nodes, and its count of each cause, lie in the 99 % intervals of 40 seeds. Nineteen
// intervals at 99 % would miss one time in five if the seeds were drawn anew; they are fixed, from 0 on.
func TestLlama3Table5CountsLieInTheIntervalsOfTheSeeds(t *testing.T) {
	s, err := llama().Summarize(40)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.1f interruptions (%.1f to %.1f), MTBF %.3f h", s.Total.Mean, s.Total.Low, s.Total.High, s.MTBF.Hours())
	if !s.Total.Contains(419) || s.Total.High-s.Total.Low > 40 {
		t.Errorf("%+v does not hold 419", s.Total)
	}
	if math.Abs(s.MTBF.Hours()-facts.Llama3MTBF().Hours()) > 0.1 || math.Abs(llama().MTBF().Hours()-3.093) > 0.001 {
		t.Errorf("MTBF %v and %v", s.MTBF, llama().MTBF())
	}
	for i, row := range facts.Llama3Interruptions {
		c := s.ByCause[i]
		if c.Cause != row.Cause || !c.Count.Contains(float64(row.Count)) {
			t.Errorf("%s: %+v, the table has %d", row.Cause, c, row.Count)
		}
		if want := float64(row.Count) / 419; math.Abs(c.Share-want) > 0.015 {
			t.Errorf("%s: share %.3f, the counts say %.3f", row.Cause, c.Share, want)
		}
	}
}

// The six seeds that a quick look takes hold the 419 too.
func TestSixSeedsHold419(t *testing.T) {
	s, err := llama().Summarize(6)
	if err != nil || !s.Total.Contains(419) {
		t.Errorf("%+v, %v", s.Total, err)
	}
}

func TestScopesOfTheCauses(t *testing.T) {
	m := llama()
	m.Drain, m.Horizon = false, 400*24*time.Hour
	seen := map[string]int{}
	for _, f := range draw(t, m) {
		row := facts.Llama3Interruptions[slices.IndexFunc(facts.Llama3Interruptions, func(i facts.Interruption) bool { return i.Cause == f.Cause })]
		ok := false
		switch row.Scope {
		case facts.ScopeGPU:
			ok = f.Scope == fleet.OneGPU && f.GPU < 8 && f.Nodes == 0 && f.Repair > 0
		case facts.ScopeNode:
			ok = f.Scope == fleet.WholeNode && f.Nodes == 0 && f.Repair > 0
		case facts.ScopeNetwork:
			ok = f.Scope == fleet.WholeNode && f.Nodes == 2 && f.Node%2 == 0 && f.Repair > 0
		case facts.ScopeSoftware:
			ok = f.Scope == fleet.Software && f.Repair == 0
		}
		if !ok || (f.Silent > 0) != (f.Cause == "Silent data corruption") {
			t.Fatalf("%+v of scope %s", f, row.Scope)
		}
		seen[string(row.Scope)]++
	}
	if len(seen) != 4 {
		t.Errorf("%v", seen)
	}
	m.Drain = true
	for _, f := range draw(t, m) {
		if f.Scope == fleet.OneGPU {
			t.Fatalf("%+v, though the fleet drains", f)
		}
	}
}

// The faults are such that the simulator takes them as they are.
func TestSimulateTakesTheFaults(t *testing.T) {
	m := llama()
	m.Drain, m.Spikes = false, failure.Spikes{PerDay: 0.2, Nodes: 10, Repair: failure.Repair{Median: time.Hour, Mean: time.Hour}}
	c := fleet.Default()
	c.Topology, c.Horizon, c.Faults = m.Topology, m.Horizon, draw(t, m)
	if _, err := fleet.Simulate(c); err != nil {
		t.Fatal(err)
	}
	spikes := 0
	for _, f := range c.Faults {
		if f.Cause == "power spike" {
			if spikes++; f.Nodes != 10 || f.Node+10 > 2048 || f.Repair != time.Hour {
				t.Fatalf("%+v", f)
			}
		}
	}
	if spikes < 3 || spikes > 25 { // 10.8 expected
		t.Errorf("%d spikes", spikes)
	}
}

// gaps are the times between the faults of each node, in days.
func gaps(faults []fleet.Fault) (days []float64) {
	last := map[int]time.Duration{}
	for _, f := range faults {
		if before, some := last[f.Node]; some {
			days = append(days, (f.At-before+500*time.Millisecond).Hours()/24) // times are whole seconds, and a gap is never 0
		}
		last[f.Node] = f.At
	}
	return days
}

// many is a fleet whose nodes fail often, so that gaps are short against the horizon.
func many(shape float64, fresh bool) failure.Model {
	m := failure.Llama3(fleet.Topology{Pods: 1, RacksPerPod: 1, NodesPerRack: 400, GPUsPerNode: 8})
	m.Causes = []failure.Cause{{Name: "x", Weight: 1, Scope: facts.ScopeNode, Repair: failure.Repair{Median: time.Hour, Mean: time.Hour}}}
	m.PerNodeDay, m.Shape, m.Fresh, m.Horizon = 1, shape, fresh, 100*24*time.Hour
	return m
}

// Exponential gaps of the fleet pass a Kolmogorov–Smirnov test at 1 %.
func TestExponentialGaps(t *testing.T) {
	faults := draw(t, llama())
	var days []float64
	for i := 1; i < len(faults); i++ {
		days = append(days, (faults[i].At-faults[i-1].At).Hours()/24)
	}
	slices.Sort(days)
	rate := llama().PerNodeDay * 2048
	worst := 0.0
	for i, d := range days {
		p := 1 - math.Exp(-rate*d)
		worst = max(worst, math.Abs(p-float64(i)/float64(len(days))), math.Abs(p-float64(i+1)/float64(len(days))))
	}
	if limit := 1.63 / math.Sqrt(float64(len(days))); worst > limit {
		t.Errorf("the distribution is off by %.4f, the limit at 1 %% is %.4f", worst, limit)
	}
}

// The shape that was put in comes out again, and the rate stays that of the model whatever the shape.
func TestWeibullShapeAndRateAreRecovered(t *testing.T) {
	for _, shape := range []float64{0.5, 0.7, 1, 2} {
		faults := draw(t, many(shape, false))
		if got := failure.FitShape(gaps(faults)); math.Abs(got-shape) > 0.02*shape {
			t.Errorf("shape %.3f, want %v", got, shape)
		}
		if got := float64(len(faults)) / 400 / 100; math.Abs(got-1) > 0.03 {
			t.Errorf("shape %v: %.3f faults per node-day, want 1", shape, got)
		}
	}
}

// A falling hazard shows as a burst after the start if all nodes are new, and not if they have been running.
func TestFreshNodesWithAFallingHazardFailAtFirst(t *testing.T) {
	firstDay := func(m failure.Model) (n int) {
		for seed := range uint64(20) {
			m.Seed, m.Horizon = seed, 24*time.Hour
			n += len(draw(t, m))
		}
		return n
	}
	fresh, worn := firstDay(many(0.7, true)), firstDay(many(0.7, false))
	t.Logf("first day of 8,000 nodes: %d faults when fresh, %d in equilibrium", fresh, worn)
	if float64(fresh) < 1.2*float64(worn) || math.Abs(float64(worn)-8000) > 350 {
		t.Errorf("%d faults when fresh, %d in equilibrium, want clearly more, and 8,000", fresh, worn)
	}
}

func TestKnobsLeaveOtherDrawsAlone(t *testing.T) {
	a, b := draw(t, llama()), draw(t, llama())
	if !slices.Equal(a, b) {
		t.Fatal("the same model gives other faults")
	}
	m := llama()
	for i := range m.Causes {
		m.Causes[i].Repair = failure.Repair{Median: time.Minute, Mean: time.Minute}
	}
	m.Drain = false
	m.Spikes = failure.Spikes{PerDay: 1, Nodes: 3, Repair: failure.Repair{Median: time.Hour, Mean: time.Hour}}
	b = slices.DeleteFunc(draw(t, m), func(f fleet.Fault) bool { return f.Cause == "power spike" })
	for i := range a {
		if a[i].At != b[i].At || a[i].Node != b[i].Node || a[i].Cause != b[i].Cause || a[i].Silent != b[i].Silent {
			t.Fatalf("fault %d: %+v became %+v", i, a[i], b[i])
		}
	}
	m = llama()
	m.Horizon /= 2 // fewer faults, and none at another time
	half := draw(t, m)
	for i := range half {
		if half[i].At != a[i].At || half[i].Node != a[i].Node {
			t.Fatalf("fault %d moved", i)
		}
	}
}

// Half of the nodes have half of the faults.
func TestRateScalesWithTheNodes(t *testing.T) {
	m := failure.Llama3(fleet.Topology{Pods: 4, RacksPerPod: 128, NodesPerRack: 2, GPUsPerNode: 8})
	s, err := m.Summarize(20)
	if err != nil || !s.Total.Contains(419.0/2) {
		t.Errorf("%+v, %v", s.Total, err)
	}
	meta := failure.Meta(m.Topology, facts.MetaRSC1Failures.Value)
	if got := 24 / meta.MTBF().Hours() / 1024 * 1000; math.Abs(got-6.5) > 1e-6 {
		t.Errorf("%v failures per 1,000 node-days", got)
	}
	for _, c := range meta.Causes {
		if c.Scope == facts.ScopeSoftware {
			t.Errorf("Meta counts node failures, not %s", c.Name)
		}
	}
}

// Repairs have the median and mean of their class.
func TestRepairTimes(t *testing.T) {
	m := many(1, false)
	m.Causes[0].Repair = failure.Repair{Median: 20 * time.Hour, Mean: 132 * time.Hour}
	var hours []float64
	sum := 0.0
	for _, f := range draw(t, m) {
		hours = append(hours, f.Repair.Hours())
		sum += f.Repair.Hours()
	}
	slices.Sort(hours)
	if median := hours[len(hours)/2]; math.Abs(median-20) > 1 {
		t.Errorf("median %.1f h of %d, want 20", median, len(hours))
	}
	if mean := sum / float64(len(hours)); math.Abs(mean-132) > 13 {
		t.Errorf("mean %.1f h, want 132", mean)
	}
}

// On a fleet of racks a switch takes its whole rack.
func TestSwitchTakesItsRack(t *testing.T) {
	m := failure.Llama3(fleet.Default().Topology)
	m.Horizon = 400 * 24 * time.Hour
	n := 0
	for _, f := range draw(t, m) {
		if f.Cause == "Network switch/cable" {
			if n++; f.Node%5 != 0 || f.Nodes != 5 {
				t.Fatalf("%+v", f)
			}
		}
	}
	if n < 50 {
		t.Errorf("only %d switches failed", n)
	}
}

func TestEdgesOfMTBFAndShape(t *testing.T) {
	m := llama()
	for rate, want := range map[float64]time.Duration{0: 0, 1e-12: math.MaxInt64} {
		if m.PerNodeDay = rate; m.MTBF() != want {
			t.Errorf("MTBF %v at %v per node-day", m.MTBF(), rate)
		}
	}
	for _, gaps := range [][]float64{nil, {1}, {2, 2, 2}, {0, 1}, {-1, 1}, {math.NaN(), 1}} {
		if k := failure.FitShape(gaps); !math.IsNaN(k) {
			t.Errorf("shape %v of %v", k, gaps)
		}
	}
}

func TestBurst(t *testing.T) {
	faults := failure.Burst([]int{4, 9}, time.Hour, 2*time.Hour, "power spike")
	if len(faults) != 2 || faults[1] != (fleet.Fault{Node: 9, At: time.Hour, Repair: 2 * time.Hour, Cause: "power spike"}) {
		t.Errorf("%+v", faults)
	}
}

func TestValidateNamesFieldValueAndRange(t *testing.T) {
	for says, set := range map[string]func(*failure.Model){
		"Topology.Pods 0":                func(m *failure.Model) { m.Topology.Pods = 0 },
		"Horizon 0s":                     func(m *failure.Model) { m.Horizon = 0 },
		"PerNodeDay NaN":                 func(m *failure.Model) { m.PerNodeDay = math.NaN() },
		"PerNodeDay -1":                  func(m *failure.Model) { m.PerNodeDay = -1 },
		"PerNodeDay 100: must be so low": func(m *failure.Model) { m.PerNodeDay = 100 },
		"Shape 0.1":                      func(m *failure.Model) { m.Shape = 0.1 },
		"Behind 0":                       func(m *failure.Model) { m.Behind = 0 },
		"Causes 0":                       func(m *failure.Model) { m.Causes = nil },
		"Causes[0].Weight -1":            func(m *failure.Model) { m.Causes = []failure.Cause{{Weight: -1, Scope: facts.ScopeSoftware}} },
		"Causes[0].Scope moon":           func(m *failure.Model) { m.Causes = []failure.Cause{{Weight: 1, Scope: "moon"}} },
		"Causes[0].Repair {0s 0s}":       func(m *failure.Model) { m.Causes = []failure.Cause{{Weight: 1, Scope: facts.ScopeNode}} },
		"Causes[0].Silent -1s": func(m *failure.Model) {
			m.Causes = []failure.Cause{{Weight: 1, Scope: facts.ScopeSoftware, Silent: -time.Second}}
		},
		"Spikes.PerDay +Inf": func(m *failure.Model) { m.Spikes.PerDay = math.Inf(1) },
		"Spikes.Nodes 0": func(m *failure.Model) {
			m.Spikes = failure.Spikes{PerDay: 1, Repair: failure.Repair{Median: time.Hour, Mean: time.Hour}}
		},
		"Spikes.Repair": func(m *failure.Model) { m.Spikes = failure.Spikes{PerDay: 1, Nodes: 1} },
	} {
		m := llama()
		set(&m)
		if _, err := m.Faults(); !errors.Is(err, failure.ErrModel) || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %q", err, says)
		}
	}
	for _, seeds := range []int{0, 1, 10_001} {
		if _, err := llama().Summarize(seeds); !errors.Is(err, failure.ErrModel) || !strings.Contains(err.Error(), fmt.Sprintf("seeds %d", seeds)) {
			t.Errorf("%v", err)
		}
	}
}

// Whatever the model, there is an answer, and it is one that the simulator takes.
func FuzzModel(f *testing.F) {
	f.Add(uint64(1), 0.004, 0.7, int64(24*time.Hour), 50, 2, 0.1, 3)
	f.Fuzz(func(t *testing.T, seed uint64, rate, shape float64, horizon int64, nodes, behind int, spikes float64, spiked int) {
		m := failure.Llama3(fleet.Topology{Pods: 1, RacksPerPod: 1, NodesPerRack: nodes % 500, GPUsPerNode: 8})
		m.Seed, m.PerNodeDay, m.Shape, m.Behind, m.Horizon = seed, rate, shape, behind, time.Duration(horizon)
		m.Drain, m.Fresh = seed%2 == 0, seed%3 == 0
		m.Spikes = failure.Spikes{PerDay: spikes, Nodes: spiked, Repair: failure.Repair{Median: time.Hour, Mean: 2 * time.Hour}}
		if rate > 1 { // valid, but slow
			return
		}
		faults, err := m.Faults()
		if err != nil {
			if !errors.Is(err, failure.ErrModel) {
				t.Fatal(err)
			}
			return
		}
		c := fleet.Default()
		c.Topology, c.Horizon, c.Faults = m.Topology, m.Horizon, faults
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
	})
}

func Example() {
	m := failure.Llama3(fleet.Topology{Pods: 8, RacksPerPod: 128, NodesPerRack: 2, GPUsPerNode: 8})
	s, err := m.Summarize(20)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("MTBF of the model %.2f h; is 419 within the interval of 20 seeds: %v\n", m.MTBF().Hours(), s.Total.Contains(419))
	// Output: MTBF of the model 3.09 h; is 419 within the interval of 20 seeds: true
}

func BenchmarkLlama3(b *testing.B) {
	m := llama()
	for b.Loop() {
		draw(b, m)
	}
}
