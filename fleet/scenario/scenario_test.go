package scenario_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/facts"
	"github.com/fleetlab/fleetlab/fleet/scenario"
)

func run(t testing.TB, set func(c *fleet.Config)) *fleet.Run {
	t.Helper()
	c := fleet.Default()
	if set != nil {
		set(&c)
	}
	r, err := fleet.Simulate(scenario.Fragmented(c))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Act I's opening: about 2,000 GPUs idle, and not one place for 1,000.
func TestFragmentedLeavesTheBigJobWaiting(t *testing.T) {
	r := run(t, nil)
	arrival := r.Ledger().Window.Start
	s, l := r.At(arrival), r.Ledger()
	t.Logf("at %v: %d idle, largest hole %d nodes, fragmentation %.3f; goodput %.3f, students' 95th percentile %v",
		arrival, s.Idle, s.LargestHole, s.Fragmentation(8), l.Goodput, l.StudentP95)
	if s.Idle < 1850 || s.Idle > 2150 || s.LargestHole >= 125 || len(r.Config.Jobs) < 5000 {
		t.Errorf("%d GPUs idle, largest hole %d, %d jobs", s.Idle, s.LargestHole, len(r.Config.Jobs))
	}
	if l.BigStart != fleet.Never || l.SLAMet || l.FragmentationMet() || l.GoodputMet() {
		t.Errorf("start %v, SLA %v, fragmentation %v, goodput %v", l.BigStart, l.SLAMet, l.Fragmentation, l.Goodput)
	}
}

// Killing and migrating both start the job, each at its own price.
func TestKillingAndMigratingBothStartTheBigJob(t *testing.T) {
	kill := run(t, func(c *fleet.Config) { c.Preempt = true }).Ledger()
	move := run(t, func(c *fleet.Config) { c.Defrag = true }).Ledger()
	for name, l := range map[string]fleet.Ledger{"kill": kill, "migrate": move} {
		t.Logf("%s: wait %v, lost %.1f GPU-h, restarts %.1f, pause %.1f, tax %.1f, $%.0f; goodput %.3f, fragmentation %.3f, %d evictions, %d migrations",
			name, l.BigWait, l.Price.Lost.Hours(), l.Price.Restarts.Hours(), l.Price.Pause.Hours(), l.Price.Tax.Hours(), l.Price.USD,
			l.Goodput, l.Fragmentation, l.Evictions, l.Migrations)
		if l.BigStart == fleet.Never || !l.SLAMet || !l.GoodputMet() {
			t.Errorf("%s: start %v, SLA %v, goodput %v", name, l.BigStart, l.SLAMet, l.Goodput)
		}
		if want := l.Price.Total().Hours() * facts.GPUHourUSD.Value; math.Abs(l.Price.USD-want) > 1e-6 || l.Price.USD == 0 {
			t.Errorf("%s: $%v for %v GPU-h", name, l.Price.USD, l.Price.Total().Hours())
		}
	}
	if kill.Evictions == 0 || kill.Migrations != 0 || kill.Price.Lost == 0 || kill.Price.Restarts == 0 || kill.Price.Pause+kill.Price.Tax != 0 || kill.BigWait != 0 {
		t.Errorf("kill: %+v", kill.Price)
	}
	if move.Migrations == 0 || move.Evictions != 0 || move.Price.Lost != 0 || move.Price.Pause == 0 || move.Price.Tax == 0 || move.BigWait == 0 {
		t.Errorf("migrate: %+v", move.Price)
	}
	// Migration heals the fragmentation, killing does not.
	if kill.FragmentationMet() || !move.FragmentationMet() {
		t.Errorf("fragmentation %v after killing, %v after migrating", kill.Fragmentation, move.Fragmentation)
	}
}

// The price of killing grows with the checkpoint interval, and there is one beyond which migrating is cheaper.
func TestTheCheckpointIntervalTurnsTheDecision(t *testing.T) {
	price := func(tau time.Duration, preempt bool) fleet.GPUTime {
		return run(t, func(c *fleet.Config) { c.Checkpoint, c.Preempt, c.Defrag = tau, preempt, !preempt }).Ledger().Price.Total()
	}
	var before fleet.GPUTime
	for _, x := range []struct {
		tau           time.Duration
		killIsCheaper bool
	}{{5 * time.Minute, true}, {time.Hour, true}, {3 * time.Hour, true}, {6 * time.Hour, true}, {12 * time.Hour, false}, {24 * time.Hour, false}} {
		kill, move := price(x.tau, true), price(x.tau, false)
		t.Logf("τ = %v: kill %.0f GPU-h, migrate %.0f GPU-h", x.tau, kill.Hours(), move.Hours())
		if kill < move != x.killIsCheaper || kill < before {
			t.Errorf("τ = %v: kill %.1f GPU-h, %.1f at the interval before; migrate %.1f", x.tau, kill.Hours(), before.Hours(), move.Hours())
		}
		before = kill
	}
}

// Every badge is green for some setting of the levers and red for another.
func TestEveryBadgeTurns(t *testing.T) {
	green, red := map[string]bool{}, map[string]bool{}
	for _, p := range []fleet.Policy{fleet.FCFS, fleet.BestFit, fleet.Preemption} {
		for k := range 4 {
			for _, tau := range []time.Duration{time.Minute, 3 * time.Hour} {
				l := run(t, func(c *fleet.Config) { c.Policy, c.Preempt, c.Defrag, c.Checkpoint = p, k&1 == 1, k&2 == 2, tau }).Ledger()
				for name, met := range map[string]bool{"fragmentation": l.FragmentationMet(), "goodput": l.GoodputMet(), "SLA": l.SLAMet} {
					green[name], red[name] = green[name] || met, red[name] || !met
				}
			}
		}
	}
	if len(green) != 3 || len(red) != 3 {
		t.Fatal(green, red)
	}
	for name := range green {
		if !green[name] || !red[name] {
			t.Errorf("%s: green for some setting %v, red for some %v", name, green[name], red[name])
		}
	}
}

// The switch alone lets only the big job kill; the policy Preemption implies the switch.
func TestPreemptionImpliesTheSwitch(t *testing.T) {
	off := run(t, func(c *fleet.Config) { c.Policy = fleet.Preemption })
	on := run(t, func(c *fleet.Config) { c.Policy, c.Preempt = fleet.Preemption, true })
	if !fleet.Preempts(fleet.Preemption) || fleet.Preempts(fleet.FCFS) || !reflect.DeepEqual(off.Spans, on.Spans) || off.Ledger().Evictions == 0 {
		t.Error("the switch changes a run under Preemption")
	}
}

// No lever changes what arrives and what breaks.
func TestSameJobsAndFaultsWhateverTheLevers(t *testing.T) {
	want := run(t, nil).Config
	for _, set := range []func(c *fleet.Config){
		func(c *fleet.Config) { c.Policy = fleet.BestFit },
		func(c *fleet.Config) { c.Policy, c.Defrag = fleet.Preemption, true },
		func(c *fleet.Config) { c.Checkpoint, c.Preempt = time.Minute, true },
		func(c *fleet.Config) { c.RateUSD, c.Grace = 1, time.Minute },
	} {
		got := run(t, set)
		if !reflect.DeepEqual(got.Config.Jobs, want.Jobs) || !reflect.DeepEqual(got.Config.Faults, want.Faults) {
			t.Error("jobs or faults differ")
		}
		downs := func(r *fleet.Run) (at []time.Duration) {
			for _, o := range r.Outages {
				at = append(at, o.Start)
			}
			return at
		}
		if !reflect.DeepEqual(downs(got), downs(run(t, nil))) {
			t.Error("nodes went down at other times")
		}
	}
	other := run(t, func(c *fleet.Config) { c.Seed = 7 })
	if reflect.DeepEqual(other.Config.Jobs, want.Jobs) {
		t.Error("another seed draws the same jobs")
	}
}

// A student's absurd levers end in an error of Simulate's, and soon.
func TestAbsurdLeversAreReported(t *testing.T) {
	for want, set := range map[string]func(c *fleet.Config){
		"Topology.Pods 0:":             func(c *fleet.Config) { c.Topology.Pods = 0 },
		"Topology.Pods 1099511627776:": func(c *fleet.Config) { c.Topology.Pods = 1 << 40 },
		"Horizon -1ns:":                func(c *fleet.Config) { c.Horizon = -1 },
		"Checkpoint 3ns:":              func(c *fleet.Config) { c.Checkpoint = 3 },
		"Policy nil:":                  func(c *fleet.Config) { c.Policy = nil },
		"RateUSD NaN:":                 func(c *fleet.Config) { c.RateUSD = math.NaN() },
	} {
		c := fleet.Default()
		set(&c)
		if _, err := fleet.Simulate(scenario.Fragmented(c)); !errors.Is(err, fleet.ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// A run that ends before the big job comes has no big job.
func TestHorizonBeforeTheBigJob(t *testing.T) {
	r := run(t, func(c *fleet.Config) { c.Horizon = time.Hour })
	l := r.Ledger()
	if l.Window != (fleet.Interval{Start: 0, End: time.Hour}) || !l.SLAMet || l.BigWait != 0 || l.BigStart != fleet.Never {
		t.Errorf("%+v", l)
	}
	if _, err := (scenario.FragmentedGuess{}).Gaps(r); !errors.Is(err, scenario.ErrPrediction) || !strings.Contains(err.Error(), "Horizon 1h0m0s") {
		t.Errorf("a prediction of a wait that cannot be: %v", err)
	}
}

// The story holds for other seeds too: the big job always starts when it is helped, and never otherwise.
func TestOtherSeeds(t *testing.T) {
	for seed := range uint64(20) {
		for _, helped := range []bool{false, true} {
			r := run(t, func(c *fleet.Config) { c.Seed, c.Defrag = seed, helped })
			l := r.Ledger()
			if s := r.At(l.Window.Start); s.Idle < 1500 || s.Idle > 2400 || (l.BigStart != fleet.Never) != helped {
				t.Errorf("seed %d, defrag %v: %d idle, start %v", seed, helped, s.Idle, l.BigStart)
			}
			if l.Split.Total().Hours() != 75_000 {
				t.Errorf("seed %d: %v GPU-h in the window", seed, l.Split.Total().Hours())
			}
		}
	}
}

// The drawn load has the shape that Students describes: counts within 4 standard deviations of a Poisson process, shares and the
// median within 4 of their sampling error.
func TestStudentsHaveTheStatedShape(t *testing.T) {
	s := scenario.ActIStudents
	counts := make([]float64, 12)
	sizes := map[int]float64{}
	below, n := 0.0, 0.0
	const seeds = 20
	for seed := range uint64(seeds) {
		c := fleet.Default()
		c.Seed = seed
		c = scenario.Fragmented(c)
		for _, j := range c.Jobs {
			if j.ID == c.Big {
				continue
			}
			counts[j.Arrival/time.Hour]++
			sizes[j.GPUs]++
			n++
			if j.Work < s.Median {
				below++
			}
		}
	}
	for hour, got := range counts {
		want := seeds * s.PerHour[min(hour, len(s.PerHour)-1)]
		if math.Abs(got-want) > 4*math.Sqrt(want) {
			t.Errorf("hour %d: %v arrivals in %d seeds, want %v", hour, got, seeds, want)
		}
	}
	for _, z := range s.Sizes {
		if got := sizes[z.GPUs] / n; math.Abs(got-z.Share) > 4*math.Sqrt(z.Share*(1-z.Share)/n) {
			t.Errorf("%d GPUs: share %v, want %v", z.GPUs, got, z.Share)
		}
	}
	if math.Abs(below/n-0.5) > 4*0.5/math.Sqrt(n) {
		t.Errorf("%v of the run times are below the median", below/n)
	}
}

// Faults come at the rate of the Llama 3 table.
func TestFaultRate(t *testing.T) {
	n := 0
	const seeds = 400
	for seed := range uint64(seeds) {
		c := fleet.Default()
		c.Seed = seed
		n += len(scenario.Fragmented(c).Faults)
	}
	want := facts.NodeFailuresPerDay() * 0.5 * 1250 * seeds
	if math.Abs(float64(n)-want) > 4*math.Sqrt(want) {
		t.Errorf("%d faults in %d half-days, want %.0f ± %.0f", n, seeds, want, 4*math.Sqrt(want))
	}
}

// A setting of the levers must feel instant: make bench shows the time against the limit of 50 ms.
func BenchmarkFragmented(b *testing.B) {
	for _, p := range []fleet.Policy{fleet.FCFS, fleet.BestFit, fleet.Preemption} {
		for _, defrag := range []bool{false, true} {
			b.Run(fmt.Sprintf("%v/defrag=%v", p, defrag), func(b *testing.B) {
				c := fleet.Default()
				c.Policy, c.Defrag = p, defrag
				c = scenario.Fragmented(c)
				b.ReportAllocs()
				for b.Loop() {
					r, err := fleet.Simulate(c)
					if err != nil {
						b.Fatal(err)
					}
					_ = r.Ledger()
				}
			})
		}
	}
}

// The lever grid: 3 policies × preemption × defragmentation × 8 checkpoint intervals, 80 different settings.
func BenchmarkGrid(b *testing.B) {
	var grid []fleet.Config
	c := scenario.Fragmented(fleet.Default())
	for _, p := range []fleet.Policy{fleet.FCFS, fleet.BestFit, fleet.Preemption} {
		for k := range 4 {
			for _, tau := range []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour} {
				if c.Policy, c.Preempt, c.Defrag, c.Checkpoint = p, k&1 == 1, k&2 == 2, tau; !c.Preempt || !fleet.Preempts(p) {
					grid = append(grid, c)
				}
			}
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := fleet.Sweep(grid, func(_ int, r *fleet.Run) { _ = r.Ledger() }); err != nil {
			b.Fatal(err)
		}
	}
}

// A month of students is the most; beyond it Simulate says so, and the same config with a shorter horizon is good again.
func TestFragmentedForLongerThanAMonthIsAnError(t *testing.T) {
	c := fleet.Default()
	c.Horizon = 32 * 24 * time.Hour
	c = scenario.Fragmented(c)
	if _, err := fleet.Simulate(c); !errors.Is(err, fleet.ErrConfig) || !strings.Contains(err.Error(), "Horizon 768h0m0s: must be between 1s and 744h0m0s") {
		t.Errorf("%v", err)
	}
	c.Horizon = time.Hour
	if err := scenario.Fragmented(c).Validate(); err != nil {
		t.Error(err)
	}
}
