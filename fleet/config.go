package fleet

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/fleetlab/fleetlab/fleet/elastic"
	"github.com/fleetlab/fleetlab/fleet/facts"
)

// ErrConfig is wrapped by every error that a bad Config causes. The text names the field, its value and the allowed range.
var ErrConfig = errors.New("invalid configuration")

// ErrPolicy is wrapped by every error that a Policy causes: a placement that cannot be, or a panic inside it.
var ErrPolicy = errors.New("policy failed")

// Resolution is the smallest step of simulated time. Arrivals, work and faults are rounded to it, so that GPU-time is a whole
// number and its parts add up without a rounding error.
const Resolution = time.Millisecond

// maxGPUs is the largest fleet.
const maxGPUs = 200_000

// MaxHorizon is the length of the longest run: ten years, longer than any log of the Parallel Workloads Archive.
const MaxHorizon = 10 * 365 * 24 * time.Hour

// Config is everything that a run depends on: equal configs give equal runs, byte for byte.
// Start from Default, change fields, and let a scenario add Jobs and Faults.
type Config struct {
	Topology Topology      // the fleet; default 10 pods × 25 racks × 5 nodes × 8 GPUs = 10,000 GPUs
	Seed     uint64        // seed from which a scenario draws jobs and faults
	Horizon  time.Duration // the run ends here; 1 s to MaxHorizon

	// The levers.
	Policy     Policy           // who starts next and where: FCFS, BestFit, EASY, Preemption, a Queueing or one of your own
	Preempt    bool             // with policies that do not evict by themselves: the big job may kill small ones; Preemption implies it
	Defrag     bool             // stop the world and migrate jobs when a gang finds no hole
	Rescale    elastic.Rescaler // what training jobs do about lost nodes: elastic.Restart, WaitForSpare, DropReplicas, Reshard, or one of your own
	Checkpoint time.Duration    // τ: useful work between two checkpoints of a job, without the write; 1 min to 24 h

	// What the levers cost.
	Grace     time.Duration // an evicted job runs on for so long before it is killed (Slurm: GraceTime); 0 to 1 h
	Exempt    time.Duration // nobody is evicted who has run for less (Slurm: PreemptExemptTime); 0 to 7 days
	Migration Migration     // price of stop-the-world migration

	// What the ledger needs.
	SLA     SLA     // when the fleet has kept its promise
	RateUSD float64 // dollars for one GPU for one hour, idle or not; 0 to 1000
	MFU     float64 // model FLOPs utilisation of a GPU while it does useful work; above 0, at most 1

	// What a scenario fills in.
	Big    int     // ID of the high-priority job that is watched, 0 for none; every other job is a student job
	Teams  []Team  // whose quota and share policies look at; Job.Team counts from 1
	Jobs   []Job   // in order of Arrival
	Faults []Fault // in order of At
	Unfit  error   // why a scenario could not fill them in, or nil; Validate reports it
}

// Team is a group of users that shares one quota, and one share of the fleet.
type Team struct {
	Name   string
	Quota  int // GPUs that its running jobs may hold at the same time, 0 for no limit (Slurm: GrpTRES; Kubernetes: ResourceQuota)
	Shares int // its share of the fleet against the other teams' shares; 0 means 1 (Slurm: fairshare)
}

// Migration is the price of stop-the-world defragmentation: every job stops while batches of at most Concurrency jobs are
// checkpointed, transferred and restored; each batch takes Move. Afterwards the migrated jobs run slower by Tax for TaxFor.
type Migration struct {
	Concurrency int           // jobs that move at the same time; 1 to 100,000
	Move        time.Duration // checkpoint, transfer and restore of one batch; 1 s to 24 h
	Tax         float64       // share of speed that a migrated job lacks, 0.10 for 10 %; 0 to 0.9
	TaxFor      time.Duration // for how long after the pause; 0 to 7 days
}

// SLA is the promise to both kinds of users. It is met when the big job started within Start of its arrival and the 95th
// percentile of the student jobs' queue wait is at most Wait.
type SLA struct {
	Start time.Duration // big job: arrival to start
	Wait  time.Duration // student jobs: 95th percentile of the time in the queue
}

