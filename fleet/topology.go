package fleet

// Topology is the shape of the fleet: pods of racks of nodes of GPUs. Nodes are numbered from 0 through the whole fleet, rack by
// rack and pod by pod, and two nodes with neighbouring numbers are neighbours: Slurm without a topology plugin sees its nodes as
// the same one-dimensional array. GPUs are numbered from 0 in the same way.
type Topology struct {
	Pods         int // 1 to 1000
	RacksPerPod  int // 1 to 1000
	NodesPerRack int // 1 to 200,000
	GPUsPerNode  int // 1 to 16
}

// Racks is the number of racks in the fleet.
func (t Topology) Racks() int { return t.Pods * t.RacksPerPod }

// Nodes is the number of nodes in the fleet.
func (t Topology) Nodes() int { return t.Racks() * t.NodesPerRack }

// GPUs is the capacity of the fleet: the denominator of every share, whether a GPU was ever used or not.
func (t Topology) GPUs() int { return t.Nodes() * t.GPUsPerNode }

// Rack is the rack that a node stands in, from 0 through the whole fleet.
func (t Topology) Rack(node int) int { return node / t.NodesPerRack }

// Pod is the pod that a node belongs to.
func (t Topology) Pod(node int) int { return t.Rack(node) / t.RacksPerPod }

// NodesFor is the number of nodes that a job of so many GPUs holds: one if it fits into a node, else a run of whole ones.
func (t Topology) NodesFor(gpus int) int { return (gpus + t.GPUsPerNode - 1) / t.GPUsPerNode }

// domain is the number of nodes in a rack, a pod or the fleet.
func (t Topology) domain(l Locality) int {
	switch l {
	case SameRack:
		return t.NodesPerRack
	case SamePod:
		return t.NodesPerRack * t.RacksPerPod
	default:
		return t.Nodes()
	}
}
