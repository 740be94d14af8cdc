package facts

import "time"

// Scope is what an interruption takes down: our reading of the table's components.
type Scope string

// The scopes.
const (
	ScopeGPU      Scope = "GPU"      // one GPU breaks; fleets that drain take its server out
	ScopeNode     Scope = "node"     // another part of one server
	ScopeNetwork  Scope = "network"  // a switch or cable: all servers of a rack
	ScopeSoftware Scope = "software" // the job crashes, and no hardware is lost
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
	{"Faulty GPU", "GPU", 148, ScopeGPU},
	{"GPU HBM3 memory", "GPU", 72, ScopeGPU},
	{"Software bug", "Dependency", 54, ScopeSoftware},
	{"Network switch/cable", "Network", 35, ScopeNetwork},
	{"Host maintenance", "Unplanned maintenance", 32, ScopeNode},
	{"GPU SRAM memory", "GPU", 19, ScopeGPU},
	{"GPU system processor", "GPU", 17, ScopeGPU},
	{"NIC", "Host", 7, ScopeNode},
	{"NCCL watchdog timeouts", "Unknown", 7, ScopeSoftware},
	{"Silent data corruption", "GPU", 6, ScopeGPU},
	{"GPU thermal interface + sensor", "GPU", 6, ScopeGPU},
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

// Llama3MTBF is the mean time between unexpected interruptions of that job: 54 d / 419 = 3.093 h, C.
func Llama3MTBF() time.Duration {
	n := 0
	for _, i := range Llama3Interruptions {
		n += i.Count
	}
	return Llama3Window / time.Duration(n)
}

// NodeFailuresPerDay is how often one node of 8 GPUs leaves the fleet, if a broken GPU takes its node with it: the interruptions of scope
// GPU and node over Llama3Window and Llama3Nodes. 321 / (54 d × 2,048) = 2.90e-3 per node-day, C.
func NodeFailuresPerDay() float64 {
	n := 0
	for _, i := range Llama3Interruptions {
		if i.Scope == ScopeGPU || i.Scope == ScopeNode {
			n += i.Count
		}
	}
	return float64(n) / (Llama3Window.Hours() / 24 * Llama3Nodes)
}

// How often things break.
var (
	Llama3Interrupted = Fact{
		Name: "Llama3Interrupted", Value: 419, Unit: "unexpected interruptions in 54 days on 16,384 GPUs; about 78 % of them hardware", Source: llama3 + ", §3.3.4, Table 5",
		Date: "2024-07", Verified: Verbatim,
	}
	Llama3Planned       = Fact{Name: "Llama3Planned", Value: 47, Unit: "planned interruptions in the same time", Source: llama3 + ", §3.3.4", Date: "2024-07", Verified: Verbatim}
	Llama3EffectiveTime = Fact{
		Name: "Llama3EffectiveTime", Value: 0.9, Unit: "effective training time, more than", Low: 0.9, High: 1, Source: llama3 + ", §3.3.4", Date: "2024-07", Verified: Verbatim,
	}
	MetaRSC1Failures = Fact{Name: "MetaRSC1Failures", Value: 6.50, Unit: "failures per 1,000 node-days, RSC-1", Source: metaReliability, Date: "2024-10", Verified: Quoted}
	MetaRSC2Failures = Fact{Name: "MetaRSC2Failures", Value: 2.34, Unit: "failures per 1,000 node-days, RSC-2", Source: metaReliability, Date: "2024-10", Verified: Quoted}
	MetaMTTF8        = Fact{Name: "MetaMTTF8", Value: 47.7, Unit: "days to failure of a job of 8 GPUs", Source: metaReliability, Date: "2024-10", Verified: Quoted}
	MetaMTTF1024     = Fact{Name: "MetaMTTF1024", Value: 7.9, Unit: "hours to failure of a job of 1,024 GPUs", Source: metaReliability, Date: "2024-10", Verified: Quoted}
	MetaMTTF16384    = Fact{Name: "MetaMTTF16384", Value: 1.8, Unit: "hours, projected for 16,384 GPUs", Source: metaReliability, Date: "2024-10", Verified: Quoted}
	MetaMTTF131072   = Fact{Name: "MetaMTTF131072", Value: 0.23, Unit: "hours, projected for 131,072 GPUs", Source: metaReliability, Date: "2024-10", Verified: Quoted}

	LANLShape = Fact{
		Name: "LANLShape", Value: 0.75, Unit: "shape of a Weibull distribution of times between failures of one node", Low: 0.7, High: 0.8,
		Source: "Schroeder and Gibson, 23,000 failures at LANL: decreasing hazard", Date: "2006", Verified: Remembered,
	}
	TraceFailures = Fact{Name: "TraceFailures", Value: 4.20e-3, Unit: "faults per node-day", Source: infiniteHBD, Date: "2025", Verified: Computed}
	TraceShape    = Fact{Name: "TraceShape", Value: 0.62, Unit: "shape of a Weibull distribution of times between faults, fleet-wide", Source: infiniteHBD, Date: "2025", Verified: Computed}
	TraceCoincide = Fact{Name: "TraceCoincide", Value: 0.09, Unit: "share of faults that start at the same instant as another", Source: infiniteHBD, Date: "2025", Verified: Computed}

	// The repair time of a node: a lognormal distribution has this median and this mean with a sigma of √(2 ln(mean/median)) = 1.93.
	RepairMedian = Fact{Name: "RepairMedian", Value: 0.85, Unit: "days", Source: infiniteHBD, Date: "2025", Verified: Computed}
	RepairMean   = Fact{Name: "RepairMean", Value: 5.5, Unit: "days", Source: infiniteHBD, Date: "2025", Verified: Computed}

	OPTManualRestarts    = Fact{Name: "OPTManualRestarts", Value: 35, Unit: "manual restarts of OPT-175B on 992 A100, at least", Source: "OPT: Open Pre-trained Transformer Language Models, arXiv 2205.01068", Date: "2022", Verified: Quoted}
	OPTAutomaticRestarts = Fact{Name: "OPTAutomaticRestarts", Value: 70, Unit: "automatic restarts of OPT-175B, about", Source: "OPT: Open Pre-trained Transformer Language Models, arXiv 2205.01068", Date: "2022", Verified: Quoted}
)

// RepairTime is how long faults of one class lasted.
type RepairTime struct {
	Class        string
	Faults       int
	Median, Mean float64 // days
}

// RepairTimes are the repair times of hardware by class: stepfun-ai/InfiniteHBD-Trace
// (Apache-2.0), 584 faults of 400 servers in 348 days, 2025, C. Where a class is not listed, RepairMedian and RepairMean hold.
var RepairTimes = []RepairTime{
	{"GPU", 158, 0.70, 6.48},
	{"Network switch/cable", 40, 1.97, 4.98},
	{"NIC", 30, 0.49, 10.68},
	{"Power supply", 26, 14.63, 18.29},
}
