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

// ring is a fleet of nodes with one training job of replicas × size nodes, numbered from 0, that has work for 20 h and writes a
// checkpoint of one minute after every hour of it.
func ring(nodes, replicas, size int, r elastic.Rescaler) fleet.Config {
	c := small(nodes)
	c.Rescale, c.Checkpoint = r, time.Hour
	c.Big = 1
	c.Jobs = []fleet.Job{{
		ID: 1, GPUs: replicas * size * 8, Work: 20 * time.Hour, Write: time.Minute, Restart: 10 * time.Minute, Locality: fleet.Anywhere,
		Train: &fleet.Training{
			TP: 8, PP: size, CP: 1, DP: replicas, Stall: 3 * time.Minute, Move: 2 * time.Minute, StepTime: 10 * time.Second, StepTokens: 1000,
			Restart: fleet.RestartParts{Detect: time.Minute, Reschedule: 3 * time.Minute, Load: 4 * time.Minute, WarmUp: 2 * time.Minute},
		},
	}}
	return c
}

func fault(c *fleet.Config, at, repair time.Duration, nodes ...int) {
	for _, n := range nodes {
		c.Faults = append(c.Faults, fleet.Fault{Node: n, At: at, Repair: repair, Cause: "power spike"})
	}
}

const (
	gpuHour = fleet.GPUTime(time.Hour / fleet.Resolution)
	gpuMin  = fleet.GPUTime(time.Minute / fleet.Resolution)
)

// wantStrengths compares the course of job 1.
func wantStrengths(t *testing.T, r *fleet.Run, want ...fleet.Strength) {
	t.Helper()
	if got := r.Strengths(1); !slices.Equal(got, want) {
		t.Errorf("got\n%v, want\n%v", got, want)
	}
}

// One node of eight breaks at 90 min: its replica is out for the two hours of the repair, its other node stranded; nothing is lost.
func TestDroppingABrokenReplicaStrandsItsHealthyNodes(t *testing.T) {
	c := ring(8, 4, 2, elastic.DropReplicas)
	fault(&c, 90*time.Minute, 2*time.Hour, 3)
	r := simulate(t, c)
	wantStrengths(t, r,
		fleet.Strength{At: 0, Replicas: 4, Speed: 1, GPUs: 64},
		fleet.Strength{At: 90 * time.Minute, Replicas: 3, Speed: 0.75, Stall: 3 * time.Minute, GPUs: 56, Stranded: 8},
		fleet.Strength{At: 210 * time.Minute, Replicas: 4, Speed: 1, Stall: 5 * time.Minute, GPUs: 64},
		fleet.Strength{At: r.Queue[0].Done})
	l := r.Ledger().Training
	if l.Split[fleet.Rework] != 0 || l.Crashes != 0 || l.Rescales != 2 {
		t.Errorf("%+v", l)
	}
	// 2 h with a node of 8 GPUs stranded; at 3/4 of the speed no time is lost to rounding.
	if got := l.Split[fleet.Stranded]; got != 16*gpuHour {
		t.Errorf("%v GPU-h stranded, want 16", got.Hours())
	}
	if got := l.Split[fleet.Restart]; got != 48*3*gpuMin+64*5*gpuMin || l.Stall != got {
		t.Errorf("%v GPU-h of stalls", got.Hours())
	}
	if l.Lacking != 16*gpuHour {
		t.Errorf("%v GPU-h lacking, want the 8 GPUs that were down for 2 h", l.Lacking.Hours())
	}
	s := r.At(2 * time.Hour)
	if s.Working != 48 || s.Stranded != 8 || s.Failed != 8 || s.State[2*8] != fleet.GPUStranded || s.State[3*8] != fleet.GPUFailed || s.Job[2*8] != 1 {
		t.Errorf("at 2 h: %d working, %d stranded, %d failed", s.Working, s.Stranded, s.Failed)
	}
	wantIncident(t, r, fleet.Rescale, "3 of 4 replicas", "75.0 %", "nothing is lost", "8 GPUs stranded")
	// 20 h of work, of which 2 h less the stall went at 3/4, and 19 writes of a minute.
	slow := (2*time.Hour - 3*time.Minute) / 4
	if want := 20*time.Hour + 19*time.Minute + 3*time.Minute + slow + 5*time.Minute; r.Queue[0].Done > want+time.Minute || r.Queue[0].Done < want-time.Minute {
		t.Errorf("done at %v, want about %v", r.Queue[0].Done, want) // the write that the failure may interrupt is the minute
	}
}

