package widgets

import (
	"errors"
	"fmt"
	"html/template"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/elastic"
	"github.com/fleetlab/fleetlab/fleet/scenario"
)

// golden compares text with testdata/name, or writes it there with -update.
func golden(t *testing.T, name, text string) {
	t.Helper()
	text = rounded.ReplaceAllStringFunc(text, func(s string) string {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return s
		}
		return fmt.Sprintf("%.3f", x)
	})
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("%s has changed; look at it with git diff after go test ./widgets -update\n%s", file, firstDifference(text, string(want)))
	}
}

// rounded finds numbers with more digits than platforms agree on.
var rounded = regexp.MustCompile(`\d+\.\d{4,}(e-?\d+)?`)

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			return fmt.Sprintf("line %d:\n got %.300s\nwant %.300s", i+1, g[i], append(w, "")[min(i, len(w))])
		}
	}
	return "it ends earlier"
}

func render(t testing.TB, v View) Output {
	t.Helper()
	out, err := v.Render()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestGoldenViews(t *testing.T) {
	kill, migrate := small(4, fleet.FCFS, true, false, time.Hour), small(4, fleet.FCFS, false, true, time.Hour)
	run := simulate(t, kill)
	f := figuresOf(&run.Config, run.Ledger())
	for _, name := range []string{"badges", "ledger"} {
		html, err := expand(name, f)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name+".html", html)
	}
	golden(t, "compare.html", strings.Replace(render(t, Compare(run, simulate(t, migrate))).HTML, themeCSS+viewCSS, "", 1))
	golden(t, "compare.txt", render(t, Compare(run, simulate(t, migrate))).Text)
	golden(t, "cockpit.txt", render(t, Cockpit(run)).Text)
	golden(t, "holes.txt", render(t, Holes(run)).Text)
	golden(t, "error.html", render(t, errorView(errors.New("Checkpoint 0s: must be between 1m0s and 24h0m0s\nPolicy <nil>"))).HTML)
}

// Badges at their limits are red: the rule says "below" and "above".
func TestBadgesAtTheLimitAreRed(t *testing.T) {
	c := fleet.Default()
	for _, x := range []struct {
		fragmentation, goodput float64
		met                    [2]bool
		text                   [2]string
	}{
		{0.2, 0.8, [2]bool{false, false}, [2]string{"20.0 %", "80.0 %"}},
		{0.1996, 0.8004, [2]bool{false, false}, [2]string{"20.0 %", "80.0 %"}},
		{0.1994, 0.8006, [2]bool{true, true}, [2]string{"19.9 %", "80.1 %"}},
		{0, 1, [2]bool{true, true}, [2]string{"0.0 %", "100.0 %"}},
	} {
		got := badgesOf(&c, fleet.Ledger{Fragmentation: x.fragmentation, Goodput: x.goodput})
		for i := range x.met {
			figure := strings.ReplaceAll(got[i].Figure, nbsp, " ")
			if got[i].Met != x.met[i] || figure != x.text[i] {
				t.Errorf("%s of %v, %v shows %s, met %v; want %s, %v", got[i].Key, x.fragmentation, x.goodput, figure, got[i].Met, x.text[i], x.met[i])
			}
		}
	}
}

func TestSameRunSameBytes(t *testing.T) {
	c := scenario.Fragmented(fleet.Default())
	for name, v := range map[string]func() View{
		"cockpit": func() View { return Cockpit(simulate(t, c)) },
		"holes":   func() View { return Holes(simulate(t, c)) },
		"compare": func() View { return Compare(simulate(t, c), simulate(t, c)) },
	} {
		if a, b := render(t, v()), render(t, v()); a != b {
			t.Errorf("%s: two renderings of the same run differ", name)
		}
	}
}

