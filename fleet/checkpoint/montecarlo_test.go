package checkpoint_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fleetlab/fleetlab/fleet/checkpoint"
)

// renewal is the goodput that theory knows for any gaps: τ · Σ S(R + k(τ+δ) + P) / mean gap, see Gaps. S is the chance of a longer gap.
func renewal(m checkpoint.Model, interval time.Duration, mean float64, longer func(s float64) float64) float64 {
	tau, sum := max(interval, m.Persist).Seconds(), 0.0
	for k := 1.0; k < 1e7; k++ {
		s := longer(m.Restart.Seconds() + k*(tau+m.Write.Seconds()) + m.Persist.Seconds())
		if sum += s; s < 1e-14 {
			break
		}
	}
	return tau * sum / mean
}

// weibull is the goodput with Weibull gaps of mean MTBF.
func weibull(m checkpoint.Model, interval time.Duration, shape float64) float64 {
	scale := m.MTBF.Seconds() / math.Gamma(1+1/shape)
	return renewal(m, interval, m.MTBF.Seconds(), func(s float64) float64 { return math.Exp(-math.Pow(s/scale, shape)) })
}

func play(t testing.TB, m checkpoint.Model, trial checkpoint.Trial) checkpoint.Result {
	t.Helper()
	r, err := m.MonteCarlo(trial)
	if err != nil {
		t.Fatal(err)
	}
	if r.Failures != r.InRestart+r.InWork+r.InWrite+r.InPersist || len(r.Replications) != trial.Replications {
		t.Fatalf("%+v does not add up", r)
	}
	return r
}

// within says how far truth is from the middle of the confidence interval, in halves of its width: above 1 it is outside.
func within(r checkpoint.Result, truth float64) float64 {
	return math.Abs(truth-r.Goodput) / ((r.High - r.Low) / 2)
}

// The closed form against the event-by-event simulation: every row of the oracle, at its optimum and at 1 h (all 180 have more than 1 %
// of goodput), 200 replications of 500 failures each.
//
// What it can show: of 180 correct intervals at 99 % each, 1.8 miss on average. All 180 draw the same streams (common random numbers), so
// they miss together or not at all: most seeds have no miss, and now and then one has a dozen. Seed 1 is the one that was tried first,
// at the size that was chosen first, and has none, so the strict check on it stays. Of 24 combinations tried (seeds 1 to 8 at three
// sizes) 18 had none, and the other six 1, 1, 1, 2, 15 and 18: 1.6 on average. Seeds 2 and 3 are held to what luck can't do: no interval
// may miss by more than a test of all 180 at once (Bonferroni, 1 % in total) would allow, and that is 1.59 half-widths with Student's t
// of 199 degrees of freedom.
func TestMonteCarloAgreesWithEveryRowOfTheOracle(t *testing.T) {
	const bonferroni = 1.59
	for seed, allowed := range map[uint64]float64{1: 1, 2: bonferroni, 3: bonferroni} {
		for i, row := range oracle(t) {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				m := row.model()
				for interval, printed := range map[time.Duration]float64{m.Optimum(): row.Best, time.Hour: row.At1h} {
					r := play(t, m, checkpoint.Trial{Interval: interval, Replications: 200, Failures: 500, Seed: seed})
					exact := m.Goodput(interval)
					near(t, "the oracle", exact, printed, 1e-6)
					if off := within(r, exact); off > allowed {
						t.Errorf("row %d at %v, seed %d: %.5f in [%.5f, %.5f]? It is off by %.2f half-widths", i, interval, seed, exact, r.Low, r.High, off)
					}
					if r.Failures != 200*500 || r.InWork == 0 || r.InWrite == 0 || (r.InRestart == 0) != (m.Restart == 0) || r.InPersist != 0 {
						t.Errorf("row %d at %v: failures must happen, and strike everything: %+v", i, interval, r)
					}
					if half := (r.High - r.Low) / 2; half > 0.005 {
						t.Errorf("row %d at %v: ± %.4f proves little", i, interval, half)
					}
				}
			})
		}
	}
}