// S13 torchft#186: 128 replicas become 118 and the global batch of 2,048 micro-batches is kept: each replica does 18 instead of 16, the
// step takes 9/8 of its time for the same tokens, and the surviving GPUs wait for each other a part of it.
func TestS13KeptBatchLengthensTheStepByTheRoundedUpMicroBatches(t *testing.T) {
	c := ring(128, 128, 1, elastic.DropReplicas)
	c.Jobs[0].Train.MicroBatches, c.Jobs[0].Train.KeepBatch, c.Jobs[0].Train.Stall = 2048, true, 0
	c.Checkpoint, c.Jobs[0].Work = 24*time.Hour, 9*time.Hour
	fault(&c, time.Hour, 100*time.Hour, 1, 13, 25, 37, 49, 61, 73, 85, 97, 109)
	r := simulate(t, c)
	if got, want := r.Queue[0].Done, time.Hour+8*time.Hour*9/8; got != want {
		t.Errorf("8 h of work with 118 replicas end at %v, want %v", got, want)
	}
	l := r.Ledger().Training
	if want := float64(9*time.Hour/(10*time.Second)) * 1000; l.Tokens != want {
		t.Errorf("%v tokens, want %v: those of each step are unchanged", l.Tokens, want)
	}
	if got, want := l.Split[fleet.Stranded], 118*8*9*gpuHour-128*8*8*gpuHour; got != want {
		t.Errorf("%v GPU-h wait for the slowest, want %v", got.Hours(), want.Hours())
	}
	c.Jobs[0].Train.KeepBatch = false
	if got, want := simulate(t, c).Queue[0].Done, time.Hour+8*time.Hour*128/118; got < want || got > want+2*fleet.Resolution { // begun in the middle of a step
		t.Errorf("with a smaller batch it ends at %v, want %v", got, want)
	}
}

// A crash loses the work since the last checkpoint, and the job waits for all its nodes.
func TestRestartingWaitsForTheRepairAndRedoesWork(t *testing.T) {
	c := ring(8, 4, 2, elastic.Restart)
	fault(&c, 90*time.Minute, 2*time.Hour, 3)
	r := simulate(t, c)
	wantStrengths(t, r,
		fleet.Strength{At: 0, Replicas: 4, Speed: 1, GPUs: 64},
		fleet.Strength{At: 90 * time.Minute},
		fleet.Strength{At: 210 * time.Minute, Replicas: 4, Speed: 1, Stall: 10 * time.Minute, GPUs: 64},
		fleet.Strength{At: r.Queue[0].Done})
	l := r.Ledger().Training
	if got := l.Split[fleet.Rework]; got != 64*29*gpuMin { // 60 min of work, a write, 29 min
		t.Errorf("%v GPU-min of rework, want 64 × 29", got/gpuMin)
	}
	if l.Detect != 64*gpuMin || l.Reschedule != 3*64*gpuMin || l.Load != 4*64*gpuMin || l.WarmUp != 2*64*gpuMin || l.Stall != 0 {
		t.Errorf("%+v", l)
	}
	if l.Lacking != 2*64*gpuHour {
		t.Errorf("%v GPU-h lacking", l.Lacking.Hours())
	}
	wantIncident(t, r, fleet.Crashed, "30.9 GPU-h of work since its last checkpoint lost", "back to the queue")
	wantIncident(t, r, fleet.Recovery, "from its checkpoint at 1 h of work")
}

// With a spare node a crash costs the restart and the rework, and no wait.
func TestRestartingOnASpareDoesNotWait(t *testing.T) {
	c := ring(9, 4, 2, elastic.Restart)
	fault(&c, 90*time.Minute, 2*time.Hour, 3)
	l := simulate(t, c).Ledger().Training
	if l.Lacking != 0 || l.Split[fleet.Restart] != 10*64*gpuMin {
		t.Errorf("%+v", l)
	}
}

// Waiting keeps the nodes and the state: all that is lost is time.
func TestWaitingForASpareStandsStillAndLosesNothing(t *testing.T) {
	c := ring(8, 4, 2, elastic.WaitForSpare)
	fault(&c, 90*time.Minute, 2*time.Hour, 3)
	r := simulate(t, c)
	wantStrengths(t, r,
		fleet.Strength{At: 0, Replicas: 4, Speed: 1, GPUs: 64},
		fleet.Strength{At: 90 * time.Minute, GPUs: 56, Stranded: 56},
		fleet.Strength{At: 210 * time.Minute, Replicas: 4, Speed: 1, Stall: 5 * time.Minute, GPUs: 64},
		fleet.Strength{At: r.Queue[0].Done})
	l := r.Ledger().Training
	if l.Split[fleet.Rework] != 0 || l.Split[fleet.Stranded] != 56*2*gpuHour || l.Waits != 1 || l.Crashes != 0 {
		t.Errorf("%+v", l)
	}
	if s := r.At(2 * time.Hour); s.Working != 0 || s.Stranded != 56 {
		t.Errorf("at 2 h: %+v", s.Sample)
	}
	wantIncident(t, r, fleet.Rescale, "stands still on 7 nodes and waits for 1 more")

	c = ring(9, 4, 2, elastic.WaitForSpare) // with a spare there is nothing to wait for
	fault(&c, 90*time.Minute, 2*time.Hour, 3)
	r = simulate(t, c)
	wantStrengths(t, r,
		fleet.Strength{At: 0, Replicas: 4, Speed: 1, GPUs: 64},
		fleet.Strength{At: 90 * time.Minute, Replicas: 4, Speed: 1, Stall: 5 * time.Minute, GPUs: 64},
		fleet.Strength{At: r.Queue[0].Done})
}

