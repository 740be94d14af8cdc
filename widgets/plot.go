package widgets

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// This file draws a chart as a picture, for places where no script runs.

// The size of the picture, in points of 1/72 inch; at 96 dpi a point is 4/3 pixels.
const (
	plotWide   = 540
	plotHigh   = 220
	secondHigh = 130 // the panel of the lines on the right axis
	keyHigh    = 15  // a line of the legend
	pixel      = 0.75
)

// picture is the chart as a PNG in a data URI. gonum draws no second axis, so the lines that belong to it have a panel of their own.
func (c *chart) picture() (string, error) {
	key, err := c.legends()
	if err != nil {
		return "", err
	}
	top, err := c.panel(&c.Y, false)
	if err != nil {
		return "", err
	}
	panels, high := [][]*plot.Plot{{top}}, vg.Length(plotHigh)
	if c.Right != nil {
		below, err := c.panel(c.Right, true)
		if err != nil {
			return "", err
		}
		top.X.Label.Text = ""
		panels, high = append(panels, []*plot.Plot{below}), high+secondHigh
	}
	keys := vg.Length((len(c.Lines)+1)/2*keyHigh + 6)
	canvas := vgimg.NewWith(vgimg.UseWH(plotWide, high+keys), vgimg.UseDPI(96))
	all := draw.New(canvas)
	for i := range key {
		key[i].Draw(draw.Crop(all, vg.Length(40+i*plotWide/2), 0, 0, -4))
	}
	areas := plot.Align(panels, draw.Tiles{Rows: len(panels), Cols: 1, PadY: 6}, draw.Crop(all, 0, -14, 2, -keys))
	for i, p := range panels {
		p[0].Draw(areas[i][0])
	}
	var b bytes.Buffer
	if _, err := (vgimg.PngCanvas{Canvas: canvas}).WriteTo(&b); err != nil {
		return "", fmt.Errorf("chart: %w", err)
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

// panel draws the lines of one vertical axis.
func (c *chart) panel(y *axis, right bool) (*plot.Plot, error) {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = c.X.Name, y.Name
	for i := range c.Lines {
		l := &c.Lines[i]
		if l.Right != right {
			continue
		}
		drawn, err := l.plotters()
		if err != nil {
			return nil, err
		}
		p.Add(drawn...)
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = c.X.Min, c.X.Max, y.Min, y.Max // adding lines has widened them
	if c.X.Log {
		p.X.Scale = plot.LogScale{}
	}
	for _, a := range []struct {
		from *axis
		to   *plot.Axis
	}{{&c.X, &p.X}, {y, &p.Y}} {
		if a.from.Ticks == nil {
			continue
		}
		var marks plot.ConstantTicks
		for _, t := range a.from.Ticks {
			marks = append(marks, plot.Tick{Value: t.At, Label: t.Text})
		}
		a.to.Tick.Marker = marks
	}
	return p, nil
}

// style is how the picture draws a line.
func (l *line) style() draw.LineStyle {
	s := draw.LineStyle{Color: l.Ink.Light, Width: vg.Length(l.Wide * pixel)}
	for _, d := range l.Dash {
		s.Dashes = append(s.Dashes, vg.Length(d*pixel))
	}
	return s
}

func (l *line) glyph() draw.GlyphStyle {
	shape := map[string]draw.GlyphDrawer{
		"circle": draw.CircleGlyph{}, "triangle": draw.PyramidGlyph{}, "rect": draw.BoxGlyph{}, "diamond": diamond{},
	}[l.Shape]
	return draw.GlyphStyle{Color: l.Ink.Light, Radius: vg.Length(float64(l.dotSize()) * pixel / 2), Shape: shape}
}

// diamond is a square on its corner.
type diamond struct{}

// DrawGlyph draws it.
func (diamond) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	c.SetColor(s.Color)
	var p vg.Path
	r := s.Radius * 1.3
	p.Move(vg.Point{X: at.X - r, Y: at.Y})
	p.Line(vg.Point{X: at.X, Y: at.Y + r})
	p.Line(vg.Point{X: at.X + r, Y: at.Y})
	p.Line(vg.Point{X: at.X, Y: at.Y - r})
	p.Close()
	c.Fill(p)
}

// plotters is the line in pieces, from one gap to the next, and its dots.
func (l *line) plotters() (list []plot.Plotter, err error) {
	var piece, dots plotter.XYs
	end := func() {
		if len(piece) > 1 && err == nil {
			var drawn *plotter.Line
			if drawn, err = plotter.NewLine(piece); err != nil {
				return
			}
			drawn.LineStyle = l.style()
			if l.Step {
				drawn.StepStyle = plotter.PostStep
			}
			list = append(list, drawn)
		}
		piece = nil
	}
	for _, p := range l.At {
		if math.IsNaN(p.Y) {
			end()
			continue
		}
		piece = append(piece, plotter.XY{X: p.X, Y: p.Y})
		if p.Dot {
			dots = append(dots, plotter.XY{X: p.X, Y: p.Y})
		}
	}
	end()
	if err == nil && l.Shape != "" && len(dots) > 0 {
		var drawn *plotter.Scatter
		if drawn, err = plotter.NewScatter(dots); err == nil {
			drawn.GlyphStyle = l.glyph()
			list = append(list, drawn)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	return list, nil
}

// legends is the legend in two columns.
func (c *chart) legends() (key [2]plot.Legend, err error) {
	half := (len(c.Lines) + 1) / 2
	for i := range key {
		key[i] = plot.NewLegend()
		key[i].Top, key[i].Left, key[i].ThumbnailWidth = true, true, vg.Points(30)
		key[i].TextStyle.Font.Size = 10
		key[i].Padding = 2
	}
	for i := range c.Lines {
		l := &c.Lines[i]
		key[i/half].Add(l.Name, thumbnail{l})
	}
	return key, nil
}

// thumbnail is a line in the legend.
type thumbnail struct{ *line }

// Thumbnail draws it.
func (t thumbnail) Thumbnail(c *draw.Canvas) {
	y := c.Center().Y
	c.StrokeLine2(t.style(), c.Min.X, y, c.Max.X, y)
	if t.Shape != "" {
		c.DrawGlyph(t.glyph(), c.Center())
	}
}
