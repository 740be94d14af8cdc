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
own size (and --spares), from the start to --horizon, with no other failures.`

var (
	patternNames = []string{"random", "adjacent", "spread"}
	patterns     = []elastic.Pattern{elastic.Random, elastic.Adjacent, elastic.Spread}
)

func elastics(args []string) (report, error) {
	c, spike := fleet.Default(), scenario.ActIIISpike
	ring := &spike.Training.Ring
	f := newFlags("elastic", elasticIntro)
	f.IntVar(&ring.Replicas, "replicas", ring.Replicas, "data-parallel replicas (`number`), 1 to 25000")
	f.IntVar(&ring.NodesPerReplica, "nodes-per-replica", ring.NodesPerReplica, "nodes of 8 GPUs in each (`number`); at most 25000 nodes in all")
	f.IntVar(&spike.Failed, "failed", spike.Failed, "nodes that fail (`number`), 0 to all")
	pattern := f.String("pattern", "random", "how they lie in the job (`pattern`): random, adjacent or spread, each in another replica")
	f.IntVar(&spike.Training.Spares, "spares", 0, "nodes beyond those of the job (`number`)")
	f.DurationVar(&spike.At, "at", spike.At, "`time` of the failure")
	f.DurationVar(&spike.Repair, "repair", spike.Repair, "`time` until the nodes are back")
	f.DurationVar(&c.Horizon, "horizon", c.Horizon, "`time` that is simulated, 1s to 9600h")
	f.DurationVar(&c.Checkpoint, "checkpoint", 12*time.Minute, "`time` of useful work between two checkpoints, 1m to 24h")
	f.IntVar(&spike.Training.MicroBatches, "micro-batches", 0, "micro-batches of one step (`number`), a multiple of the replicas; 0 for 16 for each")
	f.BoolVar(&spike.Training.KeepBatch, "keep-batch", false, "keep the global batch with fewer replicas: each does more micro-batches, rounded up")
	f.Uint64Var(&c.Seed, "seed", c.Seed, "`number` from which random nodes are drawn")
	if err := f.parse(args); err != nil {
		return report{}, err
	}
	var err error
	if spike.Pattern, err = oneOf("pattern", *pattern, patternNames, patterns); err != nil {
		return report{}, err
	}
	left, err := ring.After(spike.Failed)
	if err != nil {
		return report{}, err
	}
	if nodes := ring.Nodes() + spike.Training.Spares; spike.Training.Spares < 0 || nodes > 25_000 {
		return report{}, usage("--spares %d: must be at least 0, and at most 25000 nodes in all, not %d", spike.Training.Spares, nodes)
	}
	if spike.At < 0 || spike.At >= c.Horizon {
		return report{}, usage("--at %v: must be between 0s and --horizon %v", spike.At, c.Horizon)
	}
	if spike.Training.MicroBatches == 0 {
		spike.Training.MicroBatches = 16 * ring.Replicas
	}
	failed, err := ring.Fail(spike.Failed, spike.Pattern, c.Seed)
	if err != nil {
		return report{}, err
	}
	whole, err := ring.Left(failed)
	if err != nil {
		return report{}, err
	}
	r := report{json: f.format == "json", fields: fields{
		{"replicas", ring.Replicas},
		{"nodes_per_replica", ring.NodesPerReplica},
		{"failed", spike.Failed},
		{"pattern", *pattern},
		{"replicas_left", whole},
		{"replicas_left_share", float64(whole) / float64(ring.Replicas)},
		{"best_replicas", left.Best},
		{"worst_replicas", left.Worst},
		{"expected_replicas_random", left.Expected},
		{"after_reshard", left.Reshard},
	}}
	rows, err := strategyRows(c, spike)
	if err != nil {
		return report{}, err
	}
	r.fields.add("strategies", rows)
	r.notes = []string{fmt.Sprintf("replicas and speed: right after the failure at %v; goodput: useful GPU-time over all GPUs of the job × %v", spike.At, c.Horizon)}
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
