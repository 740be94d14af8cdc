package scenario

import (
	"math"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/checkpoint"
	"github.com/fleetlab/fleetlab/fleet/elastic"
	"github.com/fleetlab/fleetlab/fleet/facts"
	"github.com/fleetlab/fleetlab/fleet/failure"
)

// Training is the job of Acts II and III and the fleet that it has for itself: a model trained in data-parallel replicas of whole nodes of 8
// GPUs, tensor-parallel inside a node and pipelined across the nodes of a replica.
type Training struct {
	Ring         elastic.Geometry // replicas, and nodes in each
	Spares       int              // nodes of the fleet beyond those of the job
	Parameters   float64          // of the model
	StoreBps     float64          // bytes per second with which a checkpoint is written and read
	MicroBatches int              // of one step over all replicas, a multiple of them; 0 for one each
	KeepBatch    bool             // with fewer replicas each does more micro-batches; else the global batch shrinks
	MinReplicas  int              // with fewer the job ends for good; 0 means 1
}

// ActIITraining trains 175 billion parameters on 16,384 GPUs: with TP 8 and PP 16 a ring of 128 replicas of 16 nodes. Its checkpoint
// of 2.45 TB is written in 24.5 s to a store of 100 GB/s. The store and the spare nodes are chosen for the lab (Assumed, in the words
// of package facts).
var ActIITraining = Training{
	Ring: elastic.Geometry{Replicas: 128, NodesPerReplica: 16}, Spares: 64, Parameters: 175e9, StoreBps: 100e9, MicroBatches: 2048,
}

// ActIIDays is how long Act II lasts: as long as the Llama 3 log.
const ActIIDays = 54

// Spike is a power spike that takes nodes of a training job down at one instant.
type Spike struct {
	Training Training
	Failed   int             // nodes
	Pattern  elastic.Pattern // how they lie in the ring
	At       time.Duration   // since the start of the run
	Repair   time.Duration   // until they are back
}

// ActIIISpike takes ten nodes, each of another replica, after four hours and for six. No node is spare. The instant, the number and
// the repair time are chosen for the lab (Assumed).
var ActIIISpike = Spike{Training: withoutSpares(ActIITraining), Failed: 10, Pattern: elastic.Spread, At: 4 * time.Hour, Repair: 6 * time.Hour}

func withoutSpares(t Training) Training {
	t.Spares = 0
	return t
}

// Gamble is Act II: c with a training job on 16,384 GPUs and the failures that Llama 3 had, one in three hours, for 54 days. It sets
// Topology and Horizon. What is left to decide is Checkpoint, and Rescale. A config that is not valid comes back without jobs, so that
// fleet.Simulate says what is wrong with it.
func Gamble(c fleet.Config) fleet.Config {
	c.Horizon = ActIIDays * 24 * time.Hour
	c = ActIITraining.On(c)
	if len(c.Jobs) == 0 {
		return c
	}
	m := failure.Llama3(c.Topology)
	m.Horizon, m.Seed = c.Horizon, c.Seed
	faults, err := m.Faults()
	if err != nil {
		panic(err) // the preset is valid on any fleet of this size
	}
	c.Faults = faults
	return c
}

// Rescaled is Act III: c with the same job on a fleet of just its size, and ten of its nodes failing at once. It sets Topology. What is
// left to decide is Rescale.
func Rescaled(c fleet.Config) fleet.Config { return ActIIISpike.On(c) }

// On puts the job on a fleet of its own. Numbers that are out of range come back in the config, for fleet.Simulate to name.
func (t Training) On(c fleet.Config) fleet.Config {
	c.Jobs, c.Faults, c.Big, c.Unfit = nil, nil, 0, nil
	c.Topology = topologyOf(t.Ring.Nodes() + t.Spares)
	if t.Ring.Validate() != nil || c.Validate() != nil {
		return c
	}
	c.Jobs, c.Big = []fleet.Job{t.job()}, 1
	return c
}

// topologyOf is a fleet of so many nodes of 8 GPUs, two to a rack as Llama 3's were, in eight pods if they divide.
func topologyOf(nodes int) fleet.Topology {
	t := fleet.Topology{Pods: 1, RacksPerPod: 1, NodesPerRack: nodes, GPUsPerNode: 8}
	if nodes%2 == 0 && nodes/2 <= 1000 {
		t.RacksPerPod, t.NodesPerRack = nodes/2, 2
	}
	if nodes%16 == 0 && nodes/16 <= 1000 {
		t.Pods, t.RacksPerPod, t.NodesPerRack = 8, nodes/16, 2
	}
	return t
}

// Model is the job as package checkpoint sees it.
func (t Training) Model(mtbf time.Duration) checkpoint.Model {
	j := t.job()
	return checkpoint.Model{MTBF: mtbf, Write: j.Write, Restart: j.Restart}
}

// job is the training job, with more work than any run is long.
func (t Training) job() fleet.Job {
	write := secondsOf(t.Parameters * facts.BytesPerParameter.Value / t.StoreBps)
	parts := fleet.RestartParts{
		Detect:     secondsOf(facts.RestartDetect.Value),
		Reschedule: secondsOf(facts.RestartReschedule.Value),
		Load:       write,
		WarmUp:     secondsOf(facts.RestartWarmUp.Value),
	}
	gpus := t.Ring.Nodes() * 8
	step := 6 * t.Parameters * facts.BatchTokens.Value / (float64(gpus) * facts.H100PeakFLOPS.Value * facts.Llama3MFU.Value)
	return fleet.Job{
		ID: 1, GPUs: gpus, Work: 9 * 365 * 24 * time.Hour, Write: write, Restart: parts.Sum(), Locality: fleet.Anywhere,
		Train: &fleet.Training{
			TP: 8, PP: t.Ring.NodesPerReplica, CP: 1, DP: t.Ring.Replicas, MicroBatches: t.MicroBatches, KeepBatch: t.KeepBatch,
			StepTokens: int64(facts.BatchTokens.Value), StepTime: secondsOf(step), MinReplicas: t.MinReplicas, Restart: parts,
			Stall: secondsOf(facts.ElasticStall.Value), Move: write,
		},
	}
}

// On puts the training job on a fleet of its own and lets the spike strike it. The job starts on nodes 0, 1, 2 … in rank order, so that a
// node's place in the ring is its number.
func (s Spike) On(c fleet.Config) fleet.Config {
	c = s.Training.On(c)
	if len(c.Jobs) == 0 {
		return c
	}
	nodes, err := s.Training.Ring.Fail(s.Failed, s.Pattern, c.Seed)
	if err != nil { // then there are no such nodes: let Simulate name the first that is not there
		nodes = []int{c.Topology.Nodes()}
	}
	c.Faults = failure.Burst(nodes, s.At, s.Repair, "power spike")
	return c
}

// secondsOf is a time of so many seconds, in milliseconds.
func secondsOf(s float64) time.Duration { return time.Duration(math.Round(s*1000)) * time.Millisecond }
