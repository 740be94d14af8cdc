package widgets

import (
	"fmt"
	"strconv"

	"github.com/fleetlab/fleetlab/fleet"
)

// figures is what badges, cards and bar show of one run: a ledger put into words. Every formula comes from fleet's definitions.
type figures struct {
	Badges []badge
	Cards  []card
	Parts  []part
	Total  part
	Window string
	Notes  []definition // how the badges come about
}

// badge is one constraint: its rule, the figure, and whether it is met, as a sign and a word too.
type badge struct {
	Key    string
	Name   string
	Rule   string
	Figure string
	Met    bool
	Sign   string
	Word   string
	Note   string
	Value  string // the number in full
}

// verdict is the figure, where there is one, and the word.
func (b badge) verdict() string {
	if b.Figure == "" {
		return b.Word
	}
	return b.Figure + " · " + b.Word
}

// card is one entry of the System Ledger. It opens to formula, parts and units.
type card struct {
	Key        string
	Headline   string
	Sub        string
	Value      string
	Definition fleet.Definition
	Rows       []row
	Split      bool // also lists the parts of GPU-time
}

type row struct{ Name, Figure, Unit string }

// part is one use of GPU-time in the window.
type part struct {
	Name  string
	Class string // for its colour and pattern
	Share float64
	Width string // of its piece of the bar
	Text  string // the share as text
	Hours string
	Cost  string
	Value string
}

type definition struct {
	fleet.Definition
	Figure string
}

// figuresOf words a ledger.
func figuresOf(c *fleet.Config, l fleet.Ledger) figures {
	return figures{
		Badges: badgesOf(c, l),
		Cards:  []card{mfuCard(c, l), goodputCard(c, l), waitCard(c, l), costCard(c, l)},
		Parts:  partsOf(l),
		Total:  part{Hours: hours(l.Split.Total()), Text: percent(1), Cost: dollars(l.CostUSD)},
		Window: windowOf(c, l),
		Notes: []definition{
			{fleet.DefFragmentation, percent(l.Fragmentation) + " at " + clock(l.AuditAt) + ", " + percent(l.FragmentationOverWindow) + " over the window"},
			{fleet.DefFGD, percent(l.FGDOfIdle) + " of idle, " + percent(l.FGDOfTotal) + " of all"},
			{fleet.DefSLA, slaNote(c, l)},
		},
	}
}

func badgesOf(c *fleet.Config, l fleet.Ledger) []badge {
	b := []badge{
		{
			Key: "fragmentation", Name: fleet.DefFragmentation.Name, Rule: "Fragmentation <" + nbsp + limit(fleet.FragmentationLimit), Figure: percent(l.Fragmentation),
			Met: l.FragmentationMet(), Value: exact(l.Fragmentation), Note: "at " + clock(l.AuditAt) + " · FGD " + percent(l.FGDOfIdle) + " of idle",
		},
		{
			Key: "goodput", Name: fleet.DefGoodput.Name, Rule: "Goodput >" + nbsp + limit(fleet.GoodputFloor), Figure: percent(l.Goodput),
			Met: l.GoodputMet(), Value: exact(l.Goodput), Note: goodputNote(l),
		},
		{Key: "sla", Name: fleet.DefSLA.Name, Rule: "SLA", Met: l.SLAMet, Value: fmt.Sprint(l.SLAMet), Note: slaNote(c, l)},
	}
	for i := range b {
		b[i].Sign, b[i].Word = "✗", "missed"
		if b[i].Met {
			b[i].Sign, b[i].Word = "✓", "met"
		}
	}
	b[2].Word = map[bool]string{true: "Met", false: "Missed"}[l.SLAMet]
	return b
}

func limit(x float64) string { return fmt.Sprintf("%g%s%%", x*100, nbsp) }

// bigWait is the big job's wait, with a sign while it lasts.
func bigWait(l fleet.Ledger) string {
	if l.BigStart == fleet.Never {
		return ">" + nbsp + duration(l.BigWait)
	}
	return duration(l.BigWait)
}

