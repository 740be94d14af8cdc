package widgets

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/check"
	"github.com/fleetlab/fleetlab/fleet/elastic"
	"github.com/fleetlab/fleetlab/fleet/memo"
	"github.com/fleetlab/fleetlab/fleet/scenario"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing")

// stories is every view in the states that matter.
func stories(t testing.TB) map[string]View {
	c := scenario.Fragmented(fleet.Default())
	kill, migrate, own := c, c, c
	kill.Preempt, migrate.Defrag = true, true
	own.Policy, own.Checkpoint = fleet.Placing("last", last), 40*time.Minute
	run := simulate(t, c)
	spike := scenario.Rescaled(fleet.Default())
	spike.Rescale = elastic.DropReplicas
	all := map[string]View{
		"cockpit": Cockpit(run), "cockpit-migrate": Cockpit(simulate(t, migrate)), "cockpit-own": Cockpit(simulate(t, own)),
		"cockpit-empty": Cockpit(simulate(t, fleet.Default())), "cockpit-gamble": Cockpit(simulate(t, scenario.Gamble(fleet.Default()))),
		"cockpit-rescale": Cockpit(simulate(t, spike)), "cockpit-mixed": Cockpit(simulate(t, rings(1, 0))),
		"compare": Compare(simulate(t, kill), simulate(t, migrate)), "error": Cockpit(nil), "init": Init(), "summary": Summary(run), "summary-rescale": Summary(simulate(t, spike)),
		"lock": Locked(unanswered, run, Holes(run)), "gap": Gap(guess(60, 0.5), run), "passed": verdict("no other node would leave fewer GPUs over", nil),
		"notpassed": verdict("no other node would leave fewer GPUs over", errors.New("job 3 (2 GPUs) goes to node 0 and leaves 4 GPUs over; node 2 would leave 0")),
	}
	maps.Copy(all, map[string]View{
		"memo": Memo(memoStory(), memo.Current{"Act I": {"0123456789ab"}}), "memo-empty": Memo(&memo.Memo{Version: memo.Version}, nil),
		"guide":        RationaleGuide(simulate(t, kill), check.ActIFigures, rubricStory...),
		"guide-gamble": RationaleGuide(simulate(t, scenario.Gamble(fleet.Default())), check.ActIIFigures),
	})
	maps.Copy(all, chartStories(t, run))
	return all
}

// chartStories is the stories of the views with a chart.
func chartStories(t testing.TB, run *fleet.Run) map[string]View {
	gamble := CurveOf{Model: scenario.ActIITraining.Model(3 * time.Hour), Own: time.Hour, Runs: 100, Seed: 1}
	plain := CurveOf{Model: scenario.ActIITraining.Model(3 * time.Hour)}
	bursty := gamble
	bursty.Model.Write, bursty.Own, bursty.Gaps.Shape, bursty.Runs = 5*time.Minute, 30*time.Minute, 0.7, 30
	eight := slices.Concat(elastic.Strategies(), elastic.Strategies())
	return map[string]View{
		"holes": Holes(run), "queue": Queue(run), "curve": Curve(gamble), "curve-plain": Curve(plain), "curve-weibull": Curve(bursty),
		"timeline": Timeline(rescaled(t, elastic.Strategies()...)...), "timeline-eight": Timeline(rescaled(t, eight...)...),
	}
}

// rescaled is Act III under each of these strategies.
func rescaled(t testing.TB, strategies ...elastic.Rescaler) (runs []*fleet.Run) {
	for _, s := range strategies {
		c := fleet.Default()
		c.Rescale = s
		runs = append(runs, simulate(t, scenario.Rescaled(c)))
	}
	return runs
}

// TestStorybook writes a page for each view and theme into artifacts/storybook, and an index that shows them at three widths.
func TestStorybook(t *testing.T) {
	dir := filepath.Join("..", "artifacts", "storybook")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	lib, err := Init().Render()
	if err != nil {
		t.Fatal(err)
	}
	var index strings.Builder
	all := stories(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		v := all[name]
		out, err := v.Render()
		if err != nil {
			out, err = errorView(err).Render()
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, theme := range []string{"light", "dark"} {
			page := fmt.Sprintf("<!doctype html><html lang=en><meta charset=utf-8><title>%s</title><body data-jp-theme-light=%v style='margin:8px;font:14px sans-serif;background:%s'>%s%s",
				name, theme == "light", map[string]string{"light": "#fff;color:#111", "dark": "#0e141b;color:#eee"}[theme], lib.HTML, out.HTML)
			file := name + "-" + theme + ".html"
			if err := os.WriteFile(filepath.Join(dir, file), []byte(page), 0o644); err != nil {
				t.Fatal(err)
			}
			for _, width := range []int{360, 700, 1200} {
				fmt.Fprintf(&index, "<h3>%s, %s, %d px</h3><iframe src=%s width=%d height=900></iframe>\n", name, theme, width, file, width)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte("<!doctype html><meta charset=utf-8>"+index.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
