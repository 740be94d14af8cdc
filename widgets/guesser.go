package widgets

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/fleetlab/fleetlab/fleet"
)

// This file makes the guesses that codec.go writes corrections to.

// guesser replays a schedule: it knows the spans up to the last one placed, and guesses the next. Times are in milliseconds.
type guesser struct {
	topo     fleet.Topology
	jobs     []fleet.Job
	tau      int64
	horizon  int64
	pauses   []fleet.Interval
	outages  []flip
	next     []int32 // by job: itself if it was never placed, else a later one; see unplaced
	cursor   int     // the last job placed for the first time
	prev     int64
	until    int64 // the last end that was not guessed
	used     []uint16
	down     []uint8
	byFree   [][]uint64 // bit per node, by number of free GPUs
	releases releases
	full     uint16
	lists    map[int][]int32 // by job: its last list of nodes that are not consecutive
}

// flip is one end of an outage.
type flip struct {
	at   int64
	node int
	by   int8
}

func newGuesser(r *fleet.Run) *guesser {
	c := &r.Config
	n := c.Topology.Nodes()
	g := &guesser{
		topo: c.Topology, jobs: c.Jobs, tau: millis(c.Checkpoint), horizon: millis(c.Horizon), pauses: r.Pauses,
		outages: flips(r.Outages), next: make([]int32, len(c.Jobs)+1), cursor: -1,
		used: make([]uint16, n), down: make([]uint8, n), byFree: make([][]uint64, c.Topology.GPUsPerNode+1),
		full: uint16(1<<c.Topology.GPUsPerNode - 1), lists: make(map[int][]int32),
	}
	for i := range g.next {
		g.next[i] = int32(i)
	}
	for k := range g.byFree {
		g.byFree[k] = make([]uint64, (n+63)/64)
	}
	for node := range n {
		g.byFree[c.Topology.GPUsPerNode][node/64] |= 1 << (node % 64)
	}
	return g
}

// flips merges starts and ends of the outages in order of time.
func flips(outages []fleet.Outage) []flip {
	out := make([]flip, 0, 2*len(outages))
	for _, o := range outages {
		out = append(out, flip{millis(o.Start), o.Node, 1})
	}
	for _, o := range outages {
		out = append(out, flip{millis(o.End), o.Node, -1})
	}
	slices.SortStableFunc(out, func(a, b flip) int { return cmp.Compare(a.at, b.at) })
	return out
}

// unplaced is the first job from i on that was never placed, or the number of jobs. It shortens the chain that it follows.
func (g *guesser) unplaced(i int32) int32 {
	for g.next[i] != i {
		g.next[i] = g.next[g.next[i]]
		i = g.next[i]
	}
	return i
}

// see marks a job as placed.
func (g *guesser) see(job int) {
	if g.next[job] == int32(job) {
		g.next[job] = int32(job) + 1
		g.cursor = job
	}
}

// jobCode is the column value for job.
func (g *guesser) jobCode(job int) uint64 {
	guess := int(g.unplaced(int32(g.cursor + 1)))
	g.see(job)
	if job == guess {
		return 0
	}
	return zigzag(int64(job-guess)) + 1
}

// startCode is the column value for the start of s, and the explicit one where that is needed. It applies all releases and outages
// up to then.
func (g *guesser) startCode(s *fleet.Span) (code, explicit uint64) {
	start := millis(s.Start)
	skips, last := g.releaseUpTo(start)
	switch {
	case start == millis(g.jobs[s.Job].Arrival):
		code = 0
	case start == g.prev:
		code = 1
	case skips > 0 && skips <= maxSkip && last == start:
		code = 1 + uint64(skips)
	default:
		code, explicit = startExplicit, zigzag(start-g.prev)
	}
	g.flipUpTo(start)
	g.prev = start
	return code, explicit
}

// releaseUpTo frees what spans held that end at t or before. It counts the distinct instants after the start of the span before, and
// tells the last.
func (g *guesser) releaseUpTo(t int64) (instants int, last int64) {
	last = g.prev
	for len(g.releases) > 0 && g.releases[0].at <= t {
		if at := g.releases[0].at; at > last {
			instants++
			last = at
		}
		g.release(g.releases.pop())
	}
	return instants, last
}

func (g *guesser) release(e release) {
	for n := range e.span.On {
		g.set(n, g.used[n]&^e.span.Mask)
	}
}

func (g *guesser) flipUpTo(t int64) {
	for len(g.outages) > 0 && g.outages[0].at <= t {
		f := g.outages[0]
		g.outages = g.outages[1:]
		g.file(f.node, false)
		g.down[f.node] += uint8(f.by)
		g.file(f.node, true)
	}
}

