package fleet

import (
	"slices"
	"time"
)

// This file is EASY backfill: the reservation for the head of the queue, and the forecast that it is read from.
//
// Slurm's backfill plugin does the same every 30 s (bf_interval) for the first 500 jobs of the queue (bf_max_job_test),
// within 1,440 minutes from now (bf_window) in steps of 60 s (bf_resolution), and reserves a place for each of them, not only
// for the head: conservative backfill. Here it happens at every event, to the millisecond, for the whole queue and without a window;
// the first EASY (Lifka 1995) had one reservation. Slurm enforces limits, so jobs leave a reservation in time; here nobody is killed
// at the limit, for what goes beyond it is mostly what users forget: checkpoint writes and restarts.

// Backfill is who may pass a job that has no place.
type Backfill uint8

// The ways.
const (
	// Strict: nobody. The fleet drains until the job fits.
	Strict Backfill = iota
	// Greedy: everybody who has a place. A steady stream of small jobs can keep a gang waiting for ever.
	Greedy
	// Reserve is EASY. For the first job that has no place, the head, a place is reserved: the first one that will be free when the
	// running jobs end as they are expected to, at Start + Job.Limit. A job that has run over its limit is expected to end at the next
	// instant, one without a limit never. A later job passes if it has a place now and either will have ended by then (now + its own
	// limit), or keeps off what the head will need. So one without a limit passes only beside the reservation.
	//
	// If limits are exact and nothing fails, the head starts no later than it was first promised: every job on its place, and each one
	// that passes over it, ends by then. Jobs that end early only make it earlier; the reservation is looked at again whenever the
	// fleet has changed. A failure on its place, a job that runs over its limit, a repair that a training job grows into, a job that
	// gets ahead of the head by priority or share, or an earlier one whose quota held it back until now can still delay it.
	//
	// Where no end is foreseen that would make a place, because nodes are down or jobs have no limits, nothing is promised and everybody
	// may pass, as in Slurm for a job that cannot be planned within bf_window.
	Reserve
)

// String is the way in one word.
func (b Backfill) String() string { return nameOf(b, "strict", "greedy", "reserve") }

// reservation is the place that is kept clear for the head of the queue. The zero value keeps nothing.
type reservation struct {
	job   *Job
	at    time.Duration // forever if none is foreseen
	nodes bitset
	spare int // GPUs of its one node that a job for one node leaves over at that time
}

// keepsFrom is the nodes that another job must stay away from: nil for one that ends in time or can do with what is left over.
func (r *reservation) keepsFrom(s *sim, j *Job) bitset {
	switch {
	case r.job == nil, r.at == forever, j.Limit > 0 && s.now+j.Limit <= r.at, j.GPUs <= r.spare:
		return nil
	}
	return r.nodes
}

// due is when the job of a span is expected to end, by what its user asked for.
func (s *sim) due(id int32) time.Duration {
	job := s.run.Spans[id].Job
	if limit := s.jobs[job].Limit; limit > 0 {
		return s.state[job].began + limit
	}
	return forever
}

