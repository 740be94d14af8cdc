package fleet_test

import (
	"math"
	"testing"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
)

// Exactly 20.0 % and exactly 80.0 % are red, and the badge goes by the figure that is shown beside it.
func TestBadgeLimits(t *testing.T) {
	for _, c := range []struct {
		ratio         float64
		frag, goodput bool
	}{
		{0, true, false}, {0.1994, true, false}, {0.19951, false, false}, {0.20, false, false}, {0.21, false, false},
		{0.80, false, false}, {0.80049, false, false}, {0.8006, false, true}, {1, false, true},
	} {
		l := fleet.Ledger{Fragmentation: c.ratio, Goodput: c.ratio}
		if l.FragmentationMet() != c.frag || l.GoodputMet() != c.goodput {
			t.Errorf("at %v: fragmentation met %v, goodput met %v", c.ratio, l.FragmentationMet(), l.GoodputMet())
		}
	}
}

// Both measures of fragmentation on a fleet that is counted by hand: 4 nodes of 8, of which node 0 is full, node 1 has 3 free GPUs,
// nodes 2 and 3 are empty; jobs are 3 × 1 GPU, 5 GPUs, 8 GPUs and a gang of 16 – sizes 1, 1, 1, 5, 8, 8 as one node sees them.
func TestFragmentationByHand(t *testing.T) {
	c := small(4)
	c.Jobs = []fleet.Job{
		{ID: 1, GPUs: 8, Work: 2 * time.Hour}, {ID: 2, GPUs: 5, Work: 100 * time.Hour},
		{ID: 3, GPUs: 1, Work: time.Hour, Arrival: 30 * time.Hour}, {ID: 4, GPUs: 1, Work: time.Hour, Arrival: 30 * time.Hour},
		{ID: 5, GPUs: 1, Work: time.Hour, Arrival: 30 * time.Hour}, {ID: 6, GPUs: 16, Work: time.Hour, Arrival: 30 * time.Hour},
	}
	r := simulate(t, c)
	s := r.At(time.Hour)
	if s.Idle != 19 || s.LargestHole != 2 || s.Hole != 2 {
		t.Fatalf("%+v, hole at %d", s.Sample, s.Hole)
	}
	if got, want := s.Fragmentation(8), 1-16.0/19; math.Abs(got-want) > 1e-15 {
		t.Errorf("contiguity loss %v, want %v", got, want)
	}
	if want := 3 * 3.0 / 6; s.FGD != want { // 3 idle GPUs on node 1 are lost for 3 of 6 jobs
		t.Errorf("FGD counts %v GPUs, want %v", s.FGD, want)
	}
	l := r.Ledger() // at the horizon job 1 has gone: 3 + 24 idle, largest hole 2 nodes behind node 1
	if want := 1 - 16.0/27; l.AuditAt != c.Horizon || math.Abs(l.Fragmentation-want) > 1e-15 {
		t.Errorf("at %v fragmentation %v, want %v", l.AuditAt, l.Fragmentation, want)
	}
	if want := 1.5 / 27; math.Abs(l.FGDOfIdle-want) > 1e-15 || math.Abs(l.FGDOfTotal-1.5/32) > 1e-15 {
		t.Errorf("FGD %v of idle, %v of all", l.FGDOfIdle, l.FGDOfTotal)
	}
	if want := 1 - 16.0*24/(19*2+27*22); math.Abs(l.FragmentationOverWindow-want) > 1e-12 {
		t.Errorf("over the window %v, want %v", l.FragmentationOverWindow, want)
	}
}

func TestFragmentationOfAFullFleetIsZero(t *testing.T) {
	c := small(1)
	c.Jobs = []fleet.Job{{ID: 1, GPUs: 8, Work: 100 * time.Hour}}
	if l := simulate(t, c).Ledger(); l.Fragmentation != 0 || l.FragmentationOverWindow != 0 || !l.FragmentationMet() {
		t.Errorf("%+v", l)
	}
}

// The ledger's money and ratios on one job that is counted by hand.
func TestLedgerByHand(t *testing.T) {
	c := small(2)
	c.Horizon, c.Checkpoint, c.RateUSD, c.MFU = 10*time.Hour, time.Hour, 2, 0.5
	c.Jobs = []fleet.Job{{ID: 1, GPUs: 4, Arrival: time.Hour, Work: 4 * time.Hour, Write: 15 * time.Minute}}
	c.Big = 1
	l := simulate(t, c).Ledger()
	total := 16.0 * 9
	for name, got := range map[string][2]float64{
		"useful GPU-h":     {l.Split[fleet.Useful].Hours(), 16},
		"checkpoint GPU-h": {l.Split[fleet.Checkpoint].Hours(), 3},
		"idle GPU-h":       {l.Split[fleet.Idle].Hours(), total - 19},
		"held GPU-h":       {l.Split.Held().Hours(), 19},
		"goodput":          {l.Goodput, 16 / total},
		"cluster MFU":      {l.ClusterMFU, 8 / total},
		"$ per hour":       {l.CostPerHourUSD, 32},
		"$":                {l.CostUSD, 2 * total},
		"wasted $":         {l.WasteUSD, 2 * (total - 16)},
	} {
		if math.Abs(got[0]-got[1]) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got[0], got[1])
		}
	}
	if l.BigWait != 0 || l.BigStart != time.Hour || !l.SLAMet {
		t.Errorf("wait %v, start %v, SLA %v", l.BigWait, l.BigStart, l.SLAMet)
	}
}

// The SLA holds up to its limits, and not a millisecond longer.
func TestSLALimits(t *testing.T) {
	for _, c := range []struct {
		block time.Duration // an urgent job holds the fleet for so long
		want  bool
	}{{time.Hour, true}, {time.Hour + fleet.Resolution, false}} {
		config := small(1)
		config.Jobs = []fleet.Job{{ID: 1, GPUs: 8, Work: c.block}, {ID: 2, GPUs: 8, Work: time.Hour}}
		config.Big = 2
		r := simulate(t, config)
		if l := r.Ledger(); l.SLAMet != c.want || l.BigWait != c.block {
			t.Errorf("big job waits %v: SLA met %v", l.BigWait, l.SLAMet)
		}
		if _, missed := incident(r, fleet.SLAMissed); missed == c.want {
			t.Errorf("big job waits %v: incident %v", c.block, missed)
		}
	}
}

// Percentiles are by nearest rank: of 20 waits the 95th percentile is the 19th, the median the 10th.
func TestStudentWaitsByNearestRank(t *testing.T) {
	c := small(1)
	for i := range 20 {
		c.Jobs = append(c.Jobs, fleet.Job{ID: i + 1, GPUs: 8, Work: time.Hour})
	}
	if l := simulate(t, c).Ledger(); l.StudentMedian != 9*time.Hour || l.StudentP95 != 18*time.Hour || l.SLAMet {
		t.Errorf("median %v, 95th percentile %v, SLA %v", l.StudentMedian, l.StudentP95, l.SLAMet)
	}
}

func TestFormatDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		fleet.Never: "never", 0: "0 s", 5 * time.Millisecond: "5 ms", 45 * time.Second: "45 s", 90 * time.Second: "1 m 30 s",
		3 * time.Hour: "3 h", 3*time.Hour + 5*time.Minute + 7*time.Second: "3 h 5 m", 49 * time.Hour: "2 d 1 h", time.Hour + time.Second: "1 h",
	} {
		if got := fleet.FormatDuration(d); got != want {
			t.Errorf("%v is %q, want %q", int64(d), got, want)
		}
	}
}
