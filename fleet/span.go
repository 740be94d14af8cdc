package fleet

import (
	"math/bits"
	"sort"
	"time"
)

// This file has the one model of a job's progress. A span pays its restart first; then it alternates τ of work and one checkpoint
// write δ until the work is done; no write follows the last piece of work. τ is useful work between checkpoints: the write does not
// count into it. A job that starts afresh may be some way into its first τ already (Job.Phase). An asynchronous checkpoint blocks for
// a short δ and counts only when it has been persisted, so τ is never less than that takes. A training job that lacks replicas works
// at a fraction of its speed. All of it is arithmetic on the span, so a run has no event per checkpoint.

// GPUs is the number of GPUs that the span holds.
func (s *Span) GPUs() int { return s.Nodes * bits.OnesCount16(s.Mask) }

// busyMask is the GPUs at work on the k-th of the span's nodes.
func (s *Span) busyMask(k int) uint16 {
	per := bits.OnesCount16(s.Mask)
	return lowest(s.Mask, min(per, max(0, s.Busy-k*per)))
}

// rankOf is the position of a node among those of the span, -1 if it is none of them.
func (s *Span) rankOf(node int) int {
	k := 0
	for n := range s.On {
		if n == node {
			return k
		}
		k++
	}
	return -1
}

// pace is how far a span has come after some running time.
type pace struct {
	restart, work, write time.Duration // where the running time went; work as progress, that is time at full speed
	saved                time.Duration // work that finished checkpoints hold
	saves                time.Duration // how many there are
}

// plan is what a span has to do: pay the restart, then do work with a checkpoint after every tau of it; the first comes early by
// phase.
type plan struct {
	restart, work, tau, write, phase time.Duration
	persist                          time.Duration // a checkpoint counts so long after its write
	speed                            speed
}

// planOf is the plan of a span.
func (r *Run) planOf(s *Span) plan {
	j := &r.Config.Jobs[s.Job]
	return plan{s.restart, j.Work - s.from, max(r.Config.Checkpoint, j.Persist), j.Write, s.phase, j.Persist, s.speed}
}

// wall is the time that so much work takes.
func (v speed) wall(work time.Duration) time.Duration {
	if v.num == v.den {
		return work
	}
	n, steps := time.Duration(v.num), work/Resolution*time.Duration(v.den)
	return (steps + n - 1) / n * Resolution
}

// work is what is done in so much time. In whole steps work(wall(w)) is w.
func (v speed) work(wall time.Duration) time.Duration {
	if v.num == v.den {
		return wall
	}
	return wall / Resolution * time.Duration(v.num) / time.Duration(v.den) * Resolution
}

// share is the fraction of the full speed, 0–1.
func (v speed) share() float64 {
	if v.num == v.den {
		return 1
	}
	return float64(v.num) / float64(v.den)
}

// begun is how far into an interval a span starts that has done so much of its work, rounded down so that it never gets more done than
// its time allows.
func (v speed) begun(work time.Duration) time.Duration {
	if v.num == v.den {
		return work
	}
	return work / Resolution * time.Duration(v.den) / time.Duration(v.num) * Resolution
}

// still tells whether nothing is done at all.
func (v speed) still() bool { return v.num == 0 && v.den > 0 }

// at divides clock, the time that a span has run.
func (p plan) at(clock time.Duration) pace {
	x := pace{restart: min(clock, p.restart)}
	if p.speed.still() {
		return x
	}
	clock += p.speed.begun(p.phase) - x.restart
	tau := p.speed.wall(p.tau)
	cycle := tau + p.write
	cycles, rest := clock/cycle, clock%cycle
	x.saves = max(0, clock-p.persist) / cycle
	x.saved = max(0, x.saves*p.tau-p.phase)
	x.work = max(0, min(cycles*p.tau+p.speed.work(min(rest, tau))-p.phase, p.work))
	x.write = cycles*p.write + max(0, rest-tau)
	return x
}

