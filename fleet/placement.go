package fleet

import (
	"cmp"
	"math/bits"
	"slices"
)

// This file finds places. A job of at most GPUsPerNode GPUs gets a node with so many free, a gang wholly free nodes that are as near to
// each other as its Locality asks.

// Placement names the first node of a place where a job fits, or Wait. For a job of at most GPUsPerNode GPUs that is a node with
// so many free GPUs, for a gang the first of a run of wholly free nodes.
type Placement func(v View, j Job) int

// Fit is which of several places a job gets. Of equally good ones it is the lowest-numbered.
type Fit uint8

// The fits. "Room" is, for a job on one node, the free GPUs of that node; for a gang of consecutive nodes the run of free nodes that it
// is cut from; for a gang in one rack or pod the free nodes of that rack or pod.
const (
	// FitFirst takes the lowest-numbered place.
	FitFirst Fit = iota
	// FitBest takes the place with the least room, and so keeps large holes whole. Kubernetes calls it packing: its MostAllocated scores
	// a node by the share of it that is taken, which for one resource on nodes of one size is the same order. Slurm's default
	// (select/linear and cons_tres without topology) is best fit by consecutive runs, too. A gang that may have any nodes of a rack,
	// a pod or the fleet uses up its small holes first: the shortest runs of free nodes.
	FitBest
	// FitSpread takes the place with the most room, so that a failure hits few jobs and neighbours disturb each other little:
	// Kubernetes' LeastAllocated, its default, and Slurm's LLN (least loaded nodes). It makes the holes of the Swiss cheese.
	FitSpread
)

// String is the fit in a few words.
func (f Fit) String() string { return nameOf(f, "first fit", "best fit", "spread") }

// PlaceFirst is first fit: the lowest-numbered place that holds the job.
func PlaceFirst(v View, j Job) int { return v.s.consecutive(j.GPUs, FitFirst, nil) }

// PlaceBest is best fit: the node with the fewest free GPUs that still holds the job, or the shortest run of free nodes that holds
// the gang; the lowest-numbered one of equals.
func PlaceBest(v View, j Job) int { return v.s.consecutive(j.GPUs, FitBest, nil) }

// PlaceSpread is the opposite: the node with the most free GPUs, or the longest run of free nodes.
func PlaceSpread(v View, j Job) int { return v.s.consecutive(j.GPUs, FitSpread, nil) }

// near is the locality that a job really needs.
func (j *Job) near() Locality {
	if j.Prefer {
		return Anywhere
	}
	return j.Locality
}

// place is where a job can start now, away from the nodes of avoid. If a gang would only prefer its locality, the next wider one that
// has room will do: Slurm's topology/tree takes the lowest switch that fits in this way, and Kueue goes up its levels. (Slurm's
// topology/block, which insists on its blocks, is a rack or pod that is not only preferred.)
func (s *sim) place(j *Job, f Fit, avoid bitset) Decision {
	d := Decision{Job: Nobody, Node: Wait}
	for l := j.Locality; l <= Anywhere; l++ {
		if l == Contiguous || j.GPUs <= s.topo.GPUsPerNode {
			d.Node = s.consecutive(j.GPUs, f, avoid)
		} else if d.Nodes = s.scattered(s.topo.NodesFor(j.GPUs), l, f, avoid); d.Nodes != nil {
			d.Node = d.Nodes[0]
		}
		if d.Node != Wait || !j.Prefer || j.GPUs <= s.topo.GPUsPerNode {
			break
		}
	}
	return d
}

// consecutive is the first node of a place on one node or on consecutive ones, or Wait.
func (s *sim) consecutive(gpus int, f Fit, avoid bitset) int {
	if gpus > s.topo.GPUsPerNode {
		return s.cutFrom(s.topo.NodesFor(gpus), f, avoid)
	}
	if f == FitFirst {
		return s.lowestWith(gpus, avoid)
	}
	for step := range len(s.byFree) - gpus {
		k := gpus + step
		if f == FitSpread {
			k = s.topo.GPUsPerNode - step
		}
		if s.nodesWith[k] == 0 {
			continue
		}
		for w := range s.byFree[k] {
			if word := s.byFree[k].without(avoid, w); word != 0 {
				return w*64 + bits.TrailingZeros64(word)
			}
		}
	}
	return Wait
}

