// Package scenario sets the stage of each act: a function from Config to Config that adds jobs and faults, drawn from the
// config's Seed. Arrivals, sizes, work and faults each have a random stream of their own, so that turning one knob leaves the others'
// draws alone, and no lever of the fleet changes what arrives or what breaks.
package scenario

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/facts"
)

// The random streams. Each is a PCG seeded with Config.Seed and its number.
const (
	streamArrivals = iota + 1
	streamSizes
	streamWork
	streamFaults
	streamPhases
	streamLimits
)

// Size is a number of GPUs and the share of jobs that ask for so many.
type Size struct {
	GPUs  int
	Share float64
}

// Students is a synthetic load of small jobs. It is made for the lab (Assumed, in the words of package facts): sizes and run
// times have the shape of published traces, many short and few long, though their tail is lighter than Philly's (median 874 s, mean
// 18,006 s), whose length would hide the story of one day. Each job writes its first checkpoint after a random part of the interval, or
// all that came with the morning rush would write at the same time ever after.
type Students struct {
	PerHour []float64     // mean arrivals in each hour, above 0; the last holds on to the horizon
	Sizes   []Size        // at most GPUsPerNode each; shares sum to 1
	Median  time.Duration // of the run time, lognormal
	Sigma   float64       // of its logarithm
	Write   time.Duration // one checkpoint write of a small job
	Restart time.Duration // load and warm-up of a small job
	Overask float64       // users ask for 1 to so many times the run time that they will need, all ratios equally likely; 0 for no limits
}

// Act I's load and its big job. The morning rush fills the fleet; then jobs end here and there and fewer arrive, until about
// 80 % are left when the big job arrives. From then on arrivals keep that level.
var (
	ActIStudents = Students{
		PerHour: []float64{4800, 300, 360, 240, 500, 520, 520, 510, 510, 500},
		Sizes:   []Size{{1, 0.40}, {2, 0.35}, {4, 0.25}},
		Median:  5 * time.Hour, Sigma: 1.0,
		Write: 30 * time.Second, Restart: 3 * time.Minute, Overask: 4,
	}
	ActIBig = fleet.Job{
		GPUs: 1000, Arrival: 4*time.Hour + 30*time.Minute, Work: 24 * time.Hour, Priority: 10, Write: 2 * time.Minute, Restart: 6 * time.Minute,
		Limit: 30 * time.Hour,
	}
)

// longestActI is the longest horizon for which Act I draws students.
const longestActI = 31 * 24 * time.Hour

// Fragmented is Act I: c with a day of student jobs, one high-priority gang, and the node failures of that day. A config that is not
// valid comes back without jobs, so that fleet.Simulate says what is wrong with it; so does one whose Horizon is beyond a month, for which
// there would be a million students.
func Fragmented(c fleet.Config) fleet.Config { return FragmentedBy(c, ActIStudents) }

// FragmentedBy is Act I with students of another kind: more or fewer of them, other sizes, other run times. What cannot be drawn comes
// back without jobs, and fleet.Simulate says why.
func FragmentedBy(c fleet.Config, s Students) fleet.Config {
	c.Jobs, c.Faults, c.Big, c.Unfit = nil, nil, 0, nil
	if c.Validate() != nil {
		return c
	}
	if c.Horizon > longestActI {
		c.Unfit = fmt.Errorf("%s %v: must be between 1s and %v in Act I: %w", "Horizon", c.Horizon, longestActI, fleet.ErrConfig)
		return c
	}
	if c.Unfit = s.check(&c); c.Unfit != nil {
		return c
	}
	c.Jobs = s.jobs(c.Seed, c.Horizon)
	big := ActIBig
	big.ID = len(c.Jobs) + 1
	at, _ := slices.BinarySearchFunc(c.Jobs, big.Arrival, func(j fleet.Job, t time.Duration) int { return int(j.Arrival - t) })
	c.Jobs = slices.Insert(c.Jobs, at, big)
	c.Big = big.ID
	c.Faults = faults(c)
	return c
}