// slaNote sets both waits against their limits.
func slaNote(c *fleet.Config, l fleet.Ledger) string {
	students := fmt.Sprintf("students p95 %s (max %s)", duration(l.StudentP95), duration(c.SLA.Wait))
	switch {
	case c.Big == 0:
		return students
	case alone(c):
		return fmt.Sprintf("the job starts after %s (max %s)", bigWait(l), duration(c.SLA.Start))
	}
	return fmt.Sprintf("big job %s (max %s) · %s", bigWait(l), duration(c.SLA.Start), students)
}

// alone tells whether the watched job has the fleet for itself.
func alone(c *fleet.Config) bool { return c.Big != 0 && len(c.Jobs) == 1 }

func mfuCard(c *fleet.Config, l fleet.Ledger) card {
	return card{
		Key: "mfu", Headline: percent(l.ClusterMFU), Sub: percent(c.MFU) + " while useful × goodput of the fleet", Value: exact(l.ClusterMFU),
		Definition: fleet.DefMFU,
		Rows: []row{
			{"Goodput of the fleet", percent(l.Split.Share(fleet.Useful)), "of all GPU-time"},
			{"MFU of a GPU while useful", percent(c.MFU), "of its peak FLOPs"},
			{"Cluster MFU", percent(l.ClusterMFU), "of the fleet's peak FLOPs"},
		},
	}
}

// training tells whether goodput is the training job's.
func training(l fleet.Ledger) bool { return l.Training.Window.End > 0 }

func goodputNote(l fleet.Ledger) string {
	if training(l) {
		return "of the training job; of the fleet " + percent(l.Split.Share(fleet.Useful))
	}
	return "useful of all GPU-time"
}

func goodputCard(c *fleet.Config, l fleet.Ledger) card {
	k := card{
		Key: "goodput", Headline: percent(l.Goodput), Sub: "of the fleet: useful / all GPU-time", Value: exact(l.Goodput),
		Definition: l.GoodputDefinition(), Split: true,
		Rows: []row{
			{"Window", clock(l.Window.Start) + "–" + clock(l.Window.End), windowNote(c)},
			{"Failures", count(int64(l.Failures)), "in the window" + mtbf(l)},
			{"Evictions", count(int64(l.Evictions)), fmt.Sprintf("jobs; %s GPU-h of work lost", hours(l.Price.Lost))},
			{"Lost to failures", hours(l.LostToFailures), "GPU-h of work since the last checkpoints"},
			{"Migrations", count(int64(l.Migrations)), "jobs moved"},
			{"Price of starting the big job", hours(l.Price.Total()), "GPU-h, " + dollars(l.Price.USD)},
		},
	}
	if training(l) {
		k.Sub = "of the training job: useful / asked for"
		k.Rows = append(k.Rows[:2:2], trainingRows(l.Training, l.LostToFailures)...)
	}
	return k
}

// trainingRows is the account of a training job.
func trainingRows(t fleet.TrainingLedger, lost fleet.GPUTime) []row {
	rows := []row{
		{"The job ran", clock(t.Window.Start) + "–" + clock(t.Window.End), "from its first start"},
		{"Work done", duration(t.Work), "at full strength, of " + duration(t.Window.End-t.Window.Start)},
		{"Lost to failures", hours(lost), "GPU-h of work since the last checkpoints"},
		{"Checkpoint writes", hours(t.Split[fleet.Checkpoint]), "GPU-h"},
		{"Restarts and stalls", hours(t.Split[fleet.Restart]), fmt.Sprintf("GPU-h: detect %s, reschedule %s, load %s, warm up %s, rescale %s",
			hours(t.Detect), hours(t.Reschedule), hours(t.Load), hours(t.WarmUp), hours(t.Stall))},
		{"Stranded", hours(t.Split[fleet.Stranded]), "GPU-h held without use"},
		{"Lacking", hours(t.Lacking), "GPU-h asked for and not held"},
		{"Crashes, rescales, waits", fmt.Sprintf("%d, %d, %d", t.Crashes, t.Rescales, t.Waits), "times"},
		{"MFU of the job", percent(t.MFU), "of the peak FLOPs of its GPUs"},
	}
	if t.Tokens > 0 {
		rows = append(rows, row{"Tokens", strconv.FormatFloat(t.Tokens/1e9, 'f', 1, 64), fmt.Sprintf("billions; %s a second", wholeText(t.TokensPerSecond))})
	}
	return rows
}

