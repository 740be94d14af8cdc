package fleet

import (
	"fmt"
	"iter"
	"math/bits"
	"time"
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

// Placement names the first node of a place where a job fits, or Wait. For a job of at most GPUsPerNode GPUs that is a node with
// so many free GPUs, for a gang the first of a run of wholly free nodes.
type Placement func(v View, j Job) int

// The policies of the lab.
var (
	// FCFS is first come, first served: strict head of line, nobody overtakes, and each job goes to the first place that fits.
	FCFS Policy = queueing{name: "FCFS", place: PlaceFirst, strict: true}
	// BestFit places each job where it leaves the fewest GPUs over, and lets later jobs pass one that has no place, as the Kubernetes
	// scheduler does. Its scoring is the MostAllocated strategy, not the default LeastAllocated.
	BestFit Policy = queueing{name: "Best-Fit", place: PlaceBest}
	// Preemption takes the jobs by priority, then by arrival, strictly, and evicts jobs of lower priority when the next one has no
	// place, as Slurm does with PreemptMode=REQUEUE.
	Preemption Policy = queueing{name: "Preemption", place: PlaceFirst, strict: true, preempts: true}
)

// Placing is a policy with a placement of your own: jobs in the order of arrival, later ones may pass one that has no place. The
// function is asked for jobs that fit into a node; gangs go to the shortest run of free nodes that holds them.
func Placing(name string, place Placement) Policy {
	if place == nil {
		place = func(View, Job) int { return Wait }
	}
	return queueing{name: name, own: true, place: func(v View, j Job) int {
		if j.GPUs > v.GPUsPerNode() {
			return PlaceBest(v, j)
		}
		return place(v, j)
	}}
}

// queueing is a queue order with a placement: all of the built-in policies are one.
type queueing struct {
	name     string
	place    Placement
	strict   bool // nobody passes a job that waits
	own      bool // a placement of somebody's own: nothing is known of it
	preempts bool // by priority, and evicting
}

// String is the name of the policy.
func (q queueing) String() string { return q.name }

// Decide goes through the queue until a job has a place. Where there is no room for a job, there is none for one of its size or larger
// that is as particular about its nodes, so those are not tried; if one GPU is too much, nobody fits. A placement of somebody's own is
// asked all the same wherever there is room: why it wants none of it is not known.
func (q queueing) Decide(v View) Decision {
	waits := Decision{Job: Nobody, Node: Wait}
	var tooMany [Anywhere + 1]int
	for l := range tooMany {
		tooMany[l] = v.s.topo.GPUs() + 1
	}
	for i, j := range v.order(q.preempts) {
		if j.GPUs < tooMany[j.near()] {
			if d := q.spot(v, j); d.Node != Wait {
				d.Job = i
				return d
			}
			if !q.own || !v.s.room(j.GPUs) {
				for l := range tooMany {
					if j.GPUs <= v.GPUsPerNode() || Locality(l) == j.near() {
						tooMany[l] = min(tooMany[l], j.GPUs)
					}
				}
			}
		}
		if waits.Job == Nobody {
			waits.Job = i
		}
		if q.strict || tooMany[Anywhere] == 1 {
			break
		}
	}
	return waits
}

// near is the locality that a job really needs.
func (j Job) near() Locality {
	if j.Prefer {
		return Anywhere
	}
	return j.Locality
}

// spot is the place of a job: one node or consecutive ones, or those that a gang's locality allows.
func (q queueing) spot(v View, j Job) Decision {
	d := Decision{Job: Nobody, Node: Wait}
	if j.GPUs <= v.GPUsPerNode() || j.Locality == Contiguous {
		d.Node = q.place(v, j)
	} else if d.Nodes = v.s.scattered(j.GPUs, j.Locality); d.Nodes != nil {
		d.Node = d.Nodes[0]
	}
	if d.Node == Wait && j.Prefer && j.GPUs > v.GPUsPerNode() {
		if d.Nodes = v.s.scattered(j.GPUs, Anywhere); d.Nodes != nil {
			d.Node = d.Nodes[0]
		}
	}
	return d
}

// scattered is the lowest free nodes of the fleet, or of the rack or pod with the fewest of them, that hold a gang; nil if there are not
// enough.
func (s *sim) scattered(gpus int, l Locality) []int {
	need, free := s.topo.NodesFor(gpus), s.byFree[s.topo.GPUsPerNode]
	if s.nodesWith[s.topo.GPUsPerNode] < need {
		return nil
	}
	size := s.topo.domain(l)
	var best, nodes []int
	end := size
	for n := range free.elements {
		if n >= end {
			if len(nodes) >= need && (best == nil || len(nodes) < len(best)) {
				best = nodes
			}
			nodes, end = nil, (n/size+1)*size
		}
		if nodes = append(nodes, n); l == Anywhere && len(nodes) == need {
			return nodes
		}
	}
	if len(nodes) >= need && (best == nil || len(nodes) < len(best)) {
		best = nodes
	}
	if best == nil {
		return nil
	}
	return best[:need]
}

// room tells whether some open node has so many free GPUs: never for a gang, which PlaceBest has looked for.
func (s *sim) room(gpus int) bool {
	for k := gpus; k < len(s.nodesWith); k++ {
		if s.nodesWith[k] > 0 {
			return true
		}
	}
	return false
}

// PolicyName is the name that a policy gives itself, else its type.
func PolicyName(p Policy) string { return ownName(p) }

// ownName is the name that a value gives itself, else its type.
func ownName(v any) string {
	if s, ok := v.(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprintf("%T", v)
}

// Preempts tells whether a policy evicts jobs by itself, so that Config.Preempt is implied.
func Preempts(p Policy) bool {
	q, ok := p.(queueing)
	return ok && q.preempts
}

// passes tells whether later jobs pass one that waits.
func passes(p Policy) bool {
	q, ok := p.(queueing)
	return ok && !q.strict
}

// PlaceFirst is first fit: the lowest-numbered place that holds the job.
func PlaceFirst(v View, j Job) int {
	s := v.s
	if j.GPUs > v.GPUsPerNode() {
		return s.gangPlace(s.topo.NodesFor(j.GPUs), false)
	}
	for w := range s.byFree[0] {
		var any uint64
		for k := j.GPUs; k < len(s.byFree); k++ {
			any |= s.byFree[k][w]
		}
		if any != 0 {
			return w*64 + bits.TrailingZeros64(any)
		}
	}
	return Wait
}

// PlaceBest is best fit: the node with the fewest free GPUs that still holds the job, or the shortest run of free nodes that holds
// the gang; the lowest-numbered one of equals.
func PlaceBest(v View, j Job) int {
	s := v.s
	if j.GPUs > v.GPUsPerNode() {
		return s.gangPlace(s.topo.NodesFor(j.GPUs), true)
	}
	for k := j.GPUs; k < len(s.byFree); k++ {
		if s.nodesWith[k] == 0 {
			continue
		}
		for w, word := range s.byFree[k] {
			if word != 0 {
				return w*64 + bits.TrailingZeros64(word)
			}
		}
	}
	return Wait
}

// gangPlace is the first node of a run of need wholly free nodes: of the first such run, or of the shortest.
func (s *sim) gangPlace(need int, shortest bool) int {
	free := s.byFree[s.topo.GPUsPerNode]
	if s.nodesWith[s.topo.GPUsPerNode] < need {
		return Wait
	}
	at, best := Wait, 0
	for start, n := range free.runs {
		if n < need || (at != Wait && n >= best) {
			continue
		}
		if at, best = start, n; !shortest {
			break
		}
	}
	return at
}

// View is the fleet as a policy may see it. It is read-only and valid during one call of Decide.
type View struct{ s *sim }

// Now is the simulated time since the start of the run.
func (v View) Now() time.Duration { return v.s.now }

// Topology is the shape of the fleet.
func (v View) Topology() Topology { return v.s.topo }

// Nodes is the number of nodes, up or down.
func (v View) Nodes() int { return len(v.s.free) }

// GPUsPerNode is the size of a node.
func (v View) GPUsPerNode() int { return v.s.topo.GPUsPerNode }

// Free is the number of GPUs of a node that a job could have now: 0 for a node that is down, that is kept for another job, or
// that does not exist.
func (v View) Free(node int) int {
	if node < 0 || node >= len(v.s.free) || !v.s.open(node) {
		return 0
	}
	return v.s.freeGPUs(node)
}

// LargestHole is the longest run of consecutive wholly idle nodes, in nodes.
func (v View) LargestHole() int { return v.s.holeLen }

// Queue yields the waiting jobs with their index into Config.Jobs, in order of arrival.
func (v View) Queue() iter.Seq2[int, Job] { return v.order(false) }

// order is the queue by arrival, or by priority and then by arrival.
func (v View) order(byPriority bool) iter.Seq2[int, Job] {
	s := v.s
	return func(yield func(int, Job) bool) {
		if byPriority || len(s.queues) == 1 {
			for _, q := range s.queues {
				for _, i := range q.waiting {
					if !yield(int(i), s.jobs[i]) {
						return
					}
				}
			}
			return
		}
		at := make([]int, len(s.queues)) // merge: jobs are numbered in order of arrival
		for {
			next, from := int32(-1), 0
			for k, q := range s.queues {
				if at[k] < len(q.waiting) && (next < 0 || q.waiting[at[k]] < next) {
					next, from = q.waiting[at[k]], k
				}
			}
			if next < 0 || !yield(int(next), s.jobs[next]) {
				return
			}
			at[from]++
		}
	}
}
