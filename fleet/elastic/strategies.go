package elastic

import "slices"

// strategy is a Rescaler with a name.
type strategy struct {
	name string
	f    func(Break) Regroup
}

// String is the name of the strategy.
func (s *strategy) String() string { return s.name }

// Rescale answers.
func (s *strategy) Rescale(b Break) Regroup { return s.f(b) }

// The strategies of the lab.
var (
	// Restart gives up: the scheduler starts the job again, with as many nodes as before, from its last checkpoint.
	Restart Rescaler = &strategy{"Restart from checkpoint", func(Break) Regroup { return Regroup{} }}
	// WaitForSpare completes the broken replicas with spares, and stands still until there are enough of them.
	WaitForSpare Rescaler = &strategy{"Wait for spares", waitForSpare}
	// DropReplicas goes on with the replicas that are whole, or that spares and repaired nodes make whole.
	DropReplicas Rescaler = &strategy{"Drop broken replicas", dropReplicas}
	// Reshard makes new replicas of the survivors of the broken ones, so that fewer than one replica's nodes are left over.
	Reshard Rescaler = &strategy{"Re-shard onto survivors", reshard}
)

// Strategies lists the strategies of the lab.
func Strategies() []Rescaler { return []Rescaler{Restart, WaitForSpare, DropReplicas, Reshard} }

// Rescaling is a Rescaler of one's own: f returns the replicas that go on; none of them means crash.
func Rescaling(name string, f func(b Break) [][]int) Rescaler {
	return &strategy{name, func(b Break) Regroup {
		if f == nil {
			return Regroup{}
		}
		return Regroup{Replicas: f(b)}
	}}
}

func waitForSpare(b Break) Regroup {
	if len(b.Lost) > len(b.Spares) {
		return Regroup{Wait: true}
	}
	return dropReplicas(b)
}

func dropReplicas(b Break) (r Regroup) {
	order := make([]int, len(b.Replicas)) // those that lack the fewest nodes have the spares first
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return b.missing(b.Replicas[x]) - b.missing(b.Replicas[y]) })
	spares, whole := b.Spares, make([][]int, len(b.Replicas))
	for _, i := range order {
		replica := b.Replicas[i]
		if need := b.missing(replica); need > len(spares) {
			break
		} else if need > 0 {
			replica = slices.Clone(replica)
			for k, node := range replica {
				if !b.Alive(node) {
					replica[k], spares = spares[0], spares[1:]
				}
			}
		}
		whole[i] = replica
	}
	for _, replica := range whole {
		if replica != nil {
			r.Replicas = append(r.Replicas, replica)
		}
	}
	return r
}

func reshard(b Break) (r Regroup) {
	var survivors []int
	for _, replica := range b.Replicas {
		if b.Whole(replica) {
			r.Replicas = append(r.Replicas, replica)
			continue
		}
		for _, node := range replica {
			if b.Alive(node) {
				survivors = append(survivors, node)
			}
		}
	}
	survivors = append(survivors, b.Spares...)
	for len(survivors) >= b.NodesPerReplica && len(r.Replicas) < len(b.Replicas) {
		r.Replicas = append(r.Replicas, survivors[:b.NodesPerReplica:b.NodesPerReplica])
		survivors = survivors[b.NodesPerReplica:]
	}
	return r
}
