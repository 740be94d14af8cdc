package failure

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/facts"
)

// ErrModel is wrapped by the error of a field that is out of range. The text names it, its value and the range.
var ErrModel = errors.New("impossible failure model")

// Model says what breaks, how often and for how long.
type Model struct {
	Topology fleet.Topology
	Horizon  time.Duration // faults are drawn up to here; 1 s to 400 days
	Seed     uint64

	PerNodeDay float64 // interruptions of all causes, for each node and day; 0 to 100
	Shape      float64 // Weibull shape of the gaps of one node: 1 is exponential, below 1 the hazard falls with time; 0.3 to 10
	Fresh      bool    // every node is new, or just repaired, at the start; else they have been running for long, and the rate is the same at all times
	Causes     []Cause // at least one if PerNodeDay is above 0
	Drain      bool    // a broken GPU takes its whole node out of the fleet
	Behind     int     // nodes behind one switch: a fault of scope ScopeNetwork takes all of them, from a multiple of this number on; 1 to 1000

	Spikes Spikes // on top of that
}

// Cause is one cause of interruptions.
type Cause struct {
	Name   string
	Weight float64       // its share against the other causes' weights; 0 or more
	Scope  facts.Scope   // what it takes down
	Repair Repair        // how long; for ScopeSoftware nothing is repaired
	Silent time.Duration // mean time until it is noticed, exponential; 0 for at once, to 30 days
}

// Repair is a lognormal repair time.
type Repair struct {
	Median time.Duration // 1 s to 400 days
	Mean   time.Duration // Median to 50 times that; equal to Median for a repair that always takes so long
}

// Spikes are power spikes: each takes neighbouring nodes down at one instant.
type Spikes struct {
	PerDay float64 // of the whole fleet; 0 to 100
	Nodes  int     // that each takes; 1 to all, if there are any spikes
	Repair Repair
}

// The random streams: turning one knob leaves the other draws alone.
const (
	streamCause = iota + 1
	streamRepair
	streamGPU
	streamNotice
	streamSpikes
	streamNode // this one plus the node's number: the times of its faults
)

// Llama3 is the mix and the rate of Llama 3's log (see facts.Llama3Interruptions): 3.79e-3 interruptions per node-day, which for 2,048
// nodes is one in 3.1 hours. Gaps are exponential; a broken GPU takes its node out, as that fleet did; a switch takes the nodes of its
// rack, or two where the topology has no racks to speak of (more than 64 nodes in one). Repair times are those of another
// fleet's log (facts.RepairTimes). Silent data corruption is noticed after an hour on average, which no source says (Assumed).
func Llama3(t fleet.Topology) Model {
	m := Model{Topology: t, Horizon: facts.Llama3Window, Shape: 1, Drain: true, Behind: t.NodesPerRack}
	if t.NodesPerRack > 64 { // no rack: the topology says nothing of them
		m.Behind = int(facts.RackNodes.Value)
	}
	m.PerNodeDay = 24 / facts.Llama3MTBF().Hours() / facts.Llama3Nodes
	for _, i := range facts.Llama3Interruptions {
		c := Cause{Name: i.Cause, Weight: float64(i.Count), Scope: i.Scope, Repair: repairOf(i)}
		if i.Cause == "Silent data corruption" {
			c.Silent = time.Hour
		}
		m.Causes = append(m.Causes, c)
	}
	return m
}

// Meta is the rate of one of Meta's research clusters, in failures per 1,000 node-days (facts.MetaRSC1Failures or MetaRSC2Failures), with
// Llama 3's mix of hardware causes.
func Meta(t fleet.Topology, perThousandNodeDays float64) Model {
	m := Llama3(t)
	m.PerNodeDay = perThousandNodeDays / 1000
	m.Causes = slices.DeleteFunc(m.Causes, func(c Cause) bool { return c.Scope == facts.ScopeSoftware })
	return m
}

// repairOf is the repair time of a row of the table: that of its cause or its component, where the other log has one.
func repairOf(i facts.Interruption) Repair {
	days := func(d float64) time.Duration { return time.Duration(d * 24 * float64(time.Hour)) }
	for _, r := range facts.RepairTimes {
		if r.Class == i.Cause || r.Class == i.Component {
			return Repair{days(r.Median), days(r.Mean)}
		}
	}
	return Repair{days(facts.RepairMedian.Value), days(facts.RepairMean.Value)}
}

