package fleet

import "time"

// Ledger is the account of a run over Window: from the big job's arrival to the horizon, or the whole run if there is no big job.
// Every ratio is 0–1, every quantity has its one definition here.
type Ledger struct {
	Window Interval
	Split  Split // GPU-time of the window by part

	Goodput       float64 // Split[Useful] / Split.Total()
	ClusterMFU    float64 // Goodput × Config.MFU: model FLOPs done / peak FLOPs of the whole fleet
	Fragmentation float64 // idle GPU-time outside the largest hole / idle GPU-time; 0 when nothing was idle
	FGDOfIdle     float64 // FGD's fragmentation / idle GPU-time
	FGDOfTotal    float64 // FGD's fragmentation / capacity × time

	BigWait       time.Duration // arrival to start; still growing at the horizon if it did not start
	BigStart      time.Duration // when it started, or Never
	StudentMedian time.Duration // median queue wait of the student jobs
	StudentP95    time.Duration // 95th percentile of it
	SLAMet        bool

	CostPerHourUSD float64 // capacity × rate
	CostUSD        float64 // CostPerHourUSD × window
	WasteUSD       float64 // CostUSD × (1 − Goodput): dollars that bought nothing useful

	Failures   int           // node failures in the window; evictions are not failures
	MTBF       time.Duration // window / Failures, 0 if there was none
	Evictions  int           // jobs killed for one of higher priority
	Migrations int           // jobs moved
	LostWork   [2]GPUTime    // work lost since the last checkpoint: [0] to failures, [1] to evictions
	StrandedBy int           // placeholder
}
