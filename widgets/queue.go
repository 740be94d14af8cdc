package widgets

import (
	"fmt"

	"github.com/fleetlab/fleetlab/fleet"
)

// Queue draws the run over time: how many jobs wait, by the axis on the right, while so many GPUs are free. Where both are high at
// once, the free GPUs are of no use to those who wait.
func Queue(run *fleet.Run) View {
	return view(func() (Output, error) {
		if err := checkRun("the run of the queue", run); err != nil {
			return Output{}, err
		}
		return queueOf(run).render()
	})
}

func queueOf(run *fleet.Run) *chart {
	c := &run.Config
	longest := mostQueued(run)
	q := &chart{
		View: "queue", Title: "Who waits while GPUs are free",
		Note:  fmt.Sprintf("at most %s in the queue at once", counted(longest, "job")),
		X:     axis{Name: hoursName, Unit: "hours", Max: c.Horizon.Hours()},
		Y:     axis{Name: "free GPUs", Max: float64(c.Topology.GPUs())},
		Right: &axis{Name: "jobs waiting", Max: float64(max(1, longest))},
		Lines: []line{
			{Name: "free GPUs", Ink: inkLine, Wide: 2, Fill: 0.25, Step: true, At: follow(run, func(s fleet.Sample) int { return s.Idle })},
			{Name: "jobs waiting", Ink: inkOrange, Dash: dashed, Wide: 2, Step: true, Right: true, At: follow(run, func(s fleet.Sample) int { return s.Queued })},
		},
		Tables: []table{{
			Head: []string{"Time", "Jobs in the queue", "Free GPUs", "Working GPUs", "Failed GPUs"},
			Rows: everyTwelfth(run, func(s fleet.Sample) []int { return []int{s.Queued, s.Idle, s.Working, s.Failed} }),
		}},
	}
	q.Alt = fmt.Sprintf("Line chart over %s: free GPUs, up to %s after the first quarter, and jobs in the queue, up to %s at once",
		duration(c.Horizon), count(int64(mostIdle(run))), count(int64(longest)))
	if j := bigJob(c); j != nil {
		q.Lines = append(q.Lines, arrival(j, q.Y.Max))
	}
	return q
}

// mostQueued is the length of the queue when it was longest.
func mostQueued(run *fleet.Run) (most int) {
	for _, s := range run.Samples {
		most = max(most, s.Queued)
	}
	return most
}