// reserve finds the first place that a job will have.
//
// Which of the nodes that will be free by then is it? For consecutive nodes the lowest run, for a rack or a pod the lowest that has
// enough. Within it, and for a gang that may have any nodes, first those that are busy now. Let f nodes be free now and m more by
// then, and the head need n of the f + m. The reservation then holds max(0, n − m) of the free ones, and leaves to others
// f − max(0, n − m) = min(f, f + m − n): all that is free now, but no more than will be spare. That is EASY's rule by counting processors.
// After each job that passes, f and m are counted anew: one that ends in time moves a node from f to m, which leaves f + m as it was.
//
// The nodes are put into the set that is given.
func (s *sim) reserve(j *Job, nodes bitset) reservation {
	need, l := 1, Contiguous
	gpus := j.GPUs
	if j.GPUs > s.topo.GPUsPerNode {
		need, l, gpus = s.topo.NodesFor(j.GPUs), j.near(), s.topo.GPUsPerNode
	}
	f := s.forecast(gpus)
	b := &f.booked
	if !b.valid || b.need != need || b.locality != l {
		f.rebook(s.topo, need, l)
	}
	if b.at == forever {
		return reservation{job: j, at: forever}
	}
	r := reservation{job: j, at: max(b.at, s.now+Resolution), nodes: nodes}
	from := b.from
	if r.at > b.at { // overdue: whatever is expected at the next instant is as good
		from = f.lowest(s.topo, need, l, r.at)
	}
	clear(nodes)
	if l == Contiguous {
		for n := from; n < from+need; n++ {
			nodes.add(n)
		}
	} else {
		f.choose(nodes, from, from+s.topo.domain(l), need, r.at)
	}
	if j.GPUs <= s.topo.GPUsPerNode {
		r.spare = s.freeBy(from, r.at) - j.GPUs
	}
	return r
}

// freeBy is the number of free GPUs that a node will have.
func (s *sim) freeBy(node int, at time.Duration) int {
	free := s.freeGPUs(node)
	for _, id := range s.onNode[node] {
		if max(s.due(id), s.now+Resolution) <= at {
			free += s.held(id)
		}
	}
	return free
}

// forecast is when each node will have so many free GPUs, if nobody starts.
type forecast struct {
	gpus   int
	ready  []time.Duration // by node: 0 for now, forever if no end of it is foreseen; in the past if the jobs are overdue
	stale  bitset          // nodes that have changed since
	booked booking
}

// booking is the earliest place in a forecast, as it was last looked for. It stays valid while no change has touched it, for there are
// thousands of changes while a large head waits.
type booking struct {
	valid         bool
	need          int // nodes
	locality      Locality
	at            time.Duration
	from          int // the first node of the run, or of the rack, the pod or the fleet
	below, within int // of a rack, a pod or the fleet: nodes that are ready before at, and by then
}

// forecast is up to date when it is returned.
func (s *sim) forecast(gpus int) *forecast {
	if s.forecasts == nil {
		s.forecasts = make([]*forecast, s.topo.GPUsPerNode+1)
	}
	f := s.forecasts[gpus]
	if f == nil {
		f = &forecast{gpus: gpus, ready: make([]time.Duration, len(s.free)), stale: newBitset(len(s.free))}
		for n := range f.ready {
			f.ready[n] = s.readyAt(n, gpus)
		}
		s.forecasts[gpus] = f
		return f
	}
	for n := range f.stale.elements {
		f.stale.remove(n)
		was, is := f.ready[n], s.readyAt(n, gpus)
		f.ready[n] = is
		if was != is && f.booked.valid {
			f.booked.valid = f.untouched(s.topo, n, was, is)
		}
	}
	return f
}

// outdate marks a node in all forecasts.
func (s *sim) outdate(node int) {
	for _, f := range s.forecasts {
		if f != nil {
			f.stale.add(node)
		}
	}
}

// readyAt is when a node will have so many free GPUs.
func (s *sim) readyAt(node, gpus int) time.Duration {
	if !s.open(node) || gpus == s.topo.GPUsPerNode && s.broken[node] != 0 {
		return forever
	}
	free := s.freeGPUs(node)
	if free >= gpus {
		return 0
	}
	var dues [16]time.Duration // of at most so many GPUs, smallest first
	var frees [16]int
	n := 0
	for _, id := range s.onNode[node] {
		due, k := s.due(id), n
		if due == forever {
			continue
		}
		for ; k > 0 && dues[k-1] > due; k-- {
			dues[k], frees[k] = dues[k-1], frees[k-1]
		}
		dues[k], frees[k] = due, s.held(id)
		n++
	}
	for k := range n {
		if free += frees[k]; free >= gpus {
			return dues[k]
		}
	}
	return forever
}

