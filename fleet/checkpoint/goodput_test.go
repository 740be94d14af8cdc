package checkpoint_test

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/fleetlab/fleetlab/fleet/checkpoint"
)

// lab is the model that the comments take their numbers from: a failure every 3 h, a write of 2 min (175B parameters at 20 GB/s), and a
// restart of 385 s.
var lab = checkpoint.Model{MTBF: 3 * time.Hour, Write: 2 * time.Minute, Restart: 385 * time.Second}

// The trap of the facts: 92.0 % without rework where 86.7 % is right to first order. These are inputs that give both numbers; the
// exact goodput is a little better than either way of counting rework, because failures also strike before half an interval is done.
func TestTrapWithoutRework(t *testing.T) {
	m := checkpoint.Model{MTBF: 3 * time.Hour, Write: time.Minute, Restart: 5 * time.Minute}
	young := m.Young()
	near(t, "Young, s", young.Seconds(), 1138.42, 0.01)
	near(t, "without rework", m.WithoutRework(young), 0.920, 0.0005)
	near(t, "first order", m.FirstOrder(young), 0.867, 0.0005)
	near(t, "exact", m.Goodput(young), 0.874, 0.0005)
	if m.WithoutRework(24*time.Hour) <= m.WithoutRework(young) {
		t.Error("the trap is that it grows with the interval")
	}
}

// Where the estimates break down, in numbers, for the model of the comments.
func TestWhereFirstOrderBreaksDown(t *testing.T) {
	for _, c := range []struct {
		interval                               time.Duration
		exact, firstOrder, withoutRework, ettr float64
	}{
		{lab.Optimum() / 2, 0.8004, 0.7722, 0.8076, 0.8030},
		{lab.Optimum() * 2, 0.7985, 0.7834, 0.9252, 0.7916},
		{10 * time.Minute, 0.7776, 0.7366, 0.7644, 0.7805},
		{lab.Optimum(), 0.8282, 0.8151, 0.8860, 0.8285},
		{time.Hour, 0.7822, 0.7644, 0.9310, 0.7720},
		{3 * time.Hour, 0.5518, 0.4532, 0.9532, 0.4593},
		{6 * time.Hour, 0.2982, -0.0412, 0.9588, -0.0355},
		{24 * time.Hour, 0.0026, -3.0370, 0.9630, -3.0314},
	} {
		near(t, "Goodput", lab.Goodput(c.interval), c.exact, 0.0001)
		near(t, "FirstOrder", lab.FirstOrder(c.interval), c.firstOrder, 0.0001)
		near(t, "WithoutRework", lab.WithoutRework(c.interval), c.withoutRework, 0.0001)
		near(t, "ETTR", lab.ETTR(c.interval), c.ettr, 0.0001)
	}
}

// Meta's own setting: hourly checkpoints, w = 5 min, u0 = 5 min, and the MTTF it gives (1,024 GPUs) or projects.
func TestETTRofMeta2024AtScale(t *testing.T) {
	for _, c := range []struct {
		gpus        int
		mtbf        float64 // h
		ettr, exact float64
	}{{1024, 7.9, 0.8549, 0.8522}, {16_384, 1.8, 0.6239, 0.6425}, {131_072, 0.23, -1.4181, 0.0275}} {
		m := checkpoint.Model{MTBF: seconds(c.mtbf * 3600), Write: 5 * time.Minute, Restart: 5 * time.Minute}
		near(t, "ETTR", m.ETTR(time.Hour), c.ettr, 0.0001)
		near(t, "Goodput", m.Goodput(time.Hour), c.exact, 0.0001)
	}
}

// All estimates agree with the exact goodput where they claim to: the error is of second order in 1/M.
func TestEstimatesAreOfFirstOrder(t *testing.T) {
	error10 := func(f func(checkpoint.Model, time.Duration) float64, scale time.Duration) float64 {
		m := checkpoint.Model{MTBF: scale * time.Hour, Restart: 2 * time.Minute, Persist: 3 * time.Minute}
		return math.Abs(f(m, 5*time.Minute) - m.Goodput(5*time.Minute))
	}
	for _, f := range []func(checkpoint.Model, time.Duration) float64{checkpoint.Model.FirstOrder, checkpoint.Model.ETTR} {
		if a, b := error10(f, 100), error10(f, 1000); a > 1e-5 || b > a/90 {
			t.Errorf("error %.3g at M = 100 h, %.3g at 1,000 h, want a hundredth of it", a, b)
		}
	}
}

