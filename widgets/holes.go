package widgets

import (
	"fmt"
	"slices"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
)

// Holes draws the run over time: how many GPUs are idle, and how many of them stand next to each other in the largest hole, against
// what the big job needs.
func Holes(run *fleet.Run) View {
	return view(func() (Output, error) {
		if err := checkRun("the run of the chart", run); err != nil {
			return Output{}, err
		}
		return holesOf(run).render()
	})
}

const (
	chartPoints = 480                     // how finely a chart follows the run
	arrives     = "the big job arrives"   // names the upright line in a chart
	hoursName   = "hours since the start" // of an axis
)

func holesOf(run *fleet.Run) *chart {
	c := &run.Config
	node, top := c.Topology.GPUsPerNode, float64(c.Topology.GPUs())
	h := &chart{
		View: "holes", Title: "Idle GPUs against the largest hole", Note: "idle is not the same as usable",
		X: axis{Name: hoursName, Unit: "hours", Max: c.Horizon.Hours()}, Y: axis{Name: "GPUs", Max: top},
		Lines: []line{
			{Name: "idle GPUs", Ink: inkLine, Wide: 2, Fill: 0.25, Step: true, At: follow(run, func(s fleet.Sample) int { return s.Idle })},
			{Name: "GPUs in the largest hole", Ink: inkOfHole, Wide: 2, Step: true, At: follow(run, func(s fleet.Sample) int { return s.LargestHole * node })},
		},
	}
	h.Alt = fmt.Sprintf("Line chart over %s: idle GPUs, up to %s after the first quarter, and GPUs in the largest hole", duration(c.Horizon), count(int64(mostIdle(run))))
	if j := bigJob(c); j != nil {
		need := c.Topology.NodesFor(j.GPUs) * node
		h.Note += ": the big job needs " + count(int64(need)) + " next to each other"
		h.Alt += ", against the " + count(int64(need)) + " that the big job needs"
		h.Words = "The big job needs " + count(int64(need)) + " GPUs next to each other.\n"
		h.Lines = append(h.Lines,
			line{Name: "the big job's need", Ink: inkOfBig, Dash: dashed, Wide: 2, At: follow(run, func(fleet.Sample) int { return need })},
			arrival(j, top))
	}
	h.Tables = []table{{
		Head: []string{"Time", "Idle GPUs", "Largest hole, nodes", "Largest hole, GPUs", "Jobs in the queue"},
		Rows: everyTwelfth(run, func(s fleet.Sample) []int { return []int{s.Idle, s.LargestHole, s.LargestHole * node, s.Queued} }),
	}}
	return h
}

// follow is a count of the run at even distances.
func follow(run *fleet.Run, y func(fleet.Sample) int) []point {
	list := make([]point, chartPoints+1)
	for i := range list {
		s := run.SampleAt(run.Config.Horizon * time.Duration(i) / chartPoints)
		list[i] = point{X: (run.Config.Horizon * time.Duration(i) / chartPoints).Hours(), Y: float64(y(s))}
	}
	return list
}

// arrival is the upright line at the big job's arrival.
func arrival(j *fleet.Job, top float64) line {
	at := j.Arrival.Hours()
	return line{Name: arrives, Ink: inkOfBig, Dash: dotted, Wide: 1.5, Upright: true, At: []point{{X: at}, {X: at, Y: top}}}
}

// mostIdle is the largest number of idle GPUs once the fleet has filled up.
func mostIdle(run *fleet.Run) int {
	most := slices.MaxFunc(follow(run, func(s fleet.Sample) int { return s.Idle })[chartPoints/4:], func(a, b point) int { return int(a.Y - b.Y) })
	return int(most.Y)
}

// everyTwelfth is the rows of a table: counts from the start of the run to its end.
func everyTwelfth(run *fleet.Run, of func(fleet.Sample) []int) (rows [][]cell) {
	for i := range 13 {
		t := run.Config.Horizon * time.Duration(i) / 12
		row := cells(clock(t))
		for _, n := range of(run.SampleAt(t)) {
			row = append(row, cell{Text: count(int64(n))})
		}
		rows = append(rows, row)
	}
	return rows
}