// rebook looks for the earliest place.
func (f *forecast) rebook(t Topology, need int, l Locality) {
	b := booking{valid: true, need: need, locality: l, at: earliest(t, f.ready, need, l)}
	if b.at < forever {
		b.from = f.lowest(t, need, l, b.at)
		if l != Contiguous {
			for _, r := range f.ready[b.from : b.from+t.domain(l)] {
				b.below += bit(r < b.at)
				b.within += bit(r <= b.at)
			}
		}
	}
	f.booked = b
}

// untouched tells whether the booking is still the earliest and lowest place after a node's time has changed. Only a node that gets to
// at or below can make another place, and only one that is lost can unmake this one.
func (f *forecast) untouched(t Topology, node int, was, is time.Duration) bool {
	b := &f.booked
	if b.at == forever {
		return is == forever || f.around(t, node, forever-1) < b.need
	}
	from, to := b.from, b.from+b.need
	if b.locality != Contiguous {
		if to = from + t.domain(b.locality); from <= node && node < to {
			b.below += bit(is < b.at) - bit(was < b.at)
			b.within += bit(is <= b.at) - bit(was <= b.at)
			return b.below < b.need && b.within >= b.need
		}
	}
	if was <= b.at && is > b.at {
		return node < from || node >= to
	}
	gets := was > b.at && is <= b.at || was == b.at && is < b.at
	return !gets || f.around(t, node, b.at) < b.need
}

// around is the number of nodes, among them this one, that are ready by a time: in its run of such nodes, or in its rack, pod or fleet.
// Of a run it counts no more than are needed on either side.
func (f *forecast) around(t Topology, node int, at time.Duration) (n int) {
	if l := f.booked.locality; l != Contiguous {
		size := t.domain(l)
		for _, r := range f.ready[node/size*size:][:size] {
			n += bit(r <= at)
		}
		return n
	}
	for k := node; k >= 0 && f.ready[k] <= at && n < f.booked.need; k-- {
		n++
	}
	for k := node + 1; k < len(f.ready) && f.ready[k] <= at && n < 2*f.booked.need; k++ {
		n++
	}
	return n
}

// lowest is the first node of the lowest run, rack or pod in which enough nodes are ready by a time. There is one.
func (f *forecast) lowest(t Topology, need int, l Locality, at time.Duration) int {
	size := t.domain(l)
	n := 0
	for node, r := range f.ready {
		if l != Contiguous && node%size == 0 {
			n = 0
		}
		switch {
		case r <= at:
			n++
		case l == Contiguous:
			n = 0
		}
		if n == need && l == Contiguous {
			return node - need + 1
		} else if n == need {
			return node / size * size
		}
	}
	panic("fleet: a reservation without a place")
}

// choose adds nodes that are ready by a time to a set: first those that are not free now.
func (f *forecast) choose(set bitset, from, to, need int, at time.Duration) {
	for _, busy := range []bool{true, false} {
		for n := from; n < to && need > 0; n++ {
			if f.ready[n] <= at && (f.ready[n] > 0) == busy {
				set.add(n)
				need--
			}
		}
	}
}

// earliest is the first time at which a place of need nodes is ready, given when each node is; forever if none ever is.
func earliest(t Topology, ready []time.Duration, need int, l Locality) time.Duration {
	at := forever
	if l != Contiguous {
		for domain := range slices.Chunk(ready, t.domain(l)) {
			if need <= len(domain) {
				at = min(at, slices.Sorted(slices.Values(domain))[need-1])
			}
		}
		return at
	}
	falling := make([]int, 0, need) // nodes of the window, without those that a later one outlasts: the first is its maximum
	for n, r := range ready {
		for len(falling) > 0 && ready[falling[len(falling)-1]] <= r {
			falling = falling[:len(falling)-1]
		}
		if falling = append(falling, n); falling[0] <= n-need {
			falling = falling[1:]
		}
		if n >= need-1 {
			at = min(at, ready[falling[0]])
		}
	}
	return at
}
