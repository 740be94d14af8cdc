package fleet

import (
	"fmt"
	"time"
)

// Job is one request for GPUs. A job of at most GPUsPerNode GPUs lives on one node. A larger one is a gang: it needs whole nodes, all
// at once or not at all, and consecutive ones unless Locality says otherwise. (Slurm's word "gang" means time slicing instead; Kueue and
// Volcano use it as here.) GPUs on the last node of a gang that it did not ask for are stranded: held, healthy and of no use.
type Job struct {
	ID       int           // from 1, unique
	GPUs     int           // 1 to the capacity of the fleet
	Arrival  time.Duration // since the start of the run
	Work     time.Duration // run time without checkpoints, failures or waiting; at least 1 ms
	Priority int           // a job may be evicted only for one of higher priority
	Write    time.Duration // δ: one checkpoint write, during which no work is done
	Restart  time.Duration // load the checkpoint and warm up, paid when a killed job starts again
	Phase    int           // thousandths of τ by which the first checkpoint comes early, 0 to 999: jobs that start together need not write together
	Persist  time.Duration // asynchronous checkpoint: Write is only the snapshot, and it counts after so long in the background, if the job has the same nodes then; 0 counts at once

	Limit    time.Duration // run time that the user asked for (Slurm: --time), 0 if none; only EASY looks at it, and nobody is killed for running over it
	Team     int           // 0, or the number of one of Config.Teams, from 1
	Locality Locality      // which nodes a gang may have; a training job's spares too, but they need not be consecutive
	Prefer   bool          // Locality is only a wish: where it can't be had, any nodes will do

	Train *Training // nil, or what a training job does about lost nodes; shared by configs, never written to
}

func (j Job) inSteps() Job {
	roundAll(&j.Arrival, &j.Work, &j.Write, &j.Restart, &j.Persist, &j.Limit)
	if t := j.Train; t != nil {
		k := *t
		if roundAll(&k.StepTime, &k.Stall, &k.Move); k.times() != t.times() {
			j.Train = &k
		}
	}
	return j
}

// Locality is how near to each other the nodes of a gang have to be: Kueue's topology-aware scheduling calls it required, or with
// Job.Prefer preferred; Anywhere is its unconstrained.
type Locality uint8

// The localities.
const (
	Contiguous Locality = iota // consecutive nodes; they may cross from one rack or pod into the next
	SameRack                   // any nodes of one rack
	SamePod                    // any nodes of one pod
	Anywhere                   // any nodes of the fleet
)

// String is the locality in a few words.
func (l Locality) String() string {
	return nameOf(l, "consecutive nodes", "one rack", "one pod", "anywhere")
}

// nameOf is the name of a value that counts from 0.
func nameOf[T ~uint8](v T, names ...string) string {
	if int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("unknown (%d)", v)
}

// validateJobs stops after some errors: a thousand lines of them help nobody.
func (c Config) validateJobs() (errs []error) {
	const enough = 5
	bad := func(i int, field string, value any, want string) {
		errs = append(errs, outOfRange(fmt.Sprintf("Jobs[%d].%s", i, field), value, want))
	}
	seen := make(map[int]bool, len(c.Jobs))
	for i, j := range c.Jobs {
		switch {
		case len(errs) >= enough:
			return errs
		case j.ID < 1 || seen[j.ID]:
			bad(i, "ID", j.ID, "at least 1 and unique")
		case j.GPUs < 1 || j.GPUs > c.Topology.GPUs():
			bad(i, "GPUs", j.GPUs, fmt.Sprintf("between 1 and %d, the capacity of the fleet", c.Topology.GPUs()))
		case j.Arrival < 0 || (i > 0 && j.Arrival < c.Jobs[i-1].Arrival):
			bad(i, "Arrival", j.Arrival, "at least 0 and not before that of the job before it")
		case j.Work < Resolution || j.Work > maxWork:
			bad(i, "Work", j.Work, fmt.Sprintf("between %v and %v", Resolution, maxWork))
		case j.Write < 0 || j.Write > 24*time.Hour:
			bad(i, "Write", j.Write, "between 0s and 24h0m0s")
		case j.Restart < 0 || j.Restart > 24*time.Hour:
			bad(i, "Restart", j.Restart, "between 0s and 24h0m0s")
		case j.Phase < 0 || j.Phase > 999:
			bad(i, "Phase", j.Phase, "between 0 and 999")
		case j.Persist < 0 || j.Persist > 24*time.Hour:
			bad(i, "Persist", j.Persist, "between 0s and 24h0m0s")
		case j.Limit < 0 || j.Limit > maxWork:
			bad(i, "Limit", j.Limit, fmt.Sprintf("between 0s and %v", maxWork))
		case j.Team < 0 || j.Team > len(c.Teams):
			bad(i, "Team", j.Team, fmt.Sprintf("0 or one of the %d of Teams, from 1", len(c.Teams)))
		case j.Locality > Anywhere:
			bad(i, "Locality", j.Locality, "Contiguous, SameRack, SamePod or Anywhere")
		case float64(j.Work)/float64(c.Checkpoint)*float64(j.Write) > float64(maxWrites):
			bad(i, "Write", j.Write, fmt.Sprintf("so short that all checkpoints of %v of work, one every %v, take at most %v", j.Work, c.Checkpoint, maxWrites))
		case j.Train != nil:
			errs = append(errs, c.validateTraining(i)...)
		}
		seen[j.ID] = true
	}
	if c.Big != 0 && !seen[c.Big] {
		errs = append(errs, outOfRange("Big", c.Big, "0 or the ID of a job in Jobs"))
	}
	return errs
}

