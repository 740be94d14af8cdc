package fleet

import "time"

// GPUTime counts GPUs × time in GPU-milliseconds, as a whole number: sums are exact. 16,384 GPUs for 54 days are 7.6e13 of them.
type GPUTime int64

// Hours is g in GPU-hours.
func (g GPUTime) Hours() float64 { return float64(g) / float64(time.Hour/Resolution) }

// over is the GPU-time of so many GPUs for so long.
func over(gpus int, d time.Duration) GPUTime { return GPUTime(gpus) * GPUTime(d/Resolution) }

// Part is one of the uses that GPU-time is put to. At every instant the parts of all GPUs add up to capacity × time.
type Part int

// The parts. A held GPU (one that a job occupies) is in one of the first eight, the others are Idle or Failed.
const (
	Useful     Part = iota // work done for the first time, at full speed
	Checkpoint             // writing a checkpoint
	Rework                 // work done again because a failure lost it
	Preempted              // work done again because an eviction lost it
	Restart                // loading and warming up after a failure or an eviction
	Pause                  // stopped while the fleet migrates
	Tax                    // the speed that a migrated job lacks
	Stranded               // held and healthy, but of no use to the job
	Idle                   // healthy and held by nobody
	Failed                 // on a node that is down
	NumParts               // how many there are
)

var partNames = [NumParts]string{
	"useful", "checkpoint", "rework", "preemption loss", "restart", "migration pause", "migration tax", "stranded", "idle", "failed",
}

// String is the part's name as the ledger prints it.
func (p Part) String() string {
	if p < 0 || p >= NumParts {
		return "unknown"
	}
	return partNames[p]
}

// Split is GPU-time by part.
type Split [NumParts]GPUTime

// Total is the sum of all parts: capacity × time for a whole fleet.
func (s Split) Total() (sum GPUTime) {
	for _, g := range s {
		sum += g
	}
	return sum
}

// Held is the GPU-time that jobs occupied, useful or not.
func (s Split) Held() GPUTime { return s.Total() - s[Idle] - s[Failed] }

// Share is a part over the total, 0–1; 0 for an empty split.
func (s Split) Share(p Part) float64 {
	if t := s.Total(); t > 0 {
		return float64(s[p]) / float64(t)
	}
	return 0
}

// Add is the sum of two splits, part by part.
func (s Split) Add(o Split) Split {
	for p := range s {
		s[p] += o[p]
	}
	return s
}

// Sub is the difference of two splits, part by part: what happened between two instants.
func (s Split) Sub(o Split) Split {
	for p := range s {
		s[p] -= o[p]
	}
	return s
}
