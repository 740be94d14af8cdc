package scenario

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
)

// What students may be. The limits keep a mistyped figure from becoming a run that does not end.
const (
	mostPerHour  = 20_000.0
	mostStudents = 500_000.0 // expected before the horizon; Act I draws 372,000 in its longest month
	longestWork  = 365 * 24 * time.Hour
)

// Times is the same students, but so many times as many of them.
func (s Students) Times(factor float64) Students {
	s.PerHour = slices.Clone(s.PerHour)
	for i := range s.PerHour {
		s.PerHour[i] *= factor
	}
	return s
}

// check says which field of the students is out of its range.
func (s Students) check(c *fleet.Config) error {
	if len(s.PerHour) == 0 || len(s.Sizes) == 0 {
		return fmt.Errorf("%d PerHour, %d Sizes: must be at least one each: %w", len(s.PerHour), len(s.Sizes), fleet.ErrConfig)
	}
	for i, rate := range s.PerHour {
		if !(rate > 0 && rate <= mostPerHour) {
			return fmt.Errorf("%s[%d] %v: must be above 0 and at most %v: %w", "PerHour", i, rate, mostPerHour, fleet.ErrConfig)
		}
	}
	if n := s.expected(c.Horizon); n > mostStudents {
		return fmt.Errorf("%s comes to %.0f jobs by %v: must be at most %.0f: %w", "PerHour", n, c.Horizon, mostStudents, fleet.ErrConfig)
	}
	var all float64
	for i, z := range s.Sizes {
		if z.GPUs < 1 || z.GPUs > c.Topology.GPUsPerNode {
			return fmt.Errorf("%s[%d].GPUs %d: must be between 1 and the %d of a node: %w", "Sizes", i, z.GPUs, c.Topology.GPUsPerNode, fleet.ErrConfig)
		}
		if !(z.Share >= 0 && z.Share <= 1) {
			return fmt.Errorf("%s[%d].Share %v: must be between 0 and 1: %w", "Sizes", i, z.Share, fleet.ErrConfig)
		}
		all += z.Share
	}
	if math.Abs(all-1) > 1e-6 {
		return fmt.Errorf("shares of Sizes sum to %v: must be 1: %w", all, fleet.ErrConfig)
	}
	return s.checkTimes()
}

func (s Students) checkTimes() error {
	if s.Median < time.Second || s.Median > longestWork {
		return fmt.Errorf("%s %v: must be between 1s and %v: %w", "Median", s.Median, longestWork, fleet.ErrConfig)
	}
	if !(s.Sigma >= 0 && s.Sigma <= 3) {
		return fmt.Errorf("%s %v: must be between 0 and 3: %w", "Sigma", s.Sigma, fleet.ErrConfig)
	}
	if s.Overask != 0 && !(s.Overask >= 1 && s.Overask <= 100) {
		return fmt.Errorf("%s %v: must be 0, or between 1 and 100: %w", "Overask", s.Overask, fleet.ErrConfig)
	}
	return nil // Write and Restart are the jobs' own, and fleet checks those
}

// expected is the mean number of arrivals before the horizon.
func (s Students) expected(horizon time.Duration) float64 {
	var n float64
	left := horizon.Hours()
	for _, rate := range s.PerHour {
		n += rate * max(0, min(1, left))
		left--
	}
	return n + s.PerHour[len(s.PerHour)-1]*max(0, left)
}
