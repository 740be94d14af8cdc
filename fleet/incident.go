package fleet

import "time"

// Kind sorts incidents for the log.
type Kind uint8

// The kinds of incident.
const (
	BigArrived   Kind = iota // the watched job arrived
	BigWaits                 // it could not start, and why
	BigStarted               // it started
	BigDone                  // it finished
	NodeFailed               // a node went down, with the jobs it took
	NodeRepaired             // a node came back
	Eviction                 // jobs were killed for one of higher priority
	NoEviction               // killing would not have helped
	Relocation               // the fleet stood still and jobs moved
	NoMigration              // moving would not have helped
	SLAMissed                // a promise was broken
	Recovery                 // a job that a failure had killed runs again
	Rescale                  // a training job goes on with other nodes, or stands still
	Crashed                  // a training job goes back to the queue because it lost nodes
	GaveUp                   // a training job ended for good: too few replicas were left
	OverQuota                // a job waits because its team holds as much as it may
)

// Incident is one line of the consequence log: something that really happened in this run.
type Incident struct {
	ID   int
	At   time.Duration
	Kind Kind
	Node int    // -1 if no node is meant
	Job  int    // ID of the job, 0 if none is meant
	Text string // one sentence with the reason and the numbers
}

var kindNames = [...]string{
	"big job arrived", "waits", "started", "done", "node failed", "node repaired", "eviction", "no eviction", "migration", "no migration",
	"SLA missed", "recovery", "rescale", "crash", "gave up", "over quota",
}

// String is the kind in a few words.
func (k Kind) String() string { return kindNames[k] }
