package widgets

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/fleetlab/fleetlab/fleet"
)

// Compare sets two decisions side by side: the run in which small jobs are killed for the big one, and the run in which they migrate.
// Both are shown with their price in GPU-hours and dollars, the waits, and the badges.
func Compare(kill, migrate *fleet.Run) View {
	return view(func() (Output, error) {
		if err := checkRun("the first run of the comparison", kill); err != nil {
			return Output{}, err
		}
		if err := checkRun("the second run of the comparison", migrate); err != nil {
			return Output{}, err
		}
		c := comparisonOf(kill, migrate)
		html, err := expand("compare", c)
		return Output{HTML: html, Text: c.text()}, err
	})
}

// comparison is two ledgers in the same rows.
type comparison struct {
	Style template.CSS
	Sides [2]side
	Rows  []comparedRow
}

type side struct {
	Name    string
	Setting string
	Badges  []badge
	Price   string
	Parts   []pricePart
}

// pricePart is a piece of a price, as a share of the dearer of the two.
type pricePart struct{ Name, Class, Width, Hours string }

type comparedRow struct {
	Key    string
	Name   string
	Unit   string
	Text   [2]string
	Value  [2]string
	Change string // second − first
	Better int    // which one is better, -1 if they are equal or it does not matter
	Head   bool   // a sum of rows above
}

func comparisonOf(kill, migrate *fleet.Run) comparison {
	a, b := kill.Ledger(), migrate.Ledger()
	c := comparison{Style: template.CSS(themeCSS + viewCSS)}
	dearer := max(a.Price.Total(), b.Price.Total(), 1)
	for i, r := range []*fleet.Run{kill, migrate} {
		l := [2]fleet.Ledger{a, b}[i]
		c.Sides[i] = side{decision(&r.Config, l), settingName(&r.Config), badgesOf(&r.Config, l), hours(l.Price.Total()), priceParts(l.Price, dearer)}
	}
	gpu := func(key, name string, f func(fleet.Ledger) fleet.GPUTime) {
		c.add(key, name, "GPU-h", [2]float64{f(a).Hours(), f(b).Hours()}, hoursText, -1)
	}
	c.add("bigwait", "Big job waits", "", [2]float64{a.BigWait.Seconds(), b.BigWait.Seconds()}, nil, -1)
	c.Rows[0].Text, c.Rows[0].Change = [2]string{bigWait(a), bigWait(b)}, ""
	c.add("evictions", "Jobs killed", "jobs", [2]float64{float64(a.Evictions), float64(b.Evictions)}, wholeText, 0)
	c.add("migrations", "Jobs moved", "jobs", [2]float64{float64(a.Migrations), float64(b.Migrations)}, wholeText, 0)
	gpu("lost", "Work lost since the last checkpoints", func(l fleet.Ledger) fleet.GPUTime { return l.Price.Lost })
	gpu("restarts", "Restarts of the killed jobs", func(l fleet.Ledger) fleet.GPUTime { return l.Price.Restarts })
	gpu("pause", "Jobs standing still in the migration", func(l fleet.Ledger) fleet.GPUTime { return l.Price.Pause })
	gpu("tax", "Performance tax of the moved jobs", func(l fleet.Ledger) fleet.GPUTime { return l.Price.Tax })
	gpu("price", "Price of the decision", func(l fleet.Ledger) fleet.GPUTime { return l.Price.Total() })
	c.Rows[len(c.Rows)-1].Head = true
	c.add("priceusd", "Price of the decision", "US dollars", [2]float64{a.Price.USD, b.Price.USD}, dollars, -1)
	c.Rows[len(c.Rows)-1].Head = true
	c.add("median", "Students wait, median", "", [2]float64{a.StudentMedian.Seconds(), b.StudentMedian.Seconds()}, nil, -1)
	c.last().Text, c.last().Change = [2]string{duration(a.StudentMedian), duration(b.StudentMedian)}, ""
	c.add("p95", "Students wait, 95th percentile", "", [2]float64{a.StudentP95.Seconds(), b.StudentP95.Seconds()}, nil, -1)
	c.last().Text, c.last().Change = [2]string{duration(a.StudentP95), duration(b.StudentP95)}, ""
	c.add("goodput", "Goodput", "of all GPU-time", [2]float64{a.Goodput, b.Goodput}, percent, 1)
	c.add("fragmentation", "Fragmentation", "of the idle GPUs", [2]float64{a.Fragmentation, b.Fragmentation}, percent, -1)
	c.add("waste", "Dollars that bought nothing useful", "US dollars", [2]float64{a.WasteUSD, b.WasteUSD}, dollars, -1)
	return c
}

