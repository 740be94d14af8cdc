package widgets

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
)

// Compare sets two runs side by side, such as one in which small jobs are killed for the big one and one in which they migrate: with
// what the decision cost in GPU-hours and dollars, the waits, and the badges. Where both came to the same decision, the policies name
// the sides.
func Compare(first, second *fleet.Run) View {
	return view(func() (Output, error) {
		if err := checkRun("the first run of the comparison", first); err != nil {
			return Output{}, err
		}
		if err := checkRun("the second run of the comparison", second); err != nil {
			return Output{}, err
		}
		c := comparisonOf(first, second)
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

func comparisonOf(first, second *fleet.Run) comparison {
	a, b := first.Ledger(), second.Ledger()
	c := comparison{Style: template.CSS(themeCSS + viewCSS)}
	dearer := max(a.Price.Total(), b.Price.Total(), 1)
	names := [2]string{decision(&first.Config, a), decision(&second.Config, b)}
	if names[0] == names[1] {
		names = [2]string{fleet.PolicyName(first.Config.Policy), fleet.PolicyName(second.Config.Policy)}
	}
	for i, r := range []*fleet.Run{first, second} {
		l := [2]fleet.Ledger{a, b}[i]
		c.Sides[i] = side{names[i], settingName(&r.Config), badgesOf(&r.Config, l), hours(l.Price.Total()), priceParts(l.Price, dearer)}
	}
	c.addWaits("bigwait", "Big job waits", a.BigWait, b.BigWait)
	c.last().Text = [2]string{bigWait(a), bigWait(b)}
	if a.Price.Total()+b.Price.Total() > 0 {
		c.addPrices(a, b)
	}
	c.addWaits("median", "Students wait, median", a.StudentMedian, b.StudentMedian)
	c.addWaits("p95", "Students wait, 95th percentile", a.StudentP95, b.StudentP95)
	c.add("goodput", "Goodput", "of all GPU-time", [2]float64{a.Goodput, b.Goodput}, inPercent, 1)
	c.add("fragmentation", "Fragmentation", "of the idle GPUs", [2]float64{a.Fragmentation, b.Fragmentation}, inPercent, -1)
	c.add("waste", "Dollars that bought nothing useful", "US dollars", [2]float64{a.WasteUSD, b.WasteUSD}, inDollars, -1)
	return c
}

// addPrices appends what starting the big job cost.
func (c *comparison) addPrices(a, b fleet.Ledger) {
	gpu := func(key, name string, f func(fleet.Ledger) fleet.GPUTime) {
		c.add(key, name, "GPU-h", [2]float64{f(a).Hours(), f(b).Hours()}, inHours, -1)
	}
	c.add("evictions", "Jobs killed", "", [2]float64{float64(a.Evictions), float64(b.Evictions)}, inWhole, 0)
	c.add("migrations", "Jobs moved", "", [2]float64{float64(a.Migrations), float64(b.Migrations)}, inWhole, 0)
	gpu("lost", "Work lost since the last checkpoints", func(l fleet.Ledger) fleet.GPUTime { return l.Price.Lost })
	gpu("restarts", "Restarts of the killed jobs", func(l fleet.Ledger) fleet.GPUTime { return l.Price.Restarts })
	gpu("pause", "Jobs standing still in the migration", func(l fleet.Ledger) fleet.GPUTime { return l.Price.Pause })
	gpu("tax", "Performance tax of the moved jobs", func(l fleet.Ledger) fleet.GPUTime { return l.Price.Tax })
	gpu("price", "Price of the decision", func(l fleet.Ledger) fleet.GPUTime { return l.Price.Total() })
	c.last().Head = true
	c.add("priceusd", "Price of the decision", "US dollars", [2]float64{a.Price.USD, b.Price.USD}, inDollars, -1)
	c.last().Head = true
}

// addWaits appends a row of times.
func (c *comparison) addWaits(key, name string, a, b time.Duration) {
	c.add(key, name, "", [2]float64{a.Seconds(), b.Seconds()}, inTime, -1)
}

func (c *comparison) last() *comparedRow { return &c.Rows[len(c.Rows)-1] }

// format is how a quantity is written. A difference is taken between the figures as they are shown, so that whoever reckons it from
// them gets the same.
type format struct {
	text   func(float64) string
	shown  func(float64) float64 // the value of the text
	change func(float64) string  // a difference; text if nil
}

var (
	inWhole   = format{text: wholeText, shown: math.Round}
	inHours   = format{text: hoursText, shown: func(h float64) float64 { return roundBelow(h, 1000, 10) }}
	inDollars = format{text: dollars, shown: func(usd float64) float64 { return roundBelow(usd, 100, 100) }}
	inPercent = format{
		text: percent, shown: func(x float64) float64 { return math.Round(x*1000) / 1000 },
		change: func(x float64) string { return strconv.FormatFloat(100*x, 'f', 1, 64) + nbsp + "points" },
	}
	inTime = format{text: secondsText, shown: math.Round}
)

// roundBelow rounds to 1/parts below a limit, and to whole numbers from there on.
func roundBelow(x, limit, parts float64) float64 {
	if math.Abs(x) < limit {
		return math.Round(x*parts) / parts
	}
	return math.Round(x)
}

// add appends a row. want is 1 if more is better, -1 if less is, 0 if neither.
func (c *comparison) add(key, name, unit string, v [2]float64, f format, want int) {
	r := comparedRow{Key: key, Name: name, Unit: unit, Better: -1, Value: [2]string{exact(v[0]), exact(v[1])}}
	r.Text = [2]string{f.text(v[0]), f.text(v[1])}
	d := f.shown(v[1]) - f.shown(v[0])
	if f.change == nil {
		f.change = f.text
	}
	switch {
	case d == 0:
		r.Change = "same"
	case d < 0:
		r.Change = "−" + f.change(-d)
	default:
		r.Change = "+" + f.change(d)
	}
	if want != 0 && d != 0 {
		r.Better = bit((d > 0) == (want > 0))
	}
	c.Rows = append(c.Rows, r)
}

func secondsText(s float64) string { return duration(time.Duration(math.Round(s)) * time.Second) }

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
		fmt.Fprintf(w, "%s\t%s %s\t%s %s\t\n", x.Rule, x.Sign, x.verdict(), y.Sign, y.verdict())
	}
	fmt.Fprintf(w, "Setting\t%s\t%s\t\n", c.Sides[0].Setting, c.Sides[1].Setting)
	w.Flush()
	return strings.ReplaceAll(b.String(), nbsp, " ")
}