func TestOutputsStaySmall(t *testing.T) {
	c := scenario.Fragmented(fleet.Default())
	own := c
	own.Policy, own.Checkpoint = fleet.Placing("scattered", scattered), 40*time.Minute
	for name, v := range map[string]View{
		"Act I": Cockpit(simulate(t, c)), "a policy that nobody can guess": Cockpit(simulate(t, own)), "chart": Holes(simulate(t, c)),
		"Act II": Cockpit(simulate(t, scenario.Gamble(fleet.Default()))), "Act III": Cockpit(simulate(t, scenario.Rescaled(fleet.Default()))),
	} {
		out := render(t, v)
		t.Logf("%s: %d bytes", name, len(out.HTML))
		if len(out.HTML) > 600_000 {
			t.Errorf("%s: %d bytes, want at most 600,000", name, len(out.HTML))
		}
	}
}

// The static part has to stand without style, script, id, name and data attributes: JupyterLab strips them from untrusted notebooks.
func TestStaticTwinStandsAlone(t *testing.T) {
	html := render(t, Cockpit(simulate(t, scenario.Fragmented(fleet.Default())))).HTML
	html = regexp.MustCompile(`(?s)<script[^>]*>.*?</script>`).ReplaceAllString(html, "")
	html = regexp.MustCompile(`(?s)<style[^>]*>.*?</style>`).ReplaceAllString(html, "")
	html = regexp.MustCompile(` (data-[\w-]+|id|name)="[^"]*"`).ReplaceAllString(html, "")
	for _, want := range []string{
		"data:image/png;base64,", "Fragmentation", "Goodput", "SLA", "Cluster MFU", "Wait Time", "TCO", "Best-Fit", "largest hole", "#1", "<table>",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the static part lacks %q", want)
		}
	}
	if strings.Contains(html, "<input") || strings.Contains(html, "<canvas") {
		t.Error("dead controls are left in the static part")
	}
	if n := len(html); n > 60_000 {
		t.Errorf("the static part has %d bytes", n)
	}
}

func TestGridHasEverySettingOnce(t *testing.T) {
	c := scenario.Fragmented(fleet.Default())
	for _, x := range []struct {
		policy   fleet.Policy
		tau      time.Duration
		settings int
		own      int
	}{
		{fleet.FCFS, 3 * time.Hour, 112, 0}, {fleet.BestFit, time.Minute, 112, 1}, {fleet.Preemption, 40 * time.Minute, 126, 3},
		{fleet.Placing("mine", last), time.Hour, 116, 4}, {fleet.Placing("Best-Fit", last), 40 * time.Minute, 130, 4},
	} {
		c.Policy, c.Checkpoint, c.Preempt = x.policy, x.tau, false
		g := gridOf(c)
		own := g.Settings[g.Initial]
		if len(g.Settings) != x.settings || own.Policy != x.own || own.config.Checkpoint != x.tau || !samePolicy(own.config.Policy, x.policy) {
			t.Errorf("%s every %v: %d settings, own %+v; want %d and policy %d", fleet.PolicyName(x.policy), x.tau, len(g.Settings), own, x.settings, x.own)
		}
	}
}

// A training job that is alone offers its strategies at all intervals; with students beside it every lever has a say.
func TestGridOffersStrategiesForTrainingJobs(t *testing.T) {
	alone, both, own := scenario.Rescaled(fleet.Default()), rings(1, 0), scenario.Rescaled(fleet.Default())
	own.Rescale = elastic.Rescaling("Re-shard", func(b elastic.Break) [][]int { return nil })
	for _, x := range []struct {
		c                                        fleet.Config
		policies, switches, strategies, settings int
	}{{alone, 1, 1, 4, 32}, {both, 4, 2, 4, 504}, {own, 1, 1, 5, 40}} {
		g := gridOf(x.c)
		if len(g.Policies) != x.policies || g.Switches != x.switches || len(g.Strategies) != x.strategies || len(g.Settings) != x.settings || g.Cut {
			t.Errorf("%d policies, %d, %d strategies, %d settings, cut %v; want %+v", len(g.Policies), g.Switches, len(g.Strategies), len(g.Settings), g.Cut, x)
		}
		if s := g.Settings[g.Initial]; !same(s.config.Rescale, x.c.Rescale) || s.config.Checkpoint != x.c.Checkpoint || s.config.Preempt != x.c.Preempt {
			t.Errorf("the run's own setting is %+v", s)
		}
	}
	if g := gridOf(own); g.Strategies[4].Name != "Re-shard (yours)" {
		t.Errorf("a strategy of one's own is called %q", g.Strategies[4].Name)
	}
}

