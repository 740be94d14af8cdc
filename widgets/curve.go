package widgets

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fleetlab/fleetlab/fleet/checkpoint"
)

// ErrCurve is wrapped by the error of a curve whose own fields are out of range. Errors of its Model wrap checkpoint.ErrModel, those of its
// Gaps checkpoint.ErrTrial.
var ErrCurve = errors.New("no curve to draw")

// CurveOf is what a Curve shows.
type CurveOf struct {
	Model checkpoint.Model
	Own   time.Duration   // an interval of one's own to mark: 1 s to 10 years; 0 for none
	Runs  int             // replications of the Monte Carlo at each of its intervals: 2 to 1,000; 0 for no Monte Carlo
	Gaps  checkpoint.Gaps // times between failures that the Monte Carlo draws; the zero value is exponential
	Seed  uint64          // of the Monte Carlo; the same failures strike at each interval, so its errors lie to the same side
}

// The ends of the curve, and what bounds the time that it takes.
const (
	curveFrom   = time.Minute
	curveTo     = 24 * time.Hour
	curvePoints = 241
	playedAt    = 11        // intervals of the Monte Carlo
	mostRuns    = 1000      // replications at each
	mostPlayed  = 3_000_000 // events at each: all of them take a third of a second
	mostFails   = 500       // failures of a replication
	shortestOwn = time.Second
	longestOwn  = 10 * 365 * 24 * time.Hour
)

// validate names what is out of range.
func (c *CurveOf) validate() error {
	errs := []error{c.Model.Validate()}
	bad := func(field string, value any, want string) {
		errs = append(errs, fmt.Errorf("%s %v: must be %s: %w", field, value, want, ErrCurve))
	}
	if c.Own != 0 && (c.Own < shortestOwn || c.Own > longestOwn) {
		bad("Own", c.Own, fmt.Sprintf("0 for none, or between %v and %v", shortestOwn, longestOwn))
	}
	switch gaps := c.Gaps.Shape != 0 || len(c.Gaps.Sample) > 0 || c.Gaps.AsIs; {
	case c.Runs == 0 && gaps:
		bad("Runs", c.Runs, fmt.Sprintf("between 2 and %d where Gaps are given: nothing else draws from them", mostRuns))
	case c.Runs != 0 && (c.Runs < 2 || c.Runs > mostRuns):
		bad("Runs", c.Runs, fmt.Sprintf("0 for no Monte Carlo, or between 2 and %d", mostRuns))
	}
	return errors.Join(errs...)
}

// Curve draws goodput over the checkpoint interval from a minute to a day: the exact formula as a line, and upright Young's interval,
// Daly's, the exact optimum and one's own. With Runs, dots are what a Monte Carlo has measured, with bars for its 99 % confidence
// intervals. All figures are those of package checkpoint.
func Curve(c CurveOf) View {
	return view(func() (Output, error) {
		if err := c.validate(); err != nil {
			return Output{}, err
		}
		chart, err := curveOf(&c)
		if err != nil {
			return Output{}, err
		}
		return chart.render()
	})
}

// chosen is an interval that has a name.
type chosen struct {
	name     string
	interval time.Duration
	line     line // how it is marked
}

// intervals are those to mark. Some may be 0: saving costs nothing then.
func (c *CurveOf) intervals() []chosen {
	list := []chosen{
		{"Exact optimum", c.Model.Optimum(), line{Ink: inkGood, Wide: 3, Shape: "circle"}},
		{"Daly", c.Model.Daly(), line{Ink: inkViolet, Wide: 2, Dash: dashed, Shape: "rect"}},
		{"Young", c.Model.Young(), line{Ink: inkOrange, Wide: 2, Dash: dotted, Shape: "triangle"}},
	}
	if c.Own != 0 {
		list = append(list, chosen{"Your interval", c.Own, line{Ink: inkBad, Wide: 2, Dash: dashDotted, Shape: "diamond"}})
	}
	return list
}

// endsOf are the ends of the curve: a minute and a day, or beyond, so that every mark is on it.
func endsOf(marks []chosen) (from, to time.Duration) {
	from, to = curveFrom, curveTo
	for _, m := range marks {
		if m.interval > 0 {
			from, to = min(from, max(time.Millisecond, m.interval/2)), max(to, min(longestOwn, 2*m.interval))
		}
	}
	return from, to
}

