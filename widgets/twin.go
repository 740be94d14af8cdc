package widgets

import (
	"fmt"
	"html/template"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/fleetlab/fleetlab/fleet"
)

// staticTwin is a cockpit without scripts: a picture and tables of the run's own setting, and a table of all others.
type staticTwin struct {
	portrait
	Policy   string
	Preempt  string
	Defrag   string
	Tau      string
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
	snap := run.At(momentOfTruth(&run.Config))
	picture, w, h, err := mapPicture(run, snap)
	if err != nil {
		return portrait{}, err
	}
	p := portrait{Figures: f, Picture: template.URL(picture), Width: w, Height: h, Time: clock(snap.At), Counts: countsOf(&run.Config, snap)}
	p.Alt = fmt.Sprintf("Heatmap of the fleet at %s: %s", p.Time, p.Counts)
	return p, nil
}

type settingRow struct {
	Policy, Preempt, Defrag  string
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
		portrait: p, Policy: g.Policies[own.Policy].Name, Preempt: onOff(own.Preempt), Defrag: onOff(own.Defrag), Tau: interval(c.Checkpoint),
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

func rowOf(g *grid, i int, r result) settingRow {
	x := g.Settings[i]
	return settingRow{
		Policy: g.Policies[x.Policy].Name, Preempt: onOff(x.Preempt), Defrag: onOff(x.Defrag), Own: i == g.Initial, Figures: r.figures,
		BigWait: bigWait(r.ledger), P95: duration(r.ledger.StudentP95), MFU: percent(r.ledger.ClusterMFU), Waste: dollars(r.ledger.WasteUSD),
	}
}

func onOff(on int) string { return [...]string{"off", "on"}[on] }

// countsOf is the line under the heatmap. GPUs that a gang holds and can't use count as working, as the heatmap shows them.
func countsOf(c *fleet.Config, s fleet.Snapshot) string {
	text := fmt.Sprintf("%s working, %s idle, %s failed; largest hole %s", count(int64(s.Working+s.Stranded)), count(int64(s.Idle)),
		count(int64(s.Failed)), counted(s.LargestHole, "node"))
	if j := bigJob(c); j != nil {
		text += fmt.Sprintf(" of the %d that the big job needs", c.Topology.NodesFor(j.GPUs))
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
	fmt.Fprintf(&b, "Setting: policy %s, preemption %s, defragmentation %s, checkpoint every %s.\n", s.Policy, s.Preempt, s.Defrag, s.Tau)
	s.writeFigures(w)
	line()
	line("policy", "preempt", "defrag", "fragmentation", "goodput", "SLA", "big job waits", "students p95", "cluster MFU", "wasted")
	for _, r := range s.Settings {
		badges := r.Figures.Badges
		line(r.Policy, r.Preempt, r.Defrag, badges[0].Sign+" "+badges[0].Figure, badges[1].Sign+" "+badges[1].Figure, badges[2].Word,
			r.BigWait, r.P95, r.MFU, r.Waste)
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
