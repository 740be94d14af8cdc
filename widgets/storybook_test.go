package widgets

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/scenario"
)

var update = flag.Bool("update", false, "write the golden files and the storybook instead of comparing")

// stories is every view in the states that matter.
func stories(t testing.TB) map[string]View {
	c := scenario.Fragmented(fleet.Default())
	kill, migrate := c, c
	kill.Preempt, migrate.Defrag = true, true
	own := c
	own.Policy, own.Checkpoint = fleet.Placing("last", last), 40*time.Minute
	empty := fleet.Default()
	run := simulate(t, c)
	return map[string]View{
		"cockpit": Cockpit(run), "cockpit-migrate": Cockpit(simulate(t, migrate)), "cockpit-own": Cockpit(simulate(t, own)),
		"cockpit-empty": Cockpit(simulate(t, empty)), "compare": Compare(simulate(t, kill), simulate(t, migrate)),
		"holes": Holes(run), "error": Cockpit(nil), "init": Init(),
	}
}

// TestStorybook writes a page for each view, theme and width into artifacts/storybook, to be looked at: go test -run Storybook -update.
func TestStorybook(t *testing.T) {
	if !*update {
		t.Skip("the storybook is written with -update")
	}
	dir := filepath.Join("..", "artifacts", "storybook")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	lib, err := Init().Render()
	if err != nil {
		t.Fatal(err)
	}
	var index strings.Builder
	for name, v := range stories(t) {
		out, err := v.Render()
		if err != nil {
			out, err = errorView(err).Render()
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, theme := range []string{"light", "dark"} {
			page := fmt.Sprintf("<!doctype html><meta charset=utf-8><title>%s</title><body data-jp-theme-light=%v style='margin:8px;font:14px sans-serif;background:%s'>%s%s",
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
