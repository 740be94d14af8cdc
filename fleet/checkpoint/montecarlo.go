package checkpoint

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// ErrTrial is wrapped by every error about a Trial.
var ErrTrial = errors.New("invalid trial")

// Gaps says how the times between failures are drawn, one independent of the other. The zero value is exponential. The clock restarts
// at each failure, in a restart too: right for one machine that is as good as new after a repair. A fleet replaces one node of many
// and keeps the age of the others; with many nodes its failures come out near to exponential whatever each node does, unless they
// have a common cause. Measured gaps of a fleet are what Sample is for.
//
// With other gaps the formulas of this package are approximations. What still holds is the renewal argument of Model.Goodput: with S(t),
// the chance that a gap is longer than t, goodput is τ · Σ S(R + k(τ+δ) + P) / M, summed over k from 1 on. For shapes below 1 failures come
// in bursts and leave long quiet times between. A burst strikes when little has been done since the last failure and so destroys little,
// and the quiet times are nearly all useful: at the same MTBF goodput is higher than the formula says, and the best interval is longer.
// At M = 3 h, δ = 2 min, R = 385 s and shape 0.7 it is 83.7 % at 27.5 min where exponential gaps have 82.8 % at 25.5 min, and the interval
// for exponential gaps still gets all but 0.03 points of it. At 24 h it is 5.2 % for 0.3 %.
type Gaps struct {
	Shape  float64         // Weibull shape, 0.3 to 10: the hazard falls with time below 1, rises above; 0 means 1, exponential
	Sample []time.Duration // or measured gaps, drawn with replacement: up to a million, each 1 ms to 10 years; Shape must then be 0
	AsIs   bool            // Sample counts as it was measured, and MTBF is ignored; otherwise it is stretched to have the mean MTBF
}

// Trial is one experiment: a model is played so many times with failures drawn from Gaps.
type Trial struct {
	Interval     time.Duration // τ: useful work between checkpoints, 1 ms to 10 years; Persist if that is longer
	Gaps         Gaps          // times between failures
	Replications int           // independent runs, 2 to 100,000; with fewer than 30 the interval of confidence is a rough one
	Failures     int           // each run lasts until so many failures, 1 to 1,000,000
	Seed         uint64        // replication i draws from stream i of it, so more replications keep the first ones
}

// Result is what a Trial has shown.
type Result struct {
	Goodput float64 // useful work that got durable / time, over all replications, 0–1; 0 if there was none, and then Low and High are 0 too
	Low     float64 // lower end of its 99 % confidence interval
	High    float64 // upper end of it

	Failures    int // by what they struck, four kinds:
	InRestart   int // a restart: it began anew, nothing was lost but time
	InWork      int // work since the last checkpoint
	InWrite     int // a write: the work it would have saved is lost too
	InPersist   int // a snapshot that was on its way while the job worked: the work it held is lost too
	Checkpoints int // that got durable

	Replications []float64 // goodput of each replication
	Cut          int       // replications that ended before their last failure at the bound on events, see MonteCarlo; 0 unless gaps are wild
}

// maxEvents bounds a trial: about a second of computing. It is the largest expected number that MonteCarlo accepts; a replication that
// draws longer gaps than expected is cut at maxExcess times its share.
const (
	maxEvents       = 100_000_000
	maxExcess       = 8
	maxReplications = 100_000
	maxFailures     = 1_000_000
	maxSample       = 1_000_000
	minShape        = 0.3
	maxShape        = 10
)

