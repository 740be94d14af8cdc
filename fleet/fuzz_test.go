package fleet_test

import (
	"encoding/binary"
	"math"
	"testing"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/elastic"
)

// tape reads numbers off a fuzzer's bytes; after their end it reads zeros.
type tape []byte

func (t *tape) byte() byte {
	if len(*t) == 0 {
		return 0
	}
	b := (*t)[0]
	*t = (*t)[1:]
	return b
}

func (t *tape) number() int64 {
	var raw [8]byte
	for i := range raw {
		raw[i] = t.byte()
	}
	return int64(binary.LittleEndian.Uint64(raw[:]))
}

// duration is mostly a sensible time, sometimes an edge, sometimes anything.
func (t *tape) duration(sensible time.Duration) time.Duration {
	switch b := t.byte(); {
	case b < 160:
		return sensible * time.Duration(b) / 64
	case b < 230:
		edges := []time.Duration{0, 1, fleet.Resolution, time.Minute, 24 * time.Hour, 400 * 24 * time.Hour, math.MaxInt64, math.MinInt64, -1, -time.Hour, 10 * 365 * 24 * time.Hour}
		return edges[int(b)%len(edges)]
	default:
		return time.Duration(t.number())
	}
}

// count is mostly from 0 to about most, sometimes anything.
func (t *tape) count(most int) int {
	switch b := t.byte(); {
	case b < 220:
		return int(b) % (most + 2)
	case b < 240:
		return []int{0, -1, math.MaxInt64, math.MinInt64, 1 << 31, 1000, 200_001}[int(b)%7]
	default:
		return int(t.number())
	}
}

func (t *tape) ratio() float64 {
	switch b := t.byte(); {
	case b < 200:
		return float64(b) / 200
	default:
		return []float64{0, 1, -1, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, math.SmallestNonzeroFloat64}[int(b)%8]
	}
}

// config is a configuration that may be good, bad or absurd in any field.
func (t *tape) config() fleet.Config {
	c := fleet.Default()
	c.Topology = fleet.Topology{Pods: max(1, t.count(2)), RacksPerPod: max(1, t.count(3)), NodesPerRack: t.count(4), GPUsPerNode: t.count(8)}
	if nodes := float64(c.Topology.Pods) * float64(c.Topology.RacksPerPod) * float64(c.Topology.NodesPerRack); nodes > 3000 { // valid, but slow
		c.Topology = fleet.Topology{Pods: 1, RacksPerPod: 2, NodesPerRack: 3, GPUsPerNode: 4}
	}
	c.Horizon = t.duration(24 * time.Hour)
	c.Policy = []fleet.Policy{fleet.FCFS, fleet.BestFit, fleet.Preemption, fleet.EASY, nil}[int(t.byte())%17%5]
	c.Rescale = append(elastic.Strategies(), nil)[int(t.byte())%17%5]
	c.Preempt, c.Defrag = t.byte()%2 == 0, t.byte()%2 == 0
	c.Checkpoint, c.Grace, c.Exempt = t.duration(time.Hour), t.duration(time.Minute), t.duration(time.Minute)
	c.Migration = fleet.Migration{Concurrency: t.count(9), Move: t.duration(time.Minute), Tax: t.ratio(), TaxFor: t.duration(time.Hour)}
	c.SLA = fleet.SLA{Start: t.duration(time.Hour), Wait: t.duration(time.Hour)}
	c.RateUSD, c.MFU, c.Big = t.ratio(), t.ratio(), t.count(3)
	for i := range t.byte() % 12 {
		j := fleet.Job{
			ID: int(i) + 1, GPUs: t.count(40), Arrival: time.Duration(i) * t.duration(time.Minute), Work: t.duration(3 * time.Hour), Priority: t.count(3),
			Write: t.duration(time.Minute), Restart: t.duration(time.Minute), Phase: t.count(200), Persist: t.duration(time.Minute),
			Limit: t.duration(time.Hour), Team: t.count(0), Locality: fleet.Locality(t.byte() % 9), Prefer: t.byte()%2 == 0,
		}
		if t.byte()%3 == 0 {
			j.Train = &fleet.Training{
				TP: t.count(4), PP: t.count(2), CP: t.count(1), DP: t.count(3), MicroBatches: t.count(8), KeepBatch: t.byte()%2 == 0,
				StepTokens: t.number(), StepTime: t.duration(time.Second), MinReplicas: t.count(2), Stall: t.duration(time.Minute), Move: t.duration(time.Minute),
			}
			if t.byte()%4 > 0 {
				j.GPUs, j.Train.MicroBatches, j.Train.StepTokens = j.Train.TP*j.Train.PP*j.Train.CP*j.Train.DP, 0, 0
			}
		}
		c.Jobs = append(c.Jobs, j)
	}
	var at time.Duration
	for range t.byte() % 12 {
		at += t.duration(time.Hour)
		c.Faults = append(c.Faults, fleet.Fault{
			Node: t.count(9), At: at, Repair: t.duration(time.Hour), Scope: fleet.Scope(t.byte() % 5), Nodes: t.count(2), GPU: t.count(3) * int(t.byte()%2), Silent: t.duration(time.Hour) * time.Duration(t.byte()%2),
		})
	}
	return c
}

// Whatever stands in a configuration, Simulate answers: with an error that wraps ErrConfig or ErrPolicy, or with a run in which GPU-time
// is conserved.
func FuzzConfig(f *testing.F) {
	f.Add([]byte{1, 1, 3, 4})
	f.Add([]byte("the quick brown fox jumps over the lazy dog, and then over a hundred other animals that have done it no harm at all"))
	f.Fuzz(func(t *testing.T, data []byte) {
		tape := tape(data)
		c := tape.config()
		err := c.Validate()
		r, failed := fleet.Simulate(c)
		if (err == nil) != (failed == nil) {
			t.Fatalf("Validate says %v, Simulate %v", err, failed)
		}
		if err != nil {
			return
		}
		nobodyShares(t, r)
		split := r.SplitAt(r.Config.Horizon)
		if total, want := split.Total(), fleet.GPUTime(c.Topology.GPUs())*fleet.GPUTime(r.Config.Horizon/fleet.Resolution); total != want {
			t.Fatalf("parts add up to %d GPU-ms of %d", total, want)
		}
		for p, g := range split {
			if g < 0 {
				t.Fatalf("%v is %d GPU-ms", fleet.Part(p), g)
			}
		}
		if l := r.Ledger(); math.IsNaN(l.Goodput) || l.Goodput < 0 || l.Goodput > 1 {
			t.Fatalf("goodput %v", l.Goodput)
		}
	})
}
