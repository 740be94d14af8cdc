package fleet

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fleetlab/fleetlab/fleet/elastic"
)

// stepper is a second way to simulate one training job that has the whole fleet, a GPU to a replica: second by second, with no events.
type stepper struct {
	tau, write, restart, stallFor, move, work float64 // seconds
	strategy                                  elastic.Rescaler

	now                                 float64
	progress, saved, since, left, stall float64 // left of the write that goes on, 0 if none does
	mode                                int
	down                                []float64 // until then
	has, gets                           []bool    // replicas at work: with the model's state, and those that are being given it
	lost                                float64
}

const (
	trains = iota
	stands
	queues
)

func (s *stepper) up(n int) bool { return s.down[n] <= s.now }

func (s *stepper) count(f func(n int) bool) (k int) {
	for n := range s.has {
		if f(n) {
			k++
		}
	}
	return k
}

func (s *stepper) atWork() int { return s.count(func(n int) bool { return s.has[n] || s.gets[n] }) }

func (s *stepper) rollBack() {
	s.lost += s.progress - s.saved
	s.progress, s.since, s.left = s.saved, 0, 0
}

func (s *stepper) enqueue() {
	s.mode = queues
	clear(s.has)
	clear(s.gets)
}

// regroup is what the strategy does when a node is lost or comes back.
func (s *stepper) regroup() {
	for n := range s.has {
		s.has[n] = s.has[n] && s.up(n) && (s.stall == 0 || !s.gets[n])
	}
	live, alive := s.count(func(n int) bool { return s.has[n] }) > 0, s.count(s.up)
	s.left = 0 // an interrupted write is begun anew
	switch {
	case s.strategy == elastic.Restart || alive == 0:
		s.rollBack()
		s.enqueue()
	case s.strategy == elastic.WaitForSpare && alive < len(s.has):
		if !live {
			s.rollBack()
		}
		s.mode, s.stall = stands, 0
		clear(s.gets)
	case !live:
		s.rollBack()
		s.mode, s.stall = trains, s.restart
		for n := range s.has {
			s.gets[n] = s.up(n)
		}
	default:
		s.mode, s.stall = trains, s.stallFor
		for n := range s.has {
			s.gets[n] = s.up(n) && !s.has[n]
		}
		if s.count(func(n int) bool { return s.gets[n] }) > 0 {
			s.stall += s.move
		}
	}
}

// train spends one second.
func (s *stepper) train() {
	second := 1.0
	spend := func(most float64) float64 {
		d := min(second, most)
		second -= d
		return d
	}
	if s.stall > 0 {
		if s.stall -= spend(s.stall); s.stall == 0 {
			for n := range s.has {
				s.has[n] = s.has[n] || s.gets[n]
			}
			clear(s.gets)
		}
	}
	speed := float64(s.atWork()) / float64(len(s.has))
	for second > 1e-9 && s.progress < s.work-1e-6 {
		if s.since < s.tau-1e-9 {
			d := spend(min(s.tau-s.since, s.work-s.progress)/speed) * speed
			s.progress, s.since = s.progress+d, s.since+d
			continue
		}
		if s.left == 0 {
			s.left = s.write
		}
		if s.left -= spend(s.left); s.left <= 1e-9 {
			s.left, s.since, s.saved = 0, 0, s.progress
		}
	}
}

// run steps to the end of the job or the horizon.
func (s *stepper) run(faults []Fault, horizon time.Duration) (done time.Duration) {
	for ; s.now < horizon.Seconds(); s.now++ {
		if s.mode == trains && s.stall == 0 && s.left == 0 && s.progress >= s.work-1e-6 {
			return time.Duration(s.now) * time.Second
		}
		hit := false
		for ; len(faults) > 0 && faults[0].At.Seconds() == s.now; faults = faults[1:] {
			f := faults[0]
			for n := f.Node; n < f.Node+f.nodes(); n++ {
				hit = hit || s.has[n] || s.gets[n] || s.mode == stands && s.up(n)
				s.down[n] = max(s.down[n], s.now+f.Repair.Seconds())
			}
		}
		alive, all := s.count(s.up), len(s.has)
		switch {
		case hit, s.mode == stands && alive == all, s.mode == trains && alive > s.atWork():
			s.regroup()
		case s.mode == queues && alive == all:
			s.mode, s.stall, s.since = trains, s.restart, 0
			for n := range s.gets {
				s.gets[n] = true
			}
		}
		if s.mode == trains {
			s.train()
		}
	}
	return Never
}

// The event simulation agrees with stepping: when the job is done, and how much work it lost.
func TestTrainingAgreesWithStepping(t *testing.T) {
	rollbacks := 0
	for seed := range uint64(1500) {
		rng := rand.New(rand.NewPCG(seed, 7))
		dp := 1 + rng.IntN(4)
		c := Default()
		c.Topology = Topology{Pods: 1, RacksPerPod: 1, NodesPerRack: dp, GPUsPerNode: 1}
		c.Horizon = 48 * time.Hour
		c.Checkpoint = []time.Duration{10 * time.Minute, 30 * time.Minute}[rng.IntN(2)]
		c.Rescale = elastic.Strategies()[rng.IntN(4)]
		c.Jobs = []Job{{
			ID: 1, GPUs: dp, Work: time.Duration(1+rng.IntN(4)) * time.Hour, Write: time.Duration(1+rng.IntN(10)) * time.Minute, Restart: 5 * time.Minute,
			Train: &Training{TP: 1, PP: 1, CP: 1, DP: dp, Stall: 3 * time.Minute, Move: 2 * time.Minute},
		}}
		var at time.Duration
		for range 1 + rng.IntN(5) {
			at += time.Duration(60+rng.IntN(5400)) * time.Second
			f := Fault{Node: rng.IntN(dp), At: at, Repair: time.Duration(60+rng.IntN(7200)) * time.Second}
			if rng.IntN(3) == 0 {
				f.Nodes = 1 + rng.IntN(dp-f.Node)
			}
			c.Faults = append(c.Faults, f)
		}
		r, err := Simulate(c)
		if err != nil {
			t.Fatal(err)
		}
		j := c.Jobs[0]
		s := &stepper{
			tau: c.Checkpoint.Seconds(), write: j.Write.Seconds(), restart: j.Restart.Seconds(), stallFor: j.Train.Stall.Seconds(), move: j.Train.Move.Seconds(),
			work: j.Work.Seconds(), strategy: c.Rescale, down: make([]float64, dp), has: make([]bool, dp), gets: make([]bool, dp),
		}
		for n := range s.has {
			s.has[n] = true
		}
		done, lost := s.run(c.Faults, c.Horizon), 0.0
		for _, x := range r.losses {
			lost += float64(x.work) / 1000 / float64(dp)
		}
		if got := r.Queue[0].Done; (got-done).Abs() > 5*time.Second || math.Abs(lost-s.lost) > 5 {
			t.Errorf("seed %d, %v, DP %d: done after %v with %.0f s lost, stepping gives %v and %.0f s", seed, c.Rescale, dp, got, lost, done, s.lost)
		}
		if s.lost > 0 {
			rollbacks++
		}
	}
	if rollbacks < 300 {
		t.Errorf("only %d of 1500 jobs lost work: the faults prove nothing", rollbacks)
	}
}
