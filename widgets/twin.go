package widgets

import (
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/fleetlab/fleetlab/fleet"
)

// staticTwin is a cockpit without scripts: a picture and tables of the run's own setting, and a table of all others.
type staticTwin struct {
	portrait
	Setting  string
	Tau      string
	Levers   []string // the levers that have more than one position
	Settings []settingRow
	Log      []logRow
	More     string
}

// portrait is a run at the instant when it matters: its figures, and a picture of the fleet.
type portrait struct {
	Figures figures
	Picture template.URL
	Alt     string
	Width   int
	Height  int
	Time    string
	Counts  string
}

func portraitOf(run *fleet.Run, f figures) (portrait, error) {
	snap := run.At(momentOfTruth(run))
	picture, w, h, err := mapPicture(run, snap)
	if err != nil {
		return portrait{}, err
	}
	p := portrait{Figures: f, Picture: template.URL(picture), Width: w, Height: h, Time: clock(snap.At), Counts: countsOf(&run.Config, snap)}
	p.Alt = fmt.Sprintf("Heatmap of the fleet at %s: %s", p.Time, p.Counts)
	return p, nil
}

type settingRow struct {
	Levers                   []string
	Own                      bool
	Figures                  figures
	BigWait, P95, MFU, Waste string
}

type logRow struct {
	Time string
	ID   int
	Text string
}

// longest is the number of incidents that the static twin lists.
const longest = 150

func staticOf(run *fleet.Run, g *grid, results []result) (staticTwin, error) {
	c, own := &run.Config, g.Settings[g.Initial]
	p, err := portraitOf(run, results[g.Initial].figures)
	if err != nil {
		return staticTwin{}, err
	}
	s := staticTwin{
		portrait: p, Setting: strings.Join(g.positions(own), ", "), Tau: interval(c.Checkpoint), Levers: g.names(),
	}
	for i, x := range g.Settings {
		if x.Tau == own.Tau {
			s.Settings = append(s.Settings, rowOf(g, i, results[i]))
		}
	}
	for i, in := range results[g.Initial].incidents {
		if i == longest {
			s.More = fmt.Sprintf("… and %s more.", count(int64(len(results[g.Initial].incidents)-longest)))
			break
		}
		s.Log = append(s.Log, logRow{clock(in.At), in.ID, in.Text})
	}
	return s, nil
}

// names is the levers that have more than one position, but the checkpoint interval.
func (g *grid) names() (names []string) {
	if len(g.Policies) > 1 {
		names = append(names, "policy")
	}
	if g.Switches > 1 {
		names = append(names, "preemption", "defragmentation")
	}
	if len(g.Strategies) > 1 {
		names = append(names, "lost nodes")
	}
	return names
}

// levers is where each of these levers stands in a setting.
func (g *grid) levers(s setting) (at []string) {
	if len(g.Policies) > 1 {
		at = append(at, g.Policies[s.Policy].Name)
	}
	if g.Switches > 1 {
		at = append(at, onOff(s.Preempt), onOff(s.Defrag))
	}
	if len(g.Strategies) > 1 {
		at = append(at, g.Strategies[s.Strategy].Name)
	}
	return at
}

// positions is the levers of a setting with their names.
func (g *grid) positions(s setting) []string {
	names, at := g.names(), g.levers(s)
	for i := range names {
		names[i] += " " + at[i]
	}
	return append(names, "checkpoint every "+interval(g.Taus[s.Tau]))
}

func rowOf(g *grid, i int, r result) settingRow {
	return settingRow{
		Levers: g.levers(g.Settings[i]), Own: i == g.Initial, Figures: r.figures,
		BigWait: bigWait(r.ledger), P95: duration(r.ledger.StudentP95), MFU: percent(r.ledger.ClusterMFU), Waste: dollars(r.ledger.WasteUSD),
	}
}

func onOff(on int) string { return [...]string{"off", "on"}[on] }

// countsOf is the line under the heatmap.
func countsOf(c *fleet.Config, s fleet.Snapshot) string {
	text := fmt.Sprintf("%s working, %s idle, %s failed", count(int64(s.Working)), count(int64(s.Idle)), count(int64(s.Failed)))
	if s.Stranded > 0 || strands(c) {
		text += fmt.Sprintf(", %s stranded", count(int64(s.Stranded)))
	}
	text += "; largest hole " + counted(s.LargestHole, "node")
	if need := needOf(c); need > 0 {
		text += fmt.Sprintf(", and the big job needs %d", need)
	}
	return text + fmt.Sprintf("; %s in the queue", counted(s.Queued, "job"))
}

// text is the twin for a terminal.
func (s staticTwin) text() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	line := func(cells ...string) { fmt.Fprintln(w, strings.Join(cells, "\t")) }
	fmt.Fprintln(&b, "Lab 08: The Fleet Orchestrator – Cloud Titan (Exaflop Scale)")
	s.writeBadges(&b)
	fmt.Fprintf(&b, "Setting: %s.\n", s.Setting)
	s.writeFigures(w)
	line()
	line(append(slices.Clone(s.Levers), "fragmentation", "goodput", "SLA", "big job waits", "students p95", "cluster MFU", "wasted")...)
	for _, r := range s.Settings {
		badges := r.Figures.Badges
		line(append(slices.Clone(r.Levers), badges[0].Sign+" "+badges[0].Figure, badges[1].Sign+" "+badges[1].Figure, badges[2].Word,
			r.BigWait, r.P95, r.MFU, r.Waste)...)
	}
	line()
	for _, l := range s.Log {
		line(l.Time, fmt.Sprintf("#%d", l.ID), l.Text)
	}
	w.Flush()
	if s.More != "" {
		fmt.Fprintln(&b, s.More)
	}
	return strings.ReplaceAll(b.String(), nbsp, " ")
}

// writeBadges writes a line for each badge.
func (p portrait) writeBadges(b io.Writer) {
	for _, x := range p.Figures.Badges {
		fmt.Fprintf(b, "%s %s: %s (%s)\n", x.Sign, x.Rule, x.verdict(), x.Note)
	}
}

// writeFigures writes what the picture shows, the cards and the bar; w makes columns of tabs.
func (p portrait) writeFigures(w io.Writer) {
	fmt.Fprintf(w, "The fleet at %s: %s.\n\n", p.Time, p.Counts)
	for _, k := range p.Figures.Cards {
		fmt.Fprintf(w, "%s\t%s\t%s\n", k.Definition.Name, k.Headline, k.Sub)
	}
	fmt.Fprintf(w, "\nGPU-time\tGPU-h\tshare\tcost\n")
	for _, x := range p.Figures.Parts {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", x.Name, x.Hours, x.Text, x.Cost)
	}
}