// MonteCarlo plays the model event by event: restart, work, write, work, write, until the next failure strikes, wherever that is. It uses
// none of the formulas of this package, so it can test them, and it takes any Gaps.
//
// A replication begins as after a failure, with a restart, and ends with a failure, so it is made of whole cycles that are all alike and
// there is no beginning to discard. The job has no end: a run of fixed work would not finish where goodput is 1e-30. Goodput is all
// useful work / all time (the regenerative estimate), not the mean of the replications' ratios, whose bias would be of the order of 1 /
// Failures; this one's is of the order of 1 / (Failures · Replications). The confidence interval takes each replication's work and time as
// one pair, and Student's t with Replications − 1 degrees of freedom.
//
// It always ends. A trial of more than 1e8 expected events is an error that names Interval. A replication that still takes eight times
// its share, because of a wild gap, skips the rest of the rounds up to the next failure, ends there and is counted in Cut. It is still made
// of whole cycles, and whether to draw another was decided by those before, so no bias comes of it (Wald's identity). To stop inside the
// gap would: long gaps are the good ones.
func (m Model) MonteCarlo(t Trial) (Result, error) {
	if err := errors.Join(m.Validate(), t.validate()); err != nil {
		return Result{}, err
	}
	mtbf := t.Gaps.mean(m).Seconds()
	p := player{
		work: max(t.Interval, m.Persist).Seconds(), write: m.Write.Seconds(),
		restart: m.Restart.Seconds(), persist: m.Persist.Seconds(),
	}
	cycles := float64(t.Replications) * float64(t.Failures)
	if events := cycles * (1 + mtbf/(p.work+p.write)); events > maxEvents {
		return Result{}, fmt.Errorf("%s %v: must be longer, or Replications %d × Failures %d fewer: %.2g events, at most %.2g are played: %w",
			"Interval", t.Interval, t.Replications, t.Failures, events, float64(maxEvents), ErrTrial)
	}
	p.enough = maxExcess * maxEvents / t.Replications

	var r Result
	useful, wall := make([]float64, t.Replications), make([]float64, t.Replications)
	stretch := t.Gaps.stretch(mtbf)
	for i := range useful {
		draw := t.Gaps.drawer(mtbf, stretch, rand.NewPCG(t.Seed, uint64(i)))
		n := r.Checkpoints
		wall[i] = p.play(draw, t.Failures, &r)
		useful[i] = float64(r.Checkpoints-n) * p.work
	}
	r.estimate(useful, wall)
	return r, nil
}

// player holds the times of a model in seconds.
type player struct {
	work, write, restart, persist float64
	enough                        int // events of a replication
}

// play is one replication: it counts in r and returns how long it lasted.
func (p player) play(draw func() float64, failures int, r *Result) (wall float64) {
	events := 0
	for i := range failures {
		gap := draw()
		struck, checkpoints := p.cycle(gap, p.enough-events)
		wall += gap
		r.Failures++
		r.Checkpoints += checkpoints
		switch struck {
		case duringRestart:
			r.InRestart++
		case duringWork:
			r.InWork++
		case duringWrite:
			r.InWrite++
		case duringPersist:
			r.InPersist++
		}
		if events += 1 + checkpoints; events > p.enough && i < failures-1 {
			r.Cut++
			break
		}
	}
	return wall
}

// phase is what a failure strikes.
type phase uint8

const (
	duringRestart phase = iota
	duringWork
	duringWrite
	duringPersist
)

// cycle plays from one failure to the next, gap seconds later. What is done at the very instant of the failure is done in time. After
// enough checkpoints it skips all rounds but the last.
func (p player) cycle(gap float64, enough int) (struck phase, checkpoints int) {
	now := p.restart
	if gap < now {
		return duringRestart, 0
	}
	for {
		if now += p.work; gap < now {
			return duringWork, checkpoints
		}
		if now += p.write; gap < now {
			return duringWrite, checkpoints
		}
		if gap < now+p.persist {
			return duringPersist, checkpoints
		}
		if checkpoints++; checkpoints == enough {
			rounds := math.Floor((gap - now - p.persist) / (p.work + p.write))
			checkpoints += int(rounds)
			now += rounds * (p.work + p.write)
		}
	}
}

