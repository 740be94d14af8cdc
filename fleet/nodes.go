package fleet

import (
	"fmt"
	"math/bits"
	"slices"
)

// This file changes nodes: their GPUs are taken and freed, they fail and come back. Every change goes through change, so the indexes by
// which policies find nodes are always right.

// up tells whether a node has a GPU that works.
func (s *sim) up(node int) bool { return s.broken[node] != s.fullMask }

// open tells whether a node takes jobs: up, and not kept for a gang.
func (s *sim) open(node int) bool { return s.up(node) && s.kept[node] == 0 }

// freeMask is the GPUs of a node that work and that nobody holds.
func (s *sim) freeMask(node int) uint16 { return s.free[node] &^ s.broken[node] }

// freeGPUs is their number.
func (s *sim) freeGPUs(node int) int { return bits.OnesCount16(s.freeMask(node)) }

// change brackets a change of a node: the indexes forget it, f changes it, the indexes learn it again.
func (s *sim) change(node int, f func()) {
	s.index(node, -1)
	f()
	s.index(node, 1)
	s.changes++
	s.outdate(node)
}

func (s *sim) index(node, by int) {
	k := s.freeGPUs(node)
	if !s.up(node) {
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
	j := s.jobs[sp.Job]
	sp.Mask = s.fullMask
	if sp.Nodes == 1 && j.Train == nil {
		sp.Mask = lowest(s.freeMask(sp.Node), j.GPUs)
	}
	id := int32(len(s.run.Spans))
	k := 0
	for n := range sp.On {
		if s.freeMask(n)&sp.Mask != sp.Mask {
			panic(fmt.Sprintf("fleet: job %d takes GPUs of node %d that are not free", j.ID, n))
		}
		s.change(n, func() { s.free[n] &^= sp.Mask })
		s.onNode[n] = append(s.onNode[n], id)
		if len(s.taints) > 0 {
			s.taint(n, sp.busyMask(k), sp.Job)
		}
		k++
	}
	s.count(sp, 1)
	sp.End = s.run.finish(sp)
	s.run.Spans = append(s.run.Spans, *sp)
	s.liveAt = append(s.liveAt, int32(len(s.live)))
	s.live = append(s.live, id)
	s.state[sp.Job].span = id
	s.agenda.plan(sp.End, evEnd, id)
}

// count adds a span's GPUs to those that are held, or takes them off.
func (s *sim) count(sp *Span, by int) {
	s.working += by * sp.Busy
	s.stranded += by * (sp.GPUs() - sp.Busy)
	s.idle -= by * sp.GPUs()
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
	for n := range sp.On {
		s.change(n, func() { s.free[n] |= sp.Mask })
		at := slices.Index(s.onNode[n], id)
		s.onNode[n] = slices.Delete(s.onNode[n], at, at+1)
	}
	s.count(sp, -1)
	last := s.live[len(s.live)-1]
	s.live[s.liveAt[id]], s.liveAt[last] = last, s.liveAt[id]
	s.live, s.liveAt[id] = s.live[:len(s.live)-1], -1
	s.state[sp.Job].span = -1
	return sp
}
