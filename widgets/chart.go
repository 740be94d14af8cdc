package widgets

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"html/template"
	"image/color"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
)

// chart is what a view draws over an axis. It is shown four times, from the same lines and figures: by ECharts where that is, as a
// picture where it is not, as tables, and in plain text.
type chart struct {
	View   string // its name, for programs and as the chart's id: one that is left to go-echarts is random
	Title  string
	Note   string // small print after the title
	Alt    string // the picture in words
	X, Y   axis
	Right  *axis // of the lines that are Right
	Lines  []line
	Tables []table
	Words  string // the last lines of the plain text
}

// axis is one axis. Max > Min.
type axis struct {
	Name     string
	Unit     string // "hours" or "minutes" of time, "%" or ""
	Min, Max float64
	Log      bool       // Min is then above 0
	Ticks    []axisTick // nil: at round numbers
}

type axisTick struct {
	At   float64
	Text string
}

// line is one line. Lines differ in dash, width or dots as well as in colour.
type line struct {
	Name    string
	Ink     ink
	Dash    []float64 // on, off, on … in pixels; nil is solid
	Wide    float64   // pixels
	Step    bool      // a value holds until the next
	Fill    float64   // how opaque the area below is
	Right   bool      // by the axis on the right
	Shape   string    // of its dots: "circle", "triangle", "rect", "diamond", or none
	Small   bool      // dots that leave bars in sight
	Upright bool      // marks a place on the X axis: its heights mean nothing
	At      []point
}

// point is a place on a line; a Y that is NaN breaks it.
type point struct {
	X, Y float64
	Dot  bool
}

// ink is a colour: the variable of theme.css, and its light value for the picture, which has a white ground whatever the theme.
type ink struct {
	Var   string
	Light color.Color
}

var (
	inkLine    = ink{"edge", color.RGBA{0x76, 0x82, 0x8f, 0xff}}
	inkText    = ink{"text", color.RGBA{0x14, 0x20, 0x2c, 0xff}}
	inkOfBig   = ink{"big", color.RGBA{0x1c, 0x4e, 0xd8, 0xff}}
	inkOfHole  = ink{"hole", color.RGBA{0x10, 0x15, 0x1c, 0xff}}
	inkGood    = ink{"good", color.RGBA{0x0c, 0x74, 0x40, 0xff}}
	inkBad     = ink{"bad", color.RGBA{0xb0, 0x16, 0x2a, 0xff}}
	inkOrange  = ink{"part-rework", color.RGBA{0xb4, 0x53, 0x09, 0xff}}
	inkPink    = ink{"part-preempted", color.RGBA{0xbe, 0x18, 0x5d, 0xff}}
	inkViolet  = ink{"part-checkpoint", color.RGBA{0x6d, 0x4b, 0xd8, 0xff}}
	dashed     = []float64{7, 4}
	dotted     = []float64{1.5, 4}
	dashDotted = []float64{9, 3, 2, 3}
)

// table is figures in words. The first column names the row.
type table struct {
	Caption string
	Open    bool // stays in sight where the chart is drawn; the others are below it, with the picture
	Named   bool // the first column is words, not numbers
	Head    []string
	Rows    [][]cell
}

// cell is a figure as it is shown, and in full for programs where that is more.
type cell struct{ Text, Value string }

// percentTicks is the ticks of a scale that has room above 100 %.
func percentTicks() (list []axisTick) {
	for v := 0; v <= 100; v += 20 {
		list = append(list, axisTick{float64(v), strconv.Itoa(v)})
	}
	return list
}

func cells(texts ...string) []cell {
	row := make([]cell, len(texts))
	for i, t := range texts {
		row[i].Text = t
	}
	return row
}

// render makes the output.
func (c *chart) render() (Output, error) {
	option, err := c.option()
	if err != nil {
		return Output{}, err
	}
	picture, err := c.picture()
	if err != nil {
		return Output{}, err
	}
	units, err := json.Marshal(map[string]any{"x": c.X.Unit, "y": c.Y.Unit, "xTicks": c.X.tickPairs(), "yTicks": c.Y.tickPairs(), "upright": c.uprights()})
	if err != nil {
		return Output{}, fmt.Errorf("chart: %w", err)
	}
	key := fnv.New64a()
	key.Write([]byte(option))
	html, err := expand("chart", struct {
		*chart
		Key     string
		Colours string
		Units   string
		Style   template.CSS
		Option  template.JS
		Picture template.URL
		Script  template.JS
	}{
		c, fmt.Sprintf("%016x", key.Sum64()), c.colours(), string(units), template.CSS(themeCSS + viewCSS), template.JS(option),
		template.URL(picture), script(chartJS),
	})
	return Output{HTML: html, Text: c.text()}, err
}

// colours names the colours of the lines for the script.
func (c *chart) colours() string {
	var names []string
	for _, l := range c.Lines {
		names = append(names, l.Ink.Var)
	}
	return strings.Join(names, " ")
}

// uprights are the indices of the lines whose heights a tooltip must not tell.
func (c *chart) uprights() []int {
	list := []int{}
	for i := range c.Lines {
		if c.Lines[i].Upright {
			list = append(list, i)
		}
	}
	return list
}

func (a *axis) tickPairs() [][2]any {
	var pairs [][2]any
	for _, t := range a.Ticks {
		pairs = append(pairs, [2]any{t.At, t.Text})
	}
	return pairs
}