// Default is the lab's fleet with FCFS and all switches off, and no jobs: a scenario adds them.
func Default() Config {
	return Config{
		Topology:   Topology{Pods: 10, RacksPerPod: 25, NodesPerRack: 5, GPUsPerNode: 8},
		Seed:       10,
		Horizon:    12 * time.Hour,
		Policy:     FCFS,
		Rescale:    elastic.Restart,
		Checkpoint: 3 * time.Hour,
		Migration:  Migration{Concurrency: 128, Move: 2 * time.Minute, Tax: 0.10, TaxFor: 2 * time.Hour},
		SLA:        SLA{Start: time.Hour, Wait: 4 * time.Hour},
		RateUSD:    facts.GPUHourUSD.Value,
		MFU:        facts.Llama3MFU.Value,
	}
}

// outOfRange is the error of a field whose value is not what it must be.
func outOfRange(field string, value any, want string) error {
	return fmt.Errorf("%s %v: must be %s: %w", field, value, want, ErrConfig)
}

// Validate reports every field that is out of range, each with its value and its range. The errors wrap ErrConfig.
func (c Config) Validate() error {
	var errs []error
	bad := func(field string, value any, want string) {
		errs = append(errs, outOfRange(field, value, want))
	}
	span := func(field string, d, lo, hi time.Duration) {
		if d < lo || d > hi {
			bad(field, d, fmt.Sprintf("between %v and %v", lo, hi))
		}
	}
	count := func(field string, n, lo, hi int) {
		if n < lo || n > hi {
			bad(field, n, fmt.Sprintf("between %d and %d", lo, hi))
		}
	}
	ratio := func(field string, x, lo, hi float64) {
		if math.IsNaN(x) || x < lo || x > hi {
			bad(field, x, fmt.Sprintf("between %g and %g", lo, hi))
		}
	}
	if c.Unfit != nil {
		errs = append(errs, c.Unfit)
	}
	t := c.Topology
	count("Topology.Pods", t.Pods, 1, 1000)
	count("Topology.RacksPerPod", t.RacksPerPod, 1, 1000)
	count("Topology.NodesPerRack", t.NodesPerRack, 1, maxGPUs)
	count("Topology.GPUsPerNode", t.GPUsPerNode, 1, 16)
	if len(errs) == 0 {
		count("Topology.GPUs()", t.GPUs(), 1, maxGPUs)
	}
	span("Horizon", c.Horizon, time.Second, MaxHorizon)
	if c.Policy == nil {
		bad("Policy", "nil", "FCFS, BestFit, EASY, Preemption or a policy of your own")
	} else if q, ours := asQueueing(c.Policy); ours {
		errs = append(errs, q.validate()...)
	}
	if c.Rescale == nil {
		bad("Rescale", "nil", "elastic.Restart, WaitForSpare, DropReplicas, Reshard or one of your own")
	}
	span("Checkpoint", c.Checkpoint, time.Minute, 24*time.Hour)
	span("Grace", c.Grace, 0, time.Hour)
	span("Exempt", c.Exempt, 0, 7*24*time.Hour)
	count("Migration.Concurrency", c.Migration.Concurrency, 1, 100_000)
	span("Migration.Move", c.Migration.Move, time.Second, 24*time.Hour)
	ratio("Migration.Tax", c.Migration.Tax, 0, 0.9)
	span("Migration.TaxFor", c.Migration.TaxFor, 0, 7*24*time.Hour)
	span("SLA.Start", c.SLA.Start, 0, MaxHorizon)
	span("SLA.Wait", c.SLA.Wait, 0, MaxHorizon)
	ratio("RateUSD", c.RateUSD, 0, 1000)
	if math.IsNaN(c.MFU) || c.MFU <= 0 || c.MFU > 1 {
		bad("MFU", c.MFU, "above 0 and at most 1")
	}
	for i, team := range c.Teams {
		count(fmt.Sprintf("Teams[%d].Quota", i), team.Quota, 0, maxGPUs)
		count(fmt.Sprintf("Teams[%d].Shares", i), team.Shares, 0, 1_000_000)
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	errs = append(errs, c.validateJobs()...)
	errs = append(errs, c.validateFaults()...)
	return errors.Join(errs...)
}
