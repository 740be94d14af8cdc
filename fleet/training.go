package fleet

import (
	"fmt"
	"time"

	"github.com/fleetlab/fleetlab/fleet/elastic"
)

// Training says how a job that trains one model in parallel is laid out and what it does when nodes are lost. The unit of loss is the
// data-parallel replica: TP × PP × CP GPUs that hold one copy of the model. If one of them breaks, the others of its replica have
// nothing to do; they are stranded until the replica is whole again.
type Training struct {
	TP, PP, CP, DP int // tensor, pipeline, context and data parallelism, each at least 1; their product is Job.GPUs, and TP × PP × CP fills whole nodes

	MicroBatches int           // micro-batches of one optimizer step over all replicas, a multiple of DP; 0 means DP
	KeepBatch    bool          // with fewer replicas each does more micro-batches, rounded up, and the step gets longer; else the global batch shrinks
	StepTokens   int64         // tokens of one step of the full job, 0 if nobody counts them
	StepTime     time.Duration // of the full job; at least 1 ms if StepTokens is set

	MinReplicas int // with fewer the job ends for good; 0 means 1

	Restart RestartParts // what Job.Restart is made of; its sum, or all 0 if nobody asks

	Stall time.Duration // going on without a restart: notice the loss, meet again, warm up
	Move  time.Duration // added to Stall if nodes have to be given the model's state
}

// times is the part of t that is rounded to the resolution.
func (t *Training) times() [3]time.Duration { return [3]time.Duration{t.StepTime, t.Stall, t.Move} }

// replicaGPUs is the size of one data-parallel replica.
func (t *Training) replicaGPUs() int { return t.TP * t.PP * t.CP }

// fewest is the number of replicas below which the job ends.
func (t *Training) fewest() int { return max(1, t.MinReplicas) }

// speed is how fast the job works with so many replicas, against all of them.
func (t *Training) speed(replicas int) speed {
	if replicas == t.DP {
		return speed{}
	}
	micro := t.MicroBatches
	if micro == 0 {
		micro = t.DP
	}
	num, den := elastic.Batch{MicroBatches: micro, Keep: t.KeepBatch}.Rate(t.DP, replicas)
	return speed{int64(num), int64(den)}
}

// maxParallel is the most of each kind of parallelism. A checkpoint interval of a day takes a job with one replica of so many 274 years,
// which a time.Duration holds.
const maxParallel = 100_000

// validateTraining checks the layout of job i.
func (c Config) validateTraining(i int) (errs []error) {
	j := c.Jobs[i]
	t := j.Train
	bad := func(field string, value any, want string) {
		errs = append(errs, outOfRange(fmt.Sprintf("Jobs[%d].Train.%s", i, field), value, want))
	}
	for _, f := range []struct {
		name  string
		value int
	}{{"TP", t.TP}, {"PP", t.PP}, {"CP", t.CP}, {"DP", t.DP}} {
		if f.value < 1 || f.value > maxParallel {
			bad(f.name, f.value, fmt.Sprintf("between 1 and %d", maxParallel))
		}
	}
	if errs != nil {
		return errs
	}
	g := c.Topology.GPUsPerNode
	if float64(t.TP)*float64(t.PP)*float64(t.CP)*float64(t.DP) != float64(j.GPUs) {
		bad("TP × PP × CP × DP", fmt.Sprintf("%d × %d × %d × %d", t.TP, t.PP, t.CP, t.DP), fmt.Sprintf("the %d GPUs of the job", j.GPUs))
	} else if t.replicaGPUs()%g != 0 {
		bad("TP × PP × CP", t.replicaGPUs(), fmt.Sprintf("a multiple of %d, so that a replica fills whole nodes", g))
	}
	if t.MicroBatches < 0 || t.MicroBatches > 1_000_000 || t.MicroBatches%t.DP != 0 {
		bad("MicroBatches", t.MicroBatches, fmt.Sprintf("0 or a multiple of DP %d, at most 1000000", t.DP))
	}
	if t.MinReplicas < 0 || t.MinReplicas > t.DP {
		bad("MinReplicas", t.MinReplicas, fmt.Sprintf("between 0 and DP %d", t.DP))
	}
	if t.StepTokens < 0 || t.StepTokens > 1e15 {
		bad("StepTokens", t.StepTokens, "between 0 and 1e15")
	}
	if t.StepTime < 0 || t.StepTime > 24*time.Hour || t.StepTokens > 0 && t.StepTime < Resolution {
		bad("StepTime", t.StepTime, "between 0s and 24h0m0s, and at least 1ms if StepTokens is set")
	}
	if sum := t.Restart.Sum(); sum != 0 && sum != j.Restart {
		bad("Restart", sum, fmt.Sprintf("%v in sum, the Restart of the job", j.Restart))
	}
	for _, f := range []struct {
		name  string
		value time.Duration
	}{
		{"Stall", t.Stall}, {"Move", t.Move}, {"Restart.Detect", t.Restart.Detect}, {"Restart.Reschedule", t.Restart.Reschedule},
		{"Restart.Load", t.Restart.Load}, {"Restart.WarmUp", t.Restart.WarmUp},
	} {
		if f.value < 0 || f.value > 24*time.Hour {
			bad(f.name, f.value, "between 0s and 24h0m0s")
		}
	}
	return errs
}
