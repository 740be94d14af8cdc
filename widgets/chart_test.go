package widgets

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/checkpoint"
	"github.com/fleetlab/fleetlab/fleet/elastic"
	"github.com/fleetlab/fleetlab/fleet/scenario"
)

// gamble is the curve of Act II with an own interval of an hour.
func gamble() CurveOf {
	return CurveOf{Model: scenario.ActIITraining.Model(3 * time.Hour), Own: time.Hour, Runs: 50, Seed: 1}
}

// charts are the views that are charts.
func chartViews(t testing.TB) map[string]View {
	run := simulate(t, scenario.Fragmented(fleet.Default()))
	return map[string]View{
		"curve": Curve(gamble()), "timeline": Timeline(rescaled(t, elastic.Strategies()...)...), "queue": Queue(run), "holes": Holes(run),
	}
}

func TestGoldenCharts(t *testing.T) {
	golden(t, "curve.txt", render(t, Curve(gamble())).Text)
	golden(t, "timeline.txt", render(t, Timeline(rescaled(t, elastic.Strategies()...)...)).Text)
	golden(t, "queue.txt", render(t, Queue(simulate(t, small(4, fleet.FCFS, true, false, time.Hour)))).Text)
}

func TestSameChartSameBytesAndSmall(t *testing.T) {
	first, second := chartViews(t), chartViews(t)
	for name := range first {
		a, b := render(t, first[name]), render(t, second[name])
		if a != b {
			t.Errorf("%s: two renderings differ", name)
		}
		t.Logf("%s: %d bytes", name, len(a.HTML))
		if len(a.HTML) > 200_000 {
			t.Errorf("%s: %d bytes, want at most 200,000", name, len(a.HTML))
		}
	}
}

// optionOf reads the option of ECharts back from an output.
func optionOf(t testing.TB, html string) (series []struct {
	Name      string
	Data      []json.RawMessage
	LineStyle struct{ Type any }
}) {
	t.Helper()
	m := regexp.MustCompile(`(?s)data-fleet="option">(.*?)</script>`).FindStringSubmatch(html)
	if m == nil {
		t.Fatal("no option")
	}
	var option struct{ Series json.RawMessage }
	if err := errors.Join(json.Unmarshal([]byte(m[1]), &option), json.Unmarshal(option.Series, &series)); err != nil {
		t.Fatal(err)
	}
	return series
}

// The curve, its marks and its table are the numbers of package checkpoint, not ones of our own.
func TestCurveShowsTheNumbersOfCheckpoint(t *testing.T) {
	c := gamble()
	html := render(t, Curve(c)).HTML
	series := optionOf(t, html)
	if n := len(series[0].Data); n < curvePoints {
		t.Fatalf("%d points", n)
	}
	for i, raw := range series[0].Data {
		var at [2]float64
		if err := json.Unmarshal(raw, &at); err != nil {
			t.Fatal(err)
		}
		if want := c.Model.Goodput(time.Duration(at[0] * float64(time.Minute))); math.Abs(at[1]-100*want) > 1e-4 {
			t.Fatalf("point %d is %v, checkpoint says %v", i, at, want)
		}
	}
	best := c.Model.Goodput(c.Model.Optimum())
	for _, tau := range []time.Duration{c.Model.Optimum(), c.Model.Daly(), c.Model.Young(), c.Own, 24 * time.Hour} {
		g := c.Model.Goodput(tau)
		row := fmt.Sprintf(`data-value="%s">`, exact(tau.Seconds()))
		i := strings.Index(html, row)
		if i < 0 || !strings.Contains(html[i:min(len(html), i+300)], exact(g)) || !strings.Contains(html[i:min(len(html), i+300)], exact(best-g)) {
			t.Errorf("the row of %v lacks goodput %v or its distance to the optimum", tau, g)
		}
	}
	r, err := c.Model.MonteCarlo(checkpoint.Trial{Interval: 24 * time.Hour, Gaps: c.Gaps, Replications: c.Runs, Failures: c.failures(24 * time.Hour), Seed: c.Seed})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []float64{r.Goodput, r.Low, r.High} {
		if !strings.Contains(html, `data-value="`+exact(x)+`"`) {
			t.Errorf("the Monte Carlo at 24 h lacks %v", x)
		}
	}
}

