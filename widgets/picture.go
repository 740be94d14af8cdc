package widgets

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"

	"github.com/fleetlab/fleetlab/fleet"
)

// The palette of the static heatmap. It stands on its own light ground, whatever the theme. Luminances are a factor of 3 apart: white,
// green, red.
var mapPalette = color.Palette{
	color.RGBA{0xee, 0xf1, 0xf5, 0xff}, color.RGBA{0x1f, 0x9d, 0x63, 0xff}, color.RGBA{0xff, 0xff, 0xff, 0xff},
	color.RGBA{0x8a, 0x94, 0xa0, 0xff}, color.RGBA{0x7d, 0x0c, 0x1b, 0xff}, color.RGBA{0x1d, 0x3f, 0xd0, 0xff},
	color.RGBA{0x11, 0x16, 0x1d, 0xff}, color.RGBA{0xb9, 0xc2, 0xcc, 0xff}, color.RGBA{0x55, 0x60, 0x6c, 0xff},
}

const (
	inkGround uint8 = iota
	inkWorking
	inkIdle
	inkOutline
	inkFailed
	inkBig
	inkHole
	inkStranded
	inkStripe
)

// The size of the static picture, in pixels. A cell is a GPU, a column of cells a node.
const (
	cellWide, cellHigh = 6, 5 // with the gap of one pixel
	rackGap, podGap    = 2, 8
	margin             = 4
	lineNodes          = 125 // nodes on one line
)

// spot is where a node stands in the picture: the left upper corner of its column.
type spot struct{ x, y int }

// layout puts pods in lines of racks of nodes; a pod that is longer than a line goes on in the next.
func layout(t fleet.Topology) (at []spot, wide, high int) {
	pod := t.RacksPerPod * t.NodesPerRack
	line := t.GPUsPerNode*cellHigh + podGap
	x, y, inLine := margin, margin, 0
	feed := func() { x, y, inLine = margin, y+line, 0 }
	for n := range t.Nodes() {
		switch {
		case n == 0:
		case n%pod == 0:
			if x += podGap; inLine+pod > lineNodes {
				feed()
			}
		case inLine == lineNodes:
			feed()
		case n%t.NodesPerRack == 0:
			if x += rackGap; inLine+t.NodesPerRack > lineNodes && t.NodesPerRack <= lineNodes {
				feed()
			}
		}
		at = append(at, spot{x, y})
		x += cellWide
		inLine++
		wide = max(wide, x)
	}
	return at, wide + margin - 1, y + line - podGap + margin - 1
}

// mapPicture draws a snapshot as a PNG in a data URI.
func mapPicture(run *fleet.Run, s fleet.Snapshot) (uri string, w, h int, err error) {
	t := run.Config.Topology
	at, w, h := layout(t)
	img := image.NewPaletted(image.Rect(0, 0, w, h), mapPalette)
	for gpu, state := range s.State {
		p := at[gpu/t.GPUsPerNode]
		drawCell(img, p.x, p.y+gpu%t.GPUsPerNode*cellHigh, state)
	}
	for n := range at {
		if !alone(&run.Config) && s.Job[n*t.GPUsPerNode] == int32(run.Config.Big) {
			frame(img, t, at, n, n > 0 && s.Job[(n-1)*t.GPUsPerNode] == s.Job[n*t.GPUsPerNode],
				n+1 < len(at) && s.Job[(n+1)*t.GPUsPerNode] == s.Job[n*t.GPUsPerNode], inkBig, false)
		}
		if s.Hole >= 0 && n >= s.Hole && n < s.Hole+s.LargestHole {
			frame(img, t, at, n, n > s.Hole, n+1 < s.Hole+s.LargestHole, inkHole, true)
		}
	}
	var b bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.BestCompression}
	if err := enc.Encode(&b, img); err != nil {
		return "", 0, 0, fmt.Errorf("heatmap: %w", err)
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes()), w, h, nil
}

// drawCell draws a GPU: solid for working, hollow for idle, crossed out for failed, striped for stranded.
func drawCell(img *image.Paletted, x, y int, s fleet.State) {
	fill, edge := inkWorking, inkWorking
	switch s {
	case fleet.GPUIdle:
		fill, edge = inkIdle, inkOutline
	case fleet.GPUFailed:
		fill, edge = inkFailed, inkFailed
	case fleet.GPUStranded:
		fill, edge = inkStranded, inkStripe
	}
	const w, h = cellWide - 1, cellHigh - 1
	for dy := range h {
		for dx := range w {
			ink := fill
			if dx == 0 || dy == 0 || dx == w-1 || dy == h-1 {
				ink = edge
			}
			if s == fleet.GPUFailed && (dx == dy+1 || dx+dy == w-2) {
				ink = inkIdle
			}
			if s == fleet.GPUStranded && dx+dy == w-1 {
				ink = inkStripe
			}
			img.SetColorIndex(x+dx, y+dy, ink)
		}
	}
}

// frame draws a node's part of the line around a run of nodes. left and right tell whether the run goes on there.
func frame(img *image.Paletted, t fleet.Topology, at []spot, n int, left, right bool, ink uint8, dashed bool) {
	p, high := at[n], t.GPUsPerNode*cellHigh-1
	x0, x1 := p.x-2, p.x+cellWide
	if left && at[n-1].y == p.y {
		x0 = at[n-1].x + cellWide
	}
	for x := x0; x <= x1; x++ {
		for y := p.y - 2; y <= p.y+high+1; y++ {
			edge := y < p.y || y >= p.y+high
			side := x < p.x && !left || x >= p.x+cellWide-1 && !right
			if (edge || side) && (!dashed || (x+y)%5 < 3) {
				img.SetColorIndex(x, y, ink)
			}
		}
	}
}
