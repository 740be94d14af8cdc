package fleet

import (
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"
)

// Ledger is the account of a run over Window: from the big job's arrival to the horizon, or the whole run if no big job arrives in it.
// Every ratio is 0–1. The definitions of its quantities stand below it.
type Ledger struct {
	Window Interval
	Split  Split // GPU-time of the window by part

	Goodput    float64 // the training job's if the watched job is one and has started, see DefTrainingGoodput; else the fleet's, see DefGoodput
	ClusterMFU float64 // see DefMFU

	AuditAt                 time.Duration // when the big job had just started, or the horizon: the instant of the next three
	Fragmentation           float64       // see DefFragmentation
	FGDOfIdle               float64       // see DefFGD, over idle GPUs
	FGDOfTotal              float64       // see DefFGD, over all GPUs
	FragmentationOverWindow float64       // idle GPU-time outside the largest hole / idle GPU-time, over the window

	BigWait       time.Duration // see DefWait; still growing at the horizon if the job did not start
	BigStart      time.Duration // when the big job started, or Never
	StudentMedian time.Duration // median queue wait of the student jobs
	StudentP95    time.Duration // 95th percentile of it
	SLAMet        bool          // see DefSLA

	CostPerHourUSD float64 // see DefTCO
	CostUSD        float64 // CostPerHourUSD × window
	WasteUSD       float64 // CostUSD × (1 − useful share of Split): dollars that bought nothing useful

	Failures   int           // faults in the window, of hardware and software; evictions are none
	MTBF       time.Duration // window / Failures, 0 if there was none
	Evictions  int           // jobs killed for one of higher priority
	Migrations int           // jobs moved

	LostToFailures GPUTime // work since the last checkpoints that failures threw away
	Price          Price   // what starting the big job has cost the others

	Training TrainingLedger // of the watched job, if it is a training job; else empty
}

// Price is what evictions and migrations in the window took from the jobs that ran: the two ways to start the big job, in the
// same unit. Lost and Restarts are booked when the eviction happens, though the work is done again later (and shows then in the
// split as Preempted and Restart).
type Price struct {
	Lost     GPUTime // work since the last checkpoints that evictions threw away
	Restarts GPUTime // restarts that the evicted jobs have to pay
	Pause    GPUTime // jobs that stood still while the fleet migrated
	Tax      GPUTime // speed that migrated jobs lacked
	USD      float64 // all four × rate
}

// Total is the sum of the four.
func (p Price) Total() GPUTime { return p.Lost + p.Restarts + p.Pause + p.Tax }

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
		Source:  "the fleet's goodput: work over all GPU-time, used or not; what was lost counts once, when it has been done again",
	}
	DefMFU = Definition{
		Name:    "Cluster MFU",
		Formula: "goodput of the fleet × MFU of a GPU while it does useful work",
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
		Formula: "capacity × rate; over the window: × its hours; wasted: × (1 − goodput of the fleet)",
		Unit:    "US dollars per hour, and US dollars",
		Source:  "rate per GPU-hour: see facts.GPUHourUSD",
	}
	DefFragmentation = Definition{
		Name:    "Fragmentation",
		Formula: "1 − (largest run of idle whole nodes × GPUs per node) / idle GPUs; 0 when nothing is idle. Taken when the big job has just started, or at the horizon if it has not",
		Unit:    "share of the idle GPUs, %",
		Source:  "contiguity loss, defined by this lab",
	}
	DefFGD = Definition{
		Name:    "FGD fragmentation",
		Formula: "Σ p(m) × idle GPUs of nodes on which task class m cannot run, over idle GPUs and over all GPUs",
		Unit:    "share of GPUs, %",
		Source:  "Weng et al., Beware of Fragmentation, USENIX ATC 2023; classes are the sizes of this run's jobs",
	}
	DefSLA = Definition{
		Name:    "SLA",
		Formula: "the big job starts within its limit of its arrival, and the 95th percentile of the student jobs' wait is within theirs",
		Unit:    "met or missed",
		Source:  "limits: Config.SLA",
	}
)