// A 99 % interval has to miss in 1 % of cases, not less and not more: of 1,000 seeds 10 on average with a deviation of 3.1. From 2 to 22
// is what all but 1 in 1,000 honest intervals would show.
func TestConfidenceIntervalsMissOnePercent(t *testing.T) {
	async := lab
	async.Persist = 5 * time.Minute
	for name, c := range map[string]struct {
		m        checkpoint.Model
		interval time.Duration
		shape    float64
		truth    float64
	}{
		"exponential": {lab, lab.Optimum(), 0, lab.Goodput(lab.Optimum())},
		"long":        {lab, 3 * time.Hour, 0, lab.Goodput(3 * time.Hour)},
		"async":       {async, 20 * time.Minute, 0, async.Goodput(20 * time.Minute)},
		"bursts":      {lab, time.Hour, 0.7, weibull(lab, time.Hour, 0.7)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			misses := 0
			for seed := range uint64(1000) {
				r := play(t, c.m, checkpoint.Trial{
					Interval: c.interval, Gaps: checkpoint.Gaps{Shape: c.shape}, Replications: 200, Failures: 25, Seed: seed,
				})
				if within(r, c.truth) > 1 {
					misses++
				}
			}
			if misses < 2 || misses > 22 {
				t.Errorf("%d of 1,000 intervals miss, want about 10", misses)
			}
		})
	}
}

// The renewal argument for asynchronous checkpoints, with P from nothing to all of the interval, and an interval that is shorter than P.
func TestMonteCarloOfAsynchronousCheckpoints(t *testing.T) {
	for _, persist := range []time.Duration{time.Second, time.Minute, 10 * time.Minute, 20 * time.Minute, 45 * time.Minute} {
		m := lab
		m.Write, m.Persist = 10*time.Second, persist
		r := play(t, m, checkpoint.Trial{Interval: 20 * time.Minute, Replications: 200, Failures: 1000, Seed: 1})
		if off := within(r, m.Goodput(20*time.Minute)); off > 1 {
			t.Errorf("P = %v: %.5f in [%.5f, %.5f]? off by %.2f", persist, m.Goodput(20*time.Minute), r.Low, r.High, off)
		}
		if r.InPersist == 0 {
			t.Errorf("P = %v: no failure struck a snapshot on its way", persist)
		}
	}
}

// With Weibull gaps the exponential formula is an approximation. Shape 0.7 (bursts and long quiet times): more goodput than it says, and
// the best interval is longer; shape 2 (wear): less, and shorter. The intervals are a grid of 8 % around the exponential optimum, and
// all draw the same failures, so that their differences are sharper than each alone. Restarts are struck too.
func TestWeibullGapsMoveTheOptimum(t *testing.T) {
	m := checkpoint.Model{MTBF: 3 * time.Hour, Write: 10 * time.Minute, Restart: 30 * time.Minute}
	for _, c := range []struct {
		shape          float64
		best, exact    float64 // interval in minutes on the grid, and its goodput by the renewal sum
		restartsStruck float64 // share of failures
	}{
		{0.7, 62.43, 0.6310, 0.286}, {1, 53.53, 0.5948, 0.154}, {2, 45.89, 0.5622, 0.022},
	} {
		var best time.Duration
		var top checkpoint.Result
		for step := -4.0; step <= 4; step++ {
			interval := time.Duration(float64(m.Optimum()) * math.Pow(1.08, step))
			r := play(t, m, checkpoint.Trial{Interval: interval, Gaps: checkpoint.Gaps{Shape: c.shape}, Replications: 200, Failures: 500, Seed: 1})
			if r.Goodput > top.Goodput {
				best, top = interval, r
			}
		}
		near(t, "best interval, min", best.Minutes(), c.best, 0.01)
		near(t, "theory", weibull(m, best, c.shape), c.exact, 0.0001)
		if off := within(top, c.exact); off > 1 {
			t.Errorf("shape %g: %.5f in [%.5f, %.5f]? off by %.2f", c.shape, c.exact, top.Low, top.High, off)
		}
		near(t, "failures in restarts", float64(top.InRestart)/float64(top.Failures), c.restartsStruck, 0.005)
	}
}