func curveOf(c *CurveOf) (*chart, error) {
	marks := c.intervals()
	from, to := endsOf(marks)
	curve, err := c.Model.Sweep(from, to, curvePoints)
	if err != nil {
		return nil, err
	}
	for _, m := range marks { // so that the tooltip at a mark knows its goodput
		if m.interval > 0 {
			curve = append(curve, checkpoint.Point{Interval: m.interval, Goodput: c.Model.Goodput(m.interval)})
		}
	}
	slices.SortFunc(curve, func(a, b checkpoint.Point) int { return cmp.Compare(a.Interval, b.Interval) })
	points := make([]point, len(curve))
	for i, p := range curve {
		points[i] = point{X: p.Interval.Minutes(), Y: 100 * p.Goodput}
	}
	best := c.Model.Optimum()
	v := &chart{
		View: "curve", Title: "Goodput over the checkpoint interval",
		Note: fmt.Sprintf("a failure every %s, a write of %s, a restart of %s", spell(c.Model.MTBF), spell(c.Model.Write), spell(c.Model.Restart)),
		X:    axis{Name: "checkpoint interval (logarithmic)", Unit: "minutes", Min: from.Minutes(), Max: to.Minutes(), Log: true, Ticks: intervalTicks(from, to)},
		Y:    axis{Name: "goodput, %", Unit: "%", Max: 105, Ticks: percentTicks()},
		Lines: []line{
			{Name: "goodput (exact formula)", Ink: inkOfBig, Wide: 2.5, At: points},
			{Name: "1 h and 24 h", Ink: inkLine, Wide: 1.5, Dash: []float64{2, 2}, Upright: true, At: uprights(0, time.Hour, 24*time.Hour)},
		},
	}
	if c.Model.Persist > 0 {
		v.Note += fmt.Sprintf(", durable %s later", spell(c.Model.Persist))
	}
	for i, m := range marks {
		if m.interval > 0 {
			m.line.Upright, m.line.Name, m.line.At = true, m.name+": "+spell(m.interval), uprights(float64(4+9*i), m.interval)
			v.Lines = append(v.Lines, m.line)
		}
	}
	v.Tables = []table{c.marksTable(marks)}
	v.Alt = fmt.Sprintf("Line chart of goodput over checkpoint intervals from %s to %s on a logarithmic scale: highest at %s with %s, %s at 1 h and %s at 24 h",
		spell(from), spell(to), spell(best), percent(c.Model.Goodput(best)), percent(c.Model.Goodput(time.Hour)), percent(c.Model.Goodput(24*time.Hour)))
	if c.Runs == 0 {
		return v, nil
	}
	return v, c.play(v, from, to)
}

// uprights are upright lines from a height to the top, each with a dot at its foot: marks that fall together have dots one above the other.
func uprights(foot float64, at ...time.Duration) (list []point) {
	for _, t := range at {
		list = append(list, point{X: t.Minutes(), Y: foot, Dot: true}, point{X: t.Minutes(), Y: 105}, point{X: t.Minutes(), Y: math.NaN()})
	}
	return list
}

// intervalTicks are the named ticks between two intervals, so few that they have room on a phone. An hour and a day are among them.
func intervalTicks(from, to time.Duration) (list []axisTick) {
	add := func(d time.Duration) {
		if from <= d && d <= to {
			list = append(list, axisTick{d.Minutes(), spell(d)})
		}
	}
	for _, d := range []time.Duration{
		time.Millisecond, 100 * time.Millisecond, 10 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 4 * time.Hour, 24 * time.Hour,
		10 * 24 * time.Hour, 100 * 24 * time.Hour, 1000 * 24 * time.Hour,
	} {
		add(d)
	}
	return list
}

// marksTable sets the intervals against the optimum.
func (c *CurveOf) marksTable(marks []chosen) table {
	t := table{Open: true, Named: true, Head: []string{"Interval", "Save every", "Goodput", "Below the optimum"}}
	best := c.Model.Goodput(c.Model.Optimum())
	marks = append(slices.Clone(marks), chosen{name: "An hour", interval: time.Hour}, chosen{name: "A day", interval: 24 * time.Hour})
	for _, m := range marks {
		g := c.Model.Goodput(m.interval)
		t.Rows = append(t.Rows, []cell{
			{Text: m.name}, {spell(m.interval), exact(m.interval.Seconds())}, {hundredths(g) + nbsp + "%", exact(g)}, {strconv.FormatFloat(100*(best-g), 'f', 3, 64) + nbsp + "points", exact(best - g)},
		})
	}
	return t
}

