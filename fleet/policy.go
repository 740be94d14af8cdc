package fleet

import (
	"fmt"
	"time"

	"github.com/fleetlab/fleetlab/fleet/elastic"
)

// Policy decides who starts next and where. It is asked whenever the fleet has changed, again and again until it answers that
// nobody can start. It must answer from the View alone: the same view, the same decision.
type Policy interface {
	Decide(v View) Decision
}

// Decision is a policy's answer: Job starts on Node now; or, with Node == Wait, Job is the next in line but has no place; or, with
// Job == Nobody, there is nothing to decide.
type Decision struct {
	Job   int   // index into Config.Jobs, or Nobody
	Node  int   // the first node of its place, or Wait
	Nodes []int // of a gang: its nodes, if they are not the consecutive ones from Node on
}

// Answers that start nothing.
const (
	Nobody = -1
	Wait   = -1
)

// The policies of the lab.
var (
	// FCFS is first come, first served: strict head of line, nobody overtakes, and each job goes to the first place that fits.
	FCFS Policy = Queueing{Name: "FCFS"}
	// BestFit places each job where it leaves the fewest GPUs over, and lets later jobs pass one that has no place, as the Kubernetes
	// scheduler does. Its scoring is the MostAllocated strategy, not the default LeastAllocated.
	BestFit Policy = Queueing{Name: "Best-Fit", Backfill: Greedy, Fit: FitBest}
	// EASY is first come, first served, but later jobs fill the holes as long as they do not delay the one at the head of the queue:
	// Slurm's sched/backfill with one reservation. It lives on Job.Limit; see the constant Reserve for the rule.
	EASY Policy = Queueing{Name: "EASY", Backfill: Reserve}
	// Preemption takes the jobs by priority, then by arrival, strictly, and evicts jobs of lower priority when the next one has no
	// place, as Slurm does with PreemptMode=REQUEUE.
	Preemption Policy = Queueing{Name: "Preemption", Order: ByPriority, Evicts: true}
)

// Placing is a policy with a placement of your own: jobs in the order of arrival, later ones may pass one that has no place. The
// function is asked for jobs that fit into a node; gangs go to the shortest run of free nodes that holds them. Without a
// function there is no policy: nil, which Simulate refuses.
func Placing(name string, place Placement) Policy {
	if place == nil {
		return nil
	}
	return Queueing{Name: name, Backfill: Greedy, Fit: FitBest, Place: place}
}

// Queueing is a policy made of parts: in which order jobs come, who may pass one that has no place, and where each one goes. The
// built-in policies are values of it, and others are a literal away:
//
//	c.Policy = fleet.Queueing{Name: "fair", Order: fleet.ByShare, Backfill: fleet.Reserve, Fit: fleet.FitSpread}
//
// A job that would take its team over its quota is passed over, whatever the parts are: it blocks nobody.
type Queueing struct {
	Name     string
	Order    Order     // whose turn it is; the zero value is by arrival
	Backfill Backfill  // who may pass a job that has no place; the zero value is nobody
	Fit      Fit       // which of several places a job gets; the zero value is the first
	Place    Placement // asked instead of Fit for the jobs that fit into a node, if it is not nil
	Evicts   bool      // when the next job has no place, jobs of lower Job.Priority are killed for it; implies Config.Preempt

	Ageing   time.Duration // with ByPriority: each such time of waiting is worth one level of priority; at least 1 s, or 0 for no ageing
	MaxAge   time.Duration // waiting beyond it is worth nothing more (Slurm: PriorityMaxAge); 0 means 7 days, Slurm's default
	HalfLife time.Duration // with ByShare: usage so old counts half (Slurm: PriorityDecayHalfLife); at least 5 m; 0 means 7 days, its default
}

// String is the name of the policy.
func (q Queueing) String() string { return q.Name }

// Decide goes through the queue until a job has a place.
func (q Queueing) Decide(v View) Decision {
	s, waits := v.s, Decision{Job: Nobody, Node: Wait}
	tried := newTrials(s.topo.GPUs())
	var hold reservation // of EASY's head
	head := Nobody
	for i := range s.order(&q) {
		j := &s.jobs[i]
		if head != Nobody && hold.job == nil {
			hold = s.reserve(&s.jobs[head], s.reserved)
		}
		if !s.quotaAllows(i, hold.job) {
			continue
		}
		avoid := hold.keepsFrom(s, j)
		if tried.promising(j, avoid != nil) {
			if d := q.spot(v, j, avoid); d.Node != Wait {
				d.Job = i
				return d
			}
			if q.Place == nil || !s.room(j.GPUs) {
				tried.fail(j, s.topo.GPUsPerNode, avoid != nil)
			}
		}
		if waits.Job == Nobody {
			waits.Job = i
		}
		if q.Backfill == Strict || s.idle < s.smallest || tried.over(s.smallest) {
			break
		}
		if q.Backfill == Reserve && head == Nobody && !s.planned(i) { // a place that is being cleared needs no reservation
			head = i
		}
	}
	return waits
}

