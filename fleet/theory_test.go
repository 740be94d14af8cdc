package fleet_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/checkpoint"
)

// Two independent ways to one number: the whole simulation, with a queue, nodes, failures, repairs and restarts, against the formula of
// package checkpoint, for one job on the whole fleet. 200 seeds of 300 failures each; the formula's goodput must lie in the 99 % confidence
// interval of the seeds' mean, widened by what a run of finite length may be off: it begins without a restart and may end in the middle
// of an interval, (R + τ + P) / horizon at most.
func TestSimulationAgreesWithTheFormula(t *testing.T) {
	for _, x := range []struct {
		m        checkpoint.Model
		interval time.Duration
		hardware bool // nodes break and come back, and the job moves to a spare; else its software crashes
	}{
		{checkpoint.Model{MTBF: 3 * time.Hour, Write: 2 * time.Minute, Restart: 385 * time.Second}, 27 * time.Minute, false},
		{checkpoint.Model{MTBF: 3 * time.Hour, Write: 2 * time.Minute, Restart: 385 * time.Second}, 27 * time.Minute, true},
		{checkpoint.Model{MTBF: 3 * time.Hour, Write: 2 * time.Minute, Restart: 385 * time.Second}, 6 * time.Hour, false}, // past the MTBF
		{checkpoint.Model{MTBF: time.Hour, Write: 10 * time.Minute, Restart: 30 * time.Minute}, 28 * time.Minute, true},   // where first order is hopeless
		{checkpoint.Model{MTBF: 3 * time.Hour, Write: time.Second, Restart: 385 * time.Second, Persist: 4 * time.Minute}, 12 * time.Minute, false},
	} {
		name := fmt.Sprintf("M=%v δ=%v R=%v P=%v τ=%v hardware=%v", x.m.MTBF, x.m.Write, x.m.Restart, x.m.Persist, x.interval, x.hardware)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var goodputs []float64
			failures := 0
			horizon := 300 * x.m.MTBF
			for seed := range uint64(200) {
				c := wholeFleet(x.m, x.interval, horizon, x.hardware, seed)
				r := simulate(t, c)
				l := r.Training(1)
				failures += r.Queue[0].Kills
				goodputs = append(goodputs, l.Goodput)
			}
			mean, sd := stat.MeanStdDev(goodputs, nil)
			half := distuv.StudentsT{Sigma: 1, Nu: 199}.Quantile(0.995) * sd / math.Sqrt(200)
			finite := (x.m.Restart + x.interval + x.m.Persist).Seconds() / horizon.Seconds()
			want := x.m.Goodput(x.interval)
			t.Logf("simulated %.5f ± %.5f, formula %.5f, %d failures", mean, half, want, failures)
			if failures < 40_000 { // S10 opendc PR#332: a checkpoint test without failures proves nothing
				t.Errorf("only %d failures", failures)
			}
			if math.Abs(mean-want) > half+finite*want {
				t.Errorf("simulated %.5f ± %.5f (and up to %.5f for the finite run), the formula says %.5f", mean, half, finite*want, want)
			}
		})
	}
}

// wholeFleet is one gang on 16 nodes that fails with the model's MTBF.
func wholeFleet(m checkpoint.Model, interval, horizon time.Duration, hardware bool, seed uint64) fleet.Config {
	c := small(16)
	c.Horizon, c.Checkpoint = horizon, interval
	if hardware {
		c.Topology.NodesPerRack = 20
	}
	c.Jobs = []fleet.Job{{
		ID: 1, GPUs: 128, Work: 9 * 365 * 24 * time.Hour, Write: m.Write, Restart: m.Restart, Persist: m.Persist, Locality: fleet.Anywhere,
	}}
	rng := rand.New(rand.NewPCG(seed, 11))
	mean := m.MTBF
	if hardware {
		mean = mean * 16 / 20 // four of five faults strike the job
	}
	for at := time.Duration(0); ; {
		at += time.Duration(rng.ExpFloat64() * float64(mean))
		if at >= horizon {
			return c
		}
		f := fleet.Fault{Node: rng.IntN(c.Topology.Nodes()), At: at, Scope: fleet.Software}
		if hardware {
			f.Scope, f.Repair = fleet.WholeNode, time.Millisecond // so short that the spares always suffice, and every node is hit equally
		}
		c.Faults = append(c.Faults, f)
	}
}