// G keeps its digits where e^a − 1 written as such would not: a job with hardly any failures (a = 1e-9), and one with hardly anything else,
// down to the smallest float there is.
func TestGoodputNeitherOverflowsNorLosesDigits(t *testing.T) {
	m := checkpoint.Model{MTBF: 10 * year, Write: time.Millisecond}
	a := (100*time.Millisecond + m.Write).Seconds() / m.MTBF.Seconds()
	near(t, "few failures", m.Goodput(100*time.Millisecond), 100.0/101*(1-a/2), 1e-15)

	m = checkpoint.Model{MTBF: 15 * time.Minute, Write: 2 * time.Minute, Restart: 385 * time.Second}
	const tau, all = 86400 / 900.0, (385 + 86400 + 120) / 900.0 // τ/M and (R+τ+δ)/M; the −1 is far below rounding
	near(t, "log10 at 24 h", math.Log10(m.Goodput(24*time.Hour)), math.Log10(tau)-all*math.Log10(math.E), 1e-12)
	if g := m.Goodput(10 * year); g != 0 {
		t.Errorf("10 years: %g, want 0", g)
	}
	if w := m.Wall(time.Hour, 24*time.Hour); w != checkpoint.Forever {
		t.Errorf("an hour of work at 24 h: %v, want Forever", w)
	}
}

// The same formula in 200 bits, at a few points.
func TestGoodputAgainstBigFloats(t *testing.T) {
	exp := func(x float64) *big.Float { // power series after halving; x ≤ 20
		z := new(big.Float).SetPrec(300).Quo(big.NewFloat(x), big.NewFloat(1024))
		sum, term := big.NewFloat(1).SetPrec(300), big.NewFloat(1).SetPrec(300)
		for k := 1; k < 60; k++ {
			term.Mul(term, z).Quo(term, big.NewFloat(float64(k)))
			sum.Add(sum, term)
		}
		for range 10 {
			sum.Mul(sum, sum)
		}
		return sum
	}
	for _, tau := range []time.Duration{time.Second, 25 * time.Minute, 3 * time.Hour, 24 * time.Hour} {
		m := lab
		m.MTBF, m.Persist = 1<<45, 1<<29 // powers of two: the ratios below are exact
		x, a := float64(tau)/float64(m.MTBF), float64(tau+m.Write)/float64(m.MTBF)
		down := new(big.Float).Mul(exp(float64(m.Restart+m.Persist)/float64(m.MTBF)), new(big.Float).Sub(exp(a), big.NewFloat(1)))
		want, _ := new(big.Float).Quo(big.NewFloat(x), down).Float64()
		near(t, "Goodput / exact", m.Goodput(tau)/want, 1, 1e-15)
	}
}

// Wall is Daly's formula as printed, here for 500 h of work at about the optimum of his Figure 3.
func TestWallIsDaly2006(t *testing.T) {
	m := checkpoint.Model{MTBF: 24 * time.Hour, Write: 5 * time.Minute, Restart: 10 * time.Minute}
	M, d, r, tau := m.MTBF.Seconds(), m.Write.Seconds(), m.Restart.Seconds(), 7200.0
	want := M * math.Exp(r/M) * (math.Exp((tau+d)/M) - 1) * 500 / 2
	near(t, "wall, s", m.Wall(500*time.Hour, 2*time.Hour).Seconds(), want, 1e-6)
	if m.Wall(0, time.Hour) != 0 || m.Wall(-1, time.Hour) != 0 {
		t.Error("no work takes no time")
	}
	if m.Wall(time.Hour, -1) != checkpoint.Forever || m.Wall(time.Hour, 0) != checkpoint.Forever {
		t.Error("an interval without goodput takes forever")
	}
}

func TestSweepIsALogarithmicGrid(t *testing.T) {
	points, err := lab.Sweep(time.Minute, 24*time.Hour, 101)
	if err != nil {
		t.Fatal(err)
	}
	if len(points) != 101 || points[0].Interval != time.Minute || points[100].Interval != 24*time.Hour {
		t.Fatalf("%d points from %v to %v", len(points), points[0].Interval, points[len(points)-1].Interval)
	}
	best := points[0]
	for i, p := range points {
		if p.Goodput != lab.Goodput(p.Interval) {
			t.Errorf("%v: %g is not its goodput", p.Interval, p.Goodput)
		}
		if i > 0 {
			near(t, "factor", float64(p.Interval)/float64(points[i-1].Interval), math.Pow(1440, 0.01), 1e-9)
		}
		if p.Goodput > best.Goodput {
			best = p
		}
	}
	if ratio := float64(best.Interval) / float64(lab.Optimum()); ratio < 1/1.08 || ratio > 1.08 {
		t.Errorf("best of the grid at %v, optimum %v", best.Interval, lab.Optimum())
	}
}

func TestSweepNamesWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		m      checkpoint.Model
		lo, hi time.Duration
		n      int
		is     error
		want   string
	}{
		{lab, 0, time.Hour, 2, checkpoint.ErrSweep, "lo 0s: must be at least 1ms"},
		{lab, time.Hour, time.Hour, 2, checkpoint.ErrSweep, "hi 1h0m0s: must be above lo, 1h0m0s"},
		{lab, time.Hour, 11 * year, 2, checkpoint.ErrSweep, "at most 87600h0m0s"},
		{lab, time.Minute, time.Hour, 1, checkpoint.ErrSweep, "n 1: must be between 2 and 10000"},
		{lab, time.Minute, time.Hour, 10_001, checkpoint.ErrSweep, "n 10001"},
		{checkpoint.Model{}, time.Minute, time.Hour, 9, checkpoint.ErrModel, "MTBF 0s"},
	} {
		points, err := c.m.Sweep(c.lo, c.hi, c.n)
		if points != nil || !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Sweep(%v, %v, %d): %v, want %q", c.lo, c.hi, c.n, err, c.want)
		}
	}
}

