package scenario_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/elastic"
	"github.com/fleetlab/fleetlab/fleet/facts"
	"github.com/fleetlab/fleetlab/fleet/scenario"
)

// act simulates an act with some levers set.
func act(t testing.TB, set func(fleet.Config) fleet.Config, levers func(c *fleet.Config)) *fleet.Run {
	t.Helper()
	c := fleet.Default()
	if levers != nil {
		levers(&c)
	}
	r, err := fleet.Simulate(set(c))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTheTrainingJobIsTheOneOfTheFacts(t *testing.T) {
	c := scenario.Gamble(fleet.Default())
	j := c.Jobs[0]
	if j.GPUs != 16384 || j.Write != 24500*time.Millisecond || j.Restart != 384500*time.Millisecond || c.Topology.GPUs() != 16896 {
		t.Errorf("%+v on %+v", j, c.Topology)
	}
	if s := j.Train.StepTime.Seconds(); math.Abs(s-2.53) > 0.01 { // 6 × 175e9 × 16e6 FLOPs on 16,384 × 989e12 × 0.41
		t.Errorf("a step takes %.3f s", s)
	}
	if m := scenario.ActIITraining.Model(3 * time.Hour); math.Abs(m.Optimum().Minutes()-11.9) > 0.1 {
		t.Errorf("golden interval %v at a MTTF of 3 h", m.Optimum())
	}
	if n := len(c.Faults); n < 370 || n > 500 {
		t.Errorf("%d faults in 54 days", n)
	}
}

// gambles is Act II's goodput over seeds, as a mean with the half-width of its 99 % interval, and the mean time between crashes. Without
// late, silent corruption is noticed at once.
func gambles(t *testing.T, tau time.Duration, seeds uint64, late bool) (mean, half float64, mtbf time.Duration) {
	t.Helper()
	var goodputs []float64
	crashes := 0
	for seed := range seeds {
		c := fleet.Default()
		c.Checkpoint, c.Seed = tau, seed
		c = scenario.Gamble(c)
		for i := range c.Faults {
			if !late {
				c.Faults[i].Silent = 0
			}
		}
		r, err := fleet.Simulate(c)
		if err != nil {
			t.Fatal(err)
		}
		l := r.Ledger().Training
		goodputs, crashes = append(goodputs, l.Goodput), crashes+l.Crashes
	}
	if crashes < 300*int(seeds) { // S10 opendc PR#332: without failures the test proves nothing
		t.Errorf("only %d crashes", crashes)
	}
	mean, sd := stat.MeanStdDev(goodputs, nil)
	n := float64(seeds)
	half = distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.995) * sd / math.Sqrt(n)
	return mean, half, scenario.ActIIDays * 24 * time.Hour * time.Duration(seeds) / time.Duration(crashes)
}

// Llama 3 had more than 90 % effective training time with 419 interruptions in 54 days. A replay with its failures, checkpoints at the golden
// interval and spare nodes has 90 % too: writes, rework and restarts take 3 to 4 % each. It agrees with the formula, which knows nothing
// of nodes and spares. Silent corruption that is noticed late costs another half percent, which the formula does not know. To do better than 90 %
// one has to restart faster than in 6.4 minutes or write faster than in 24.5 s: hourly checkpoints are far from it.
func TestLlama3EffectiveTrainingTime(t *testing.T) {
	golden := scenario.ActIITraining.Model(facts.Llama3MTBF()).Optimum().Round(time.Minute)
	at := func(tau time.Duration, seeds uint64, late bool) (mean, half, want float64) {
		mean, half, mtbf := gambles(t, tau, seeds, late)
		want = scenario.ActIITraining.Model(mtbf).Goodput(tau)
		t.Logf("τ = %v, late = %v: %.4f ± %.4f effective; the formula at the MTBF of these seeds, %.3f h: %.4f", tau, late, mean, half, mtbf.Hours(), want)
		return mean, half, want
	}
	clean, half, want := at(golden, 20, false)
	if math.Abs(clean-want) > half || clean <= facts.Llama3EffectiveTime.Value {
		t.Errorf("%.4f effective, the formula says %.4f, the paper above %.2f", clean, want, facts.Llama3EffectiveTime.Value)
	}
	if late, half, _ := at(golden, 20, true); late >= clean || late < clean-0.01-half {
		t.Errorf("noticed late: %.4f effective, at once: %.4f", late, clean)
	}
	for _, tau := range []time.Duration{time.Hour, 6 * time.Hour} {
		if mean, half, want := at(tau, 12, false); math.Abs(mean-want) > half || mean > 0.85 {
			t.Errorf("τ = %v: %.4f ± %.4f effective, the formula says %.4f", tau, mean, half, want)
		}
	}
}

