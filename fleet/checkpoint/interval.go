package checkpoint

import (
	"math"
	"time"
)

// Young is the interval √(2δM), where write time and rework, each to first order, are equal. It is 0 for Write = 0, and it knows nothing
// of Persist.
//
// Young assumes δ far below M. It is always too long, by a share of s/3 and more, with s = √(2δ/M): 4.9 % at δ = M/100, 17 % at δ = M/10,
// 43 % at δ = M/2. The maximum is flat, so goodput suffers less: by 0.02 %, 0.5 % and 4.8 % of itself. Past M/10 use Daly or Optimum.
func (m Model) Young() time.Duration {
	if !m.valid() {
		return 0
	}
	return m.ofMTBF(math.Sqrt(2 * m.perMTBF(m.Write)))
}

// Daly is Daly's higher-order interval, √(2δM) · [1 + ⅓√(δ/2M) + ⅑(δ/2M)] − δ if δ < 2M, else M: equation 37 of his paper of 2006. Like
// τ everywhere here it is useful work only, without the write. It is 0 for Write = 0, and it knows nothing of Persist.
//
// It is the series of the exact optimum without its terms from s⁴/270 on, and too short by a share of s³/270 and more: 0.04 % at δ = M/10,
// 0.6 % at M/2, 6.2 % just below 2M. There it jumps up to M, which is 5.5 % too long and gets better as δ grows. Its goodput is within
// 0.2 % of the best everywhere.
func (m Model) Daly() time.Duration {
	if !m.valid() {
		return 0
	}
	d := m.perMTBF(m.Write)
	if d >= 2 {
		return m.MTBF
	}
	h := math.Sqrt(d / 2)
	return m.ofMTBF(2*h*(1+h/3+h*h/9) - d)
}

// Optimum is the interval with the most goodput under exponential failures: τ* = M · (1 + W₀(−e^(−1−δ/M))), but at least Persist. A
// snapshot is taken only when the last one is durable, and goodput falls on both sides of τ*: if τ* is too short, the bound is best.
//
// It is exact to the nanosecond it is rounded to, from δ = 0 (where it is 0 too: saving costs nothing, so save all the time) to δ ≫ M
// (where it nears M: a job that takes longer than M to save had better reach the save soon).
func (m Model) Optimum() time.Duration {
	if !m.valid() {
		return 0
	}
	return max(m.Persist, m.ofMTBF(optimum(m.perMTBF(m.Write))))
}

// optimum solves −x − ln(1−x) = d for x = τ*/M between 0 and 1, from d = δ/M ≥ 0. That is G′(τ) = 0: the derivative of ln G is
// 1/τ − 1/(M(1 − e^(−(τ+δ)/M))), so 1 − x = e^(−x−d).
//
// The textbook form 1 + W₀(−e^(−1−d)) fails for small d: W₀ has its branch point at −1/e, where its slope is infinite, and the 1 cancels
// what digits are left. With d = 1e-12 two of 16 would be right. In x the left side is a plain power series, so Newton's steps lose nothing.
func optimum(d float64) float64 {
	const enough = 50 // Newton needs at most 5; this only says that the loop ends
	if d > 1 {        // here 1 − x is small, and is what has to be found: y = e^(−1−d+y)
		y := 0.0
		for range enough {
			e := math.Exp(-1 - d + y)
			step := (y - e) / (1 - e)
			y -= step
			if math.Abs(step) <= 1e-16 {
				break
			}
		}
		return 1 - y
	}
	s := math.Sqrt(2 * d)
	x := s - s*s/3 + s*s*s/36 // Daly's formula
	for range enough {
		if x == 0 {
			break
		}
		step := (minusXMinusLog(x) - d) * (1 - x) / x
		x -= step
		if math.Abs(step) <= 1e-16*x {
			break
		}
	}
	return x
}

// minusXMinusLog is −x − ln(1−x) = x²/2 + x³/3 + x⁴/4 + … for 0 ≤ x < 1. For small x the two terms cancel, so there it adds the series.
func minusXMinusLog(x float64) float64 {
	if x > 0.25 {
		return -x - math.Log1p(-x)
	}
	sum, power := 0.0, x*x
	for k := 2.0; ; k++ {
		term := power / k
		if sum += term; term <= 1e-17*sum {
			return sum
		}
		power *= x
	}
}