// Two nodes in different replicas: dropping leaves two of four, regrouping the survivors three.
func TestReshardingMakesReplicasOfSurvivors(t *testing.T) {
	for _, x := range []struct {
		r        elastic.Rescaler
		replicas int
		stall    time.Duration
		stranded int
	}{{elastic.DropReplicas, 2, 3 * time.Minute, 16}, {elastic.Reshard, 3, 5 * time.Minute, 0}} {
		c := ring(8, 4, 2, x.r)
		fault(&c, 90*time.Minute, 100*time.Hour, 1, 6)
		s := simulate(t, c).Strengths(1)[1]
		if want := (fleet.Strength{At: 90 * time.Minute, Replicas: x.replicas, Speed: float64(x.replicas) / 4, Stall: x.stall, GPUs: 48, Stranded: x.stranded}); s != want {
			t.Errorf("%v: got %+v, want %+v", x.r, s, want)
		}
	}
}

// It rolls back only if no live replica holds the state.
func TestRollBackOnlyWithoutALiveReplica(t *testing.T) {
	c := ring(8, 2, 4, elastic.Reshard)
	c.Jobs[0].Train.MinReplicas = 1
	fault(&c, 90*time.Minute, 100*time.Hour, 0, 4) // one in each replica: six survivors make one
	r := simulate(t, c)
	l := r.Ledger().Training
	if l.Split[fleet.Rework] != 64*29*gpuMin || l.Split[fleet.Restart] != 32*10*gpuMin {
		t.Errorf("rework %v GPU-min, restart %v", l.Split[fleet.Rework]/gpuMin, l.Split[fleet.Restart]/gpuMin)
	}
	wantIncident(t, r, fleet.Rescale, "no live replica has the state", "back to the checkpoint at 1 h of work", "1 of 2 replicas")
}

// Fewer replicas than it accepts: the job ends, and says why.
func TestBelowTheMinimumTheJobEnds(t *testing.T) {
	c := ring(8, 4, 2, elastic.DropReplicas)
	c.Jobs[0].Train.MinReplicas = 3
	fault(&c, 90*time.Minute, time.Hour, 1, 6)
	r := simulate(t, c)
	if q := r.Queue[0]; q.GaveUp != 90*time.Minute || q.Done != fleet.Never {
		t.Errorf("%+v", q)
	}
	wantIncident(t, r, fleet.GaveUp, "2 replicas left of 4", "at least 3")
	if l := r.Ledger().Training; l.Window.End != 90*time.Minute {
		t.Errorf("%+v", l.Window)
	}
}

// A student's own function plugs in, and whatever it does wrong ends in an error that says so.
func TestOwnRescaler(t *testing.T) {
	drop := elastic.Rescaling("Mine", func(b elastic.Break) (keep [][]int) {
		for _, replica := range b.Replicas {
			if b.Whole(replica) {
				keep = append(keep, replica)
			}
		}
		return keep
	})
	c := ring(8, 4, 2, elastic.DropReplicas)
	fault(&c, 90*time.Minute, 2*time.Hour, 3)
	want := simulate(t, c)
	c.Rescale = drop
	if got := simulate(t, c); digest(got) != digest(want) {
		t.Error("the same rule gives another run")
	}
	for says, f := range map[string]func(elastic.Break) [][]int{
		"panic: oops":     func(elastic.Break) [][]int { panic("oops") },
		"node 3 is down":  func(b elastic.Break) [][]int { return b.Replicas },
		"has 1 node":      func(b elastic.Break) [][]int { return [][]int{b.Replicas[0][:1]} },
		"in two replicas": func(b elastic.Break) [][]int { return [][]int{b.Replicas[0], b.Replicas[0]} },
	} {
		c.Rescale = elastic.Rescaling("Mine", f)
		if _, err := fleet.Simulate(c); !errors.Is(err, fleet.ErrPolicy) || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "rescaler Mine of job 1 at 1 h 30 m") {
			t.Errorf("got %v, want %q", err, says)
		}
	}
}