func mtbf(l fleet.Ledger) string {
	if l.Failures == 0 {
		return ""
	}
	return ", MTBF " + duration(l.MTBF)
}

func waitCard(c *fleet.Config, l fleet.Ledger) card {
	students := fmt.Sprintf("students: median %s, p95 %s", duration(l.StudentMedian), duration(l.StudentP95))
	k := card{
		Key: "wait", Headline: duration(l.BigWait), Sub: students, Value: exact(l.BigWait.Seconds()), Definition: fleet.DefWait,
		Rows: []row{
			{"Students, median", duration(l.StudentMedian), "in the queue"},
			{"Students, 95th percentile", duration(l.StudentP95), "limit " + duration(c.SLA.Wait)},
		},
	}
	if c.Big == 0 {
		k.Headline, k.Sub, k.Value = duration(l.StudentMedian), "students: p95 "+duration(l.StudentP95), exact(l.StudentMedian.Seconds())
		return k
	}
	if alone(c) {
		k.Sub, k.Rows = "in the queue before the first start; no other jobs", nil
	}
	big := row{fmt.Sprintf("Big job (job %d)", c.Big), bigWait(l), "limit " + duration(c.SLA.Start)}
	start := row{"It started at", "not yet", "still waiting at " + clock(l.Window.End)}
	if l.BigStart != fleet.Never {
		start = row{"It started at", clock(l.BigStart), "since the start of the run"}
	}
	k.Headline = bigWait(l)
	k.Rows = append([]row{big, start}, k.Rows...)
	return k
}

func costCard(c *fleet.Config, l fleet.Ledger) card {
	fleetGoodput := l.Split.Share(fleet.Useful)
	wastePerHour := l.CostPerHourUSD * (1 - fleetGoodput)
	return card{
		Key: "tco", Headline: dollars(l.CostPerHourUSD) + " /h", Sub: dollars(wastePerHour) + " /h buys nothing useful",
		Value: exact(l.CostPerHourUSD), Definition: fleet.DefTCO, Split: true,
		Rows: []row{
			{"Capacity", count(int64(c.Topology.GPUs())), "GPUs"},
			{"Rate", fmt.Sprintf("$%.2f", c.RateUSD), "per GPU-hour, used or idle"},
			{"Total", dollars(l.CostUSD), "over " + duration(l.Window.End-l.Window.Start)},
			{"Bought nothing useful", dollars(l.WasteUSD), percent(1 - fleetGoodput)},
		},
	}
}

func windowOf(c *fleet.Config, l fleet.Ledger) string {
	return clock(l.Window.Start) + "–" + clock(l.Window.End) + ", " + windowNote(c)
}

func windowNote(c *fleet.Config) string {
	if c.Big != 0 {
		return "from the big job's arrival"
	}
	return "the whole run"
}

// partClass names the colours of cockpit.css.
var partClass = [fleet.NumParts]string{
	"useful", "checkpoint", "rework", "preempted", "restart", "pause", "tax", "stranded", "idle", "failed",
}

func partsOf(l fleet.Ledger) []part {
	out := make([]part, fleet.NumParts)
	for i := range out {
		p := fleet.Part(i)
		share := l.Split.Share(p)
		out[i] = part{
			Name: p.String(), Class: partClass[i], Share: share, Width: strconv.FormatFloat(share*100, 'f', 4, 64) + "%", Text: percent(share), Hours: hours(l.Split[p]),
			Cost: dollars(share * l.CostUSD), Value: exact(share),
		}
		if l.Split[p] > 0 && share < 0.0005 {
			out[i].Text = "<" + nbsp + "0.1" + nbsp + "%"
		}
	}
	return out
}
