package failure

import (
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/fleetlab/fleetlab/fleet"
)

// Count is how many interruptions a cause has.
type Count struct {
	Cause string
	N     int
}

// Counts is the number of faults by cause, in the order of the model's causes, then what else occurs in the order of time.
func (m Model) Counts(faults []fleet.Fault) []Count {
	var counts []Count
	at := map[string]int{}
	find := func(cause string) *Count {
		if _, known := at[cause]; !known {
			at[cause] = len(counts)
			counts = append(counts, Count{Cause: cause})
		}
		return &counts[at[cause]]
	}
	for _, c := range m.Causes {
		find(c.Name)
	}
	for _, f := range faults {
		find(f.Cause).N++
	}
	return counts
}

// Interval is a mean over seeds with its 99 % confidence interval: by Student's t, or where all seeds give the same count, which shows no
// spread, by the exact one of a Poisson count.
type Interval struct {
	Mean, Low, High float64
}

// Contains tells whether the interval has x in it.
func (i Interval) Contains(x float64) bool { return i.Low <= x && x <= i.High }

func intervalOf(values []float64) Interval {
	mean, sd := stat.MeanStdDev(values, nil)
	n := float64(len(values))
	if sd == 0 {
		total, alpha := mean*n, 0.01
		exact := Interval{Mean: mean, High: distuv.ChiSquared{K: 2*total + 2}.Quantile(1-alpha/2) / 2 / n}
		if total > 0 {
			exact.Low = distuv.ChiSquared{K: 2 * total}.Quantile(alpha/2) / 2 / n
		}
		return exact
	}
	half := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.995) * sd / math.Sqrt(n)
	return Interval{mean, max(0, mean-half), mean + half}
}

// Summary is what several seeds of a model have in common.
type Summary struct {
	Seeds   int
	Total   Interval      // interruptions up to the horizon
	MTBF    time.Duration // horizon / mean total; 0 if nothing broke
	ByCause []CauseSummary
}

// CauseSummary is one cause over several seeds.
type CauseSummary struct {
	Cause string
	Count Interval
	Share float64 // of all interruptions, 0–1
}

// maxDrawn is the most faults that a summary draws: more would take longer than anybody waits.
const maxDrawn = 5_000_000

// Summarize draws the faults of so many seeds, from m.Seed on. The error wraps ErrModel.
func (m Model) Summarize(seeds int) (Summary, error) {
	if seeds < 2 || seeds > 10_000 {
		return Summary{}, fmt.Errorf("seeds %d: must be between 2 and 10000: %w", seeds, ErrModel)
	}
	if n := m.expected() * float64(seeds); n > maxDrawn {
		return Summary{}, fmt.Errorf("seeds %d: must be so few that there are at most %d faults in all, not %.0f: %w", seeds, maxDrawn, n, ErrModel)
	}
	s := Summary{Seeds: seeds}
	totals := make([]float64, seeds)
	byCause := map[string][]float64{}
	for i := range seeds {
		one := m
		one.Seed += uint64(i)
		faults, err := one.Faults()
		if err != nil {
			return Summary{}, err
		}
		totals[i] = float64(len(faults))
		for _, c := range m.Counts(faults) {
			if byCause[c.Cause] == nil {
				byCause[c.Cause] = make([]float64, seeds)
				s.ByCause = append(s.ByCause, CauseSummary{Cause: c.Cause})
			}
			byCause[c.Cause][i] = float64(c.N)
		}
	}
	s.Total = intervalOf(totals)
	for i := range s.ByCause {
		c := &s.ByCause[i]
		if c.Count = intervalOf(byCause[c.Cause]); s.Total.Mean > 0 {
			c.Share = c.Count.Mean / s.Total.Mean
		}
	}
	if s.Total.Mean > 0 {
		s.MTBF = time.Duration(float64(m.Horizon) / s.Total.Mean)
	}
	return s, nil
}

// FitShape is the shape of the Weibull distribution that is likeliest to have given these gaps: the root k of Σ xᵏ ln x / Σ xᵏ − 1/k − mean ln x,
// by bisection between 0.05 and 20. Gaps are above 0, in any unit; it is NaN if one is not, or if there are not two different ones. Gaps that
// the end of a log cuts short must be left out, and then the shape of single nodes that fail seldom comes out too large.
func FitShape(gaps []float64) float64 {
	if len(gaps) < 2 || !(slices.Min(gaps) > 0) || slices.Min(gaps) == slices.Max(gaps) {
		return math.NaN()
	}
	longest := slices.Max(gaps)
	lo, hi := 0.05, 20.0
	for range 60 {
		k := (lo + hi) / 2
		var powers, weighted, logs float64
		for _, x := range gaps {
			l := math.Log(x / longest)
			p := math.Exp(k * l)
			powers, weighted, logs = powers+p, weighted+p*l, logs+l
		}
		if weighted/powers-1/k-logs/float64(len(gaps)) > 0 {
			hi = k
		} else {
			lo = k
		}
	}
	return lo
}