// The numbers of the comment of Gaps: M = 3 h, δ = 2 min, R = 385 s, shape 0.7.
func TestWeibullNumbersOfTheComment(t *testing.T) {
	best := 27*time.Minute + 30*time.Second
	near(t, "at 27.5 min", weibull(lab, best, 0.7), 0.837, 0.0005)
	for _, other := range []time.Duration{25 * time.Minute, 30 * time.Minute} {
		if weibull(lab, other, 0.7) >= weibull(lab, best, 0.7) {
			t.Errorf("%v is better than %v", other, best)
		}
	}
	near(t, "lost by the exponential optimum", weibull(lab, best, 0.7)-weibull(lab, lab.Optimum(), 0.7), 0.0003, 0.00005)
	near(t, "at 24 h", weibull(lab, 24*time.Hour, 0.7), 0.052, 0.0005)
	near(t, "exponential at 24 h", weibull(lab, 24*time.Hour, 1), lab.Goodput(24*time.Hour), 1e-12)
	for interval, want := range map[time.Duration]float64{best: 0.837, 24 * time.Hour: 0.0522} {
		r := play(t, lab, checkpoint.Trial{Interval: interval, Gaps: checkpoint.Gaps{Shape: 0.7}, Replications: 200, Failures: 2000, Seed: 1})
		near(t, "simulated", r.Goodput, want, 0.002)
	}
}

// A sample of three gaps can be worked out by hand: R = 10 s, τ = 100 s, δ = 10 s; a gap of 9 s saves nothing, of 120 s 100 s (the
// checkpoint is durable at the very instant of the failure), of 471 s 400 s. Half as long: 0, 0 and 200 s.
func TestMonteCarloOfMeasuredGaps(t *testing.T) {
	m := checkpoint.Model{MTBF: 100 * time.Second, Write: 10 * time.Second, Restart: 10 * time.Second}
	gaps := checkpoint.Gaps{Sample: []time.Duration{9 * time.Second, 120 * time.Second, 471 * time.Second}, AsIs: true}
	trial := checkpoint.Trial{Interval: 100 * time.Second, Gaps: gaps, Replications: 300, Failures: 1000, Seed: 1}
	if r := play(t, m, trial); within(r, 500.0/600) > 1 {
		t.Errorf("as measured: %.5f in [%.5f, %.5f]?", 500.0/600, r.Low, r.High)
	}
	trial.Gaps.AsIs = false // now their mean is not 200 s but M = 100 s
	if r := play(t, m, trial); within(r, 200.0/300) > 1 {
		t.Errorf("stretched: %.5f in [%.5f, %.5f]?", 200.0/300, r.Low, r.High)
	}
	trial.Gaps.Sample = []time.Duration{120 * time.Second}
	trial.Gaps.AsIs = true
	if r := play(t, m, trial); math.Abs(r.Goodput-100.0/120) > 1e-12 || r.Low > r.Goodput || r.High < r.Goodput || r.High-r.Low > 1e-9 {
		t.Errorf("always the same gap: %v in [%v, %v]", r.Goodput, r.Low, r.High)
	}
}

// The same trial gives the same result, alone or beside others, and more replications keep the first ones.
func TestMonteCarloDependsOnItsSeedAlone(t *testing.T) {
	trial := checkpoint.Trial{Interval: 25 * time.Minute, Gaps: checkpoint.Gaps{Shape: 0.7}, Replications: 50, Failures: 100, Seed: 7}
	want := play(t, lab, trial)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got, err := lab.MonteCarlo(trial); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
	wg.Wait()
	trial.Replications = 60
	if more := play(t, lab, trial); !reflect.DeepEqual(more.Replications[:50], want.Replications) {
		t.Error("ten more replications changed the first fifty")
	}
	trial.Seed = 8
	if other := play(t, lab, trial); other.Goodput == want.Goodput {
		t.Error("another seed must give other failures")
	}
}