// jobs draws the student jobs that arrive before the horizon, in order of arrival, with IDs from 1.
func (s Students) jobs(seed uint64, horizon time.Duration) []fleet.Job {
	arrivals := rand.New(rand.NewPCG(seed, streamArrivals))
	sizes := distuv.NewCategorical(s.shares(), rand.NewPCG(seed, streamSizes))
	work := distuv.LogNormal{Mu: math.Log(s.Median.Seconds()), Sigma: s.Sigma, Src: rand.NewPCG(seed, streamWork)}
	phases := rand.New(rand.NewPCG(seed, streamPhases))
	limits := rand.New(rand.NewPCG(seed, streamLimits))
	var jobs []fleet.Job
	var hours float64 // of the last arrival
	for {
		hours = s.next(hours, arrivals.ExpFloat64())
		t := seconds(hours * 3600)
		if t >= horizon {
			return jobs
		}
		j := fleet.Job{
			ID: len(jobs) + 1, GPUs: s.Sizes[int(sizes.Rand())].GPUs, Arrival: t,
			Work: max(time.Minute, seconds(work.Rand())), Write: s.Write, Restart: s.Restart, Phase: phases.IntN(1000),
		}
		if s.Overask > 0 {
			ratio := 1 + limits.Float64()*(s.Overask-1)
			j.Limit = seconds(j.Work.Seconds()*ratio) + 10*time.Minute // for the writes
		}
		jobs = append(jobs, j)
	}
}

// next is the arrival after t, in hours, of a Poisson process whose rate changes by the hour: unit is a standard exponential draw,
// spent against the rate.
func (s Students) next(t, unit float64) float64 {
	for {
		hour := min(int(t), len(s.PerHour)-1)
		rate, end := s.PerHour[hour], float64(hour+1)
		if hour == len(s.PerHour)-1 || unit < rate*(end-t) {
			return t + unit/rate
		}
		unit -= rate * (end - t)
		t = end
	}
}

func (s Students) shares() []float64 {
	shares := make([]float64, len(s.Sizes))
	for i, z := range s.Sizes {
		shares[i] = z.Share
	}
	return shares
}

// faults draws node failures at the rate of facts.NodeFailuresPerDay, with cause and repair time.
func faults(c fleet.Config) []fleet.Fault {
	src := rand.NewPCG(c.Seed, streamFaults)
	gap := distuv.Exponential{Rate: facts.NodeFailuresPerDay() / 86400 * float64(c.Topology.Nodes()), Src: src}
	repair := distuv.LogNormal{
		Mu:    math.Log(facts.RepairMedian.Value * 86400),
		Sigma: math.Sqrt(2 * math.Log(facts.RepairMean.Value/facts.RepairMedian.Value)),
		Src:   src,
	}
	var causes []string
	var weights []float64
	for _, i := range facts.Llama3Interruptions {
		if i.Scope == facts.ScopeGPU || i.Scope == facts.ScopeNode { // a broken GPU takes its node out: this fleet drains
			causes, weights = append(causes, i.Cause), append(weights, float64(i.Count))
		}
	}
	cause := distuv.NewCategorical(weights, src)
	pick := rand.New(src)
	var faults []fleet.Fault
	for t := seconds(gap.Rand()); t < c.Horizon; t += seconds(gap.Rand()) {
		faults = append(faults, fleet.Fault{
			Node: pick.IntN(c.Topology.Nodes()), At: t, Repair: min(max(time.Minute, seconds(repair.Rand())), 365*24*time.Hour), Cause: causes[int(cause.Rand())],
		})
	}
	return faults
}

// seconds is a time in whole seconds: finer ones would only be noise in the log.
func seconds(s float64) time.Duration { return time.Duration(math.Round(s)) * time.Second }