// With exponential gaps the formula lies in the Monte Carlo's 99 % intervals, all but perhaps one of the eleven.
func TestCurveAndMonteCarloAgree(t *testing.T) {
	c := gamble()
	v, err := curveOf(&c)
	if err != nil {
		t.Fatal(err)
	}
	outside := 0
	for _, row := range v.Tables[1].Rows {
		var x [3]float64
		for i, k := range []int{1, 3, 4} {
			if x[i], err = strconv.ParseFloat(row[k].Value, 64); err != nil {
				t.Fatal(err)
			}
		}
		if x[0] < x[1] || x[0] > x[2] {
			outside++
		}
	}
	if n := len(v.Tables[1].Rows); n != playedAt || outside > 1 {
		t.Errorf("%d intervals, the formula is outside of %d", n, outside)
	}
}

func TestBadCurvesNameFieldValueAndRange(t *testing.T) {
	set := func(f func(c *CurveOf)) CurveOf {
		c := gamble()
		f(&c)
		return c
	}
	zeros := make([]time.Duration, 3)
	for name, x := range map[string]struct {
		c    CurveOf
		err  error
		want []string
	}{
		"empty":          {CurveOf{}, checkpoint.ErrModel, []string{"MTBF 0s: must be between 1s and"}},
		"negative write": {set(func(c *CurveOf) { c.Model.Write = -1 }), checkpoint.ErrModel, []string{"Write -1ns: must be between 0s and"}},
		"endless":        {set(func(c *CurveOf) { c.Model.MTBF, c.Model.Restart = 2_000_000*time.Hour, math.MaxInt64 }), checkpoint.ErrModel, []string{"MTBF 2000000h0m0s: must", "Restart 2562047h"}},
		"own negative":   {set(func(c *CurveOf) { c.Own = -time.Hour }), ErrCurve, []string{"Own -1h0m0s: must be 0 for none, or between 1s and"}},
		"own too short":  {set(func(c *CurveOf) { c.Own = 60 }), ErrCurve, []string{"Own 60ns"}},
		"own endless":    {set(func(c *CurveOf) { c.Own = math.MaxInt64 }), ErrCurve, []string{"Own 2562047h"}},
		"runs negative":  {set(func(c *CurveOf) { c.Runs = -1 }), ErrCurve, []string{"Runs -1: must be 0 for no Monte Carlo, or between 2 and 1000"}},
		"runs absurd":    {set(func(c *CurveOf) { c.Runs = math.MaxInt }), ErrCurve, []string{"Runs 9223372036854775807: must"}},
		"gaps unused":    {set(func(c *CurveOf) { c.Runs, c.Gaps.Shape = 0, 0.7 }), ErrCurve, []string{"Runs 0: must be between 2 and 1000 where Gaps are given"}},
		"shape NaN":      {set(func(c *CurveOf) { c.Gaps.Shape = math.NaN() }), checkpoint.ErrTrial, []string{"Gaps.Shape NaN: must be 0 or between"}},
		"sample zero":    {set(func(c *CurveOf) { c.Gaps.Sample = zeros }), checkpoint.ErrTrial, []string{"Gaps.Sample[0] 0s: must"}},
		"as is zero":     {set(func(c *CurveOf) { c.Gaps = checkpoint.Gaps{Sample: zeros, AsIs: true} }), checkpoint.ErrTrial, []string{"Gaps.Sample[0] 0s: must"}},
		"two at once":    {set(func(c *CurveOf) { c.Model.MTBF, c.Own = 0, -1 }), ErrCurve, []string{"MTBF 0s", "Own -1ns"}},
	} {
		_, err := Curve(x.c).Render()
		if !errors.Is(err, x.err) {
			t.Errorf("%s: error %v, want %v", name, err, x.err)
			continue
		}
		text := strings.Join(errorText(err), "\n")
		for _, want := range x.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q lacks %q", name, text, want)
			}
		}
		if strings.Contains(text, x.err.Error()) {
			t.Errorf("%s: %q ends in words for programs", name, text)
		}
	}
}

// pictures finds the pictures of an output, in whose letters any word may turn up.
var pictures = regexp.MustCompile(`base64,[^"]*`)

