package widgets

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"html/template"
	"image/color"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/fleetlab/fleetlab/fleet"
)

// Holes draws the run over time: how many GPUs are idle, and how many of them stand next to each other in the largest hole, against
// what the big job needs.
func Holes(run *fleet.Run) View {
	return view(func() (Output, error) {
		if err := checkRun("the run of the chart", run); err != nil {
			return Output{}, err
		}
		p := holesOf(run)
		option, err := p.option()
		if err != nil {
			return Output{}, err
		}
		picture, err := p.picture()
		if err != nil {
			return Output{}, err
		}
		html, err := expand("holes", struct {
			holes
			Key     string
			Style   template.CSS
			Option  template.JS
			Picture template.URL
			Script  template.JS
			Need    string
		}{
			p, p.key(option), template.CSS(themeCSS + viewCSS), template.JS(option), template.URL(picture),
			script(chartJS), count(int64(p.need)),
		})
		return Output{HTML: html, Text: p.text()}, err
	})
}

// chartPoints is how finely a chart follows the run.
const chartPoints = 480

// arrives names the upright line in the chart.
const arrives = "the big job arrives"

// holes is the data of the chart.
type holes struct {
	at     []fleet.Sample // at even distances
	Rows   []holeRow      // every hour or so
	Alt    string
	need   int           // GPUs
	top    int           // of the scale: all GPUs
	start  time.Duration // when the big job arrives, 0 if there is none
	node   int           // GPUs of a node
	length time.Duration
}

type holeRow struct{ Time, Idle, Hole, GPUs, Queued string }

func holesOf(run *fleet.Run) holes {
	c := &run.Config
	h := holes{node: c.Topology.GPUsPerNode, length: c.Horizon}
	if j := bigJob(c); j != nil {
		h.need, h.start = c.Topology.NodesFor(j.GPUs)*h.node, j.Arrival
	}
	for i := range chartPoints + 1 {
		h.at = append(h.at, run.SampleAt(c.Horizon*time.Duration(i)/chartPoints))
	}
	for i := range 13 {
		t := c.Horizon * time.Duration(i) / 12
		s := run.SampleAt(t)
		h.Rows = append(h.Rows, holeRow{
			clock(t), count(int64(s.Idle)), count(int64(s.LargestHole)), count(int64(s.LargestHole * h.node)), count(int64(s.Queued)),
		})
	}
	most := slices.MaxFunc(h.at[len(h.at)/4:], func(a, b fleet.Sample) int { return a.Idle - b.Idle })
	h.top = c.Topology.GPUs()
	h.Alt = fmt.Sprintf("Line chart over %s: idle GPUs, up to %s after the first quarter, and GPUs in the largest hole", duration(c.Horizon), count(int64(most.Idle)))
	if h.need > 0 {
		h.Alt += fmt.Sprintf(", against the %s that the big job needs", count(int64(h.need)))
	}
	return h
}

func (h holes) key(option string) string {
	k := fnv.New64a()
	k.Write([]byte(option))
	return fmt.Sprintf("%016x", k.Sum64())
}