func (c *comparison) last() *comparedRow { return &c.Rows[len(c.Rows)-1] }

// add appends a row. want is 1 if more is better, -1 if less is, 0 if neither.
func (c *comparison) add(key, name, unit string, v [2]float64, text func(float64) string, want int) {
	r := comparedRow{Key: key, Name: name, Unit: unit, Better: -1, Value: [2]string{exact(v[0]), exact(v[1])}}
	if text != nil {
		r.Text = [2]string{text(v[0]), text(v[1])}
		sign := "+"
		if v[1] < v[0] {
			sign = "−"
		}
		r.Change = sign + text(math.Abs(v[1]-v[0]))
		if r.Text[0] == r.Text[1] {
			r.Change = "same"
		}
	}
	if want != 0 && v[0] != v[1] {
		r.Better = bit((v[1] > v[0]) == (want > 0))
	}
	c.Rows = append(c.Rows, r)
}

func hoursText(h float64) string {
	if math.Abs(h) < 1000 {
		return strconv.FormatFloat(h, 'f', 1, 64)
	}
	return wholeText(h)
}

func wholeText(x float64) string { return count(int64(math.Round(x))) }

// decision names a side after what happened in it.
func decision(c *fleet.Config, l fleet.Ledger) string {
	switch {
	case l.Evictions > 0 && l.Migrations > 0:
		return "Kill and migrate"
	case l.Evictions > 0:
		return "Kill small jobs"
	case l.Migrations > 0:
		return "Migrate (stop the world)"
	case l.BigStart == fleet.Never && c.Big != 0:
		return "Wait"
	}
	return "Neither"
}

// settingName is the levers in a few words.
func settingName(c *fleet.Config) string {
	return fmt.Sprintf("%s, preempt %s, defrag %s, checkpoint every %s", fleet.PolicyName(c.Policy),
		onOff(bit(c.Preempt || fleet.Preempts(c.Policy))), onOff(bit(c.Defrag)), interval(c.Checkpoint))
}

func priceParts(p fleet.Price, whole fleet.GPUTime) []pricePart {
	all := []struct {
		name, class string
		time        fleet.GPUTime
	}{{"work lost", "preempted", p.Lost}, {"restarts", "restart", p.Restarts}, {"pause", "pause", p.Pause}, {"tax", "tax", p.Tax}}
	var out []pricePart
	for _, x := range all {
		if x.time > 0 {
			width := strconv.FormatFloat(100*float64(x.time)/float64(whole), 'f', 3, 64) + "%"
			out = append(out, pricePart{x.name, x.class, width, hours(x.time)})
		}
	}
	return out
}

func (c comparison) text() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\t%s\t%s\tdifference\n", c.Sides[0].Name, c.Sides[1].Name)
	for _, r := range c.Rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", strings.TrimSuffix(r.Name+", "+r.Unit, ", "), r.Text[0], r.Text[1], r.Change)
	}
	for i, x := range c.Sides[0].Badges {
		y := c.Sides[1].Badges[i]
		fmt.Fprintf(w, "%s\t%s %s %s\t%s %s %s\t\n", x.Rule, x.Sign, x.Figure, x.Word, y.Sign, y.Figure, y.Word)
	}
	fmt.Fprintf(w, "Setting\t%s\t%s\t\n", c.Sides[0].Setting, c.Sides[1].Setting)
	w.Flush()
	return strings.ReplaceAll(b.String(), nbsp, " ")
}
