package widgets

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
)

// mostRunsOfTimeline is how many lines can be told apart.
const mostRunsOfTimeline = 8

// Timeline draws the training job of one to eight runs over one time: how fast it works, from just before the first fault on, and below
// it what came of it. The runs are named by their rescaling strategies.
func Timeline(runs ...*fleet.Run) View {
	return view(func() (Output, error) {
		courses, err := coursesOf(runs)
		if err != nil {
			return Output{}, err
		}
		return timelineOf(courses).render()
	})
}

// course is the training job of one run.
type course struct {
	name    string
	run     *fleet.Run
	id      int // of the job
	job     int // its index
	ledger  fleet.TrainingLedger
	list    []fleet.Strength
	changes []change
}

// change is the speed of a training job from an instant on.
type change struct {
	at    time.Duration
	speed float64
}

func coursesOf(runs []*fleet.Run) (list []course, err error) {
	if len(runs) < 1 || len(runs) > mostRunsOfTimeline {
		return nil, fmt.Errorf("the timeline has %d runs: must be between 1 and %d: %w", len(runs), mostRunsOfTimeline, ErrRun)
	}
	names := map[string]int{}
	for i, run := range runs {
		which := fmt.Sprintf("run %d of the timeline", i+1)
		if err := checkRun(which, run); err != nil {
			return nil, err
		}
		c := course{run: run, name: label(fleet.RescalerName(run.Config.Rescale)), job: trainingJob(&run.Config)}
		if c.job < 0 {
			return nil, fmt.Errorf("%s has no training job: pass runs of scenario.Rescaled or scenario.Gamble: %w", which, ErrRun)
		}
		c.id = run.Config.Jobs[c.job].ID
		if c.list = run.Strengths(c.id); len(c.list) == 0 {
			return nil, fmt.Errorf("%s: training job %d never started within %s: %w", which, c.id, fleet.FormatDuration(run.Config.Horizon), ErrRun)
		}
		if names[c.name]++; names[c.name] > 1 {
			c.name = fmt.Sprintf("%s (%d)", c.name, names[c.name])
		}
		c.ledger, c.changes = run.Training(c.id), changesOf(c.list)
		list = append(list, c)
	}
	return list, nil
}

// trainingJob is the index of the watched job if it is a training job, else of the first one; −1 if there is none.
func trainingJob(c *fleet.Config) int {
	if i := slices.IndexFunc(c.Jobs, func(j fleet.Job) bool { return j.ID == c.Big && j.Train != nil }); i >= 0 {
		return i
	}
	return slices.IndexFunc(c.Jobs, func(j fleet.Job) bool { return j.Train != nil })
}

// changesOf is the course as it is felt: a restart or a stall is no speed until it is over.
func changesOf(list []fleet.Strength) (out []change) {
	for i, s := range list {
		if s.Stall > 0 {
			out = append(out, change{s.At, 0})
		}
		if at := s.At + s.Stall; i+1 == len(list) || at < list[i+1].At {
			out = append(out, change{at, s.Speed})
		}
	}
	return out
}

// end is when the job stops to count: it is done. One that has given up stands still to the horizon.
func (c *course) end() time.Duration {
	if done := c.run.Queue[c.job].Done; done != fleet.Never {
		return done
	}
	return c.run.Config.Horizon
}

// worked is the speed, added up, and the time at a standstill between two instants.
func (c *course) worked(from, to time.Duration) (work float64, still time.Duration) {
	to = min(to, c.end())
	for i, x := range c.changes {
		until := to
		if i+1 < len(c.changes) {
			until = min(to, c.changes[i+1].at)
		}
		if d := until - max(from, x.at); d > 0 {
			work += x.speed * d.Hours()
			if x.speed == 0 {
				still += d
			}
		}
	}
	return work, still
}

// speedAt is the speed of an instant; NaN before the job starts and when it is done.
func (c *course) speedAt(t time.Duration) float64 {
	if t < c.changes[0].at || t > c.end() {
		return math.NaN()
	}
	speed := 0.0
	for _, x := range c.changes {
		if x.at <= t {
			speed = x.speed
		}
	}
	return speed
}