// Silent corruption is found three hours late: all work since the last checkpoint before it is done again, though checkpoints were
// written in between.
func TestSilentCorruptionLosesTheWorkSinceTheLastGoodCheckpoint(t *testing.T) {
	for _, r := range []elastic.Rescaler{elastic.Restart, elastic.DropReplicas} {
		c := ring(9, 4, 2, r)
		c.Faults = []fleet.Fault{{Node: 3, At: 90 * time.Minute, Silent: 3 * time.Hour, Repair: time.Hour, Cause: "silent data corruption"}}
		run := simulate(t, c)
		l := run.Ledger().Training
		// 270 min: 4 writes, 266 min of work; 60 of them are good.
		if got := l.Split[fleet.Rework]; got != 64*206*gpuMin {
			t.Errorf("%v: %d GPU-min of rework, want 64 × 206", r, got/gpuMin)
		}
		wantIncident(t, run, fleet.NodeFailed, "silent data corruption, 3 h ago and unnoticed until now")
		if len(run.Outages) != 1 || run.Outages[0].Start != 270*time.Minute {
			t.Errorf("%+v", run.Outages)
		}
	}
}

// A job that finished before anybody noticed is named.
func TestSilentCorruptionOfAFinishedJobIsSaid(t *testing.T) {
	c := small(2)
	c.Jobs = []fleet.Job{{ID: 7, GPUs: 8, Work: time.Hour}, {ID: 8, GPUs: 8, Work: 10 * time.Hour, Arrival: 90 * time.Minute}}
	c.Faults = []fleet.Fault{{Node: 0, At: 30 * time.Minute, Silent: 2 * time.Hour, Repair: time.Hour}}
	r := simulate(t, c)
	wantIncident(t, r, fleet.NodeFailed, "1 job (8)", "1 job (7) had finished with wrong results")
	if got := r.SplitAt(c.Horizon)[fleet.Rework]; got != 8*gpuHour {
		t.Errorf("job 8 does %v GPU-h again, want 8: it began on the bad node", got.Hours())
	}
}

// One GPU breaks: its job dies, the others on the node go on, and no gang gets the node.
func TestOneGPUFails(t *testing.T) {
	c := small(2)
	c.Policy = fleet.BestFit
	c.Jobs = []fleet.Job{
		{ID: 1, GPUs: 4, Work: 5 * time.Hour}, {ID: 2, GPUs: 4, Work: 5 * time.Hour},
		{ID: 3, GPUs: 16, Work: time.Hour, Arrival: 2 * time.Hour},
	}
	c.Faults = []fleet.Fault{{Node: 0, GPU: 5, Scope: fleet.OneGPU, At: time.Hour, Repair: 10 * time.Hour, Cause: "HBM3"}}
	r := simulate(t, c)
	if r.Queue[0].Kills != 0 || r.Queue[1].Kills != 1 {
		t.Errorf("%+v", r.Queue)
	}
	if s := r.At(90 * time.Minute); s.Failed != 1 || s.Working != 8 || s.State[5] != fleet.GPUFailed {
		t.Errorf("%+v", s.Sample)
	}
	if r.Queue[2].FirstRun != 11*time.Hour {
		t.Errorf("the gang starts at %v, want when the GPU is repaired", r.Queue[2].FirstRun)
	}
	wantIncident(t, r, fleet.NodeFailed, "GPU 5 of node 0", "HBM3", "1 job (2)")
	wantIncident(t, r, fleet.NodeRepaired, "1 GPU of node 0", "is back after 10 h")
}

// Software crashes the job and leaves the node; a switch takes several nodes.
func TestSoftwareAndSwitchFaults(t *testing.T) {
	c := small(4)
	c.Jobs = []fleet.Job{{ID: 1, GPUs: 8, Work: 5 * time.Hour}, {ID: 2, GPUs: 8, Work: 5 * time.Hour}, {ID: 3, GPUs: 8, Work: 5 * time.Hour}}
	c.Faults = []fleet.Fault{
		{Node: 0, Scope: fleet.Software, At: time.Hour, Cause: "NCCL"},
		{Node: 1, Nodes: 2, At: 2 * time.Hour, Repair: time.Hour, Cause: "switch"},
	}
	r := simulate(t, c)
	if s := r.At(90 * time.Minute); s.Failed != 0 || s.Working != 24 {
		t.Errorf("after the crash: %+v", s.Sample)
	}
	if s := r.At(150 * time.Minute); s.Failed != 16 || s.Working != 16 {
		t.Errorf("after the switch: %+v", s.Sample)
	}
	if r.Queue[0].Kills != 1 || r.Queue[1].Kills != 1 || r.Queue[2].Kills != 1 {
		t.Errorf("%+v", r.Queue)
	}
}
