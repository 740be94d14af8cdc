package fleet

import (
	"cmp"
	"iter"
	"slices"
	"time"
)

// This file has the orders of the queue. A job that was killed goes back to the place that its arrival gives it.

// Order is whose turn it is.
type Order uint8

// The orders.
const (
	// ByArrival is first come, first served.
	ByArrival Order = iota
	// ByPriority takes the highest Job.Priority first, and of equal ones the first to arrive. With Queueing.Ageing a job rises by one
	// level for each such time since its arrival, as in Slurm's multifactor plugin (PriorityWeightAge), so that nobody starves. As there
	// the age is capped, by default at 7 days: PriorityMaxAge. Two things differ: levels are whole, so that a job overtakes at one instant
	// that can be read off, at the first change of the fleet after it (Slurm: PriorityCalcPeriod, every 5 minutes); and a killed job
	// keeps its age, where Slurm counts a requeued one's anew. Ageing changes the order alone: nobody is ever evicted by a job that
	// is merely old, as Slurm preempts by QOS or partition and not by age.
	ByPriority
	// ByShare is fair share: first the jobs of the team that has used the least GPU-time per share, by arrival within the team. Usage
	// decays with Queueing.HalfLife, and GPUs that are held count, at work or not, as in Slurm's fair share. Of teams that have used
	// equally much per share, the one that holds fewer GPUs per share comes first, then the one listed first. Jobs without a team
	// are one more team, with one share, before the others. Priority does not matter.
	ByShare
)

// String is the order in a few words.
func (o Order) String() string { return nameOf(o, "by arrival", "by priority", "by share") }

// defaultMaxAge is Slurm's PriorityMaxAge.
const defaultMaxAge = 7 * 24 * time.Hour

// queue is the waiting jobs of one priority and one team.
type queue struct {
	priority int
	team     int
	waiting  []int32 // jobs, by index: that is by arrival
}

// order yields the waiting jobs, by index, in the order of a policy.
func (s *sim) order(q *Queueing) iter.Seq[int] {
	return func(yield func(int) bool) {
		switch {
		case q.Order == ByPriority && q.Ageing > 0:
			s.merge(s.queues, yield, func(k *queue) int { return s.level(k, q) })
		case q.Order == ByPriority:
			for from := 0; from < len(s.queues); { // queues are sorted by priority
				to := from + 1
				for to < len(s.queues) && s.queues[to].priority == s.queues[from].priority {
					to++
				}
				if !s.merge(s.queues[from:to], yield, nil) {
					return
				}
				from = to
			}
		case q.Order == ByShare:
			for _, team := range s.byShare() {
				mine := slices.DeleteFunc(slices.Clone(s.queues), func(k queue) bool { return k.team != team })
				if !s.merge(mine, yield, nil) {
					return
				}
			}
		default:
			s.merge(s.queues, yield, nil)
		}
	}
}

// level is the priority of the first job that waits in a queue, with what its age is worth. Those behind it have no higher one.
func (s *sim) level(k *queue, q *Queueing) int {
	age := min(s.now-s.jobs[k.waiting[0]].Arrival, cmp.Or(q.MaxAge, defaultMaxAge))
	return k.priority + int(age/q.Ageing)
}

// merge yields the jobs of several queues, those of the highest level first and then by arrival; a nil level is the same for all. It
// tells whether there was no end to the yielding.
func (s *sim) merge(queues []queue, yield func(int) bool, level func(*queue) int) bool {
	some, only := 0, 0
	for k := range queues {
		if len(queues[k].waiting) > 0 {
			some, only = some+1, k
		}
	}
	if some == 0 {
		return true
	}
	if some == 1 { // as nearly always
		for _, i := range queues[only].waiting {
			if !yield(int(i)) {
				return false
			}
		}
		return true
	}
	rest := slices.Clone(queues)
	for {
		var first *queue
		var highest int
		for k := range rest {
			r := &rest[k]
			if len(r.waiting) == 0 {
				continue
			}
			l := 0
			if level != nil {
				l = level(r)
			}
			if first == nil || l > highest || l == highest && r.waiting[0] < first.waiting[0] { // jobs are numbered in order of arrival
				first, highest = r, l
			}
		}
		if first == nil {
			return true
		}
		next := first.waiting[0]
		first.waiting = first.waiting[1:]
		if !yield(int(next)) {
			return false
		}
	}
}