// estimate is the ratio of the sums and its interval: to first order the ratio's error is the mean of useful − Goodput · wall over the
// mean of wall, and those differences are independent from one replication to the next.
func (r *Result) estimate(useful, wall []float64) {
	n := float64(len(useful))
	meanWall := stat.Mean(wall, nil)
	r.Goodput = stat.Mean(useful, nil) / meanWall
	r.Replications = make([]float64, len(useful))
	rest := make([]float64, len(useful))
	for i, u := range useful {
		r.Replications[i] = u / wall[i]
		rest[i] = u - r.Goodput*wall[i]
	}
	half := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.995) * stat.StdDev(rest, nil) / math.Sqrt(n) / meanWall
	r.Low, r.High = max(0, r.Goodput-half), min(1, r.Goodput+half)
}

// mean is the mean gap that the trial will have.
func (g Gaps) mean(m Model) time.Duration {
	if !g.AsIs {
		return m.MTBF
	}
	return time.Duration(g.sampleMean() + 0.5)
}

// sampleMean is in nanoseconds.
func (g Gaps) sampleMean() float64 {
	sum := 0.0
	for _, d := range g.Sample {
		sum += float64(d)
	}
	return sum / float64(len(g.Sample))
}

// stretch is what a gap of the Sample is multiplied by to be in seconds and to have that mean; 0 without a Sample.
func (g Gaps) stretch(mean float64) float64 {
	switch {
	case len(g.Sample) == 0:
		return 0
	case g.AsIs:
		return 1e-9 // nothing but the unit
	}
	return mean / g.sampleMean()
}

// drawer gives gaps in seconds with that mean.
func (g Gaps) drawer(mean, stretch float64, src rand.Source) func() float64 {
	switch {
	case len(g.Sample) > 0:
		rng := rand.New(src)
		return func() float64 { return float64(g.Sample[rng.IntN(len(g.Sample))]) * stretch }
	case g.Shape == 0 || g.Shape == 1:
		return distuv.Exponential{Rate: 1 / mean, Src: src}.Rand
	default: // the mean of a Weibull is λ · Γ(1 + 1/K)
		return distuv.Weibull{K: g.Shape, Lambda: mean / math.Gamma(1+1/g.Shape), Src: src}.Rand
	}
}

func (t Trial) validate() error {
	errs := []error{t.Gaps.validate()}
	bad := func(field string, value any, want string) {
		errs = append(errs, fmt.Errorf("%s %v: must be %s: %w", field, value, want, ErrTrial))
	}
	if t.Interval < minInterval || t.Interval > maxTime {
		bad("Interval", t.Interval, fmt.Sprintf("between %v and %v", minInterval, maxTime))
	}
	if t.Replications < 2 || t.Replications > maxReplications {
		bad("Replications", t.Replications, fmt.Sprintf("between 2 and %d", maxReplications))
	}
	if t.Failures < 1 || t.Failures > maxFailures {
		bad("Failures", t.Failures, fmt.Sprintf("between 1 and %d", maxFailures))
	}
	return errors.Join(errs...)
}

func (g Gaps) validate() error {
	bad := func(field string, value any, want string) error {
		return fmt.Errorf("%s %v: must be %s: %w", "Gaps."+field, value, want, ErrTrial)
	}
	switch {
	case len(g.Sample) == 0 && g.AsIs:
		return bad("AsIs", g.AsIs, "false without a Sample")
	case len(g.Sample) == 0 && g.Shape != 0 && !(g.Shape >= minShape && g.Shape <= maxShape): // so written, NaN is caught too
		return bad("Shape", g.Shape, fmt.Sprintf("0 or between %v and %v", minShape, maxShape))
	case len(g.Sample) > 0 && g.Shape != 0:
		return bad("Shape", g.Shape, "0 with a Sample")
	case len(g.Sample) > maxSample:
		return bad("Sample", fmt.Sprintf("of %d gaps", len(g.Sample)), fmt.Sprintf("at most %d", maxSample))
	}
	for i, d := range g.Sample {
		if d < minInterval || d > maxTime {
			return bad(fmt.Sprintf("Sample[%d]", i), d, fmt.Sprintf("between %v and %v", minInterval, maxTime))
		}
	}
	return nil
}