// Validate reports each field that is out of range. The errors wrap ErrModel.
func (m Model) Validate() error {
	var errs []error
	bad := func(field string, value any, want string) {
		errs = append(errs, fmt.Errorf("%s %v: must be %s: %w", field, value, want, ErrModel))
	}
	ratio := func(field string, x, lo, hi float64) {
		if !(x >= lo && x <= hi) { // NaN is neither
			bad(field, x, fmt.Sprintf("between %v and %v", lo, hi))
		}
	}
	c := fleet.Default()
	c.Topology, c.Horizon = m.Topology, m.Horizon
	if err := c.Validate(); err != nil {
		return fmt.Errorf("%w: %w", err, ErrModel)
	}
	nodes := m.Topology.Nodes()
	ratio("PerNodeDay", m.PerNodeDay, 0, 100)
	ratio("Shape", m.Shape, 0.3, 10)
	ratio("Spikes.PerDay", m.Spikes.PerDay, 0, 100)
	if n := m.expected(); n > maxFaults {
		bad("PerNodeDay", m.PerNodeDay, fmt.Sprintf("so low that %d nodes have at most %d faults up to the horizon, not %.3g", nodes, maxFaults, n))
	}
	if m.Behind < 1 || m.Behind > 1000 {
		bad("Behind", m.Behind, "between 1 and 1000 nodes")
	}
	repair := func(field string, r Repair) {
		if r.Median < time.Second || r.Median > longest || r.Mean < r.Median || r.Mean > 50*r.Median {
			bad(field, r, fmt.Sprintf("a median between 1s and %v and a mean from that to 50 times as much", longest))
		}
	}
	if m.Spikes.PerDay > 0 {
		if repair("Spikes.Repair", m.Spikes.Repair); m.Spikes.Nodes < 1 || m.Spikes.Nodes > nodes {
			bad("Spikes.Nodes", m.Spikes.Nodes, fmt.Sprintf("between 1 and %d", nodes))
		}
	}
	sum := 0.0
	for i, c := range m.Causes {
		name := fmt.Sprintf("Causes[%d].", i)
		ratio(name+"Weight", c.Weight, 0, 1e12)
		sum += c.Weight
		switch c.Scope {
		case facts.ScopeGPU, facts.ScopeNode, facts.ScopeNetwork:
			repair(name+"Repair", c.Repair)
		case facts.ScopeSoftware:
		default:
			bad(name+"Scope", c.Scope, "GPU, node, network or software")
		}
		if c.Silent < 0 || c.Silent > 30*24*time.Hour {
			bad(name+"Silent", c.Silent, "between 0s and 720h0m0s")
		}
	}
	if m.PerNodeDay > 0 && !(sum > 0) {
		bad("Causes", len(m.Causes), "some with a weight above 0")
	}
	return errors.Join(errs...)
}

const (
	longest   = 400 * 24 * time.Hour
	maxFaults = 2_000_000
)

// expected is the mean number of faults.
func (m Model) expected() float64 {
	return (m.PerNodeDay*float64(m.Topology.Nodes()) + m.Spikes.PerDay) * m.Horizon.Hours() / 24
}

// MTBF is the mean time between the interruptions of a job on all nodes: 1 / (PerNodeDay × nodes + Spikes.PerDay). It is 0 if nothing ever
// breaks, and the longest time.Duration, 292 years, if that is not long enough.
func (m Model) MTBF() time.Duration {
	perDay := m.PerNodeDay*float64(m.Topology.Nodes()) + m.Spikes.PerDay
	if perDay == 0 {
		return 0
	}
	if mtbf := 24 * float64(time.Hour) / perDay; mtbf < math.MaxInt64 {
		return time.Duration(mtbf)
	}
	return math.MaxInt64
}

// Faults draws the faults up to the horizon, in order of time. The same model gives the same faults. The error wraps ErrModel.
func (m Model) Faults() ([]fleet.Fault, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	faults := m.strikes()
	m.name(faults)
	faults = append(faults, m.spikes()...)
	slices.SortStableFunc(faults, func(a, b fleet.Fault) int { return cmp.Compare(a.At, b.At) })
	return faults, nil
}