// A run that is long to simulate has fewer levers, and says so, but its own setting is always there.
func TestLongRunsHaveFewerLevers(t *testing.T) {
	c := small(1, fleet.BestFit, true, false, time.Hour)
	whole := len(gridOf(c).Settings)
	before := whole + 1
	for _, jobs := range []int{20_000, 60_000, 500_000, 3_000_000} {
		c.Jobs = make([]fleet.Job, jobs)
		g := gridOf(c)
		if len(g.Settings) > before || len(g.Settings) > 1 && len(g.Settings)*jobs > mostJobs {
			t.Errorf("%d jobs: %d settings", jobs, len(g.Settings))
		}
		if s := g.Settings[g.Initial]; s.config.Checkpoint != c.Checkpoint || !samePolicy(s.config.Policy, c.Policy) || !s.config.Preempt || g.Cut != (len(g.Settings) < whole) {
			t.Errorf("%d jobs: own setting %+v, cut %v", jobs, s, g.Cut)
		}
		before = len(g.Settings)
	}
}

func TestTrainingFiguresSayWhoseGoodputItIs(t *testing.T) {
	r := simulate(t, scenario.Rescaled(fleet.Default()))
	f := figuresOf(&r.Config, r.Ledger())
	if k := f.Cards[1]; k.Definition.Formula != fleet.DefTrainingGoodput.Formula || !strings.Contains(k.Sub, "training job") {
		t.Errorf("the goodput card says %q: %s", k.Sub, k.Definition.Formula)
	}
	if !strings.Contains(f.Badges[1].Note, "training job") {
		t.Errorf("the badge says %q", f.Badges[1].Note)
	}
	golden(t, "training.txt", render(t, Cockpit(r)).Text)
}

func TestBadRunsGiveAClearMessage(t *testing.T) {
	bad := simulate(t, scenario.Fragmented(fleet.Default()))
	bad.Config.MFU = math.NaN()
	for name, v := range map[string]View{
		"nil": Cockpit(nil), "empty": Cockpit(&fleet.Run{}), "NaN": Cockpit(bad), "chart of nil": Holes(nil),
		"comparison with nil": Compare(bad, nil), "comparison of nil": Compare(nil, nil), "empty comparison": Compare(&fleet.Run{}, &fleet.Run{}),
	} {
		if _, err := v.Render(); !errors.Is(err, ErrRun) {
			t.Errorf("%s: error %v, want ErrRun", name, err)
		}
	}
}

// A fleet without jobs, without a big job, and one of odd shape are views too.
func TestOddRunsRender(t *testing.T) {
	empty, odd := fleet.Default(), fleet.Default()
	odd.Topology = fleet.Topology{Pods: 30, RacksPerPod: 1, NodesPerRack: 3, GPUsPerNode: 16}
	odd.Jobs = []fleet.Job{{ID: 7, GPUs: 40, Arrival: time.Hour, Work: time.Hour}}
	odd.Big = 7
	for _, c := range []fleet.Config{empty, odd} {
		run := simulate(t, c)
		for _, v := range []View{Cockpit(run), Holes(run), Compare(run, run)} {
			out := render(t, v)
			for _, broken := range []string{"NaN", "%!", "Inf ", "ZgotmplZ"} {
				if i := strings.Index(out.HTML+out.Text, broken); i >= 0 {
					t.Errorf("%q in the output: …%s…", broken, (out.HTML + out.Text)[max(0, i-80):][:160])
				}
			}
		}
	}
}