// option is the chart for ECharts.
func (h holes) option() (string, error) {
	line := charts.NewLine()
	line.SetGlobalOptions(
		charts.WithInitializationOpts(opts.Initialization{ChartID: "holes"}),
		charts.WithLegendOpts(opts.Legend{Top: "0", Type: "scroll"}),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "axis"}),
		charts.WithGridOpts(opts.Grid{Left: "56", Right: "24", Top: "56", Bottom: "44"}),
		charts.WithXAxisOpts(opts.XAxis{Type: "value", Name: "hours since the start", NameLocation: "middle", NameGap: 26, Max: h.length.Hours()}),
		charts.WithYAxisOpts(opts.YAxis{Type: "value", Name: "GPUs", Max: h.top}),
	)
	add := func(name, dash string, fill float32, y func(fleet.Sample) int) {
		if name == arrives {
			line.AddSeries(name, []opts.LineData{{Value: [2]float64{h.start.Hours(), 0}}, {Value: [2]float64{h.start.Hours(), float64(h.top)}}},
				charts.WithLineChartOpts(opts.LineChart{ShowSymbol: opts.Bool(false)}), charts.WithLineStyleOpts(opts.LineStyle{Type: dash, Width: 1.5}))
			return
		}
		data := make([]opts.LineData, len(h.at))
		for i, s := range h.at {
			data[i].Value = [2]float64{s.At.Round(time.Second).Hours(), float64(y(s))}
		}
		line.AddSeries(name, data, charts.WithLineChartOpts(opts.LineChart{ShowSymbol: opts.Bool(false), Step: "end"}),
			charts.WithLineStyleOpts(opts.LineStyle{Type: dash, Width: 2}), charts.WithAreaStyleOpts(opts.AreaStyle{Opacity: opts.Float(fill)}))
	}
	add("idle GPUs", "solid", 0.25, func(s fleet.Sample) int { return s.Idle })
	add("GPUs in the largest hole", "solid", 0, func(s fleet.Sample) int { return s.LargestHole * h.node })
	if h.need > 0 {
		add("the big job's need", "dashed", 0, func(fleet.Sample) int { return h.need })
		add(arrives, "dotted", 0, nil)
	}
	line.Validate()
	text, err := json.Marshal(line.JSON())
	if err != nil {
		return "", fmt.Errorf("chart: %w", err)
	}
	return string(text), nil
}

// picture is the same as a PNG in a data URI.
func (h holes) picture() (string, error) {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = "hours since the start", "GPUs"
	p.Legend.Top = true
	add := func(name string, c color.Color, dashed bool, y func(fleet.Sample) int) error {
		xy := make(plotter.XYs, len(h.at))
		for i, s := range h.at {
			xy[i].X, xy[i].Y = s.At.Hours(), float64(min(y(s), h.top))
		}
		l, err := plotter.NewLine(xy)
		if err != nil {
			return fmt.Errorf("chart: %w", err)
		}
		l.Color, l.Width, l.StepStyle = c, vg.Points(1.6), plotter.PostStep
		if dashed {
			l.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
		}
		p.Add(l)
		p.Legend.Add(name, l)
		return nil
	}
	grey, black, blue := mapPalette[inkOutline], mapPalette[inkHole], mapPalette[inkBig]
	if err := add("idle GPUs", grey, false, func(s fleet.Sample) int { return s.Idle }); err != nil {
		return "", err
	}
	if err := add("GPUs in the largest hole", black, false, func(s fleet.Sample) int { return s.LargestHole * h.node }); err != nil {
		return "", err
	}
	if h.need > 0 {
		if err := add("the big job's need", blue, true, func(fleet.Sample) int { return h.need }); err != nil {
			return "", err
		}
	}
	if h.need > 0 {
		l, err := plotter.NewLine(plotter.XYs{{X: h.start.Hours(), Y: 0}, {X: h.start.Hours(), Y: float64(h.top)}})
		if err != nil {
			return "", fmt.Errorf("chart: %w", err)
		}
		l.Color, l.Width, l.Dashes = blue, vg.Points(1.2), []vg.Length{vg.Points(1.5), vg.Points(3)}
		p.Add(l)
		p.Legend.Add(arrives, l)
	}
	p.Y.Min, p.Y.Max = 0, float64(h.top) // adding lines has widened it
	canvas := vgimg.NewWith(vgimg.UseWH(vg.Points(540), vg.Points(220)), vgimg.UseDPI(96))
	p.Draw(draw.New(canvas))
	var b bytes.Buffer
	if _, err := (vgimg.PngCanvas{Canvas: canvas}).WriteTo(&b); err != nil {
		return "", fmt.Errorf("chart: %w", err)
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

func (h holes) text() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "time\tidle GPUs\tlargest hole, nodes\tlargest hole, GPUs\tjobs in the queue\t\n")
	for _, r := range h.Rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t\n", r.Time, r.Idle, r.Hole, r.GPUs, r.Queued)
	}
	w.Flush()
	if h.need > 0 {
		fmt.Fprintf(&b, "The big job needs %s GPUs next to each other.\n", count(int64(h.need)))
	}
	return b.String()
}