// Act III: what each strategy is left with while the ten nodes are away, and which one is best.
func TestRescaledComparesTheStrategies(t *testing.T) {
	type row struct {
		replicas int
		goodput  float64
	}
	got := map[string]row{}
	for _, s := range elastic.Strategies() {
		r := act(t, scenario.Rescaled, func(c *fleet.Config) { c.Rescale = s })
		list := r.Strengths(1)
		got[fmt.Sprint(s)] = row{list[1].Replicas, r.Ledger().Goodput}
		t.Logf("%v: %d replicas, goodput %.4f, %+v", s, list[1].Replicas, r.Ledger().Goodput, list)
	}
	restart, wait, drop, reshard := got["Restart from checkpoint"], got["Wait for spares"], got["Drop broken replicas"], got["Re-shard onto survivors"]
	if restart.replicas != 0 || wait.replicas != 0 || drop.replicas != 118 || reshard.replicas != 127 {
		t.Errorf("%+v", got)
	}
	if !(restart.goodput < wait.goodput && wait.goodput < drop.goodput && drop.goodput < reshard.goodput) || drop.goodput < 0.9 {
		t.Errorf("%+v", got)
	}
}

// The geometry of the act: adjacent nodes cost one replica, a ring of one-node replicas exactly a tenth.
func TestRescaledGeometry(t *testing.T) {
	for _, x := range []struct {
		ring    elastic.Geometry
		pattern elastic.Pattern
		left    int
	}{
		{elastic.Geometry{Replicas: 128, NodesPerReplica: 16}, elastic.Spread, 118},
		{elastic.Geometry{Replicas: 128, NodesPerReplica: 16}, elastic.Adjacent, 127},
		{elastic.Geometry{Replicas: 100, NodesPerReplica: 1}, elastic.Random, 90},
	} {
		spike := scenario.ActIIISpike
		spike.Training.Ring, spike.Training.MicroBatches, spike.Pattern = x.ring, 0, x.pattern
		r := act(t, spike.On, func(c *fleet.Config) { c.Rescale = elastic.DropReplicas })
		if s := r.Strengths(1)[1]; s.Replicas != x.left || math.Abs(s.Speed-float64(x.left)/float64(x.ring.Replicas)) > 1e-12 {
			t.Errorf("%+v %v: %+v, want %d replicas", x.ring, x.pattern, s, x.left)
		}
	}
}

func TestBadTrainingIsNamedBySimulate(t *testing.T) {
	spike := scenario.ActIIISpike
	spike.Failed = 3000
	if _, err := fleet.Simulate(spike.On(fleet.Default())); err == nil {
		t.Error("3,000 of 2,048 nodes fail and nobody says so")
	}
	spike = scenario.ActIIISpike
	spike.Training.Ring.Replicas = 0
	if _, err := fleet.Simulate(spike.On(fleet.Default())); err == nil {
		t.Error("a ring without replicas is simulated")
	}
	c := fleet.Default()
	c.Checkpoint = 0
	if g := scenario.Gamble(c); len(g.Jobs) != 0 || len(g.Faults) != 0 {
		t.Error("a config that is not valid gets jobs")
	}
}

func BenchmarkGamble(b *testing.B) {
	c := fleet.Default()
	c.Checkpoint = 12 * time.Minute
	c = scenario.Gamble(c)
	for _, s := range elastic.Strategies() {
		c.Rescale = s
		b.Run(fmt.Sprint(s), func(b *testing.B) {
			for b.Loop() {
				if _, err := fleet.Simulate(c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
