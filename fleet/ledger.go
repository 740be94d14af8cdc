package fleet

import (
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"
)

// Ledger is the account of a run over Window: from the big job's arrival to the horizon, or the whole run if there is no big job.
// Every ratio is 0–1. The definitions of its quantities stand below it.
type Ledger struct {
	Window Interval
	Split  Split // GPU-time of the window by part

	Goodput       float64 // see DefGoodput
	ClusterMFU    float64 // see DefMFU
	Fragmentation float64 // see DefFragmentation
	FGDOfIdle     float64 // see DefFGD, over idle GPU-time
	FGDOfTotal    float64 // see DefFGD, over capacity × time

	BigWait       time.Duration // see DefWait; still growing at the horizon if the job did not start
	BigStart      time.Duration // when the big job started, or Never
	StudentMedian time.Duration // median queue wait of the student jobs
	StudentP95    time.Duration // 95th percentile of it
	SLAMet        bool          // see DefSLA

	CostPerHourUSD float64 // see DefTCO
	CostUSD        float64 // CostPerHourUSD × window
	WasteUSD       float64 // CostUSD × (1 − Goodput): dollars that bought nothing useful

	Failures   int           // node failures in the window; evictions are none
	MTBF       time.Duration // window / Failures, 0 if there was none
	Evictions  int           // jobs killed for one of higher priority
	Migrations int           // jobs moved

	LostToFailures  GPUTime // work since the last checkpoints that failures threw away
	LostToEvictions GPUTime // work since the last checkpoints that evictions threw away
}

// Definition says what a quantity is. It is shown as it stands here wherever the quantity is shown.
type Definition struct {
	Name    string
	Formula string
	Unit    string
	Source  string
}

// The definitions of the ledger.
var (
	DefGoodput = Definition{
		Name:    "Goodput",
		Formula: "useful GPU-time / (capacity × time), from the big job's arrival to the horizon",
		Unit:    "share of the fleet's GPU-time, %",
		Source:  "the fleet's goodput: work done for the first time over all GPU-time, used or not; redone work does not count",
	}
	DefMFU = Definition{
		Name:    "Cluster MFU",
		Formula: "goodput × MFU of a GPU while it does useful work",
		Unit:    "model FLOPs done / peak FLOPs of the whole fleet, %",
		Source:  "41 % while useful: The Llama 3 Herd of Models, arXiv 2407.21783, Table 4; taken for all jobs",
	}
	DefWait = Definition{
		Name:    "Wait Time",
		Formula: "big job: arrival to start, still growing if it has not started; student jobs: all their time in the queue, re-queued time included",
		Unit:    "hours and minutes; median and 95th percentile by nearest rank",
		Source:  "counted from the run's own queue",
	}
	DefTCO = Definition{
		Name:    "TCO",
		Formula: "capacity × rate; opened: × hours of the window; wasted: × (1 − goodput)",
		Unit:    "US dollars per hour, and US dollars",
		Source:  "rate per GPU-hour: see facts.GPUHourUSD",
	}
	DefFragmentation = Definition{
		Name:    "Fragmentation",
		Formula: "1 − (largest run of idle whole nodes × GPUs per node) / idle GPUs, both integrated over the window; 0 when nothing is idle",
		Unit:    "share of idle GPU-time, %",
		Source:  "contiguity loss, defined by this lab",
	}
	DefFGD = Definition{
		Name:    "FGD fragmentation",
		Formula: "Σ p(m) × idle GPUs of nodes on which task class m cannot run, over idle GPUs and over all GPUs",
		Unit:    "share of GPU-time, %",
		Source:  "Weng et al., Beware of Fragmentation, USENIX ATC 2023; classes are the sizes of this run's jobs",
	}
	DefSLA = Definition{
		Name:    "SLA",
		Formula: "the big job starts within its limit of its arrival, and the 95th percentile of the student jobs' wait is within theirs",
		Unit:    "met or missed",
		Source:  "limits: Config.SLA",
	}
)

// The limits of the badges.
const (
	FragmentationLimit = 0.20 // the badge is green below it
	GoodputFloor       = 0.80 // the badge is green above it
)

