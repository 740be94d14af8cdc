// Command expected prints, as JSON, what fleet computes for each setting of Act I's levers. The browser tests compare the cockpit in the
// page with it. It reads fleet alone, so what it says does not depend on how widgets puts things.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/scenario"
)

// setting is one position of the levers and what comes of it. Ratios are 0–1, times are milliseconds since the start of the run.
type setting struct {
	Policy     string `json:"policy"`
	Preempt    bool   `json:"preempt"`
	Defrag     bool   `json:"defrag"`
	Checkpoint int64  `json:"checkpoint_ms"`

	Fragmentation float64    `json:"fragmentation"`
	Goodput       float64    `json:"goodput"`
	MFU           float64    `json:"mfu"`
	WaitMS        int64      `json:"wait_ms"`
	TCO           float64    `json:"tco_usd_per_hour"`
	Met           [3]bool    `json:"met"` // fragmentation, goodput, SLA
	Parts         []float64  `json:"parts_gpu_ms"`
	Instants      []instant  `json:"instants"`
	Incidents     []incident `json:"incidents"`
}

type instant struct {
	At      int64 `json:"at_ms"`
	Working int   `json:"working"`
	Idle    int   `json:"idle"`
	Failed  int   `json:"failed"`
	Queued  int   `json:"queued"`
	Hole    int   `json:"hole_nodes"`
	Node    int   `json:"hole_first_node"`
	Paused  bool  `json:"paused"`
}

type incident struct {
	ID   int    `json:"id"`
	At   int64  `json:"at_ms"`
	Text string `json:"text"`
}

func main() {
	if err := print(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// print computes the settings at the instants that the arguments name, in milliseconds.
func print(args []string) error {
	var at []time.Duration
	for _, a := range args {
		ms, err := strconv.ParseInt(a, 10, 64)
		if err != nil {
			return fmt.Errorf("instant %q: must be whole milliseconds", a)
		}
		at = append(at, time.Duration(ms)*time.Millisecond)
	}
	var grid []fleet.Config
	c := scenario.Fragmented(fleet.Default())
	for _, c.Policy = range []fleet.Policy{fleet.FCFS, fleet.BestFit, fleet.EASY, fleet.Preemption} {
		for k := range 4 {
			for _, c.Checkpoint = range []time.Duration{
				time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
			} {
				c.Preempt, c.Defrag = k&1 == 1, k&2 == 2
				grid = append(grid, c)
			}
		}
	}
	out := make([]setting, len(grid))
	var mu sync.Mutex
	err := fleet.Sweep(grid, func(i int, r *fleet.Run) {
		s := read(r, at)
		mu.Lock()
		defer mu.Unlock()
		out[i] = s
	})
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

func read(r *fleet.Run, at []time.Duration) setting {
	c, l := r.Config, r.Ledger()
	s := setting{
		Policy: fleet.PolicyName(c.Policy), Preempt: c.Preempt, Defrag: c.Defrag, Checkpoint: c.Checkpoint.Milliseconds(),
		Fragmentation: l.Fragmentation, Goodput: l.Goodput, MFU: l.ClusterMFU, WaitMS: l.BigWait.Milliseconds(), TCO: l.CostPerHourUSD,
		Met: [3]bool{l.FragmentationMet(), l.GoodputMet(), l.SLAMet},
	}
	for _, g := range l.Split {
		s.Parts = append(s.Parts, float64(g))
	}
	for _, t := range at {
		snap := r.At(t)
		s.Instants = append(s.Instants, instant{t.Milliseconds(), snap.Working, snap.Idle, snap.Failed, snap.Queued, snap.LargestHole, snap.Hole, snap.Paused})
	}
	for _, i := range r.Incidents {
		s.Incidents = append(s.Incidents, incident{i.ID, i.At.Milliseconds(), i.Text})
	}
	return s
}
