package facts

import "time"

// Scope is what an interruption takes down.
type Scope string

// The scopes.
const (
	ScopeNode     Scope = "node"     // a GPU or another part of one server: the server leaves the fleet
	ScopeNetwork  Scope = "network"  // a switch or cable
	ScopeSoftware Scope = "software" // no hardware is lost
	ScopeOther    Scope = "other"
)

// Interruption is one row of the Llama 3 interruption table.
type Interruption struct {
	Cause     string
	Component string
	Count     int
	Scope     Scope // our reading of the component, not the paper's
}

// Llama3Interruptions are the unexpected job interruptions of the Llama 3 405B pre-training, by cause: The Llama 3 Herd of Models,
// arXiv 2407.21783, §3.3.4, Table 5, 2024-07, V. Counts, in Llama3Window on Llama3GPUs. The percentages printed beside them in the
// table do not match the counts (148 of 419 is 35.3 %, not 30.1 %), so sample from the counts.
var Llama3Interruptions = []Interruption{
	{"Faulty GPU", "GPU", 148, ScopeNode},
	{"GPU HBM3 memory", "GPU", 72, ScopeNode},
	{"Software bug", "Dependency", 54, ScopeSoftware},
	{"Network switch/cable", "Network", 35, ScopeNetwork},
	{"Host maintenance", "Unplanned maintenance", 32, ScopeNode},
	{"GPU SRAM memory", "GPU", 19, ScopeNode},
	{"GPU system processor", "GPU", 17, ScopeNode},
	{"NIC", "Host", 7, ScopeNode},
	{"NCCL watchdog timeouts", "Unknown", 7, ScopeOther},
	{"Silent data corruption", "GPU", 6, ScopeNode},
	{"GPU thermal interface + sensor", "GPU", 6, ScopeNode},
	{"SSD", "Host", 3, ScopeNode},
	{"Power supply", "Host", 3, ScopeNode},
	{"Server chassis", "Host", 2, ScopeNode},
	{"IO expansion board", "Host", 2, ScopeNode},
	{"Dependency", "Dependency", 2, ScopeSoftware},
	{"CPU", "Host", 2, ScopeNode},
	{"System memory", "Host", 2, ScopeNode},
}

// The extent of the Llama 3 interruption table (same source).
const (
	Llama3Window = 54 * 24 * time.Hour
	Llama3GPUs   = 16384
	Llama3Nodes  = Llama3GPUs / 8
)

// NodeFailuresPerDay is how often one node of 8 GPUs leaves the fleet: the interruptions of node scope over Llama3Window and
// Llama3Nodes. 321 / (54 d × 2,048) = 2.90e-3 per node-day, C.
func NodeFailuresPerDay() float64 {
	n := 0
	for _, i := range Llama3Interruptions {
		if i.Scope == ScopeNode {
			n += i.Count
		}
	}
	return float64(n) / (Llama3Window.Hours() / 24 * Llama3Nodes)
}

// The repair time of a node, in the fault trace of 400 GPU servers over 348 days (stepfun-ai/InfiniteHBD-Trace, Apache-2.0): a
// lognormal distribution has this median and this mean with a sigma of √(2 ln(mean/median)) = 1.93.
var (
	RepairMedian = Fact{Value: 0.85, Unit: "days", Source: "stepfun-ai/InfiniteHBD-Trace, 584 faults of 400 servers", Date: "2025", Verified: Computed}
	RepairMean   = Fact{Value: 5.5, Unit: "days", Source: "stepfun-ai/InfiniteHBD-Trace, 584 faults of 400 servers", Date: "2025", Verified: Computed}
)
