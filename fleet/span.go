package fleet

import (
	"math/bits"
	"sort"
	"time"
)

// This file has the one model of a job's progress. A span pays its restart first; then it alternates τ of work and one checkpoint
// write δ until the work is done; no write follows the last piece of work. τ is useful work between checkpoints: the write does not
// count into it. A job that starts afresh may be some way into its first τ already (Job.Phase). All of it is arithmetic on the span, so a run has no event per checkpoint.

// GPUs is the number of GPUs that the span holds.
func (s *Span) GPUs() int { return s.Nodes * bits.OnesCount16(s.Mask) }

// pace is how far a span has come after some running time.
type pace struct {
	restart, work, write time.Duration // where the running time went
	saved                time.Duration // work that finished checkpoints hold
}

// plan is what a span has to do: pay the restart, then do work with a checkpoint after every tau of it; the first comes early by
// phase.
type plan struct{ restart, work, tau, write, phase time.Duration }

// planOf is the plan of a span.
func (r *Run) planOf(s *Span) plan {
	j := &r.Config.Jobs[s.Job]
	return plan{s.restart, j.Work - s.from, r.Config.Checkpoint, j.Write, s.phase}
}

// at divides clock, the time that a span has run at full speed.
func (p plan) at(clock time.Duration) pace {
	x := pace{restart: min(clock, p.restart)}
	clock += p.phase - x.restart
	cycles, rest := clock/(p.tau+p.write), clock%(p.tau+p.write)
	x.saved = max(0, cycles*p.tau-p.phase)
	x.work = min(cycles*p.tau+min(rest, p.tau)-p.phase, p.work)
	x.write = cycles*p.write + max(0, rest-p.tau)
	return x
}

// length is the time at full speed that the whole plan needs.
func (p plan) length() time.Duration {
	writes := (p.phase + p.work + p.tau - 1) / p.tau
	return p.restart + p.work + max(0, writes-1)*p.write
}

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
	j := &r.Config.Jobs[s.Job]
	clock, pause, tax := r.elapsed(s, t)
	p := r.planOf(s).at(clock)
	split[Stranded] += over(s.GPUs()-j.GPUs, clock+pause+tax)
	tax += clock - p.restart - p.work - p.write // the last step of a taxed job: less than Resolution
	split[Restart] += over(j.GPUs, p.restart)
	split[Checkpoint] += over(j.GPUs, p.write)
	split[Pause] += over(j.GPUs, pause)
	split[Tax] += over(j.GPUs, tax)
	from, to := s.from, s.from+p.work
	for _, again := range s.redo {
		if end := min(to, again.upTo); end > from {
			split[again.part] += over(j.GPUs, end-from)
			from = end
		}
	}
	split[Useful] += over(j.GPUs, to-from)
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