// These keep every sum of times inside a time.Duration, which ends after 292 years, and every product with a number of GPUs inside a
// GPUTime.
const (
	maxWork   = 10 * 365 * 24 * time.Hour
	maxWrites = 100 * 365 * 24 * time.Hour
)

// Fault breaks something at At. What, and for whom, is its Scope. Faults of one GPU may overlap: it is back when all are repaired.
type Fault struct {
	Node   int           // 0 to Topology.Nodes()-1
	At     time.Duration // since the start of the run
	Repair time.Duration // until it works again; at least 1 ms, but 0 if Scope is Software
	Cause  string        // for the log: the component that broke

	Scope  Scope         // what it takes down
	Nodes  int           // of scope WholeNode: so many consecutive nodes from Node on, as a switch or a power spike does; 0 means 1
	GPU    int           // of scope OneGPU: which one of the node, 0 to GPUsPerNode-1
	Silent time.Duration // silent data corruption: found so long after At. Only then do jobs stop, and all that was computed from At on is wrong
}

func (f Fault) inSteps() Fault {
	some := f.Repair > 0
	if roundAll(&f.At, &f.Repair, &f.Silent); some {
		f.Repair = max(Resolution, f.Repair)
	}
	return f
}

// Scope is what a fault takes down.
type Scope uint8

// The scopes.
const (
	WholeNode Scope = iota // one node or several leave the fleet, with the jobs on them
	OneGPU                 // one GPU, with the job that holds it; the node's other GPUs work on, but no gang gets the node
	Software               // nothing breaks: the jobs on the node crash, and it stays in the fleet; a training job's replica there loses its state
)

// String is the scope in a few words.
func (s Scope) String() string {
	return nameOf(s, "node", "GPU", "software")
}

func (c Config) validateFaults() (errs []error) {
	const enough = 5
	bad := func(i int, field string, value any, want string) {
		errs = append(errs, outOfRange(fmt.Sprintf("Faults[%d].%s", i, field), value, want))
	}
	for i, f := range c.Faults {
		switch {
		case len(errs) >= enough:
			return errs
		case f.Node < 0 || f.Node >= c.Topology.Nodes():
			bad(i, "Node", f.Node, fmt.Sprintf("between 0 and %d", c.Topology.Nodes()-1))
		case f.At < 0 || (i > 0 && f.At < c.Faults[i-1].At):
			bad(i, "At", f.At, "at least 0 and not before that of the fault before it")
		case f.Scope > Software:
			bad(i, "Scope", f.Scope, "WholeNode, OneGPU or Software")
		case f.Scope == Software && f.Repair != 0:
			bad(i, "Repair", f.Repair, "0s: a crash of software breaks nothing")
		case f.Scope != Software && (f.Repair < Resolution || f.Repair > maxWork):
			bad(i, "Repair", f.Repair, fmt.Sprintf("between %v and %v", Resolution, maxWork))
		case f.Nodes < 0 || f.Nodes > c.Topology.Nodes()-f.Node || f.Nodes > 1 && f.Scope != WholeNode:
			bad(i, "Nodes", f.Nodes, fmt.Sprintf("between 0 and %d from node %d on, and 0 or 1 unless Scope is WholeNode", c.Topology.Nodes()-f.Node, f.Node))
		case f.GPU < 0 || f.GPU >= c.Topology.GPUsPerNode || f.GPU > 0 && f.Scope != OneGPU:
			bad(i, "GPU", f.GPU, fmt.Sprintf("between 0 and %d, and 0 unless Scope is OneGPU", c.Topology.GPUsPerNode-1))
		case f.Silent < 0 || f.Silent > maxWork:
			bad(i, "Silent", f.Silent, fmt.Sprintf("between 0s and %v", maxWork))
		}
	}
	return errs
}