// permille rounds a ratio to the 0.1 % that is shown, so that a badge never contradicts the figure beside it.
func permille(ratio float64) float64 { return math.Round(ratio * 1000) }

// FragmentationMet tells whether the badge is green: below 20.0 % as shown.
func (l Ledger) FragmentationMet() bool {
	return permille(l.Fragmentation) < permille(FragmentationLimit)
}

// GoodputMet tells whether the badge is green: above 80.0 % as shown.
func (l Ledger) GoodputMet() bool { return permille(l.Goodput) > permille(GoodputFloor) }

// Ledger accounts for the run from the big job's arrival (or from the start) to the horizon.
func (r *Run) Ledger() Ledger {
	w := Interval{0, r.Config.Horizon}
	big, watched := r.jobIndex[r.Config.Big]
	if watched {
		w.Start = min(r.Config.Jobs[big].Arrival, w.End)
	}
	l := Ledger{Window: w, Split: r.SplitAt(w.End).Sub(r.SplitAt(w.Start)), BigStart: Never}
	l.Goodput = l.Split.Share(Useful)
	l.ClusterMFU = l.Goodput * r.Config.MFU

	from, to := r.sampleAt(w.Start), r.sampleAt(w.End)
	l.Fragmentation = contiguityLoss(to.hole-from.hole, to.idle-from.idle)
	if idle := float64(to.idle - from.idle); idle > 0 {
		l.FGDOfIdle = (to.fgd - from.fgd) / idle
	}
	if total := float64(l.Split.Total()); total > 0 {
		l.FGDOfTotal = (to.fgd - from.fgd) / total
	}

	l.StudentMedian, l.StudentP95 = r.studentWaits()
	l.SLAMet = l.StudentP95 <= r.Config.SLA.Wait
	if watched {
		l.BigStart = r.Queue[big].FirstRun
		l.BigWait = w.End - w.Start
		if l.BigStart != Never {
			l.BigWait = l.BigStart - w.Start
		}
		l.SLAMet = l.SLAMet && l.BigStart != Never && l.BigWait <= r.Config.SLA.Start
	}

	l.CostPerHourUSD = float64(r.Config.Topology.GPUs()) * r.Config.RateUSD
	l.CostUSD = l.Split.Total().Hours() * r.Config.RateUSD
	l.WasteUSD = l.CostUSD * (1 - l.Goodput)
	r.countLosses(&l)
	return l
}

// countLosses adds what happened in the window.
func (r *Run) countLosses(l *Ledger) {
	for _, at := range r.failures {
		if at >= l.Window.Start {
			l.Failures++
		}
	}
	if l.Failures > 0 {
		l.MTBF = (l.Window.End - l.Window.Start) / time.Duration(l.Failures)
	}
	for _, x := range r.losses {
		switch {
		case x.at < l.Window.Start:
		case x.why == Rework:
			l.LostToFailures += x.work
		default:
			l.LostToEvictions += x.work
			l.Evictions++
		}
	}
	for _, m := range r.moved {
		if m.at >= l.Window.Start {
			l.Migrations += m.jobs
		}
	}
}

// SplitAt is the GPU-time of the whole fleet from the start of the run up to t, by part.
func (r *Run) SplitAt(t time.Duration) Split {
	var split Split
	for i := range r.Spans {
		if r.Spans[i].Start >= t {
			break
		}
		r.addTo(&split, &r.Spans[i], t)
	}
	s := r.sampleAt(t)
	split[Idle], split[Failed] = s.idle, s.failed
	return split
}

// studentWaits is the median and the 95th percentile, by nearest rank, of the queue wait of all jobs but the big one that arrived
// before the horizon.
func (r *Run) studentWaits() (median, p95 time.Duration) {
	waits := make([]float64, 0, len(r.Queue))
	for i, q := range r.Queue {
		if j := r.Config.Jobs[i]; j.ID != r.Config.Big && j.Arrival < r.Config.Horizon {
			waits = append(waits, float64(q.Wait))
		}
	}
	if len(waits) == 0 {
		return 0, 0
	}
	slices.Sort(waits)
	at := func(p float64) time.Duration { return time.Duration(stat.Quantile(p, stat.Empirical, waits, nil)) }
	return at(0.5), at(0.95)
}