// Whatever the model, a curve that is valid can be drawn, and soon.
func TestOddCurvesRender(t *testing.T) {
	const years = 10 * 365 * 24 * time.Hour
	for name, c := range map[string]CurveOf{
		"free writes":      {Model: checkpoint.Model{MTBF: time.Hour}, Runs: 1000},
		"MTBF of 1 s":      {Model: checkpoint.Model{MTBF: time.Second, Write: time.Second}, Runs: 1000},
		"MTBF of 10 years": {Model: checkpoint.Model{MTBF: years}, Runs: 1000},
		"all at most":      {Model: checkpoint.Model{MTBF: years, Write: years, Restart: years, Persist: years}, Own: years, Runs: 2},
		"tiny write":       {Model: checkpoint.Model{MTBF: time.Second, Write: 1}, Runs: 10},
		"own of 1 s":       {Model: checkpoint.Model{MTBF: time.Hour, Write: time.Minute}, Own: time.Second, Runs: 1000},
		"one gap as is":    {Model: checkpoint.Model{MTBF: time.Hour, Write: time.Minute}, Runs: 1000, Gaps: checkpoint.Gaps{Sample: []time.Duration{years}, AsIs: true}},
		"short gaps":       {Model: checkpoint.Model{MTBF: time.Hour, Write: time.Minute}, Runs: 1000, Gaps: checkpoint.Gaps{Sample: []time.Duration{time.Millisecond}, AsIs: true}},
	} {
		begin := time.Now()
		out := render(t, Curve(c))
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("%s took %v", name, took)
		} else {
			t.Logf("%s: %v, %d bytes", name, took.Round(time.Millisecond), len(out.HTML))
		}
		all := pictures.ReplaceAllString(out.HTML, "") + out.Text
		for _, broken := range []string{"NaN", "%!", "Inf ", "ZgotmplZ"} {
			if i := strings.Index(all, broken); i >= 0 {
				t.Errorf("%s: %q in the output: …%.160s…", name, broken, all[max(0, i-80):])
			}
		}
	}
}

// The timeline says of each strategy what the run's own accounts say.
func TestTimelineShowsTheAccountsOfTheRuns(t *testing.T) {
	runs := rescaled(t, elastic.Strategies()...)
	courses, err := coursesOf(runs)
	if err != nil {
		t.Fatal(err)
	}
	rows := outcomes(courses).Rows
	for i, run := range runs {
		l := run.Ledger()
		_, still := courses[i].worked(0, run.Config.Horizon)
		want := []string{
			"", exact(l.Training.Goodput), exact(l.Training.Split[fleet.Rework].Hours()), []string{"0", "0", "118", "127"}[i], "128",
			exact(still.Seconds()), exact(l.Training.Tokens), exact(l.WasteUSD),
		}
		for k, cell := range rows[i] {
			if cell.Value != want[k] {
				t.Errorf("%s, column %d: %q, want %q", rows[i][0].Text, k, cell.Value, want[k])
			}
		}
		if lost := l.LostToFailures; lost != l.Training.Split[fleet.Rework] { // in this act nothing else is lost
			t.Errorf("%s: %v lost to failures, %v reworked", rows[i][0].Text, lost, l.Training.Split[fleet.Rework])
		}
	}
	// Ten nodes are away from 4 h to 10 h: who waits stands still for six hours and a stall, who goes on for two stalls.
	for i, want := range []time.Duration{6 * time.Hour, 6 * time.Hour, 0, 0} {
		if _, still := courses[i].worked(0, 12*time.Hour); still < want || still > want+10*time.Minute {
			t.Errorf("%s stands still for %v, want %v and at most 10 min more", courses[i].name, still, want)
		}
	}
	if y := courses[2].speedAt(6 * time.Hour); math.Abs(y-118.0/128) > 1e-12 {
		t.Errorf("without ten replicas the speed is %v, want 118/128", y)
	}
}

