package fleet_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/elastic"
)

// What happens where two things happen at once, or one at an odd moment. Every expected figure is worked out by hand.

const m, h = time.Minute, time.Hour

func eq[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestNodesOfAnotherBrokenJobAreNoSpares(t *testing.T) {
	c := ring(8, 4, 1, elastic.DropReplicas)
	b := c.Jobs[0]
	b.ID = 2
	c.Jobs = append(c.Jobs, b)
	c.Faults = []fleet.Fault{{Node: 3, Nodes: 2, At: h, Repair: 5 * h}} // one node of each
	r := simulate(t, c)
	eq(t, "A", r.Strengths(1)[1].Replicas, 3)
	eq(t, "B", r.Strengths(2)[1].Replicas, 3)
}

func TestCheckpointWrittenAgainAfterAnInterruptedWriteCounts(t *testing.T) {
	c := ring(4, 4, 1, elastic.DropReplicas)
	c.Jobs[0].Write = 4 * m
	c.Faults = []fleet.Fault{{Node: 3, At: 62 * m, Repair: 20 * h}, {Node: 0, Nodes: 4, At: 90 * m, Repair: m}}
	eq(t, "lost GPU-s", simulate(t, c).Ledger().LostToFailures/1000, 32*945)
}

func TestSoftwareCrashLosesTheStateOfItsNode(t *testing.T) {
	for dp, want := range map[int]time.Duration{1: 10 * m, 4: 5 * m} { // DP 1: no live replica; DP 4: the crashed one is given the state
		c := ring(4, dp, 4/dp, elastic.DropReplicas)
		c.Faults = []fleet.Fault{{Node: 2, At: 90 * m, Scope: fleet.Software}}
		r := simulate(t, c)
		eq(t, "stall", r.Strengths(1)[1].Stall, want)
		eq(t, "rework", r.Training(1).Split[fleet.Rework]/gpuMin, map[int]fleet.GPUTime{1: 32 * 29, 4: 0}[dp])
	}
}

func TestRescalerMayWriteIntoItsBreak(t *testing.T) {
	inPlace := elastic.Rescaling("in place", func(b elastic.Break) [][]int {
		spares := b.Spares
		for _, replica := range b.Replicas {
			for k, n := range replica {
				if !b.Alive(n) {
					replica[k], spares = spares[0], spares[1:]
				}
			}
		}
		return b.Replicas
	})
	c := ring(6, 2, 2, inPlace)
	fault(&c, 90*m, 20*h, 0, 2) // both replicas broken, two spares
	r := simulate(t, c)
	eq(t, "stall", r.Strengths(1)[1].Stall, 10*m)
	eq(t, "rework", r.Training(1).Split[fleet.Rework]/gpuMin, 32*29)
	eq(t, "done", r.Queue[0].Done, 20*h+58*m)
}

func TestRescalerThatForgetsWhatIsLostGetsAnError(t *testing.T) {
	c := ring(4, 4, 1, elastic.Rescaling("clears", func(b elastic.Break) [][]int { clear(b.Lost); b.Lost[0] = -1; return b.Replicas }))
	fault(&c, 90*m, 20*h, 0)
	defer func() { eq(t, "panic", recover(), nil) }()
	_, err := fleet.Simulate(c)
	eq(t, "ErrPolicy", errors.Is(err, fleet.ErrPolicy), true)
}

func TestEvictedWhileStandingStillStartsOnce(t *testing.T) {
	c := ring(3, 2, 1, elastic.WaitForSpare)
	c.Policy, c.Big = fleet.Preemption, 0
	c.Jobs = append(c.Jobs, fleet.Job{ID: 2, GPUs: 8, Arrival: 100 * m, Work: h, Priority: 5}, fleet.Job{ID: 3, GPUs: 8, Arrival: 219 * m, Work: h})
	c.Faults = []fleet.Fault{{Node: 1, Nodes: 2, At: 90 * m, Repair: 2 * h}}
	r := simulate(t, c)
	eq(t, "restart", r.Training(1).Split[fleet.Restart]/gpuMin, 16*10)
	eq(t, "done", r.Queue[0].Done, 22*h+58*m)
}

func TestSilentFaultOfAStrandedNodeSpoilsNothing(t *testing.T) {
	c := ring(8, 4, 2, elastic.DropReplicas)
	c.Faults = []fleet.Fault{{Node: 7, At: 90 * m, Repair: 20 * h}, {Node: 6, At: 150 * m, Silent: 3 * h, Repair: 10 * h}} // 6 is stranded from 90 min on
	eq(t, "rework GPU-min", simulate(t, c).Training(1).Split[fleet.Rework]/gpuMin, 0)
}

func TestSilentFaultOfAJobThatLeftInTimeSpoilsNothing(t *testing.T) {
	c := small(2)
	c.Checkpoint = h
	c.Jobs = []fleet.Job{{ID: 1, GPUs: 8, Work: 10 * h}}
	c.Faults = []fleet.Fault{{Node: 0, At: 90 * m, Silent: 4 * h, Repair: m}, {Node: 0, At: 100 * m, Repair: 100 * h}}
	eq(t, "lost GPU-min", simulate(t, c).Ledger().LostToFailures/gpuMin, 8*40)
}

func TestSilentFaultOfAJobInTheQueueIsBooked(t *testing.T) {
	c := small(1)
	c.Checkpoint = h
	c.Jobs = []fleet.Job{{ID: 1, GPUs: 8, Work: 10 * h}}
	c.Faults = []fleet.Fault{{Node: 0, At: 30 * m, Silent: 4 * h, Repair: m}, {Node: 0, At: 200 * m, Repair: 4 * h}}
	l := simulate(t, c).Ledger()
	eq(t, "lost GPU-min", l.LostToFailures/gpuMin, 8*(20+180))
	eq(t, "rework GPU-min", l.Split[fleet.Rework]/gpuMin, 8*(20+180))
}

func TestPriceOfARescaledVictimIsAllItsUnsavedWork(t *testing.T) {
	c := small(3)
	c.Policy, c.Checkpoint, c.Rescale = fleet.Preemption, h, elastic.DropReplicas
	c.Jobs = []fleet.Job{
		{ID: 1, GPUs: 16, Work: 10 * h, Locality: fleet.Anywhere, Train: &fleet.Training{TP: 8, PP: 1, CP: 1, DP: 2}},
		{ID: 2, GPUs: 8, Work: 10 * h, Arrival: 47 * m},
		{ID: 3, GPUs: 8, Work: h, Arrival: 57 * m, Priority: 1},
	}
	c.Faults = []fleet.Fault{{Node: 1, At: 55 * m, Repair: 20 * h}}
	r := simulate(t, c)
	eq(t, "evictions of 1", r.Queue[0].Evicts, 0)
	eq(t, "evictions of 2", r.Queue[1].Evicts, 1)
}

func TestVictimOfTwoPlansIsSparedByBothOrNone(t *testing.T) {
	c := small(3)
	c.Policy = fleet.Queueing{Name: "p", Order: fleet.ByPriority, Backfill: fleet.Greedy, Evicts: true}
	c.Grace, c.Big = 10*m, 4
	c.Jobs = []fleet.Job{
		{ID: 1, GPUs: 16, Work: 10 * h}, {ID: 2, GPUs: 8, Work: 65 * m, Priority: 1},
		{ID: 3, GPUs: 8, Work: 20 * h, Arrival: h, Priority: 1}, {ID: 4, GPUs: 8, Work: h, Arrival: h + m, Priority: 1},
	}
	q := simulate(t, c).Queue[3] // the gang was condemned for the end of 70 min (or 71, if anew)
	eq(t, "starts by 75 min", q.FirstRun <= 75*m, true)
}

func TestVictimThatIsNotNeededAnyMoreIsSpared(t *testing.T) {
	c := small(1)
	c.Policy, c.Grace = fleet.Preemption, 10*m
	c.Jobs = []fleet.Job{{ID: 1, GPUs: 4, Work: 10 * h}, {ID: 2, GPUs: 4, Work: 65 * m, Restart: h}, {ID: 3, GPUs: 4, Work: h, Arrival: h, Priority: 1}}
	r := simulate(t, c)
	eq(t, "job 3 started", r.Queue[2].FirstRun, 65*m)
	eq(t, "evictions of 1", r.Queue[0].Evicts, 0)
}

func TestSparesKeepTheLocality(t *testing.T) {
	c := ring(4, 2, 1, elastic.WaitForSpare)
	c.Topology = fleet.Topology{Pods: 1, RacksPerPod: 2, NodesPerRack: 2, GPUsPerNode: 8}
	c.Jobs[0].Locality = fleet.SameRack
	fault(&c, 90*m, h, 1)
	for _, s := range simulate(t, c).Spans {
		if nodes := slices.Collect(s.On); c.Topology.Rack(nodes[0]) != c.Topology.Rack(nodes[len(nodes)-1]) {
			t.Errorf("%v at %v", nodes, s.Start)
		}
	}
}

func TestGoingOnFromACheckpointIsARescale(t *testing.T) {
	c := ring(8, 2, 4, elastic.Reshard)
	fault(&c, 90*m, 100*h, 0, 4)
	l := simulate(t, c).Training(1)
	eq(t, "crashes", l.Crashes, 0)
	eq(t, "rescales", l.Rescales, 1)
}

func TestLossOfAStrandedNodeStopsNobody(t *testing.T) {
	c := ring(8, 4, 2, elastic.DropReplicas)
	c.Faults = []fleet.Fault{{Node: 7, At: 90 * m, Repair: 100 * h}, {Node: 6, At: 150 * m, Repair: 100 * h}}
	r := simulate(t, c)
	eq(t, "stall GPU-min", r.Training(1).Stall/gpuMin, 48*3)
	eq(t, "rescales", r.Training(1).Rescales, 1)
	eq(t, "the log says so", slices.ContainsFunc(r.Incidents, func(i fleet.Incident) bool {
		return strings.HasSuffix(i.Text, "; job 1 trains on, it was stranded there")
	}), true)
	c.Faults[1] = fleet.Fault{Node: 6, At: 92 * m, Repair: 100 * h} // during the stall, which goes on as it was
	eq(t, "stall GPU-min", simulate(t, c).Training(1).Stall/gpuMin, 48*3)
}

type named struct{ name string }

func (n *named) String() string                        { return n.name }
func (n *named) Rescale(elastic.Break) elastic.Regroup { panic(n.name) }
func (n *named) Decide(fleet.View) fleet.Decision      { panic(n.name) }

func TestPanicInStringIsAnError(t *testing.T) {
	c := ring(4, 4, 1, elastic.Restart)
	c.Policy = (*named)(nil)
	_, err := fleet.Simulate(c)
	eq(t, "ErrPolicy", errors.Is(err, fleet.ErrPolicy), true)
	c.Policy, c.Rescale = fleet.FCFS, (*named)(nil)
	fault(&c, 90*m, h, 0)
	_, err = fleet.Simulate(c)
	eq(t, "ErrPolicy of a rescaler", errors.Is(err, fleet.ErrPolicy), true)
}

func TestGoodputOfAWatchedJobThatNeverStartedIsTheFleets(t *testing.T) {
	c := ring(4, 4, 1, elastic.DropReplicas)
	c.Jobs = append([]fleet.Job{{ID: 9, GPUs: 8, Work: 100 * h}}, c.Jobs...)
	l := simulate(t, c).Ledger() // 8 of 32 GPUs useful: the fleet's is 0.25
	eq(t, "goodput", l.Goodput, 0.25)
	eq(t, "definition", l.GoodputDefinition(), fleet.DefGoodput)
}

func TestSpareOfAPlanThatWasGivenUpIsTakenAtOnce(t *testing.T) {
	c := ring(4, 2, 1, elastic.DropReplicas)
	c.Policy, c.Grace, c.Big = fleet.Preemption, h, 0
	c.Jobs[0].Priority = 2
	c.Jobs = append(c.Jobs, fleet.Job{ID: 2, GPUs: 8, Work: m, Priority: 2}, fleet.Job{ID: 3, GPUs: 8, Work: 20 * h}, fleet.Job{ID: 4, GPUs: 16, Work: h, Arrival: 2 * h, Priority: 1})
	c.Faults = []fleet.Fault{{Node: 1, At: 130 * m, Repair: 100 * h}, {Node: 3, At: 140 * m, Repair: 100 * h}}
	eq(t, "grows", simulate(t, c).Strengths(1)[2].At, 140*m)
}

func TestLogOfATotalLossSaysWhatWasLost(t *testing.T) {
	c := ring(4, 4, 1, elastic.WaitForSpare)
	c.Faults = []fleet.Fault{{Node: 0, Nodes: 4, At: 90 * m, Repair: h}}
	wantIncident(t, simulate(t, c), fleet.Crashed, "15.5 GPU-h of work since its last checkpoint lost")
}

func TestStandingStillCountsOnce(t *testing.T) {
	c := ring(4, 4, 1, elastic.WaitForSpare)
	c.Faults = []fleet.Fault{{Node: 2, At: 90 * m, Repair: 5 * h}, {Node: 1, At: 2 * h, Repair: h}}
	eq(t, "waits", simulate(t, c).Training(1).Waits, 1)
}

// Nothing is useful that was lost, though it was not done again before the horizon; and what a job has done is what is useful of it.
func TestLostWorkThatIsNotDoneAgainIsNotUseful(t *testing.T) {
	c := ring(4, 4, 1, elastic.Restart)
	fault(&c, 90*m, 100*h, 0)
	r := simulate(t, c)
	l := r.Ledger()
	eq(t, "useful GPU-h", l.Training.Split[fleet.Useful]/gpuHour, 32)
	eq(t, "rework GPU-min", l.Training.Split[fleet.Rework]/gpuMin, 32*29)
	eq(t, "work", l.Training.Work, h)
	eq(t, "the fleet's rework", l.Split[fleet.Rework]/gpuMin, 32*29)
	eq(t, "all of it", l.Split.Total(), 32*24*gpuHour)
	eq(t, "until it is lost", r.SplitAt(80 * m)[fleet.Useful]/gpuMin, 32*79)
}

// A job of years that is left with one replica of many has work for longer than a time.Duration can say, and no instant overflows.
func TestEndsBeyondAllTimeAreNever(t *testing.T) {
	c := ring(40, 40, 1, elastic.DropReplicas)
	c.Jobs[0].Work, c.Checkpoint = 9*365*24*h, 24*h
	c.Faults = []fleet.Fault{{Node: 1, Nodes: 39, At: h, Repair: 100 * h}}
	r := simulate(t, c)
	eq(t, "done", r.Queue[0].Done, fleet.Never)
	l := r.Training(1)
	eq(t, "end of the window", l.Window.End, c.Horizon)
	eq(t, "useful GPU-min", l.Split[fleet.Useful]/gpuMin, 40*8*60+8*(23*60-3))
}
