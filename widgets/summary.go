package widgets

import (
	"html/template"
	"strings"
	"text/tabwriter"

	"github.com/fleetlab/fleetlab/fleet"
)

// Summary is a run in a small view without levers: badges, ledger and a picture of the fleet. It simulates nothing itself, so it is
// there at once and is what Live shows best.
func Summary(run *fleet.Run) View {
	return view(func() (Output, error) {
		if err := checkRun("the run of the summary", run); err != nil {
			return Output{}, err
		}
		p, err := portraitOf(run, figuresOf(&run.Config, run.Ledger()))
		if err != nil {
			return Output{}, err
		}
		html, err := expand("summary", struct {
			Style template.CSS
			portrait
		}{template.CSS(themeCSS + ".fleet-summary {\n" + figuresCSS + summaryCSS + "}\n"), p})
		return Output{HTML: html, Text: p.text()}, err
	})
}

// summaryCSS takes the place of what the cockpit's shadow tree keeps away: the notebook's own rules for lists and tables.
const summaryCSS = `padding: 4px 0; font-variant-numeric: tabular-nums; container: cockpit / inline-size;
&.fleet-view ul.legend { list-style: none; margin: 5px 0 0; padding: 0; }
&.fleet-view ul.legend li { margin: 0; }
p, dl { margin: 4px 0; }
.badges { flex-wrap: wrap; margin-bottom: 8px; }
.badge small { white-space: normal; }
img { max-width: 100%; height: auto; margin-top: 8px; }
@container cockpit (max-width: 640px) { .cards { grid-template-columns: repeat(2, minmax(0, 1fr)); } }
`

func (p portrait) text() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	p.writeBadges(&b)
	p.writeFigures(w)
	w.Flush()
	return strings.ReplaceAll(b.String(), nbsp, " ")
}