// A run of 54 days changes more often than a screen has columns. Means keep its standstills, and the output stays small.
func TestLongTimelinesStaySmall(t *testing.T) {
	var runs []*fleet.Run
	for _, s := range elastic.Strategies() {
		c := fleet.Default()
		c.Rescale = s
		run := simulate(t, scenario.Gamble(c))
		runs = append(runs, run, run)
	}
	courses, err := coursesOf(runs)
	if err != nil {
		t.Fatal(err)
	}
	v := timelineOf(courses)
	out, err := v.render()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", len(out.HTML))
	if len(out.HTML) > 200_000 || strings.Contains(pictures.ReplaceAllString(out.HTML, ""), "NaN") {
		t.Errorf("%d bytes, want at most 200,000 without NaN", len(out.HTML))
	}
	for i, l := range v.Lines {
		sum := 0.0
		for _, p := range l.At {
			sum += p.Y / 100
		}
		from, to := shownOf(courses)
		work, _ := courses[i].worked(from, to)
		if mean := sum / float64(len(l.At)); math.Abs(mean-work/(to-from).Hours()) > 1e-6 {
			t.Errorf("%s: the line's mean is %v, the job's %v", l.Name, mean, work/(to-from).Hours())
		}
	}
}

func TestBadTimelinesGiveAClearMessage(t *testing.T) {
	good := rescaled(t, elastic.Restart)[0]
	late := scenario.Rescaled(fleet.Default())
	late.Jobs[0].Arrival = late.Horizon
	for name, x := range map[string]struct {
		v    View
		want string
	}{
		"none":            {Timeline(), "0 runs: must be between 1 and 8"},
		"nine":            {Timeline(good, good, good, good, good, good, good, good, good), "9 runs: must be between 1 and 8"},
		"nil":             {Timeline(good, nil), "run 2 of the timeline is nil"},
		"empty":           {Timeline(&fleet.Run{}), "run 1 of the timeline is empty"},
		"no training job": {Timeline(good, simulate(t, small(1, fleet.FCFS, false, false, time.Hour))), "run 2 of the timeline has no training job"},
		"never started":   {Timeline(simulate(t, late)), "training job 1 never started"},
		"queue of nil":    {Queue(nil), "the run of the queue is nil"},
		"queue of empty":  {Queue(&fleet.Run{}), "the run of the queue is empty"},
	} {
		_, err := x.v.Render()
		if !errors.Is(err, ErrRun) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: error %v, want ErrRun with %q", name, err, x.want)
		}
	}
}

// hostile is a Rescaler with a name that nobody should choose.
type hostile struct{ elastic.Rescaler }

func (hostile) String() string { return "</script><img src=x>\n\x00" + strings.Repeat("€", 500) }

func TestHostileStrategyNamesStayText(t *testing.T) {
	html := render(t, Timeline(rescaled(t, hostile{elastic.DropReplicas}, hostile{elastic.Reshard})...)).HTML
	if strings.Contains(html, "<img src=x") || strings.Count(html, "<script") != 2 || strings.Count(html, "</script") != 2 {
		t.Error("a name reached the page as markup")
	}
	if strings.Contains(html, strings.Repeat("€", 41)) {
		t.Error("a name is as long as somebody wanted")
	}
}

// Where no script runs the picture and the tables stand; nothing is a promise that only a script could keep.
func TestChartsStandWithoutECharts(t *testing.T) {
	for name, v := range chartViews(t) {
		html := render(t, v).HTML
		html = regexp.MustCompile(`(?s)<(script|style)[^>]*>.*?</(script|style)>`).ReplaceAllString(html, "")
		if !strings.Contains(html, `src="data:image/png;base64,`) || !regexp.MustCompile(`<img alt="[^"]{60,}"`).MatchString(html) || !strings.Contains(html, "<table>") {
			t.Errorf("%s: no picture, no words for it, or no table", name)
		}
		if !regexp.MustCompile(`class="fleet-key"[^>]* hidden>`).MatchString(html) {
			t.Errorf("%s: the legend of a chart that is not there shows", name)
		}
	}
}

// Somebody who sees no colours tells lines apart by dash, width or dots.
func TestLinesDifferByMoreThanColour(t *testing.T) {
	for name, v := range map[string]*chart{"curve": must(curveOf(ptr(gamble()))), "timeline": timelineOf(must(coursesOf(rescaled(t, append(elastic.Strategies(), elastic.Strategies()...)...))))} {
		seen := map[string]string{}
		for _, l := range v.Lines {
			look := fmt.Sprint(l.Dash, l.Wide, l.Shape)
			if seen[look] != "" {
				t.Errorf("%s: %q looks like %q but for its colour", name, l.Name, seen[look])
			}
			seen[look] = l.Name
		}
	}
}

func ptr[T any](x T) *T { return &x }

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func BenchmarkCurve(b *testing.B) {
	for b.Loop() {
		render(b, Curve(gamble()))
	}
}