// Where goodput is 1e-40 a run of fixed work would never end. This one does, and says that no checkpoint was reached.
func TestMonteCarloEndsWithoutGoodput(t *testing.T) {
	m := checkpoint.Model{MTBF: 15 * time.Minute, Write: 2 * time.Minute, Restart: 385 * time.Second}
	r := play(t, m, checkpoint.Trial{Interval: 24 * time.Hour, Replications: 200, Failures: 100, Seed: 1})
	if r.Goodput != 0 || r.High != 0 || r.Checkpoints != 0 || r.Failures != 200*100 || r.InRestart == 0 {
		t.Errorf("%+v", r)
	}
}

// Wild gaps (shape 0.3) at the bound on events: some replications see more than eight times their share of rounds and end early. They are
// counted, and what they saw has no bias.
func TestMonteCarloCutsWildGapsWithoutBias(t *testing.T) {
	m := checkpoint.Model{MTBF: 490 * time.Minute, Write: 10 * time.Second, Restart: 5 * time.Minute}
	trial := checkpoint.Trial{Interval: 50 * time.Second, Gaps: checkpoint.Gaps{Shape: 0.3}, Replications: 100_000, Failures: 2, Seed: 1}
	r := play(t, m, trial)
	if r.Cut < 1000 || r.Failures != 2*trial.Replications-r.Cut {
		t.Errorf("%d cut, %d failures", r.Cut, r.Failures)
	}
	if truth := weibull(m, trial.Interval, 0.3); within(r, truth) > 1 {
		t.Errorf("%.6f in [%.6f, %.6f]?", truth, r.Low, r.High)
	}
}

func TestMonteCarloNamesWhatIsWrong(t *testing.T) {
	good := checkpoint.Trial{Interval: time.Hour, Replications: 10, Failures: 10}
	for want, change := range map[string]func(*checkpoint.Trial){
		"Interval 0s: must be between 1ms and 87600h0m0s":      func(t *checkpoint.Trial) { t.Interval = 0 },
		"Interval 1ms: must be longer":                         func(t *checkpoint.Trial) { t.Interval, t.Failures = time.Millisecond, 1_000_000 },
		"Replications 1: must be between 2 and 100000":         func(t *checkpoint.Trial) { t.Replications = 1 },
		"Failures 0: must be between 1 and 1000000":            func(t *checkpoint.Trial) { t.Failures = 0 },
		"Gaps.Shape 0.2: must be 0 or between 0.3 and 10":      func(t *checkpoint.Trial) { t.Gaps.Shape = 0.2 },
		"Gaps.Shape NaN: must be":                              func(t *checkpoint.Trial) { t.Gaps.Shape = math.NaN() },
		"Gaps.Shape 0.7: must be 0 with a Sample":              func(t *checkpoint.Trial) { t.Gaps.Shape, t.Gaps.Sample = 0.7, make([]time.Duration, 1) },
		"Gaps.Sample[1] 0s: must be between":                   func(t *checkpoint.Trial) { t.Gaps.Sample = []time.Duration{time.Hour, 0} },
		"Gaps.Sample of 1000001 gaps: must be at most 1000000": func(t *checkpoint.Trial) { t.Gaps.Sample = make([]time.Duration, 1_000_001) },
		"Gaps.AsIs true: must be false without a Sample":       func(t *checkpoint.Trial) { t.Gaps.AsIs = true },
	} {
		trial := good
		change(&trial)
		if _, err := lab.MonteCarlo(trial); !errors.Is(err, checkpoint.ErrTrial) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := (checkpoint.Model{}).MonteCarlo(good); !errors.Is(err, checkpoint.ErrModel) {
		t.Errorf("%v does not wrap ErrModel", err)
	}
}

// One row at 200 replications of 500 failures.
func BenchmarkMonteCarlo(b *testing.B) {
	for b.Loop() {
		play(b, lab, checkpoint.Trial{Interval: lab.Optimum(), Replications: 200, Failures: 500, Seed: 1})
	}
}