// length is the time that the whole plan needs.
func (p plan) length() time.Duration {
	if p.speed.still() {
		return forever
	}
	writes := max(0, (p.phase+p.work+p.tau-1)/p.tau-1)
	if float64(p.work)/p.speed.share()+float64(writes)*float64(p.write) > float64(endless) {
		return forever
	}
	walls := writes*p.speed.wall(p.tau) + p.speed.wall(p.phase+p.work-writes*p.tau) - p.speed.begun(p.phase)
	return p.restart + walls + writes*p.write
}

// endless is the length from which on a plan counts as forever: no run is so long, and with the largest tax and a pause or two it still
// fits into a time.Duration.
const endless time.Duration = 25 * 365 * 24 * time.Hour

// forever is longer than any run, and small enough that times can still be added to it.
const forever time.Duration = 1 << 61

// elapsed divides the time of a span up to t: running at full speed, standing still in a migration, and lost to the tax.
func (r *Run) elapsed(s *Span, t time.Duration) (clock, pause, tax time.Duration) {
	t = min(t, s.End)
	if t <= s.Start {
		return 0, 0, 0
	}
	pause = r.paused(s.Start, t)
	if s.taxUntil > s.Start {
		u := min(t, s.taxUntil)
		taxed := u - s.Start - r.paused(s.Start, u)
		tax = time.Duration(float64(taxed) * r.Config.Migration.Tax).Truncate(Resolution)
	}
	return t - s.Start - pause - tax, pause, tax
}

// paused is the time that the fleet stood still between two instants.
func (r *Run) paused(from, to time.Duration) (sum time.Duration) {
	for _, p := range r.Pauses {
		if d := min(to, p.End) - max(from, p.Start); d > 0 {
			sum += d
		}
	}
	return sum
}

// pace is how far a span has come at t.
func (r *Run) pace(s *Span, t time.Duration) pace {
	clock, _, _ := r.elapsed(s, t)
	return r.planOf(s).at(clock)
}

// finish is the instant at which a span will have done its job's work if nothing more happens to it.
func (r *Run) finish(s *Span) time.Duration {
	need := r.planOf(s).length()
	if need == forever {
		return forever
	}
	long := *s
	long.End = 1<<63 - 1
	t := s.Start + need
	if s.taxUntil <= s.Start {
		for _, p := range r.Pauses {
			if p.End > s.Start && t > p.Start {
				t += p.End - max(p.Start, s.Start)
			}
		}
		return t
	}
	slowest := time.Duration(float64(need)/(1-r.Config.Migration.Tax)) + r.paused(s.Start, 1<<63-1) + 2*Resolution
	steps := sort.Search(int((slowest-need)/Resolution), func(i int) bool {
		clock, _, _ := r.elapsed(&long, t+time.Duration(i)*Resolution)
		return clock >= need
	})
	return t + time.Duration(steps)*Resolution
}

// addTo books the GPU-time of a span up to t.
func (r *Run) addTo(split *Split, s *Span, t time.Duration) {
	clock, pause, tax := r.elapsed(s, t)
	p := r.planOf(s).at(clock)
	x := Split{
		Restart:    over(s.Busy, p.restart),
		Checkpoint: over(s.Busy, p.write),
		Pause:      over(s.Busy, pause),
		Tax:        over(s.Busy, tax),
		Stranded:   over(s.GPUs()-s.Busy, clock+pause+tax),
	}
	full := r.Config.Jobs[s.Job].GPUs
	from, to := s.from, s.from+p.work
	for _, again := range s.redo {
		if end := min(to, again.upTo); end > from {
			x[again.part] += over(full, end-from)
			from = end
		}
	}
	x[Useful] += over(full, to-from)
	// What is left over: the last step of a taxed job, less than Resolution; and the time that the replicas of a training job wait for
	// each other, since micro-batches do not divide.
	rest := Stranded
	if s.taxUntil > 0 {
		rest = Tax
	}
	x[rest] += over(s.GPUs(), clock+pause+tax) - x.Total()
	*split = split.Add(x)
}

// lose is the redo list of a job that falls back from progress to saved because of part, having had the list old.
func lose(old []redo, saved, progress time.Duration, why Part) []redo {
	var list []redo
	if progress > saved {
		list = append(list, redo{progress, why})
	}
	for _, r := range old {
		if r.upTo > progress {
			list = append(list, r)
		}
	}
	return list
}
