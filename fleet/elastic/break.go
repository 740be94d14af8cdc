package elastic

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrRegroup is wrapped by the error of an answer that cannot be carried out.
var ErrRegroup = errors.New("impossible regrouping")

// Break is a training job that is not at full strength: nodes were lost, or nodes have come back.
type Break struct {
	Now             time.Duration // since the start of the run
	NodesPerReplica int           // a replica is TP × PP × CP GPUs, here in whole nodes
	Min             int           // fewest replicas that the job accepts
	Replicas        [][]int       // all replicas of the full job, node by node in rank order, the lost nodes too
	Running         int           // the first Running of them had the model's state until now; the others were broken before, or their software has crashed
	Lost            []int         // nodes in Replicas that cannot be used: down, or taken by another job; ascending
	Spares          []int         // healthy nodes outside Replicas that nobody holds, ascending
}

// Clone is a copy that shares nothing with b.
func (b Break) Clone() Break {
	replicas := make([][]int, len(b.Replicas))
	for i, replica := range b.Replicas {
		replicas[i] = slices.Clone(replica)
	}
	b.Replicas, b.Lost, b.Spares = replicas, slices.Clone(b.Lost), slices.Clone(b.Spares)
	return b
}

// Alive tells whether a node of the job can be used.
func (b Break) Alive(node int) bool {
	_, lost := slices.BinarySearch(b.Lost, node)
	return !lost
}

// Whole tells whether all nodes of a replica can be used.
func (b Break) Whole(replica []int) bool { return b.missing(replica) == 0 }

// missing is the number of nodes of a replica that cannot be used.
func (b Break) missing(replica []int) (n int) {
	for _, node := range replica {
		if !b.Alive(node) {
			n++
		}
	}
	return n
}

// Live tells whether a replica that had the model's state is whole: then it still has it, and nothing has to be rolled back.
func (b Break) Live() bool { return slices.ContainsFunc(b.Replicas[:b.Running], b.Whole) }

// Regroup is the answer to a Break: how the job goes on. The zero Regroup gives up: the job crashes, goes back to the queue and starts
// again from its last checkpoint.
type Regroup struct {
	Replicas [][]int // the replicas that go on, each of NodesPerReplica usable nodes from Replicas or Spares, in rank order
	Wait     bool    // keep the nodes and stand still until more are there; Replicas is then empty
}

// Rescaler decides how a training job goes on. It is asked when the job has lost a node, and again whenever nodes have changed while the
// job is not at full strength. It must answer from the Break alone: the same break, the same answer.
type Rescaler interface {
	Rescale(b Break) Regroup
}

// Moved is the number of nodes in an answer that have to be given the model's state: all nodes of a replica that is not, node by node,
// one of those that had it.
func (b Break) Moved(r Regroup) int {
	stay := 0
	for _, replica := range r.Replicas {
		if b.stays(replica) {
			stay++
		}
	}
	return (len(r.Replicas) - stay) * b.NodesPerReplica
}

// stays tells whether a replica had the model's state and is whole.
func (b Break) stays(replica []int) bool {
	return b.Whole(replica) && slices.ContainsFunc(b.Replicas[:b.Running], func(old []int) bool { return slices.Equal(old, replica) })
}

// Check tells what is wrong with an answer. The error wraps ErrRegroup.
func (b Break) Check(r Regroup) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), ErrRegroup)
	}
	if r.Wait && len(r.Replicas) > 0 {
		return wrong("it waits and goes on with %d replicas: must be one or the other", len(r.Replicas))
	}
	if len(r.Replicas) == 0 {
		return nil
	}
	if len(r.Replicas) > len(b.Replicas) {
		return wrong("%d replicas: must be at most the %d of the full job", len(r.Replicas), len(b.Replicas))
	}
	const unknown, usable = 0, 1 // and 2 + i in replica i of the answer
	owner := make([]int, b.highest()+1)
	for _, list := range append(slices.Clone(b.Replicas), b.Spares) {
		for _, node := range list {
			owner[node] = usable
		}
	}
	for i, replica := range r.Replicas {
		if len(replica) != b.NodesPerReplica {
			return wrong("replica %d has %d nodes: must be %d", i, len(replica), b.NodesPerReplica)
		}
		for _, node := range replica {
			switch {
			case node < 0 || node >= len(owner) || owner[node] == unknown:
				return wrong("replica %d has node %d: must be a node of the job or a spare", i, node)
			case !b.Alive(node):
				return wrong("node %d is down, or taken, and stands in replica %d", node, i)
			case owner[node] == i+2:
				return wrong("replica %d has node %d twice", i, node)
			case owner[node] != usable:
				return wrong("node %d is in two replicas, %d and %d: must be in one", node, owner[node]-2, i)
			}
			owner[node] = i + 2
		}
	}
	return nil
}

// highest is the largest number of a node in a break, -1 if there is none.
func (b Break) highest() int {
	high := -1
	for _, list := range append(slices.Clone(b.Replicas), b.Spares) {
		for _, node := range list {
			high = max(high, node)
		}
	}
	return high
}
