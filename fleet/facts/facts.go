// Package facts holds every number that comes from outside, each with its source, date, unit and how far it was verified.
package facts

// Fact is one outside number.
type Fact struct {
	Name     string // of its variable in this package
	Value    float64
	Unit     string
	Low      float64 // published range, 0 if there is none
	High     float64
	Source   string
	Date     string
	Verified Mark
}

// Mark tells how far a fact was verified.
type Mark string

// The marks.
const (
	Verbatim   Mark = "V" // read in the source's own text
	Quoted     Mark = "Q" // read as a quote in another text
	Computed   Mark = "C" // computed from verbatim figures
	Remembered Mark = "R" // not verified
	Assumed    Mark = "A" // chosen for the lab; no source claims it
)

// All lists every fact, by subject.
func All() []Fact {
	return []Fact{
		Llama3Interrupted, Llama3Planned, Llama3EffectiveTime, MetaRSC1Failures, MetaRSC2Failures, MetaMTTF8, MetaMTTF1024, MetaMTTF16384, MetaMTTF131072,
		LANLShape, TraceFailures, TraceShape, TraceCoincide, RepairMedian, RepairMean, OPTManualRestarts, OPTAutomaticRestarts,
		BytesPerParameter, BLOOMCheckpointTB, OPTCheckpointTB, RestartDetect, RestartReschedule, RestartWarmUp, ByteCheckpointBlock,
		ByteCheckpointPersist, ByteCheckpointLoad, ByteCheckpointHDFS, MetaCheckpointWrite, MetaRestart, ElasticStall, RestartStall,
		Llama3MFU, MegaScaleMFU, BatchTokens, H100PeakFLOPS, H100TDPWatts, RackNodes, PodRacks, StorageTBps,
		GPUHourUSD, GPUHourYearUSD, NodeKilowatts, IdleGPUWatts,
		SlurmBackfillInterval, SlurmBackfillWindow, SlurmBackfillDepth, SlurmBackfillResolution, KubernetesGrace, MetaPreemptibleAfter, MetaLongestJob,
		PhillyRunMean, PhillyRunMedian, PhillyQueueMean, PhillyFailed, HeliosRunMean, HeliosRunMedian, FGDFragOfTotal, BestFitFragOfTotal, RandomFragOfTotal,
	}
}
