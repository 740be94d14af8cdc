package widgets

import (
	"encoding/base64"
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/check"
	"github.com/fleetlab/fleetlab/fleet/memo"
)

// Memo shows a student's decisions act by act, with what is missing and, against the configurations in use now, what is stale. now may be
// nil: then nothing is judged stale. Markdown and JSON go along for download, and the Markdown as text for places that block downloads.
//
//	widgets.Show(widgets.Memo(widgets.Must(memo.Load("memo.json")), memo.Current{"Act I": {memo.Fingerprint(run.Config)}}))
func Memo(m *memo.Memo, now memo.Current) View {
	return view(func() (Output, error) {
		if m == nil {
			return Output{}, fmt.Errorf("the memo is nil: pass what memo.Load or memo.Update returned: %w", memo.ErrMemo)
		}
		json, err := m.JSON(now)
		if err != nil {
			return Output{}, fmt.Errorf("the memo: %w", err)
		}
		d := memoData{Style: template.CSS(themeCSS + viewCSS), Notices: m.Notices, Markdown: m.Markdown(now)}
		d.Downloads = []download{
			{"Markdown", "fleet-memo.md", dataURI("text/markdown;charset=utf-8", []byte(d.Markdown))},
			{"JSON", "fleet-memo.json", dataURI("application/json", json)},
		}
		for _, e := range m.All() {
			d.Acts = append(d.Acts, memoActOf(e, now[e.Act]))
		}
		d.Summary = memoSummary(len(m.Missing()), len(m.Stale(now)))
		html, err := expand("memo", d)
		return Output{HTML: html, Text: d.text()}, err
	})
}

// memoData is what the template of a memo needs.
type memoData struct {
	Style     template.CSS
	Summary   string
	Notices   []string
	Acts      []memoAct
	Downloads []download
	Markdown  string
}

// download is a file that travels inside the page.
type download struct {
	Name, File string
	URI        template.URL
}

// memoAct is one act in rows.
type memoAct struct {
	Name  string
	State string
	Done  bool
	Rows  []memoRow
}

// memoRow is one part of an act. Mark is a sign and a word, or nothing where all is well.
type memoRow struct{ Part, Text, Mark string }

// dataURI is a file as an address. Its base64 has nothing in it that could end an attribute.
func dataURI(mime string, content []byte) template.URL {
	return template.URL("data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(content))
}

func memoSummary(missing, stale int) string {
	if missing+stale == 0 {
		return memo.MarkComplete
	}
	var parts []string
	if missing > 0 {
		parts = append(parts, memo.MarkMissing+": "+counted(missing, "part"))
	}
	if stale > 0 {
		parts = append(parts, memo.MarkStale+": "+counted(stale, "figure"))
	}
	return strings.Join(parts, " · ")
}

func memoActOf(e memo.Entry, now []string) memoAct {
	a := memoAct{Name: e.Act, State: e.State(now...)}
	a.Done = a.State == memo.MarkComplete
	add := func(part, text, mark string) { a.Rows = append(a.Rows, memoRow{part, text, mark}) }
	text := func(part, s string) {
		if s = strings.TrimSpace(s); s == "" {
			add(part, "", memo.MarkMissing)
		} else {
			add(part, s, "")
		}
	}
	if len(e.Predictions) == 0 {
		add("Predicted", "", memo.MarkMissing)
	}
	for _, p := range e.Predictions {
		add("Predicted", p.Question+": "+p.String(), "")
	}
	text("Decided", e.Decision)
	text("Rejected", e.Rejected)
	text("Trigger", e.Trigger)
	if len(e.Figures) == 0 {
		add("Figures", "", memo.MarkMissing)
	}
	for _, f := range e.Figures {
		alone := memo.Entry{Figures: []memo.Figure{f}}
		mark := ""
		if len(alone.Stale(now...)) > 0 {
			mark = memo.MarkStale + ": from other levers"
		}
		add("Figure", f.Name+": "+f.String()+" (run "+f.Run+")", mark)
	}
	return a
}

func (d memoData) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Decision memo – %s\n", d.Summary)
	for _, n := range d.Notices {
		fmt.Fprintf(&b, "⚠ notice: %s\n", n)
	}
	for _, a := range d.Acts {
		fmt.Fprintf(&b, "\n%s – %s\n", a.Name, a.State)
		for _, r := range a.Rows {
			line := r.Text
			if r.Mark != "" {
				line = strings.TrimSpace(line + "  [" + r.Mark + "]")
			}
			fmt.Fprintf(&b, "  %-10s %s\n", r.Part, strings.Join(strings.Fields(line), " "))
		}
	}
	return b.String()
}

