package elastic

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
)

// Geometry is a data-parallel job as replicas of whole nodes: node n belongs to replica n / NodesPerReplica.
type Geometry struct {
	Replicas        int // 1 to 100,000
	NodesPerReplica int // 1 to 100,000
}

// ErrGeometry is wrapped by the errors of a Geometry; the text names the field, its value and the range.
var ErrGeometry = errors.New("impossible geometry")

const most = 100_000 // replicas, and nodes in one

// Validate reports a field that is out of range.
func (g Geometry) Validate() error {
	for _, f := range []struct {
		name  string
		value int
	}{{"Replicas", g.Replicas}, {"NodesPerReplica", g.NodesPerReplica}} {
		if f.value < 1 || f.value > most {
			return fmt.Errorf("%s %d: must be between 1 and %d: %w", f.name, f.value, most, ErrGeometry)
		}
	}
	return nil
}

// Nodes is the size of the job.
func (g Geometry) Nodes() int { return g.Replicas * g.NodesPerReplica }

// check rejects a number of failed nodes that the job does not have.
func (g Geometry) check(failed int) error {
	if err := g.Validate(); err != nil {
		return err
	}
	if failed < 0 || failed > g.Nodes() {
		return fmt.Errorf("failed %d: must be between 0 and %d, the nodes of the job: %w", failed, g.Nodes(), ErrGeometry)
	}
	return nil
}

// Remaining is how many replicas are left after some nodes have failed, without spares.
type Remaining struct {
	Best     int     // the failed nodes share as few replicas as they can
	Worst    int     // each is in another replica, as far as that goes
	Expected float64 // nodes drawn uniformly without replacement: Replicas × C(N−n, f) / C(N, f)
	Reshard  int     // whole replicas that the survivors can form: ⌊(N−f) / n⌋
}

// After is what is left after so many nodes have failed.
func (g Geometry) After(failed int) (Remaining, error) {
	if err := g.check(failed); err != nil {
		return Remaining{}, err
	}
	total, n := g.Nodes(), g.NodesPerReplica
	spared := 1.0 // the probability that one replica is spared: the product over its nodes, which is never large
	if failed > total-n {
		spared = 0
	} else {
		for i := range n {
			spared *= 1 - float64(failed)/float64(total-i)
		}
	}
	return Remaining{
		Best:     g.Replicas - (failed+n-1)/n,
		Worst:    max(0, g.Replicas-failed),
		Expected: float64(g.Replicas) * spared,
		Reshard:  (total - failed) / n,
	}, nil
}

// Left is how many replicas are left after these nodes have failed, without spares.
func (g Geometry) Left(failed []int) (int, error) {
	if err := g.Validate(); err != nil {
		return 0, err
	}
	hit := map[int]bool{}
	for _, n := range failed {
		if n < 0 || n >= g.Nodes() {
			return 0, fmt.Errorf("failed node %d: must be between 0 and %d: %w", n, g.Nodes()-1, ErrGeometry)
		}
		hit[n/g.NodesPerReplica] = true
	}
	return g.Replicas - len(hit), nil
}

// Pattern is how failed nodes lie in a job.
type Pattern uint8

// The patterns.
const (
	Random   Pattern = iota // drawn uniformly without replacement
	Adjacent                // neighbours from node 0 on: as few replicas as possible
	Spread                  // evenly over the job: each in another replica, as far as that goes
)

// String is the pattern's name.
func (p Pattern) String() string {
	if p > Spread {
		return fmt.Sprintf("unknown (%d)", uint8(p))
	}
	return [...]string{"random", "adjacent", "spread"}[p]
}

// Fail names so many failed nodes in ascending order. Only Random depends on seed.
func (g Geometry) Fail(failed int, p Pattern, seed uint64) ([]int, error) {
	if err := g.check(failed); err != nil {
		return nil, err
	}
	var nodes []int
	switch p {
	case Random:
		nodes = rand.New(rand.NewPCG(seed, uint64(p))).Perm(g.Nodes())[:failed]
	case Adjacent:
		for n := range failed {
			nodes = append(nodes, n)
		}
	case Spread: // round after round, one node of each of the replicas that are furthest apart
		for round := 0; len(nodes) < failed; round++ {
			some := min(failed-len(nodes), g.Replicas)
			for i := range some {
				nodes = append(nodes, i*g.Replicas/some*g.NodesPerReplica+round)
			}
		}
	default:
		return nil, fmt.Errorf("pattern %v: must be random, adjacent or spread: %w", p, ErrGeometry)
	}
	slices.Sort(nodes)
	return nodes, nil
}