// fold maps any number into [low, high], evenly in the logarithm: nearly all numbers that a fuzzer finds are centuries, and no model.
func fold(v int64, low, high time.Duration) time.Duration {
	share := float64(uint64(v)) / math.MaxUint64
	return min(high, time.Duration(float64(low)*math.Exp(share*math.Log(float64(high)/float64(low)))))
}

// FuzzModel holds for any input, once as it is and once folded into the ranges: no panic; NaN only for a bad model or a negative
// interval; goodput in [0, 1]; and no neighbour of the optimum is better.
func FuzzModel(f *testing.F) {
	add := func(m checkpoint.Model, tau time.Duration) {
		f.Add(int64(m.MTBF), int64(m.Write), int64(m.Restart), int64(m.Persist), int64(tau))
	}
	add(lab, time.Hour)
	add(checkpoint.Model{MTBF: time.Second, Write: 10 * year}, 1)
	add(checkpoint.Model{MTBF: 10 * year, Write: 1}, math.MaxInt64)
	add(checkpoint.Model{MTBF: time.Hour}, 0)
	add(checkpoint.Model{MTBF: time.Hour, Write: time.Second, Persist: time.Hour}, time.Minute)
	add(checkpoint.Model{MTBF: -1}, -1)
	add(checkpoint.Model{MTBF: math.MaxInt64, Write: math.MinInt64}, math.MinInt64)
	f.Fuzz(func(t *testing.T, mtbf, write, restart, persist, interval int64) {
		checkModel(t, checkpoint.Model{
			MTBF: time.Duration(mtbf), Write: time.Duration(write), Restart: time.Duration(restart), Persist: time.Duration(persist),
		}, time.Duration(interval))
		m := checkpoint.Model{
			MTBF: fold(mtbf, time.Second, 10*year), Write: fold(write, 1, 10*year), Restart: fold(restart, 1, 10*year),
		}
		checkModel(t, m, fold(interval, 1, 10*year))
		m.Persist = fold(persist, 1, 10*year)
		checkModel(t, m, fold(interval, 1, 10*year))
	})
}

// The same for 100,000 random models, so that a plain test run covers the whole range too.
func TestModelHoldsEverywhere(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		m := checkpoint.Model{
			MTBF: fold(rng.Int64(), time.Second, 10*year), Write: fold(2*rng.Int64(), 1, 10*year), Restart: fold(rng.Int64(), 1, 10*year),
		}
		if rng.IntN(2) == 0 {
			m.Persist = fold(rng.Int64(), 1, 10*year)
		}
		if checkModel(t, m, fold(2*rng.Int64(), 1, 10*year)); t.Failed() {
			return
		}
	}
}

func checkModel(t *testing.T, m checkpoint.Model, tau time.Duration) {
	t.Helper()
	valid := m.Validate() == nil
	g := m.Goodput(tau)
	if math.IsNaN(g) != (!valid || tau < 0) || g < 0 || g > 1 {
		t.Fatalf("%+v: goodput %g at %v", m, g, tau)
	}
	for _, e := range []float64{m.FirstOrder(tau), m.WithoutRework(tau), m.ETTR(tau)} {
		if math.IsNaN(e) != (!valid || tau <= 0) || e > 1 {
			t.Fatalf("%+v: estimate %g at %v", m, e, tau)
		}
	}
	if w := m.Wall(time.Hour, tau); w < time.Hour {
		t.Fatalf("%+v: an hour of work takes %v", m, w)
	}
	if points, err := m.Sweep(tau, 2*time.Hour, 5); err == nil && len(points) != 5 {
		t.Fatalf("%d points", len(points))
	}
	if !valid {
		return
	}
	best := m.Optimum()
	if best < m.Persist || best > max(m.Persist, m.MTBF) || m.Daly() > m.MTBF || m.Young() < 0 {
		t.Fatalf("%+v: optimum %v, Daly %v, Young %v", m, best, m.Daly(), m.Young())
	}
	// Rounding: 1e-12 for the floats, 1e-300 where they run out of digits (the last ones above 0 have fewer than 16), and for half a
	// nanosecond in the interval its square, as the maximum is flat.
	half := 0.5 / max(1, float64(best))
	for _, factor := range []float64{0.999, 1.001, 0.5, 2} {
		if other := time.Duration(float64(best) * factor); m.Goodput(other) > m.Goodput(best)*(1+1e-12+half*half)+1e-300 {
			t.Fatalf("%+v: %v has more goodput than the optimum %v", m, other, best)
		}
	}
}

func BenchmarkGoodput(b *testing.B) {
	for b.Loop() {
		lab.Goodput(time.Hour)
	}
}