// Markup in a name stays text.
func TestHostileNamesAreEscaped(t *testing.T) {
	c := small(1, fleet.Placing("</script><script>alert(1)</script>", last), false, false, time.Hour)
	c.Faults[0].Cause = "<img src=x onerror=alert(1)></script>"
	html := render(t, Cockpit(simulate(t, c))).HTML
	if strings.Contains(html, "<script>alert") || strings.Contains(html, "<img src=x") {
		t.Error("a name reached the page as markup")
	}
	if n, m := strings.Count(html, "<script"), strings.Count(html, "</script"); n != m || n != 3 {
		t.Errorf("%d script elements begin and %d end, want 3", n, m)
	}
}

func TestInitWithoutLibraryFallsBack(t *testing.T) {
	t.Setenv(EChartsEnv, filepath.Join(t.TempDir(), "missing.js"))
	if html := render(t, Init()).HTML; !strings.Contains(html, echartsSRI) || !strings.Contains(html, "echarts@"+echartsVersion) {
		t.Error("without a file the library has to come from the CDN, with its checksum")
	}
	lib := filepath.Join(t.TempDir(), "echarts.js")
	if err := os.WriteFile(lib, []byte("window.echarts = 1;"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(EChartsEnv, lib)
	if html := render(t, Init()).HTML; !strings.Contains(html, "window.echarts = 1;") || strings.Contains(html, "cdn.jsdelivr") {
		t.Error("with a file the library has to be in the output")
	}
}

func TestDurationCodeIsGo(t *testing.T) {
	for d, want := range map[time.Duration]string{
		time.Hour: "time.Hour", 3 * time.Hour: "3 * time.Hour", 90 * time.Minute: "90 * time.Minute", 61 * time.Second: "61 * time.Second",
	} {
		if got := durationCode(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

// Must and Show end the program with status 1, a message on stdout and nothing on stderr.
func TestErrorsEndTheCellQuietly(t *testing.T) {
	switch os.Getenv("WIDGETS_CELL") {
	case "must":
		c := fleet.Default()
		c.Checkpoint = 0
		Must(fleet.Simulate(c))
		os.Exit(0)
	case "show":
		Show(Cockpit(nil))
		os.Exit(0)
	case "nil":
		Show(nil)
		os.Exit(0)
	}
	for cell, want := range map[string]string{"must": "Checkpoint 0s: must be between", "show": "the run of the cockpit is nil", "nil": "the view is nil"} {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestErrorsEndTheCellQuietly$")
		cmd.Env = append(os.Environ(), "WIDGETS_CELL="+cell)
		var stdout, stderr strings.Builder
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 {
			t.Errorf("%s: ended with %v, want status 1", cell, err)
		}
		if !strings.Contains(stdout.String(), want) || strings.Contains(stdout.String(), "goroutine") || stderr.Len() > 0 {
			t.Errorf("%s: stdout %q, stderr %q; want %q on stdout only", cell, stdout.String(), stderr.String(), want)
		}
	}
}

func TestMustReturnsTheValue(t *testing.T) {
	if got := Must(template.HTML("x"), nil); got != "x" {
		t.Errorf("got %q", got)
	}
}

func BenchmarkCockpitActI(b *testing.B) {
	run := simulate(b, scenario.Fragmented(fleet.Default()))
	for b.Loop() {
		out := render(b, Cockpit(run))
		b.ReportMetric(float64(len(out.HTML))/1000, "kB")
	}
}

func BenchmarkSweepActI(b *testing.B) {
	g := gridOf(scenario.Fragmented(fleet.Default()))
	for b.Loop() {
		if err := fleet.Sweep(g.configs(), func(int, *fleet.Run) {}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPackRun(b *testing.B) {
	run := simulate(b, scenario.Fragmented(fleet.Default()))
	for b.Loop() {
		packRun(run)
	}
}

func BenchmarkResultOf(b *testing.B) {
	run := simulate(b, scenario.Fragmented(fleet.Default()))
	for b.Loop() {
		if _, err := resultOf(run); err != nil {
			b.Fatal(err)
		}
	}
}
