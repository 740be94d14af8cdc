package checkpoint

import (
	"math"
	"math/big"
	"testing"
)

// bigLog is ln z with about 70 digits: z = f·2^e with f in [½, 1), and ln f = 2·artanh((f−1)/(f+1)) by its power series.
func bigLog(z *big.Float) *big.Float {
	const bits = 240
	ln := func(f *big.Float) *big.Float {
		one := big.NewFloat(1).SetPrec(bits)
		q := new(big.Float).SetPrec(bits).Quo(new(big.Float).SetPrec(bits).Sub(f, one), new(big.Float).SetPrec(bits).Add(f, one))
		square := new(big.Float).SetPrec(bits).Mul(q, q)
		sum, power := new(big.Float).SetPrec(bits), new(big.Float).SetPrec(bits).Set(q)
		for k := 1; k < 400; k += 2 { // |q| ≤ ⅓: 200 terms are 190 digits
			sum.Add(sum, new(big.Float).SetPrec(bits).Quo(power, big.NewFloat(float64(k)).SetPrec(bits)))
			power.Mul(power, square)
		}
		return sum.Mul(sum, big.NewFloat(2))
	}
	f := new(big.Float).SetPrec(bits)
	exp := z.MantExp(f)
	half := ln(big.NewFloat(0.5).SetPrec(bits)) // −ln 2
	return new(big.Float).SetPrec(bits).Sub(ln(f), half.Mul(half, big.NewFloat(float64(exp)).SetPrec(bits)))
}

// relativeError is how far x is from the root of −x − ln(1−x) = d, by one Newton step in 240 bits.
func relativeError(x, d float64) float64 {
	bx, one := big.NewFloat(x).SetPrec(240), big.NewFloat(1).SetPrec(240)
	rest := new(big.Float).SetPrec(240).Sub(one, bx)
	f := new(big.Float).SetPrec(240).Neg(bx)
	f.Sub(f, bigLog(rest)).Sub(f, big.NewFloat(d))
	f.Mul(f, rest).Quo(f, bx).Quo(f, bx)
	e, _ := f.Float64()
	return math.Abs(e)
}

// The root is right to 1e-15 of itself, from writes of a trillionth of the MTBF up to where x rounds to 1 (1 − x = e^(−1−d) is under half
// an ulp from d = 36 on).
func TestOptimumSolvesItsEquation(t *testing.T) {
	worst := 0.0
	for e := -12.0; e <= 3; e += 0.01 {
		d := math.Pow(10, e)
		x := optimum(d)
		if x == 1 {
			if d < 35 {
				t.Fatalf("d = %g: x = 1", d)
			}
			continue
		}
		if !(x > 0 && x < 1) {
			t.Fatalf("d = %g: x = %g", d, x)
		}
		worst = max(worst, relativeError(x, d))
	}
	if worst > 1e-15 {
		t.Errorf("relative error %.2g, want at most 1e-15", worst)
	}
	if x := optimum(1000); x != 1 {
		t.Errorf("d = 1000: x = %v, want 1", x)
	}
	if x := optimum(0); x != 0 {
		t.Errorf("d = 0: x = %v, want 0", x)
	}
}

// The branches meet: at x = ¼, where the series takes over from the logarithm, and at d = 1, where x takes over from 1 − x.
func TestOptimumHasNoSeams(t *testing.T) {
	for _, d := range []float64{minusXMinusLog(0.25), 1} {
		for _, near := range []float64{d * (1 - 1e-14), d, d * (1 + 1e-14)} {
			if e := relativeError(optimum(near), near); e > 1e-15 {
				t.Errorf("d = %.17g: relative error %.2g", near, e)
			}
		}
	}
}

// The series that the package comment and Daly's comment speak of: the next terms after Daly's three are s⁴/270 and s⁵/4320.
func TestDalyIsTheStartOfTheExactSeries(t *testing.T) {
	for _, d := range []float64{1e-6, 1e-4, 1e-3, 1e-2} {
		s := math.Sqrt(2 * d)
		series := s - s*s/3 + s*s*s/36 + math.Pow(s, 4)/270 + math.Pow(s, 5)/4320 - math.Pow(s, 6)/17010
		if x := optimum(d); math.Abs(x/series-1) > math.Pow(s, 6)/1e4+1e-15 {
			t.Errorf("d = %g: x = %.16g, the series to s⁶ gives %.16g", d, x, series)
		}
	}
}

// The textbook form loses its digits at the branch point, which is why the package doesn't use it. Its argument alone, −e^(−1−d), holds
// d only to the last digits of 1/e.
func TestLambertAtItsBranchPointHasNoDigits(t *testing.T) {
	const d = 1e-12
	z := -math.Exp(-1 - d)
	back := -math.Log(-z) - 1 // the d that z stands for
	if lost := math.Abs(back/d - 1); lost < 1e-5 {
		t.Errorf("z keeps d to %.1g of itself; the comment of optimum says it doesn't", lost)
	}
}

// cycle skips rounds by division once it has seen enough. That must count as playing them does.
func TestSkippingRoundsIsPlayingThem(t *testing.T) {
	const never = -1
	for _, p := range []player{{work: 100, write: 7, restart: 30}, {work: 100, write: 7, restart: 30, persist: 60}, {work: 0.25}} {
		for gap := 0.5; gap < 5000; gap += 1.37 {
			struck, n := p.cycle(gap, never)
			for _, enough := range []int{1, 2, 10} {
				if s, k := p.cycle(gap, enough); s != struck || k != n {
					t.Fatalf("%+v, gap %g: played, phase %d after %d checkpoints; skipped after %d, phase %d after %d", p, gap, struck, n, enough, s, k)
				}
			}
		}
	}
}
