package fleet

import "time"

// eventKind orders events that fall on the same instant: what frees GPUs comes before what asks for them.
type eventKind uint8

const (
	evEnd      eventKind = iota // a span's job has done its work
	evRepair                    // a fault is repaired
	evResume                    // the fleet runs again after a migration
	evFault                     // something breaks
	evNotice                    // a silent corruption is noticed
	evDeadline                  // a span's grace period is over
	evArrive                    // a job enters the queue
	evPromise                   // the big job should have started by now
	evReplan                    // look again whether evicting or migrating helps
)

// event is something that will happen at At, unless it is void by then.
type event struct {
	at   time.Duration
	seq  uint64 // breaks ties: first planned, first come
	kind eventKind
	arg  int32 // a span, node, fault or job
}

func (e event) before(o event) bool {
	if e.at != o.at {
		return e.at < o.at
	}
	if e.kind != o.kind {
		return e.kind < o.kind
	}
	return e.seq < o.seq
}

// agenda is the queue of future events: arrivals and faults, which are known from the start and in order, and a binary heap of what
// the run itself plans. (container/heap calls through an interface, which costs a third of a run.)
type agenda struct {
	heap     []event
	seq      uint64
	jobs     []Job
	faults   []Fault
	nextJob  int // the first that has not come yet
	nextFail int
}

// next is the earliest event, and whether there is one.
func (a *agenda) next() (e event, some bool) {
	if len(a.heap) > 0 {
		e, some = a.heap[0], true
	}
	if a.nextFail < len(a.faults) {
		if f := (event{a.faults[a.nextFail].At, 0, evFault, int32(a.nextFail)}); !some || f.before(e) {
			e, some = f, true
		}
	}
	if a.nextJob < len(a.jobs) {
		if j := (event{a.jobs[a.nextJob].Arrival, 0, evArrive, int32(a.nextJob)}); !some || j.before(e) {
			e, some = j, true
		}
	}
	return e, some
}

// take removes the earliest event.
func (a *agenda) take() event {
	e, _ := a.next()
	switch e.kind {
	case evFault:
		a.nextFail++
	case evArrive:
		a.nextJob++
	default:
		a.pop()
	}
	return e
}

// plan adds an event to the heap.
func (a *agenda) plan(at time.Duration, kind eventKind, arg int32) {
	a.seq++
	e := event{at, a.seq, kind, arg}
	a.heap = append(a.heap, e)
	i := len(a.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !e.before(a.heap[up]) {
			break
		}
		a.heap[i] = a.heap[up]
		i = up
	}
	a.heap[i] = e
}

// pop removes the earliest event of the heap.
func (a *agenda) pop() {
	last := a.heap[len(a.heap)-1]
	a.heap = a.heap[:len(a.heap)-1]
	n := len(a.heap)
	if n == 0 {
		return
	}
	i := 0
	for {
		down := 2*i + 1
		if down >= n {
			break
		}
		if down+1 < n && a.heap[down+1].before(a.heap[down]) {
			down++
		}
		if !a.heap[down].before(last) {
			break
		}
		a.heap[i] = a.heap[down]
		i = down
	}
	a.heap[i] = last
}
