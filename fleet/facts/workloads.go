package facts

// What jobs of shared GPU clusters are like.
var (
	PhillyRunMean   = Fact{Name: "PhillyRunMean", Value: 18006, Unit: "seconds, mean run of 112,956 GPU jobs", Source: acme, Date: "2024", Verified: Verbatim}
	PhillyRunMedian = Fact{Name: "PhillyRunMedian", Value: 874, Unit: "seconds, median run", Source: acme, Date: "2024", Verified: Verbatim}
	PhillyQueueMean = Fact{Name: "PhillyQueueMean", Value: 3761, Unit: "seconds, mean wait", Source: acme, Date: "2024", Verified: Verbatim}
	PhillyFailed    = Fact{Name: "PhillyFailed", Value: 0.305, Unit: "share of jobs that fail; they use 38.6 % of GPU-time", Source: acme, Date: "2024", Verified: Verbatim}
	HeliosRunMean   = Fact{Name: "HeliosRunMean", Value: 6652, Unit: "seconds, mean run of 1.58 million jobs", Source: acme, Date: "2024", Verified: Verbatim}
	HeliosRunMedian = Fact{Name: "HeliosRunMedian", Value: 206, Unit: "seconds, median run", Source: acme, Date: "2024", Verified: Verbatim}

	FGDFragOfTotal     = Fact{Name: "FGDFragOfTotal", Value: 0.047, Unit: "fragmented GPUs / all GPUs at full load, policy FGD", Source: fgd, Date: "2023", Verified: Computed}
	BestFitFragOfTotal = Fact{Name: "BestFitFragOfTotal", Value: 0.071, Unit: "the same with best fit", Source: fgd, Date: "2023", Verified: Computed}
	RandomFragOfTotal  = Fact{Name: "RandomFragOfTotal", Value: 0.135, Unit: "the same with random placement", Source: fgd, Date: "2023", Verified: Computed}
)

const (
	acme = "summary of Philly and Helios in AcmeTrace (CC-BY-4.0)"
	fgd  = "published runs of Weng et al., Beware of Fragmentation, USENIX ATC 2023"
)
