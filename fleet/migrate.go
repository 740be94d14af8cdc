package fleet

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// migrationPlan says who moves where during one stop of the fleet.
type migrationPlan struct {
	moves   []move
	gpus    int           // held by the jobs that move
	batches int           // of at most Migration.Concurrency moves
	pause   time.Duration // how long the fleet stands still
	cost    GPUTime       // expected: the pause of all that work, and the tax of those that move
}

// move puts the job of a span on another node.
type move struct {
	span int32
	node int
}

// planMigration packs the jobs so that a place for a gang becomes free, or returns nil: nothing moves unless that works, and
// nothing moves in a fleet that is compact already. It tries three orders in which nodes fill up – from the low end, from the
// high end, and all others before the nodes of the place that is cheapest to empty – and takes the one that moves the fewest
// GPUs. That is a heuristic: packing with the fewest moves is a bin-packing problem. Gangs stay where they are.
func (s *sim) planMigration(j *Job) *migrationPlan {
	need, l := s.topo.NodesFor(j.GPUs), j.near()
	if s.idle < need*s.topo.GPUsPerNode {
		return nil
	}
	low := runOf(0, len(s.free))
	high := slices.Clone(low)
	slices.Reverse(high)
	var best *migrationPlan
	for _, order := range [][]int{low, high, s.placeLast(need, l)} {
		p := s.pack(order, need, l)
		if p != nil && (best == nil || p.gpus < best.gpus) {
			best = p
		}
	}
	if best == nil || len(best.moves) == 0 {
		return nil
	}
	best.batches = (len(best.moves) + s.cfg.Migration.Concurrency - 1) / s.cfg.Migration.Concurrency
	best.pause = time.Duration(best.batches) * s.cfg.Migration.Move
	taxed := time.Duration(float64(s.cfg.Migration.TaxFor) * s.cfg.Migration.Tax)
	best.cost = over(s.working, best.pause) + over(best.gpus, taxed)
	return best
}

// movable tells whether a node can be filled and emptied by moving jobs: it is up and holds no part of a gang or of a training job.
func (s *sim) movable(node int) bool {
	return s.broken[node] == 0 && !slices.ContainsFunc(s.onNode[node], func(id int32) bool {
		return s.run.Spans[id].Nodes > 1 || s.jobs[s.run.Spans[id].Job].Train != nil
	})
}

// placeLast orders the nodes so that the place with the fewest GPUs to move comes last; nil if there is none.
func (s *sim) placeLast(need int, l Locality) []int {
	var place []int
	if l == Contiguous {
		place = s.lightestWindow(need)
	} else {
		place = s.lightestNodes(need, s.topo.domain(l))
	}
	if place == nil {
		return nil
	}
	last := newBitset(len(s.free))
	for _, n := range place {
		last.add(n)
	}
	order := slices.DeleteFunc(runOf(0, len(s.free)), last.has)
	return append(order, place...)
}

// lightestWindow is the run of movable nodes with the fewest GPUs to move.
func (s *sim) lightestWindow(need int) []int {
	at, least, held, fixed := -1, math.MaxInt, 0, 0
	for n := range s.free {
		held += s.topo.GPUsPerNode - s.freeGPUs(n)
		fixed += bit(!s.movable(n))
		if out := n - need; out >= 0 {
			held -= s.topo.GPUsPerNode - s.freeGPUs(out)
			fixed -= bit(!s.movable(out))
		}
		if n >= need-1 && fixed == 0 && held < least {
			at, least = n-need+1, held
		}
	}
	if at < 0 {
		return nil
	}
	return runOf(at, need)
}

