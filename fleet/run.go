package fleet

import "time"

// Run is the record of one simulation: who held which GPUs from when to when, which nodes were down, when the fleet stood still,
// and what happened. Everything shown of a run (Ledger, At, the widgets' pictures) is read from here and changes nothing.
type Run struct {
	Config    Config
	Spans     []Span     // in order of Start, and of decision where starts are equal
	Outages   []Outage   // in order of Start
	Pauses    []Interval // stop-the-world migrations, in order, none overlapping
	Incidents []Incident // in order of time; IDs count from 1
	Samples   []Sample   // the fleet after each instant at which it changed, in order of At; the first is at 0
	Queue     []Waiting  // per job, by index into Config.Jobs: how long it waited

	big      int // index of the watched job; means nothing if Config.Big is 0
	failures []time.Duration
	losses   []loss
	undone   []undone
	moved    []moves
}

// loss is work that was thrown away at one instant, and why: Rework for failures, Preempted for evictions.
type loss struct {
	at      time.Duration
	work    GPUTime
	restart GPUTime // to be paid when the job starts again
	why     Part
}

// undone is work of a job that was thrown away and had not been done again by the horizon.
type undone struct {
	job  int
	work GPUTime
	why  Part
}

// moves is one migration.
type moves struct {
	at   time.Duration
	jobs int
}

// Interval is the time from Start up to, and without, End.
type Interval struct{ Start, End time.Duration }

// Reason tells why a span ended.
type Reason uint8

// The reasons.
const (
	Done     Reason = iota // the job finished its work
	Killed                 // its node failed
	Evicted                // it made room for a job of higher priority
	Migrated               // it moved: its next span begins at the same instant elsewhere
	Horizon                // the run ended first
	Rescaled               // its set of nodes changed: if it goes on, its next span begins at the same instant
)

// String is the reason in one word.
func (r Reason) String() string {
	return [...]string{"done", "failed", "evicted", "migrated", "running at the horizon", "rescaled"}[r]
}

// Span is the stay of one job on one set of GPUs.
type Span struct {
	Job        int           // index into Config.Jobs
	Node       int           // the first node
	Nodes      int           // how many; more than 1 only for gangs
	Set        []int32       // the nodes, if they are not the consecutive ones from Node on; of a training job in rank order, the stranded ones last
	Mask       uint16        // the GPUs held on each of these nodes, one bit each; all of them for gangs
	Busy       int           // GPUs at work, counted through the nodes in order; the others are stranded
	Start, End time.Duration // from Start up to, and without, End
	Reason     Reason        // why it ended

	from     time.Duration // progress that the job starts from
	restart  time.Duration // paid first
	paid     time.Duration // of the same restart, by the span before
	started  bool          // from the queue
	goesOn   bool          // nothing has changed for the GPUs at work since the span before
	phase    time.Duration // by so much the first checkpoint comes early
	taxUntil time.Duration // runs slower up to here
	redo     []redo        // the work beyond from that was done before and lost, and why; ascending, nil for almost all
	speed    speed         // of a training job that is not at full strength
	holders  int           // of a training job: so many nodes at the front of Set have the model's state; the rest get it when restart is over
}

// speed is a fraction of the full speed; the zero value is full speed.
type speed struct{ num, den int64 }

// On yields the nodes of a span in order.
func (s *Span) On(yield func(node int) bool) {
	if s.Set != nil {
		for _, n := range s.Set {
			if !yield(int(n)) {
				return
			}
		}
		return
	}
	for n := s.Node; n < s.Node+s.Nodes; n++ {
		if !yield(n) {
			return
		}
	}
}

// redo marks progress up to upTo as done before and lost for the part's reason.
type redo struct {
	upTo time.Duration
	part Part
}

// Outage is GPUs of a node that were down.
type Outage struct {
	Node       int
	Mask       uint16        // which of its GPUs, one bit each
	Start, End time.Duration // End is the horizon if it was not repaired by then

	since time.Duration // when the first of its GPUs went down: an outage is split when they come back one after another
}

// Waiting is one job's time in the queue over all its attempts, up to the horizon.
type Waiting struct {
	Wait     time.Duration // arrival to first start, plus each wait after a kill; for a job that never started it runs to the horizon
	FirstRun time.Duration // when it first started, or Never
	Done     time.Duration // when it finished, or Never
	GaveUp   time.Duration // when it ended for good without finishing, since too few replicas were left; or Never
	Kills    int           // by failures
	Evicts   int           // by preemption
}

// Never stands for an instant that did not come before the horizon.
const Never time.Duration = -1

// Sample is the state of the fleet from At on, up to the next sample, with the integrals that lead up to At.
type Sample struct {
	At          time.Duration
	Working     int     // GPUs at work for a job; with Stranded, Idle and Failed it adds up to the capacity
	Stranded    int     // healthy GPUs that a job holds and can't use
	Idle        int     // healthy GPUs that nobody holds
	Failed      int     // GPUs that are down
	Queued      int     // jobs that wait
	LargestHole int     // longest run of consecutive nodes that are wholly idle, in nodes
	FGD         float64 // GPUs that FGD counts as fragmented, see DefFGD

	idle, failed, hole GPUTime // integrals of Idle, Failed and LargestHole × GPUsPerNode up to At
}

// State is what the heatmap shows of one GPU.
type State uint8

// The states.
const (
	GPUIdle State = iota
	GPUWorking
	GPUFailed
	GPUStranded
)

// Snapshot is the fleet at one instant, GPU by GPU.
type Snapshot struct {
	Sample
	Paused bool    // the fleet stands still for a migration
	State  []State // by GPU
	Job    []int32 // by GPU: ID of the job that holds it, 0 for none
	Hole   int     // first node of the largest hole, -1 if there is none
}