// GoodputDefinition says whose goodput Goodput is.
func (l Ledger) GoodputDefinition() Definition {
	if l.Training.Window.End > 0 {
		return DefTrainingGoodput
	}
	return DefGoodput
}

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
	big := r.big
	watched := r.Config.Big != 0 && r.Config.Jobs[big].Arrival < w.End
	if watched {
		w.Start = r.Config.Jobs[big].Arrival
	}
	l := Ledger{Window: w, Split: r.SplitAt(w.End).Sub(r.SplitAt(w.Start)), BigStart: Never}
	r.takeBack(&l.Split, w)
	l.Goodput = l.Split.Share(Useful)
	l.ClusterMFU = l.Goodput * r.Config.MFU

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

	l.audit(r)

	l.CostPerHourUSD = float64(r.Config.Topology.GPUs()) * r.Config.RateUSD
	l.CostUSD = l.Split.Total().Hours() * r.Config.RateUSD
	l.WasteUSD = l.CostUSD * (1 - l.Goodput)
	if watched && r.Config.Jobs[big].Train != nil {
		if l.Training = r.Training(r.Config.Big); l.Training.Window.End > 0 {
			l.Goodput = l.Training.Goodput
		}
	}
	r.countLosses(&l)
	return l
}

// audit measures fragmentation when the big job has just started, or at the horizon if it did not.
func (l *Ledger) audit(r *Run) {
	l.AuditAt = l.Window.End
	if l.BigStart != Never {
		l.AuditAt = l.BigStart
	}
	now := r.SampleAt(l.AuditAt)
	l.Fragmentation = now.Fragmentation(r.Config.Topology.GPUsPerNode)
	if now.Idle > 0 {
		l.FGDOfIdle = now.FGD / float64(now.Idle)
	}
	l.FGDOfTotal = now.FGD / float64(r.Config.Topology.GPUs())
	from, to := r.SampleAt(l.Window.Start), r.SampleAt(l.Window.End)
	l.FragmentationOverWindow = contiguityLoss(to.hole-from.hole, to.idle-from.idle)
}

// countLosses adds what failures, evictions and migrations took in the window.
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
			l.Price.Lost += x.work
			l.Price.Restarts += x.restart
			l.Evictions++
		}
	}
	for _, m := range r.moved {
		if m.at >= l.Window.Start {
			l.Migrations += m.jobs
		}
	}
	l.Price.Pause, l.Price.Tax = l.Split[Pause], l.Split[Tax]
	l.Price.USD = l.Price.Total().Hours() * r.Config.RateUSD
}

// takeBack moves what was done in the window, was lost and had not been done again by the horizon from the useful part of a split to the
// part that lost it: nothing will ever come of it, or the redoing lies beyond the horizon.
func (r *Run) takeBack(split *Split, w Interval) {
	useful := make(map[int]GPUTime, len(r.undone)) // in the window, by job
	for _, u := range r.undone {
		useful[u.job] = 0
	}
	for i := range r.Spans {
		s := &r.Spans[i]
		if _, some := useful[s.Job]; !some || s.End <= w.Start {
			continue
		}
		var before, after Split
		r.addTo(&before, s, max(s.Start, w.Start))
		r.addTo(&after, s, s.End)
		useful[s.Job] += after[Useful] - before[Useful]
	}
	for _, u := range r.undone {
		lost := min(u.work, useful[u.job])
		useful[u.job] -= lost
		split[Useful] -= lost
		split[u.why] += lost
	}
}

// SplitAt is the GPU-time of the whole fleet from the start of the run up to t, rounded down to a whole Resolution, by part. Work that is
// lost later is Useful here until it is lost; what was lost and is done again is Rework or Preempted while that lasts.
func (r *Run) SplitAt(t time.Duration) Split {
	t = t.Truncate(Resolution)
	var split Split
	for i := range r.Spans {
		if r.Spans[i].Start >= t {
			break
		}
		r.addTo(&split, &r.Spans[i], t)
	}
	s := r.SampleAt(t)
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
