package check

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/scenario"
)

// Fits passes if place always names a node with enough free GPUs, and answers fleet.Wait only if there is none.
func Fits(place fleet.Placement) error {
	return onSmallFleets(place, func(v fleet.View, j fleet.Job, node int) error {
		switch fitting, _ := tightest(v, j); {
		case node == fleet.Wait && fitting != fleet.Wait:
			return failed("%s waits, though node %d has %d free: answer fleet.Wait only if no node has room", need(j), fitting, v.Free(fitting))
		case node == fleet.Wait:
			return nil
		case node < 0 || node >= v.Nodes():
			return failed("%s goes to node %d: nodes are numbered from 0 to %d", need(j), node, v.Nodes()-1)
		case v.Free(node) < j.GPUs:
			return failed("%s goes to node %d, which has only %d free", need(j), node, v.Free(node))
		}
		return nil
	})
}

// Tightest passes if place always names a node that leaves the fewest GPUs over. Of several such nodes any will do.
func Tightest(place fleet.Placement) error {
	return onSmallFleets(place, wantTightest)
}

// ActI passes if place holds through the whole of Act I: every student job on a tightest node, to the end of the day.
func ActI(place fleet.Placement) error {
	day := scenario.Fragmented(fleet.Default()) // building it is not on the student's time
	return bounded(Limit, func() error { return watch(day, place, wantTightest) })
}

func wantTightest(v fleet.View, j fleet.Job, node int) error {
	best, least := tightest(v, j)
	switch {
	case node == fleet.Wait && best == fleet.Wait:
		return nil
	case node == fleet.Wait:
		return failed("%s waits, though node %d has %d free", need(j), best, least)
	case node < 0 || node >= v.Nodes() || v.Free(node) < j.GPUs:
		return failed("%s goes to node %d, where it does not fit", need(j), node)
	case v.Free(node) != least:
		return failed("%s goes to node %d, which has %d free; node %d has only %d free and would leave fewer GPUs over", need(j), node, v.Free(node), best, least)
	}
	return nil
}

func need(j fleet.Job) string {
	if j.GPUs == 1 {
		return fmt.Sprintf("job %d (1 GPU)", j.ID)
	}
	return fmt.Sprintf("job %d (%d GPUs)", j.ID, j.GPUs)
}

// tightest is the lowest node of those with the fewest free GPUs that hold the job, and how many it has free.
func tightest(v fleet.View, j fleet.Job) (node, free int) {
	node = fleet.Wait
	for n := range v.Nodes() {
		if f := v.Free(n); f >= j.GPUs && (node == fleet.Wait || f < free) {
			node, free = n, f
		}
	}
	return node, free
}

// onSmallFleets asks place through a few days of small fleets that run full, and shows each answer to verify.
func onSmallFleets(place fleet.Placement, verify func(fleet.View, fleet.Job, int) error) error {
	if place == nil {
		return failed("there is no function to check: it is nil")
	}
	return bounded(Limit, func() error {
		for seed := range uint64(8) {
			if err := watch(smallFleet(seed), place, verify); err != nil {
				return err
			}
		}
		return nil
	})
}

// smallFleet is a fleet of 6 to 13 nodes with jobs of all sizes, more than it can hold at times.
func smallFleet(seed uint64) fleet.Config {
	rng := rand.New(rand.NewPCG(seed, 8))
	c := fleet.Default()
	c.Topology = fleet.Topology{Pods: 1, RacksPerPod: 1, NodesPerRack: 6 + int(seed), GPUsPerNode: 8}
	var at time.Duration
	for id := range 120 {
		at += time.Duration(rng.IntN(240)) * time.Second
		c.Jobs = append(c.Jobs, fleet.Job{ID: id + 1, GPUs: 1 + rng.IntN(8), Arrival: at, Work: time.Duration(1+rng.IntN(120)) * time.Minute})
	}
	c.Faults = []fleet.Fault{{Node: rng.IntN(6), At: time.Hour, Repair: time.Hour, Cause: "test"}}
	return c
}

// watch simulates c with place, and returns the first objection of verify or what else went wrong. A panic of place comes through to
// bounded, which words it.
func watch(c fleet.Config, place fleet.Placement, verify func(fleet.View, fleet.Job, int) error) error {
	var objection error
	var panicked any
	c.Policy = fleet.Placing("your placement", func(v fleet.View, j fleet.Job) (node int) {
		if objection != nil || panicked != nil {
			return fleet.Wait // enough seen
		}
		defer func() {
			if panicked = recover(); panicked != nil {
				node = fleet.Wait
			}
		}()
		node = place(v, j)
		if objection = verify(v, j, node); objection != nil {
			return fleet.Wait
		}
		return node
	})
	_, err := fleet.Simulate(c)
	switch {
	case panicked != nil:
		panic(panicked)
	case objection != nil:
		return objection
	case err != nil:
		return failed("%v", err)
	}
	return nil
}

// OneOf passes if answer is one of these words.
func OneOf(answer func() string, words ...string) error {
	if answer == nil {
		return failed("there is no function to check: it is nil")
	}
	return bounded(Limit, func() error {
		got := answer()
		for _, w := range words {
			if got == w {
				return nil
			}
		}
		return failed("the answer is %q: must be one of %q", got, words)
	})
}
