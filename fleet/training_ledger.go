package fleet

import "time"

// TrainingLedger is the account of a training job over Window: from its first start to its end, or to the horizon. It is measured
// against all the GPUs that the job asked for, whether it had them or not: a job that waits in the queue for nodes after a crash, or
// goes on without some of them, loses that time too. Every ratio is 0–1.
type TrainingLedger struct {
	Window  Interval
	Split   Split   // GPU-time that the job held, by part; nothing is Idle or Failed
	Lacking GPUTime // GPU-time that it did not hold: nodes that were down or given back. With Split it adds up to GPUs × Window

	Goodput float64 // see DefTrainingGoodput
	MFU     float64 // Goodput × Config.MFU

	Work            time.Duration // progress at the end, as time of the full job at full speed: what was lost counts only if it was done again
	Tokens          float64       // Work / StepTime × StepTokens; 0 if the job does not count tokens
	TokensPerSecond float64       // Tokens / Window

	Crashes  int // back to the queue because nodes were lost
	Rescales int // went on with other nodes, without a crash
	Waits    int // stood still until nodes were there

	Detect, Reschedule, Load, WarmUp GPUTime // the Restart part of Split, by what it was spent on; 0 if the job does not say
	Stall                            GPUTime // and the stalls of rescaling, also in Split's Restart
}

// DefTrainingGoodput is the goodput of a training job.
var DefTrainingGoodput = Definition{
	Name:    "Goodput",
	Formula: "useful GPU-time / (GPUs that the job asked for × time from its first start to its end or the horizon)",
	Unit:    "share of the training job's GPU-time, %",
	Source:  "the training job's goodput: what it held and what it lacked; what was lost counts once, when it has been done again",
}

// RestartParts is what a restart from a checkpoint is made of, in this order.
type RestartParts struct {
	Detect     time.Duration // until the failure is noticed
	Reschedule time.Duration // until processes run again on good nodes
	Load       time.Duration // reading the checkpoint
	WarmUp     time.Duration // until steps take their normal time
}

// Sum is the whole restart.
func (p RestartParts) Sum() time.Duration { return p.Detect + p.Reschedule + p.Load + p.WarmUp }

// spent divides the first part of a restart.
func (p RestartParts) spent(d time.Duration) (parts [4]time.Duration) {
	for i, whole := range [4]time.Duration{p.Detect, p.Reschedule, p.Load, p.WarmUp} {
		parts[i] = min(d, whole)
		d -= parts[i]
	}
	return parts
}

// Training is the account of the training job with this ID; it is empty if there is no such job, or if it has not started.
func (r *Run) Training(id int) TrainingLedger {
	var l TrainingLedger
	job, found := r.index(id)
	if !found || r.Queue[job].FirstRun == Never {
		return l
	}
	j, w := &r.Config.Jobs[job], r.Queue[job]
	l.Window = Interval{w.FirstRun, r.Config.Horizon}
	for _, end := range []time.Duration{w.Done, w.GaveUp} {
		if end != Never {
			l.Window.End = end
		}
	}
	var before *Span
	for i := range r.Spans {
		if s := &r.Spans[i]; s.Job == job {
			r.addTo(&l.Split, s, s.End)
			l.addRestart(r, s, before)
			l.Work = max(l.Work, s.from+r.pace(s, s.End).work)
			before = s
		}
	}
	for _, u := range r.undone {
		if u.job == job {
			l.Work -= time.Duration(u.work/GPUTime(j.GPUs)) * Resolution
			l.Split[Useful] -= u.work
			l.Split[u.why] += u.work
		}
	}
	l.Crashes = w.Kills
	length := l.Window.End - l.Window.Start
	whole := over(j.GPUs, length)
	l.Lacking = whole - l.Split.Total()
	if whole > 0 {
		l.Goodput = float64(l.Split[Useful]) / float64(whole)
	}
	l.MFU = l.Goodput * r.Config.MFU
	if t := j.Train; t != nil && t.StepTokens > 0 && length > 0 {
		l.Tokens = float64(l.Work) / float64(t.StepTime) * float64(t.StepTokens)
		l.TokensPerSecond = l.Tokens / length.Seconds()
	}
	return l
}

// addRestart books what the restart of a span was spent on, and counts it. before is the job's span before that; it starts from the queue if it has none.
func (l *TrainingLedger) addRestart(r *Run, s, before *Span) {
	t := r.Config.Jobs[s.Job].Train
	if t == nil {
		return
	}
	switch {
	case s.speed.still():
		if !before.speed.still() || before.End < s.Start {
			l.Waits++
		}
	case !s.started && !s.goesOn:
		l.Rescales++
	}
	paid := r.pace(s, s.End).restart
	if s.holders > 0 {
		l.Stall += over(s.Busy, paid)
		return
	}
	from, to := t.Restart.spent(s.paid), t.Restart.spent(s.paid+paid)
	for i, part := range []*GPUTime{&l.Detect, &l.Reschedule, &l.Load, &l.WarmUp} {
		*part += over(s.Busy, to[i]-from[i])
	}
}

// index finds a job by its ID.
func (r *Run) index(id int) (job int, found bool) {
	for i := range r.Config.Jobs {
		if r.Config.Jobs[i].ID == id {
			return i, true
		}
	}
	return 0, false
}

// Strength is how strong a training job is from At on.
type Strength struct {
	At       time.Duration
	Replicas int           // at work
	Speed    float64       // against the full job, 0–1
	Stall    time.Duration // so long from At on nothing is done: a restart, or the stall of a rescale
	GPUs     int           // held
	Stranded int           // of these, without use
}

// Strengths is the course of the training job with this ID: one entry for each change, in order of time. A job in the queue has none of
// anything.
func (r *Run) Strengths(id int) []Strength {
	var list []Strength
	job, found := r.index(id)
	if !found || r.Config.Jobs[job].Train == nil {
		return nil
	}
	add := func(s Strength) {
		if last := len(list) - 1; last >= 0 && list[last].At == s.At {
			list = list[:last]
		}
		list = append(list, s)
	}
	per := r.Config.Jobs[job].Train.replicaGPUs()
	for i := range r.Spans {
		s := &r.Spans[i]
		if s.Job != job {
			continue
		}
		add(Strength{At: s.Start, Replicas: s.Busy / per, Speed: s.speed.share(), Stall: s.restart, GPUs: s.GPUs(), Stranded: s.GPUs() - s.Busy})
		if s.End < r.Config.Horizon {
			add(Strength{At: s.End})
		}
	}
	return list
}