// lightestNodes is the movable or free nodes of a domain with the fewest GPUs to move, the lightest last.
func (s *sim) lightestNodes(need, size int) (best []int) {
	least := math.MaxInt
	load := func(n int) int { return s.topo.GPUsPerNode - s.freeGPUs(n) }
	for domain := range slices.Chunk(runOf(0, len(s.free)), size) {
		nodes := slices.DeleteFunc(slices.Clone(domain), func(n int) bool { return !s.movable(n) })
		if len(nodes) < need {
			continue
		}
		slices.SortStableFunc(nodes, func(a, b int) int { return cmp.Compare(load(a), load(b)) })
		held := 0
		for _, n := range nodes[:need] {
			held += load(n)
		}
		if held < least {
			best, least = nodes[:need], held
		}
	}
	slices.Reverse(best)
	return best
}

// pack fills nodes in this order: it looks for the shortest beginning of it onto which all jobs fit, and moves what lies behind.
func (s *sim) pack(order []int, need int, l Locality) *migrationPlan {
	order = slices.DeleteFunc(slices.Clone(order), func(n int) bool { return !s.movable(n) })
	held := 0
	for _, n := range order {
		held += s.topo.GPUsPerNode - s.freeGPUs(n)
	}
	first := (held + s.topo.GPUsPerNode - 1) / s.topo.GPUsPerNode
	for step, keep := 1, first; keep <= len(order); keep, step = keep+step, step*2 {
		p := newPacking(s, order[:keep])
		if !p.take(order[keep:]) {
			continue
		}
		if p.largest(l) < need {
			return nil // a longer beginning only leaves less
		}
		return p.plan()
	}
	return nil
}

// packing is the fleet as it would be after the moves so far.
type packing struct {
	s      *sim
	free   []int         // by node that is kept
	levels []bitset      // kept nodes by number of free GPUs
	on     map[int][]int // by kept node that was touched, see jobsOn
	pool   []packed
	bySize [][]int // pool entries still to be placed, by GPUs
	empty  bitset
}

type packed struct {
	span int32
	gpus int
	node int // where it lands
}

func newPacking(s *sim, keep []int) *packing {
	g := s.topo.GPUsPerNode
	p := &packing{s: s, free: make([]int, len(s.free)), levels: make([]bitset, g+1), on: map[int][]int{}, bySize: make([][]int, g+1)}
	for k := range p.levels {
		p.levels[k] = newBitset(len(s.free))
	}
	p.empty = slices.Clone(s.empty)
	for _, n := range keep {
		p.free[n] = s.freeGPUs(n)
		p.levels[p.free[n]].add(n)
	}
	return p
}

// take moves all jobs off these nodes onto the kept ones, and tells whether they fit.
func (p *packing) take(behind []int) bool {
	for _, n := range behind {
		for _, id := range p.s.onNode[n] {
			p.add(id)
		}
		p.empty.add(n)
	}
	for size := p.s.topo.GPUsPerNode; size > 0; size-- {
		for i := 0; i < len(p.bySize[size]); i++ { // displaced jobs are smaller, so this list does not grow
			if !p.place(p.bySize[size][i]) {
				return false
			}
		}
	}
	return true
}

// add puts the job of a span into the pool of those that look for a node.
func (p *packing) add(id int32) {
	gpus := p.s.run.Spans[id].GPUs()
	p.pool = append(p.pool, packed{id, gpus, -1})
	p.bySize[gpus] = append(p.bySize[gpus], len(p.pool)-1)
}

// place finds the tightest node for a job; if none has room, it makes some by displacing smaller jobs.
func (p *packing) place(i int) bool {
	size := p.pool[i].gpus
	for k := size; k < len(p.levels); k++ {
		for n := range p.levels[k].elements {
			p.put(i, n)
			return true
		}
	}
	for k := size - 1; k >= 0; k-- {
		for n := range p.levels[k].elements {
			if p.displace(n, size) {
				p.put(i, n)
				return true
			}
		}
	}
	return false
}

func (p *packing) put(i, node int) {
	p.pool[i].node = node
	p.setFree(node, p.free[node]-p.pool[i].gpus)
	p.on[node] = append(p.jobsOn(node), i)
}

// jobsOn lists the jobs on a kept node after the moves so far: pool entries, and ^span for those that were there all along.
func (p *packing) jobsOn(node int) []int {
	jobs, touched := p.on[node]
	if !touched {
		for _, id := range p.s.onNode[node] {
			jobs = append(jobs, ^int(id))
		}
	}
	return jobs
}