func timelineOf(courses []course) *chart {
	from, to := shownOf(courses)
	v := &chart{
		View: "timeline", Title: "The training job's speed", Note: "against all replicas at work; 0 while it restarts, stalls or waits",
		X: axis{Name: hoursName, Unit: "hours", Min: from.Hours(), Max: to.Hours()}, Y: axis{Name: "speed, %", Unit: "%", Max: 105, Ticks: percentTicks()},
	}
	instants, even := instantsOf(courses, from, to)
	if even > 0 {
		v.Note += "; each step is a mean over " + spell(even)
	}
	for i := range courses {
		l := line{Name: courses[i].name, Ink: courseInks[i].ink, Dash: courseInks[i].dash, Wide: math.Max(1.8, 4.2-0.8*float64(i)), Step: true}
		for _, t := range instants {
			y := courses[i].speedAt(t)
			if even > 0 && !math.IsNaN(y) {
				work, _ := courses[i].worked(t, t+even)
				y = work / (min(t+even, courses[i].end()) - max(t, courses[i].changes[0].at)).Hours()
			}
			l.At = append(l.At, point{X: t.Hours(), Y: 100 * y})
		}
		v.Lines = append(v.Lines, l)
	}
	v.Tables = []table{outcomes(courses)}
	var words []string
	for _, c := range courses {
		words = append(words, fmt.Sprintf("%s %s", c.name, percent(c.ledger.Goodput)))
	}
	v.Alt = fmt.Sprintf("Step line chart of the training job's speed from %s to %s after the start; goodput: %s", clock(from), clock(to), strings.Join(words, ", "))
	return v
}

// courseInks tell eight lines apart by colour and by dash; where they fall together the wider ones, drawn first, show below the others.
var courseInks = [mostRunsOfTimeline]struct {
	ink  ink
	dash []float64
}{
	{inkOrange, nil}, {inkViolet, dashed}, {inkOfBig, dotted}, {inkGood, nil}, {inkPink, dashDotted}, {inkBad, []float64{12, 4}}, {inkOfHole, []float64{3, 3}}, {inkLine, []float64{2, 6, 10, 6}},
}

// shownOf is the time to show: all runs from a little before the first fault of any.
func shownOf(courses []course) (from, to time.Duration) {
	from = time.Duration(math.MaxInt64)
	for _, c := range courses {
		to = max(to, c.run.Config.Horizon)
		for _, f := range c.run.Config.Faults {
			from = min(from, f.At)
		}
	}
	if from >= to {
		return 0, to
	}
	return max(0, from-(to-from)/16), to
}

// instantsOf is where the lines have their points: wherever one of them changes, and in between, since a tooltip shows the nearest point
// of each. If those are more than a screen can show, the points are even apart, and so far.
func instantsOf(courses []course, from, to time.Duration) (list []time.Duration, even time.Duration) {
	list = []time.Duration{to}
	for i := range chartPoints / 4 {
		list = append(list, from+(to-from)*time.Duration(i)/(chartPoints/4))
	}
	for _, c := range courses {
		for _, x := range append(c.changes, change{at: c.end()}) {
			if x.at > from && x.at < to {
				list = append(list, x.at)
			}
		}
	}
	slices.Sort(list)
	if list = slices.Compact(list); len(list) <= 2*chartPoints {
		return list, 0
	}
	even = (to - from) / chartPoints
	list = list[:0]
	for i := range chartPoints {
		list = append(list, from+time.Duration(i)*even)
	}
	return list, even
}

// outcomes is what came of each run.
func outcomes(courses []course) table {
	t := table{Open: true, Named: true, Head: []string{"Strategy", "Goodput", "Work lost, GPU-h", "Fewest replicas", "Replicas at the end", "At a standstill", "Tokens, billions", "Dollars wasted"}}
	for i := range courses {
		c := &courses[i]
		_, still := c.worked(0, c.run.Config.Horizon)
		lost, waste := c.ledger.Split[fleet.Rework], c.run.Ledger().WasteUSD
		fewest, replicas := c.replicas()
		tokens := cell{Text: "–"}
		if c.ledger.Tokens > 0 {
			tokens = cell{wholeText(c.ledger.Tokens / 1e9), exact(c.ledger.Tokens)}
		}
		t.Rows = append(t.Rows, []cell{
			{Text: c.name}, {percent(c.ledger.Goodput), exact(c.ledger.Goodput)}, {hours(lost), exact(lost.Hours())},
			{count(int64(fewest)), fmt.Sprint(fewest)}, {fmt.Sprintf("%d of %d", replicas, c.run.Config.Jobs[c.job].Train.DP), fmt.Sprint(replicas)},
			{spell(still.Round(time.Second)), exact(still.Seconds())}, tokens, {dollars(waste), exact(waste)},
		})
	}
	return t
}

// replicas is how many were at work when they were fewest, and at the end: of the run, or of the job if it was done before.
func (c *course) replicas() (fewest, last int) {
	list, done := c.list, c.run.Queue[c.job].Done
	if n := len(list) - 1; n > 0 && done != fleet.Never && list[n].At >= done {
		list = list[:n]
	}
	weakest := slices.MinFunc(list, func(a, b fleet.Strength) int { return a.Replicas - b.Replicas })
	return weakest.Replicas, list[len(list)-1].Replicas
}
