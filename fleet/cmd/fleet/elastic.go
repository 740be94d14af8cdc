package main

import (
	"fmt"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/elastic"
	"github.com/fleetlab/fleetlab/fleet/scenario"
)

const elasticIntro = `Lets some nodes of a training job fail at one instant, and says what each strategy is left with.

The unit of loss is the replica of whole nodes. The goodput is simulated: the job of Act III, 175 billion parameters, on a fleet of its
own size (and --spares), from the start to --horizon, with no other failures. With --pattern spread and --checkpoint 3h it is the run of
"simulate --scenario rescale".

  restart  crash, and start again from the last checkpoint with as many nodes as before
  wait     complete the broken replicas with spares, and stand still until there are enough
  drop     go on with the replicas that are whole
  reshard  make new replicas of the survivors of the broken ones`

// mostNodes is the most nodes of 8 GPUs that a fleet can have.
const mostNodes = 25_000

var (
	patternNames = []string{"random", "adjacent", "spread"}
	patterns     = []elastic.Pattern{elastic.Random, elastic.Adjacent, elastic.Spread}
)

func elastics(args []string) (report, error) {
	c, spike := fleet.Default(), scenario.ActIIISpike
	ring := &spike.Training.Ring
	f := newFlags("elastic", elasticIntro)
	spike.Pattern, c.Checkpoint, spike.Training.MicroBatches = elastic.Random, 12*time.Minute, 0
	f.count(&ring.Replicas, "replicas", 1, mostNodes, "data-parallel replicas")
	f.count(&ring.NodesPerReplica, "nodes-per-replica", 1, mostNodes, fmt.Sprintf("nodes of 8 GPUs in each, with all replicas and spares at most %d nodes", mostNodes))
	f.count(&spike.Failed, "failed", 0, mostNodes, "nodes of the job that fail, at most all of them")
	pattern := f.choice("pattern", patternNames, "random", "how they lie in the job, spread is each in another replica")
	f.count(&spike.Training.Spares, "spares", 0, mostNodes, "nodes of the fleet beyond those of the job")
	f.duration(&spike.At, "at", time.Millisecond, fleet.MaxHorizon, "when they fail, before --horizon")
	f.duration(&spike.Repair, "repair", time.Millisecond, fleet.MaxHorizon, "how long until they are back")
	f.duration(&c.Horizon, "horizon", time.Second, fleet.MaxHorizon, "how long is simulated")
	f.duration(&c.Checkpoint, "checkpoint", time.Minute, 24*time.Hour, "useful work between two checkpoints")
	f.count(&spike.Training.MicroBatches, "micro-batches", 1, 1_000_000, "micro-batches of one step, a multiple of --replicas; if it is not given 16 for each of them")
	f.BoolVar(&spike.Training.KeepBatch, "keep-batch", false, "keep the global batch with fewer replicas: each does more micro-batches, rounded up")
	f.seed(&c.Seed, "from which the random nodes are drawn")
	if err := f.parse(args); err != nil {
		return report{}, err
	}
	spike.Pattern = patterns[*pattern]
	if nodes := ring.Replicas*ring.NodesPerReplica + spike.Training.Spares; nodes > mostNodes {
		return report{}, usage("--replicas %d × --nodes-per-replica %d + --spares %d: must be at most %d nodes, not %d",
			ring.Replicas, ring.NodesPerReplica, spike.Training.Spares, mostNodes, nodes)
	}
	if spike.Failed > ring.Nodes() {
		return report{}, usage("--failed %d: must be between 0 and %d, the nodes of the job", spike.Failed, ring.Nodes())
	}
	if spike.At >= c.Horizon {
		return report{}, usage("--at %s: must be before --horizon %s", short(spike.At), short(c.Horizon))
	}
	if !f.given("micro-batches") {
		spike.Training.MicroBatches = 16 * ring.Replicas
	} else if spike.Training.MicroBatches%ring.Replicas != 0 {
		return report{}, usage("--micro-batches %d: must be a multiple of --replicas %d", spike.Training.MicroBatches, ring.Replicas)
	}
	left, err := ring.After(spike.Failed)
	if err != nil {
		return report{}, err
	}
	failed, err := ring.Fail(spike.Failed, spike.Pattern, c.Seed)
	if err != nil {
		return report{}, err
	}
	whole, err := ring.Left(failed)
	if err != nil {
		return report{}, err
	}
	r := f.report(fields{
		{"replicas", ring.Replicas},
		{"nodes_per_replica", ring.NodesPerReplica},
		{"failed", spike.Failed},
		{"pattern", patternNames[*pattern]},
		{"replicas_left", whole},
		{"replicas_left_share", float64(whole) / float64(ring.Replicas)},
		{"best_replicas", left.Best},
		{"worst_replicas", left.Worst},
		{"expected_replicas_random", left.Expected},
		{"after_reshard", left.Reshard},
		{"spares", spike.Training.Spares},
		{"at_s", seconds(spike.At)},
		{"repair_s", seconds(spike.Repair)},
		{"horizon_s", seconds(c.Horizon)},
		{"checkpoint_s", seconds(c.Checkpoint)},
		{"micro_batches", spike.Training.MicroBatches},
		{"keep_batch", spike.Training.KeepBatch},
		{"seed", c.Seed},
	})
	rows, err := strategyRows(c, spike)
	if err != nil {
		return report{}, err
	}
	r.fields.add("strategies", rows)
	r.notes = []string{fmt.Sprintf("replicas, speed, stall_s and stranded_gpus: right after the failure at %s; goodput: useful GPU-time over all GPUs of the job × %s",
		short(spike.At), short(c.Horizon))}
	return r, nil
}

// strategyRows simulates each strategy.
func strategyRows(c fleet.Config, spike scenario.Spike) (rows []fields, err error) {
	for i, s := range rescalers {
		c.Rescale = s
		run, err := fleet.Simulate(spike.On(c))
		if err != nil {
			return nil, err
		}
		l, now := run.Training(1), fleet.Strength{}
		for _, x := range run.Strengths(1) {
			if x.At <= spike.At {
				now = x
			}
		}
		if spike.Failed == 0 {
			now.Stall = 0
		}
		rows = append(rows, fields{
			{"strategy", rescaleNames[i]},
			{"replicas", now.Replicas},
			{"speed", speedOf(now)},
			{"stall_s", seconds(now.Stall)},
			{"stranded_gpus", now.Stranded},
			{"rework_gpu_h", l.Split[fleet.Rework].Hours()},
			{"goodput", l.Goodput},
		})
	}
	return rows, nil
}

// speedOf is the speed of a job that works, against the full job.
func speedOf(s fleet.Strength) float64 {
	if s.Replicas == 0 {
		return 0
	}
	return s.Speed
}