// lowestWith is the lowest node that has so many free GPUs.
func (s *sim) lowestWith(gpus int, avoid bitset) int {
	for w := range s.byFree[0] {
		var any uint64
		for k := gpus; k < len(s.byFree); k++ {
			any |= s.byFree[k].without(avoid, w)
		}
		if any != 0 {
			return w*64 + bits.TrailingZeros64(any)
		}
	}
	return Wait
}

// freeNodes is the wholly free nodes that a gang may have; nil if there are fewer than it needs. It is valid until the next call.
func (s *sim) freeNodes(need int, avoid bitset) bitset {
	free := s.byFree[s.topo.GPUsPerNode]
	if s.nodesWith[s.topo.GPUsPerNode] < need {
		return nil
	}
	if avoid == nil {
		return free
	}
	n := 0
	for w := range free {
		s.scratch[w] = free.without(avoid, w)
		n += bits.OnesCount64(s.scratch[w])
	}
	if n < need {
		return nil
	}
	return s.scratch
}

// cutFrom is the first node of the run of free nodes from which a gang of consecutive nodes is cut.
func (s *sim) cutFrom(need int, f Fit, avoid bitset) int {
	if s.holeLen < need { // up to date while a policy is asked; a gang at the head of the queue is tried at every event
		return Wait
	}
	at, best := Wait, 0
	for start, n := range s.freeNodes(need, avoid).runs {
		if n < need || at != Wait && (f == FitBest && n >= best || f == FitSpread && n <= best) {
			continue
		}
		if at, best = start, n; f == FitFirst {
			break
		}
	}
	return at
}

// scattered is free nodes of one rack, one pod or the fleet that hold a gang, in ascending order; nil if there are not enough.
func (s *sim) scattered(need int, l Locality, f Fit, avoid bitset) []int {
	free := s.freeNodes(need, avoid)
	if free == nil {
		return nil
	}
	size, at, best := s.topo.domain(l), Wait, 0
	for from := 0; from < len(s.free); from += size {
		n := free.count(from, from+size)
		if n < need || at != Wait && (f == FitBest && n >= best || f == FitSpread && n <= best) {
			continue
		}
		if at, best = from, n; f == FitFirst {
			break
		}
	}
	if at == Wait {
		return nil
	}
	return pick(free, at, at+size, need, f)
}

// pick takes nodes of a set between two bounds: the lowest ones, or those of the shortest or longest runs.
func pick(set bitset, from, to, need int, f Fit) []int {
	nodes := make([]int, 0, need)
	if f == FitFirst {
		for n := from; len(nodes) < need; n++ {
			if set.has(n) {
				nodes = append(nodes, n)
			}
		}
		return nodes
	}
	var runs [][2]int // first node and length
	for n := from; n < to; n++ {
		switch {
		case !set.has(n):
		case len(runs) > 0 && n == runs[len(runs)-1][0]+runs[len(runs)-1][1]:
			runs[len(runs)-1][1]++
		default:
			runs = append(runs, [2]int{n, 1})
		}
	}
	slices.SortStableFunc(runs, func(a, b [2]int) int {
		if f == FitSpread {
			a, b = b, a
		}
		return cmp.Compare(a[1], b[1])
	})
	for _, r := range runs {
		for n := r[0]; n < r[0]+r[1] && len(nodes) < need; n++ {
			nodes = append(nodes, n)
		}
	}
	slices.Sort(nodes)
	return nodes
}

// room tells whether some open node has so many free GPUs: never for a gang, which a Placement is not asked for.
func (s *sim) room(gpus int) bool {
	for k := gpus; k < len(s.nodesWith); k++ {
		if s.nodesWith[k] > 0 {
			return true
		}
	}
	return false
}