// option is the chart for ECharts, in JSON. The legend is ours (it wraps on a phone, and a keyboard reaches it); theirs is only there so
// that lines can be switched off.
func (c *chart) option() (string, error) {
	e := charts.NewLine()
	right := "24"
	if c.Right != nil {
		right = "56"
	}
	e.SetGlobalOptions(
		charts.WithInitializationOpts(opts.Initialization{ChartID: c.View}),
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(false)}),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "axis"}),
		charts.WithGridOpts(opts.Grid{Left: "56", Right: right, Top: "34", Bottom: "44"}),
		charts.WithXAxisOpts(opts.XAxis{Type: c.X.scale(), Name: c.X.Name, NameLocation: "middle", NameGap: 26, Min: c.X.Min, Max: c.X.Max}),
		charts.WithYAxisOpts(opts.YAxis{Type: c.Y.scale(), Name: c.Y.Name, Min: c.Y.Min, Max: c.Y.Max}),
	)
	if c.Right != nil {
		e.ExtendYAxis(opts.YAxis{Type: c.Right.scale(), Name: c.Right.Name, Min: c.Right.Min, Max: c.Right.Max, SplitLine: &opts.SplitLine{Show: opts.Bool(false)}})
	}
	e.Animation = opts.Bool(false)
	for i := range c.Lines {
		l := &c.Lines[i]
		look := opts.LineChart{ShowSymbol: opts.Bool(l.Shape != ""), Symbol: l.Shape, SymbolSize: l.dotSize(), YAxisIndex: bit(l.Right)}
		if l.Step {
			look.Step = "end"
		}
		e.AddSeries(l.Name, nil, charts.WithLineChartOpts(look), charts.WithLineStyleOpts(opts.LineStyle{Width: float32(l.Wide)}),
			charts.WithAreaStyleOpts(opts.AreaStyle{Opacity: opts.Float(float32(l.Fill))}))
		e.MultiSeries[i].Data = l.data()
	}
	e.Validate()
	text, err := json.Marshal(e.JSON())
	if err != nil {
		return "", fmt.Errorf("chart: %w", err)
	}
	return c.dash(text)
}

// dash gives the lines of an option their dashes: go-echarts knows three of them by name, and eight lines need more.
func (c *chart) dash(option []byte) (string, error) {
	var all map[string]any
	if err := json.Unmarshal(option, &all); err != nil {
		return "", fmt.Errorf("chart: %w", err)
	}
	series, _ := all["series"].([]any)
	for i, s := range series {
		s, _ := s.(map[string]any)
		if style, ok := s["lineStyle"].(map[string]any); ok && c.Lines[i].Dash != nil {
			style["type"] = c.Lines[i].Dash
		}
	}
	text, err := json.Marshal(all)
	if err != nil {
		return "", fmt.Errorf("chart: %w", err)
	}
	return string(text), nil
}

func (a *axis) scale() string {
	if a.Log {
		return "log"
	}
	return "value"
}

// data is the points of a line as ECharts takes them.
func (l *line) data() []any {
	list := make([]any, len(l.At))
	for i, p := range l.At {
		at := [2]any{short(p.X), short(p.Y)}
		if math.IsNaN(p.Y) {
			at[1] = nil
		}
		list[i] = at
		if l.Shape != "" && !p.Dot {
			list[i] = map[string]any{"value": at, "symbol": "none"}
		}
	}
	return list
}

// chartPrecision is the digits of a coordinate.
const chartPrecision = 7

// dotSize is the width of a dot in pixels.
func (l *line) dotSize() int {
	if l.Small {
		return 5
	}
	return 9
}

// short is a coordinate to as many digits as a screen can show: all of them would double the size of an output.
func short(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', chartPrecision, 64), 64)
	if err != nil {
		return x
	}
	return y
}

// Dashes is the line's dash for an SVG.
func (l line) Dashes() string {
	var parts []string
	for _, d := range l.Dash {
		parts = append(parts, strconv.FormatFloat(d, 'g', -1, 64))
	}
	return strings.Join(parts, " ")
}

// text is the tables in plain text.
func (c *chart) text() string {
	var b strings.Builder
	for i, t := range c.Tables {
		if i > 0 {
			b.WriteByte('\n')
		}
		if t.Caption != "" {
			fmt.Fprintln(&b, t.Caption)
		}
		t.write(&b)
	}
	b.WriteString(c.Words)
	return strings.ReplaceAll(b.String(), nbsp, " ")
}

// write sets the table in columns of even width.
func (t *table) write(b *strings.Builder) {
	rows := append([][]cell{cells(t.Head...)}, t.Rows...)
	wide := make([]int, len(t.Head))
	for _, row := range rows {
		for i, x := range row {
			wide[i] = max(wide[i], utf8.RuneCountInString(x.Text)+2)
		}
	}
	for _, row := range rows {
		for i, x := range row {
			pad := strings.Repeat(" ", wide[i]-utf8.RuneCountInString(x.Text))
			if i == 0 && t.Named {
				b.WriteString(x.Text + pad)
			} else {
				b.WriteString(pad + x.Text)
			}
		}
		b.WriteByte('\n')
	}
}

// label is a name that somebody else has given, fit for a legend: on one line, and not longer than that.
func label(name string) string {
	const most = 40
	runes := []rune(strings.Join(strings.FieldsFunc(strings.ToValidUTF8(name, "?"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " "))
	if len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return string(runes)
}
