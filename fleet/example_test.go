package fleet_test

import (
	"fmt"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
)

// A gang waits for two nodes. Under FCFS everybody waits behind it; under EASY those pass who do not delay it; if all may pass, it is the
// gang that waits.
func ExampleQueueing() {
	c := fleet.Default()
	c.Topology = fleet.Topology{Pods: 1, RacksPerPod: 1, NodesPerRack: 2, GPUsPerNode: 8}
	c.Jobs = []fleet.Job{
		{ID: 1, GPUs: 8, Work: 2 * time.Hour, Limit: 2 * time.Hour},
		{ID: 2, GPUs: 16, Work: time.Hour, Limit: time.Hour, Arrival: time.Minute},
		{ID: 3, GPUs: 4, Work: time.Hour, Limit: time.Hour, Arrival: time.Minute},         // ends before job 1
		{ID: 4, GPUs: 4, Work: 3 * time.Hour, Limit: 3 * time.Hour, Arrival: time.Minute}, // does not
	}
	for _, p := range []fleet.Policy{fleet.FCFS, fleet.EASY, fleet.Queueing{Name: "greedy", Backfill: fleet.Greedy}} {
		c.Policy = p
		run, err := fleet.Simulate(c)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%-6v", p)
		for i, q := range run.Queue {
			fmt.Printf("  job %d at %v", run.Config.Jobs[i].ID, fleet.FormatDuration(q.FirstRun))
		}
		fmt.Println()
	}
	// Output:
	// FCFS    job 1 at 0 s  job 2 at 2 h  job 3 at 3 h  job 4 at 3 h
	// EASY    job 1 at 0 s  job 2 at 2 h  job 3 at 1 m  job 4 at 3 h
	// greedy  job 1 at 0 s  job 2 at 3 h 1 m  job 3 at 1 m  job 4 at 1 m
}