// set changes the GPUs in use of a node and files the node under its new number of free ones.
func (g *guesser) set(node int, used uint16) {
	g.file(node, false)
	g.used[node] = used
	g.file(node, true)
}

// file puts a node in, or takes it out of, the list for its number of free GPUs. A node that is down is in none.
func (g *guesser) file(node int, in bool) {
	if g.down[node] != 0 {
		return
	}
	list := g.byFree[bits.OnesCount16(g.full&^g.used[node])]
	if in {
		list[node/64] |= 1 << (node % 64)
	} else {
		list[node/64] &^= 1 << (node % 64)
	}
}

// nodes is where each fit would put a job; -1 for nowhere. A gang is guessed at the first run of free nodes.
func (g *guesser) nodes(job int) (at [numFits]int) {
	gpus := g.jobs[job].GPUs
	if need := g.topo.NodesFor(gpus); need > 1 {
		n := g.firstRun(need)
		return [numFits]int{n, n, n, n}
	}
	at = [numFits]int{-1, -1, -1, -1}
	for _, list := range g.byFree[gpus:] { // from the tightest to the emptiest
		lo, hi := ends(list)
		if lo < 0 {
			continue
		}
		if at[fitBest] < 0 {
			at[fitBest], at[fitFirst] = lo, lo
		}
		at[fitFirst] = min(at[fitFirst], lo)
		at[fitWorst] = lo
		at[fitLast] = max(at[fitLast], hi)
	}
	return at
}

// ends is the lowest and the highest number in a set of nodes, -1 if it is empty.
func ends(list []uint64) (lo, hi int) {
	for w, word := range list {
		if word == 0 {
			continue
		}
		for h := len(list) - 1; ; h-- {
			if list[h] != 0 {
				return w*64 + bits.TrailingZeros64(word), h*64 + 63 - bits.LeadingZeros64(list[h])
			}
		}
	}
	return -1, -1
}

func (g *guesser) firstRun(need int) int {
	free := g.byFree[g.topo.GPUsPerNode]
	run := 0
	for n := range g.used {
		if free[n/64]>>(n%64)&1 == 0 {
			run = 0
			continue
		}
		if run++; run == need {
			return n - need + 1
		}
	}
	return -1
}

// mask is the lowest free GPUs of the node, or all of them where the job holds more than one node.
func (g *guesser) mask(node, nodes, gpus int) uint16 {
	if nodes > 1 {
		return g.full
	}
	free, m := g.full&^g.used[node], uint16(0)
	for ; gpus > 0 && free != 0; gpus-- {
		m |= free & -free
		free &= free - 1
	}
	return m
}

// endCode is the column value for the end of s, and the explicit end where that is needed.
func (g *guesser) endCode(s *fleet.Span) (code, until uint64) {
	end, reason := g.end(s)
	if end == millis(s.End) && reason == s.Reason {
		return 0, 0
	}
	code, until = uint64(s.Reason)+1, zigzag(millis(s.End)-g.until)
	g.until = millis(s.End)
	return code, until
}

// end is when an attempt from the beginning would end if nothing happened but the pauses.
func (g *guesser) end(s *fleet.Span) (int64, fleet.Reason) {
	j := &g.jobs[s.Job]
	start, work := millis(s.Start), millis(j.Work)
	t := start + work + (g.tau*int64(j.Phase)/1000+work-1)/g.tau*millis(j.Write)
	for _, p := range g.pauses {
		if from, to := millis(p.Start), millis(p.End); to > start && t > from {
			t += to - max(from, start)
		}
	}
	if t > g.horizon {
		return g.horizon, fleet.Horizon
	}
	return t, fleet.Done
}

// place takes the GPUs of s.
func (g *guesser) place(s *fleet.Span) {
	for n := range s.On {
		g.set(n, g.used[n]|s.Mask)
	}
	g.releases.push(release{millis(s.End), s})
}

// release is a span to come to its end.
type release struct {
	at   int64
	span *fleet.Span
}

// releases is a binary heap by time. The order of equal times does not matter: all of them are applied together.
type releases []release

func (h *releases) push(r release) {
	*h = append(*h, r)
	q := *h
	for i := len(q) - 1; i > 0 && q[(i-1)/2].at > q[i].at; i = (i - 1) / 2 {
		q[i], q[(i-1)/2] = q[(i-1)/2], q[i]
	}
}

func (h *releases) pop() release {
	q := *h
	top, last := q[0], len(q)-1
	q[0] = q[last]
	q = q[:last]
	for i := 0; ; {
		c := 2*i + 1
		if c >= last {
			break
		}
		if c+1 < last && q[c+1].at < q[c].at {
			c++
		}
		if q[i].at <= q[c].at {
			break
		}
		q[i], q[c] = q[c], q[i]
		i = c
	}
	*h = q
	return top
}
