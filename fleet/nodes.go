package fleet

import (
	"fmt"
	"math/bits"
	"slices"
)

// This file changes nodes: their GPUs are taken and freed, they fail and come back. Every change goes through change, so the indexes by
// which policies find nodes are always right.

// open tells whether a node takes jobs: up, and not kept for a gang.
func (s *sim) open(node int) bool { return s.down[node] == 0 && s.kept[node] == 0 }

// freeGPUs is the number of GPUs of a node that nobody holds, up or down.
func (s *sim) freeGPUs(node int) int { return bits.OnesCount16(s.free[node]) }

// change brackets a change of a node: the indexes forget it, f changes it, the indexes learn it again.
func (s *sim) change(node int, f func()) {
	s.index(node, -1)
	f()
	s.index(node, 1)
	s.changes++
}

func (s *sim) index(node, by int) {
	k := s.freeGPUs(node)
	if s.down[node] > 0 {
		return
	}
	s.histogram[k] += by
	if k == s.topo.GPUsPerNode {
		s.holeStale = true
		if by > 0 {
			s.empty.add(node)
		} else {
			s.empty.remove(node)
		}
	}
	if s.kept[node] > 0 {
		return
	}
	s.nodesWith[k] += by
	if by > 0 {
		s.byFree[k].add(node)
	} else {
		s.byFree[k].remove(node)
	}
}

// occupy takes the lowest free GPUs of the span's nodes and records the span.
func (s *sim) occupy(sp *Span) {
	j, full := s.jobs[sp.Job], uint16(1<<s.topo.GPUsPerNode-1)
	sp.Mask = full
	if sp.Nodes == 1 {
		sp.Mask = lowest(s.free[sp.Node], j.GPUs)
	}
	id := int32(len(s.run.Spans))
	for n := sp.Node; n < sp.Node+sp.Nodes; n++ {
		if s.free[n]&sp.Mask != sp.Mask || s.down[n] > 0 {
			panic(fmt.Sprintf("fleet: job %d takes GPUs of node %d that are not free", j.ID, n))
		}
		s.change(n, func() { s.free[n] &^= sp.Mask })
		s.onNode[n] = append(s.onNode[n], id)
	}
	s.working += sp.GPUs()
	s.idle -= sp.GPUs()
	sp.End = s.run.finish(sp)
	s.run.Spans = append(s.run.Spans, *sp)
	s.liveAt = append(s.liveAt, int32(len(s.live)))
	s.live = append(s.live, id)
	s.state[sp.Job].span = id
	s.agenda.plan(sp.End, evEnd, id)
}

// lowest is the n lowest bits that are set in free.
func lowest(free uint16, n int) (mask uint16) {
	for ; n > 0 && free != 0; n-- {
		bit := free & -free
		mask |= bit
		free &^= bit
	}
	return mask
}

// release frees the GPUs of a span that ends now.
func (s *sim) release(id int32, why Reason) *Span {
	sp := &s.run.Spans[id]
	sp.End, sp.Reason = s.now, why
	for n := sp.Node; n < sp.Node+sp.Nodes; n++ {
		s.change(n, func() { s.free[n] |= sp.Mask })
		at := slices.Index(s.onNode[n], id)
		s.onNode[n] = slices.Delete(s.onNode[n], at, at+1)
	}
	s.working -= sp.GPUs()
	s.idle += sp.GPUs()
	last := s.live[len(s.live)-1]
	s.live[s.liveAt[id]], s.liveAt[last] = last, s.liveAt[id]
	s.live, s.liveAt[id] = s.live[:len(s.live)-1], -1
	s.state[sp.Job].span = -1
	return sp
}

func (s *sim) fail(f Fault) {
	n := f.Node
	first := s.down[n] == 0
	var lost GPUTime
	var hit []int
	for len(s.onNode[n]) > 0 { // none if the node was down already
		id := s.onNode[n][0]
		hit = append(hit, s.jobs[s.run.Spans[id].Job].ID)
		lost += s.end(id, Killed)
	}
	s.change(n, func() { s.down[n]++ })
	if first {
		s.idle -= s.topo.GPUsPerNode
		s.failed += s.topo.GPUsPerNode
		s.outage[n] = int32(len(s.run.Outages))
		s.run.Outages = append(s.run.Outages, Outage{Node: n, Start: s.now, End: s.cfg.Horizon})
	}
	s.run.failures = append(s.run.failures, s.now)
	s.logFailure(f, hit, lost)
}

func (s *sim) repair(n int) {
	s.change(n, func() { s.down[n]-- })
	if s.down[n] > 0 {
		return
	}
	s.idle += s.topo.GPUsPerNode
	s.failed -= s.topo.GPUsPerNode
	s.run.Outages[s.outage[n]].End = s.now
	s.log(NodeRepaired, n, 0, "%s is back after %s", s.where(n), FormatDuration(s.now-s.run.Outages[s.outage[n]].Start))
}