// trials is what has found no place in one pass through the queue: where there is no room for a job, there is none for one of its size
// or larger that is as particular about its nodes, so those are not tried. A placement of somebody's own is asked all the same wherever
// there is room: why it wants none of it is not known.
type trials [2][Anywhere + 1]int // by whether a reservation had to be kept clear, and locality: the fewest GPUs that were too many

func newTrials(capacity int) (t trials) {
	for a := range t {
		for l := range t[a] {
			t[a][l] = capacity + 1
		}
	}
	return t
}

// promising tells whether it is worth looking for a place.
func (t *trials) promising(j *Job, avoiding bool) bool { return j.GPUs < t[bit(avoiding)][j.near()] }

// fail notes that a job has no place. One that has none in the whole fleet has none beside a reservation either, and if a job for one
// node has none, no gang has one.
func (t *trials) fail(j *Job, gpusPerNode int, avoiding bool) {
	for a := bit(avoiding); a < len(t); a++ {
		for l := range t[a] {
			if j.GPUs <= gpusPerNode || Locality(l) == j.near() {
				t[a][l] = min(t[a][l], j.GPUs)
			}
		}
	}
}

// over tells whether nobody at all has a place: even the smallest job is too much.
func (t *trials) over(smallest int) bool { return t[0][Anywhere] <= smallest }

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// spot is the place that a job gets, away from the nodes of avoid.
func (q *Queueing) spot(v View, j *Job, avoid bitset) Decision {
	if q.Place == nil || j.GPUs > v.GPUsPerNode() {
		return v.s.place(j, q.Fit, avoid)
	}
	d := Decision{Job: Nobody, Node: q.Place(v, *j)}
	if avoid != nil && d.Node >= 0 && d.Node < v.Nodes() && avoid.has(d.Node) {
		d.Node = Wait
	}
	return d
}

// PolicyName is the name that a policy gives itself, else its type.
func PolicyName(p Policy) string { return ownName(p) }

// RescalerName is the name that a strategy for lost nodes gives itself, else its type.
func RescalerName(r elastic.Rescaler) string { return ownName(r) }

// ownName is the name that a value gives itself, else its type.
func ownName(v any) (name string) {
	name = fmt.Sprintf("%T", v)
	defer func() { _ = recover() }() // String may be a student's, and called on nil
	if s, ok := v.(fmt.Stringer); ok {
		name = s.String()
	}
	return name
}

// Preempts tells whether a policy evicts jobs by itself, so that Config.Preempt is implied.
func Preempts(p Policy) bool {
	q, ok := asQueueing(p)
	return ok && q.Evicts
}

// passes tells whether later jobs pass one that waits.
func passes(p Policy) bool {
	q, ok := asQueueing(p)
	return ok && q.Backfill != Strict
}

// asQueueing is the parts of a policy, if it has them.
func asQueueing(p Policy) (Queueing, bool) {
	switch q := p.(type) {
	case Queueing:
		return q, true
	case *Queueing:
		if q != nil {
			return *q, true
		}
	}
	return Queueing{}, false
}

// validate checks the parts of a policy.
func (q Queueing) validate() (errs []error) {
	check := func(ok bool, field string, value any, want string) {
		if !ok {
			errs = append(errs, outOfRange("Policy."+field, value, want))
		}
	}
	check(q.Order <= ByShare, "Order", q.Order, "ByArrival, ByPriority or ByShare")
	check(q.Backfill <= Reserve, "Backfill", q.Backfill, "Strict, Greedy or Reserve")
	check(q.Fit <= FitSpread, "Fit", q.Fit, "FitFirst, FitBest or FitSpread")
	const longest = 10 * 365 * 24 * time.Hour
	between := func(d, least time.Duration) bool { return d == 0 || d >= least && d <= longest }
	check(between(q.Ageing, time.Second), "Ageing", q.Ageing, fmt.Sprintf("0s or between 1s and %v", longest))
	check(q.Ageing == 0 || q.Order == ByPriority, "Ageing", q.Ageing, "0s unless Order is ByPriority")
	check(between(q.MaxAge, time.Second), "MaxAge", q.MaxAge, fmt.Sprintf("0s or between 1s and %v", longest))
	check(q.MaxAge == 0 || q.Ageing != 0, "MaxAge", q.MaxAge, "0s unless Ageing is set")
	check(between(q.HalfLife, calcPeriod), "HalfLife", q.HalfLife, fmt.Sprintf("0s or between %v and %v", calcPeriod, longest))
	check(q.HalfLife == 0 || q.Order == ByShare, "HalfLife", q.HalfLife, "0s unless Order is ByShare")
	return errs
}
