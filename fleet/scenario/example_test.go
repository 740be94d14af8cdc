package scenario_test

import (
	"fmt"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/elastic"
	"github.com/fleetlab/fleetlab/fleet/scenario"
)

// Act I: 2,000 GPUs are idle and the job of 1,000 finds no place, until the others are packed tighter.
func ExampleFragmented() {
	c := fleet.Default()
	c.Defrag = true // stop the world, and pack the jobs
	run, err := fleet.Simulate(scenario.Fragmented(c))
	if err != nil {
		fmt.Println(err)
		return
	}
	l := run.Ledger()
	fmt.Printf("the big job waits %v and starts; %d jobs moved\n", l.BigWait, l.Migrations)
	fmt.Printf("pause %.0f GPU-h, tax %.0f GPU-h, $%.0f\n", l.Price.Pause.Hours(), l.Price.Tax.Hours(), l.Price.USD)
	// Output:
	// the big job waits 10m0s and starts; 568 jobs moved
	// pause 1327 GPU-h, tax 216 GPU-h, $4629
}

// Act II: with a failure every three hours the interval between checkpoints decides how much of the time is useful.
func ExampleGamble() {
	model := scenario.ActIITraining.Model(3 * time.Hour)
	for _, tau := range []time.Duration{2 * time.Minute, model.Optimum().Round(time.Minute), 3 * time.Hour, 24 * time.Hour} {
		c := fleet.Default()
		c.Checkpoint = tau
		run, err := fleet.Simulate(scenario.Gamble(c))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("checkpoint every %-8v goodput %.2f, the formula says %.2f\n", tau, run.Ledger().Goodput, model.Goodput(tau))
	}
	// Output:
	// checkpoint every 2m0s     goodput 0.79, the formula says 0.80
	// checkpoint every 12m0s    goodput 0.90, the formula says 0.90
	// checkpoint every 3h0m0s   goodput 0.54, the formula says 0.56
	// checkpoint every 24h0m0s  goodput 0.00, the formula says 0.00
}

// Act III: ten nodes in ten replicas fail at once.
func ExampleRescaled() {
	for _, strategy := range elastic.Strategies() {
		c := fleet.Default()
		c.Rescale = strategy
		run, err := fleet.Simulate(scenario.Rescaled(c))
		if err != nil {
			fmt.Println(err)
			return
		}
		after := run.Strengths(1)[1]
		fmt.Printf("%s: %d of 128 replicas go on, %d GPUs stranded; goodput of 12 h %.3f\n", strategy, after.Replicas, after.Stranded, run.Ledger().Goodput)
	}
	// Output:
	// Restart from checkpoint: 0 of 128 replicas go on, 0 GPUs stranded; goodput of 12 h 0.408
	// Wait for spares: 0 of 128 replicas go on, 16304 GPUs stranded; goodput of 12 h 0.495
	// Drop broken replicas: 118 of 128 replicas go on, 1200 GPUs stranded; goodput of 12 h 0.951
	// Re-shard onto survivors: 127 of 128 replicas go on, 48 GPUs stranded; goodput of 12 h 0.985
}