// strikes is when each node is interrupted: a renewal process of its own.
func (m Model) strikes() (faults []fleet.Fault) {
	if m.PerNodeDay == 0 {
		return nil
	}
	mean := 86400 / m.PerNodeDay
	scale := mean / math.Gamma(1+1/m.Shape)
	for node := range m.Topology.Nodes() {
		src := rand.NewPCG(m.Seed, uint64(streamNode+node))
		gaps := distuv.Weibull{K: m.Shape, Lambda: scale, Src: src}
		first := gaps.Rand()
		if !m.Fresh {
			// A node that has run for long is seen inside a gap, and more likely inside a long one: such gaps have the density x·f(x)/mean, for a
			// Weibull distribution λ·G^(1/k) with G from a gamma distribution of shape 1 + 1/k. What is left of it is a uniform part.
			long := scale * math.Pow(distuv.Gamma{Alpha: 1 + 1/m.Shape, Beta: 1, Src: src}.Rand(), 1/m.Shape)
			first = long * rand.New(src).Float64()
		}
		for t := first; t < m.Horizon.Seconds(); t += gaps.Rand() {
			faults = append(faults, fleet.Fault{Node: node, At: seconds(t)})
		}
	}
	slices.SortStableFunc(faults, func(a, b fleet.Fault) int { return cmp.Compare(a.At, b.At) })
	return faults
}

// name gives each interruption its cause, and what follows from that.
func (m Model) name(faults []fleet.Fault) {
	weights := make([]float64, len(m.Causes))
	for i, c := range m.Causes {
		weights[i] = c.Weight
	}
	if len(faults) == 0 {
		return
	}
	causes := distuv.NewCategorical(weights, rand.NewPCG(m.Seed, streamCause))
	repairs, gpus := rand.New(rand.NewPCG(m.Seed, streamRepair)), rand.New(rand.NewPCG(m.Seed, streamGPU))
	notices := rand.New(rand.NewPCG(m.Seed, streamNotice))
	for i := range faults {
		f, c := &faults[i], &m.Causes[int(causes.Rand())]
		z, gpu, late := repairs.NormFloat64(), gpus.IntN(m.Topology.GPUsPerNode), notices.ExpFloat64() // one draw each, used or not
		f.Cause = c.Name
		f.Repair = c.Repair.draw(z)
		switch c.Scope {
		case facts.ScopeGPU:
			if !m.Drain {
				f.Scope, f.GPU = fleet.OneGPU, gpu
			}
		case facts.ScopeNetwork:
			f.Node -= f.Node % m.Behind
			f.Nodes = min(m.Behind, m.Topology.Nodes()-f.Node)
		case facts.ScopeSoftware:
			f.Scope, f.Repair = fleet.Software, 0
		}
		if c.Silent > 0 {
			f.Silent = max(time.Second, seconds(late*c.Silent.Seconds()))
		}
	}
}

// draw is a repair time for a standard normal deviate, at least a second and at most 400 days.
func (r Repair) draw(z float64) time.Duration {
	if r.Median == 0 {
		return 0
	}
	sigma := math.Sqrt(2 * math.Log(r.Mean.Seconds()/r.Median.Seconds()))
	return min(longest, max(time.Second, seconds(r.Median.Seconds()*math.Exp(sigma*z))))
}

// spikes draws the power spikes.
func (m Model) spikes() (faults []fleet.Fault) {
	if m.Spikes.PerDay == 0 {
		return nil
	}
	rng := rand.New(rand.NewPCG(m.Seed, streamSpikes))
	for t := 0.0; ; {
		t += rng.ExpFloat64() * 86400 / m.Spikes.PerDay
		if t >= m.Horizon.Seconds() {
			return faults
		}
		first := rng.IntN(m.Topology.Nodes() - m.Spikes.Nodes + 1)
		faults = append(faults, fleet.Fault{Node: first, Nodes: m.Spikes.Nodes, At: seconds(t), Repair: m.Spikes.Repair.draw(rng.NormFloat64()), Cause: "power spike"})
	}
}

// Burst takes these nodes down at one instant.
func Burst(nodes []int, at, repair time.Duration, cause string) []fleet.Fault {
	faults := make([]fleet.Fault, len(nodes))
	for i, n := range nodes {
		faults[i] = fleet.Fault{Node: n, At: at, Repair: repair, Cause: cause}
	}
	return faults
}

// seconds is a time in whole seconds, rounded down so that what lies before the horizon stays there.
func seconds(s float64) time.Duration {
	if s > longest.Seconds()*10 {
		return longest * 10
	}
	return time.Duration(s) * time.Second
}