// Points is one line of a rubric.
type Points struct {
	Points int
	For    string
}

// RationaleGuide stands beside the cell in which a student justifies a decision. It lists the figures to cite, with the values of the
// student's own run, and what the points are given for:
//
//	widgets.Show(widgets.RationaleGuide(run, check.ActIIFigures, widgets.Points{2, "the interval, and why neither half nor double"}))
func RationaleGuide(run *fleet.Run, figures func(*fleet.Run) []check.Required, rubric ...Points) View {
	return view(func() (Output, error) {
		if err := checkRun("the run of the rationale", run); err != nil {
			return Output{}, err
		}
		if figures == nil {
			return Output{}, fmt.Errorf("the figures of the rationale are nil: pass check.ActIFigures or another act's: %w", check.ErrCheck)
		}
		g := guideOf(run, figures(run), rubric)
		html, err := expand("guide", g)
		return Output{HTML: html, Text: g.text()}, err
	})
}

// guide is what the template of a guide needs.
type guide struct {
	Style   template.CSS
	Setting string
	Run     string
	Note    string
	Figures []guideRow
	Rubric  []Points
	Total   int
}

type guideRow struct{ Name, Value, Or string }

func guideOf(run *fleet.Run, required []check.Required, rubric []Points) guide {
	g := guide{
		Style: template.CSS(themeCSS + viewCSS), Setting: guideSetting(&run.Config), Run: memo.Fingerprint(run.Config), Rubric: rubric,
		Note: "Write a number with its unit; any unit will do. It counts within " + strconv.FormatFloat(100*check.Tolerance, 'f', -1, 64) + nbsp +
			"%, or rounded if two digits are left. A check tells whoever grades which of them your text lacks or contradicts. It gives no points.",
	}
	for _, r := range required {
		row := guideRow{Name: r.Name, Value: r.String()}
		var or []string
		for _, x := range r.Or {
			f := r.Figure
			f.Value = x
			if s := f.String(); s != row.Value {
				or = append(or, s)
			}
		}
		row.Or = strings.Join(or, ", ")
		g.Figures = append(g.Figures, row)
	}
	for _, p := range rubric {
		g.Total += p.Points
	}
	return g
}

// guideSetting names the levers that matter to a run.
func guideSetting(c *fleet.Config) string {
	for _, j := range c.Jobs {
		if j.Train != nil {
			return "checkpoint every " + interval(c.Checkpoint) + ", when nodes are lost: " + fleet.RescalerName(c.Rescale)
		}
	}
	return settingName(c)
}

func (g guide) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Figures of your run to cite (run %s: %s)\n", g.Run, g.Setting)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, f := range g.Figures {
		or := ""
		if f.Or != "" {
			or = "also right: " + f.Or
		}
		fmt.Fprintln(w, strings.TrimRight("  "+f.Name+"\t"+f.Value+"\t"+or, "\t"))
	}
	w.Flush()
	fmt.Fprintf(&b, "%s\n", g.Note)
	if len(g.Rubric) > 0 {
		fmt.Fprintf(&b, "\nPoints, %d in all\n", g.Total)
		for _, p := range g.Rubric {
			fmt.Fprintf(&b, "  %d  %s\n", p.Points, p.For)
		}
	}
	return strings.ReplaceAll(b.String(), nbsp, " ")
}
