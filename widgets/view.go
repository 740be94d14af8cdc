package widgets

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"strings"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/check"
	"github.com/fleetlab/fleetlab/fleet/checkpoint"
	"github.com/fleetlab/fleetlab/fleet/memo"
	"github.com/fleetlab/fleetlab/fleet/scenario"
)

// ErrRun is wrapped by the error of a view whose run is missing or unusable.
var ErrRun = errors.New("no run to show")

// View is something to show: data that can be put into words. Render changes nothing and reads nothing but the data, so the same run
// gives the same bytes.
type View interface {
	Render() (Output, error)
}

// Output is a rendered view.
type Output struct {
	HTML string // for a notebook: self-contained, with the text in it for places where scripts don't run
	Text string // the same in plain text, for a terminal
}

// view makes a function a View.
type view func() (Output, error)

func (v view) Render() (Output, error) { return v() }

//go:embed html/*.html
var htmlFiles embed.FS

//go:embed cockpit.js
var cockpitJS string

//go:embed heatmap.js
var heatmapJS string

//go:embed codec.js
var codecJS string

//go:embed cockpit.css
var cockpitCSS string

//go:embed figures.css
var figuresCSS string

//go:embed chart.js
var chartJS string

//go:embed view.css
var viewCSS string

//go:embed theme.css
var themeCSS string

var templates = template.Must(template.New("").ParseFS(htmlFiles, "html/*.html"))

// expand executes one of the templates.
func expand(name string, data any) (string, error) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		return "", fmt.Errorf("template %s: %w", name, err)
	}
	return b.String(), nil
}

// checkRun rejects a run that nothing can be said about. name tells which argument it was.
func checkRun(name string, run *fleet.Run) error {
	switch {
	case run == nil:
		return fmt.Errorf("%s is nil: pass what fleet.Simulate returned: %w", name, ErrRun)
	case run.Config.Policy == nil || len(run.Samples) == 0:
		return fmt.Errorf("%s is empty: pass what fleet.Simulate returned: %w", name, ErrRun)
	}
	if err := run.Config.Validate(); err != nil {
		return fmt.Errorf("%s: %w: %w", name, err, ErrRun)
	}
	return nil
}

// sentinels are what errors are told apart by; they say nothing that a person needs to read at the end of each line.
var sentinels = []error{
	fleet.ErrConfig, fleet.ErrPolicy, check.ErrCheck, checkpoint.ErrModel, checkpoint.ErrTrial, memo.ErrMemo, memo.ErrStore, memo.ErrNewer, memo.ErrBusy,
	scenario.ErrPrediction, ErrCurve, ErrKnob, ErrRun,
}

// errorText is an error as lines for people: one for each joined error, without the sentinels.
func errorText(err error) []string {
	var lines []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		for _, s := range sentinels {
			line = strings.TrimSuffix(line, ": "+s.Error())
		}
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// errorView draws an error.
func errorView(err error) View {
	return view(func() (Output, error) {
		lines := errorText(err)
		html, xerr := expand("error", lines)
		return Output{HTML: html, Text: "This cell stopped:\n  " + strings.Join(lines, "\n  ") + "\n"}, xerr
	})
}