func (p *packing) setFree(node, free int) {
	p.levels[p.free[node]].remove(node)
	p.free[node] = free
	p.levels[free].add(node)
	p.empty.remove(node)
	if free == p.s.topo.GPUsPerNode {
		p.empty.add(node)
	}
}

// displace sends jobs that are smaller than size from a node back into the pool until the node has room for size.
func (p *packing) displace(node, size int) bool {
	gpus := func(job int) int {
		if job < 0 {
			return p.s.run.Spans[^job].GPUs()
		}
		return p.pool[job].gpus
	}
	jobs := p.jobsOn(node)
	slices.SortFunc(jobs, func(a, b int) int { return cmp.Or(cmp.Compare(gpus(a), gpus(b)), cmp.Compare(a, b)) })
	free, n := p.free[node], 0
	for ; n < len(jobs) && free < size && gpus(jobs[n]) < size; n++ {
		free += gpus(jobs[n])
	}
	if free < size {
		return false
	}
	for _, job := range jobs[:n] {
		if job < 0 {
			p.add(int32(^job))
		} else {
			p.bySize[p.pool[job].gpus] = append(p.bySize[p.pool[job].gpus], job)
		}
	}
	p.on[node] = jobs[n:]
	p.setFree(node, free)
	return true
}

// largest is the most empty nodes that are as near to each other as a gang needs them.
func (p *packing) largest(l Locality) (most int) {
	if l == Contiguous {
		_, most = p.empty.longestRun()
		return most
	}
	size := p.s.topo.domain(l)
	for from := 0; from < len(p.s.free); from += size {
		most = max(most, p.empty.count(from, from+size))
	}
	return most
}

// plan lists the moves in the order of the spans, without those that end where they began.
func (p *packing) plan() *migrationPlan {
	m := &migrationPlan{}
	for _, q := range p.pool {
		if p.s.run.Spans[q.span].Node != q.node {
			m.moves = append(m.moves, move{q.span, q.node})
			m.gpus += q.gpus
		}
	}
	slices.SortFunc(m.moves, func(a, b move) int { return cmp.Compare(a.span, b.span) })
	return m
}

// migrate stops the world: all moves happen, every running job stands still until the last batch has been restored, and those
// that moved have a fresh checkpoint and pay the tax from then on.
func (s *sim) migrate(m *migrationPlan, job int) {
	s.pausedUntil = s.now + m.pause
	s.run.Pauses = append(s.run.Pauses, Interval{s.now, min(s.pausedUntil, s.cfg.Horizon)})
	s.agenda.plan(s.pausedUntil, evResume, 0)
	moved := make([]Span, len(m.moves))
	for i, mv := range m.moves {
		before := s.run.Spans[mv.span]
		p := s.run.pace(&before, s.now)
		s.release(mv.span, Migrated)
		moved[i] = Span{
			Job: before.Job, Node: mv.node, Nodes: 1, Busy: before.Busy, Start: s.now,
			from: before.from + p.work, restart: before.restart - p.restart, redo: lose(before.redo, before.from+p.work, before.from+p.work, Useful),
			taxUntil: s.pausedUntil + s.cfg.Migration.TaxFor,
		}
		s.state[before.Job].saved = moved[i].from
	}
	for i := range moved {
		s.occupy(&moved[i])
	}
	for _, id := range s.live { // everybody else stands still too, and the clocks of limits and exemptions with them
		s.state[s.run.Spans[id].Job].began += m.pause
		if sp := &s.run.Spans[id]; sp.Start < s.now || sp.taxUntil == 0 {
			if sp.End = s.run.finish(sp); sp.End > s.now {
				s.agenda.plan(sp.End, evEnd, id)
			}
		}
	}
	for n := range s.free {
		s.outdate(n)
	}
	s.run.moved = append(s.run.moved, moves{s.now, len(m.moves)})
	s.logMigration(m, job)
}
