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
			s.merge(s.queues, yield, func(priority int, first int32) int { return s.level(priority, first, q) })
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
func (s *sim) level(priority int, first int32, q *Queueing) int {
	age := min(s.now-s.jobs[first].Arrival, cmp.Or(q.MaxAge, defaultMaxAge))
	return priority + int(age/q.Ageing)
}

// merge yields the jobs of several queues, those of the highest level first and then by arrival; a nil level is the same for all. It
// tells whether there was no end to the yielding.
func (s *sim) merge(queues []queue, yield func(int) bool, level func(priority int, first int32) int) bool {
	if len(queues) == 1 {
		for _, i := range queues[0].waiting {
			if !yield(int(i)) {
				return false
			}
		}
		return true
	}
	var few [8]int // how far each queue has been yielded; usually there are two, and this is asked at every event
	at := append(few[:0], make([]int, len(queues))...)
	for {
		next, from, highest := int32(-1), 0, 0
		for k := range queues {
			if at[k] == len(queues[k].waiting) {
				continue
			}
			first, l := queues[k].waiting[at[k]], 0
			if level != nil {
				l = level(queues[k].priority, first)
			}
			if next < 0 || l > highest || l == highest && first < next { // jobs are numbered in order of arrival
				next, from, highest = first, k, l
			}
		}
		if next < 0 {
			return true
		}
		at[from]++
		if !yield(int(next)) {
			return false
		}
	}
}