// play adds what the Monte Carlo measures.
func (c *CurveOf) play(v *chart, from, to time.Duration) error {
	at, err := c.Model.Sweep(from, to, playedAt)
	if err != nil {
		return err
	}
	t := table{Caption: "Monte Carlo, " + gapsText(c.Gaps), Named: true, Head: []string{"Save every", "Formula", "Simulated", "99 % from", "to", "Failures"}}
	measured := line{Name: fmt.Sprintf("Monte Carlo, %d runs, 99 %% interval", c.Runs), Ink: inkText, Wide: 1.5, Shape: "circle", Small: true}
	for _, p := range at {
		trial := checkpoint.Trial{Interval: p.Interval, Gaps: c.Gaps, Replications: c.Runs, Failures: c.failures(p.Interval), Seed: c.Seed}
		if trial.Failures == 0 {
			continue
		}
		r, err := c.Model.MonteCarlo(trial)
		if err != nil {
			return err
		}
		x := p.Interval.Minutes()
		measured.At = append(measured.At, point{X: x, Y: 100 * r.Goodput, Dot: true}, point{X: x, Y: 100 * r.Low}, point{X: x, Y: 100 * r.High}, point{X: x, Y: math.NaN()})
		t.Rows = append(t.Rows, []cell{
			{spell(p.Interval), exact(p.Interval.Seconds())}, {hundredths(p.Goodput) + nbsp + "%", exact(p.Goodput)}, {hundredths(r.Goodput) + nbsp + "%", exact(r.Goodput)},
			{hundredths(r.Low) + nbsp + "%", exact(r.Low)}, {hundredths(r.High) + nbsp + "%", exact(r.High)}, {Text: count(int64(r.Failures))},
		})
	}
	if len(t.Rows) < len(at) {
		t.Caption += "; shorter intervals have too many writes between two failures to be played"
	}
	v.Lines = append(v.Lines, measured)
	v.Tables = append(v.Tables, t)
	return nil
}

// failures is how many failures each replication plays at an interval, so that the whole stays within mostPlayed; 0 if that is not possible.
func (c *CurveOf) failures(interval time.Duration) int {
	gap := c.Model.MTBF.Seconds()
	if c.Gaps.AsIs && len(c.Gaps.Sample) > 0 {
		gap = 0
		for _, d := range c.Gaps.Sample {
			gap += d.Seconds() / float64(len(c.Gaps.Sample))
		}
	}
	round := max(interval, c.Model.Persist) + c.Model.Write
	return min(mostFails, int(mostPlayed/(float64(c.Runs)*(1+gap/round.Seconds()))))
}

// gapsText says what the times between failures are.
func gapsText(g checkpoint.Gaps) string {
	switch {
	case len(g.Sample) > 0 && g.AsIs:
		return fmt.Sprintf("drawing from %s as measured", counted(len(g.Sample), "gap"))
	case len(g.Sample) > 0:
		return fmt.Sprintf("drawing from %s, stretched to the MTBF", counted(len(g.Sample), "measured gap"))
	case g.Shape != 0 && g.Shape != 1:
		return fmt.Sprintf("Weibull gaps of shape %g", g.Shape)
	}
	return "exponential gaps"
}

// spell writes an interval with two units at most; minutes are min, as on the slider, and a day is 24 h.
func spell(d time.Duration) string {
	switch {
	case d >= 10*time.Minute:
		d = d.Round(time.Second)
	case d > time.Second && d%time.Second != 0: // to a tenth of a second
		minutes, seconds := "", d.Round(100*time.Millisecond)
		if whole := seconds.Truncate(time.Minute); whole > 0 {
			minutes, seconds = interval(whole)+nbsp, seconds-whole
		}
		return minutes + strconv.FormatFloat(seconds.Seconds(), 'f', 1, 64) + nbsp + "s"
	}
	if d == 24*time.Hour {
		return interval(d)
	}
	words := strings.Split(duration(d), nbsp)
	for i, w := range words {
		if w == "m" {
			words[i] = "min"
		}
	}
	return strings.Join(words, nbsp)
}

// hundredths writes a ratio in percent with two decimals: near the optimum one would show no difference.
func hundredths(ratio float64) string {
	return strconv.FormatFloat(100*ratio, 'f', 2, 64)
}
