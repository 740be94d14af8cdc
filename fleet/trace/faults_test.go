package trace_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/facts"
	"github.com/fleetlab/fleetlab/fleet/failure"
	"github.com/fleetlab/fleetlab/fleet/trace"
)

func infiniteHBD(t testing.TB) trace.FaultLog {
	t.Helper()
	l, err := trace.InfiniteHBD()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// The figures that facts quotes of the log follow from it.
func TestFaultLogHasTheFigures(t *testing.T) {
	l := infiniteHBD(t)
	days := l.Length.Hours() / 24
	if len(l.Faults) != 584 || math.Abs(days-349) > 1 || l.Odd.Count != 0 {
		t.Errorf("%d faults in %.1f days, %+v", len(l.Faults), days, l.Odd)
	}
	if rate := float64(len(l.Faults)) / 400 / 348; math.Abs(rate-facts.TraceFailures.Value) > 0.005e-3 {
		t.Errorf("%.3e per node-day", rate)
	}
	var repairs, gaps []float64
	sum, together := 0.0, 0
	for i, f := range l.Faults {
		d := (f.End - f.Start).Hours() / 24
		repairs, sum = append(repairs, d), sum+d
		if i > 0 {
			if f.Start == l.Faults[i-1].Start {
				together++
			} else {
				gaps = append(gaps, (f.Start - l.Faults[i-1].Start).Hours())
			}
		}
	}
	slices.Sort(repairs)
	if m := repairs[len(repairs)/2]; math.Abs(m-facts.RepairMedian.Value) > 0.01 {
		t.Errorf("median repair %.3f d", m)
	}
	if m := sum / float64(len(repairs)); math.Abs(m-facts.RepairMean.Value) > 0.05 {
		t.Errorf("mean repair %.3f d", m)
	}
	if share := float64(together) / float64(len(l.Faults)); math.Abs(share-facts.TraceCoincide.Value) > 0.005 {
		t.Errorf("%.3f of the starts coincide with the one before", share)
	}
	if k := failure.FitShape(gaps); math.Abs(k-facts.TraceShape.Value) > 0.005 {
		t.Errorf("shape %.3f, want %v", k, facts.TraceShape.Value)
	}
	for _, want := range facts.RepairTimes {
		class := map[string]string{"GPU": "GPU", "Network switch/cable": "Parameter Plane Cable", "NIC": "NIC", "Power supply": "Power Supply"}[want.Class]
		var days []float64
		sum := 0.0
		for _, f := range l.Faults {
			if f.Class == class {
				d := (f.End - f.Start).Hours() / 24
				days, sum = append(days, d), sum+d
			}
		}
		slices.Sort(days)
		median := (days[(len(days)-1)/2] + days[len(days)/2]) / 2
		if len(days) != want.Faults || math.Abs(median-want.Median) > 0.006 || math.Abs(sum/float64(len(days))-want.Mean) > 0.006 {
			t.Errorf("%s: %d faults, median %.3f, mean %.3f, facts have %+v", class, len(days), median, sum/float64(len(days)), want)
		}
	}
}

// A fleet that replays the log has as many node failures, and every server is down for as long.
func TestReplayOfTheFaultLog(t *testing.T) {
	l := infiniteHBD(t)
	c := fleet.Default()
	c.Topology = fleet.Topology{Pods: 1, RacksPerPod: 200, NodesPerRack: 2, GPUsPerNode: 8}
	c.Horizon = 360 * 24 * time.Hour
	var err error
	if c.Faults, err = l.On(c.Topology); err != nil {
		t.Fatal(err)
	}
	c.Jobs = []fleet.Job{{ID: 1, GPUs: 150 * 8, Work: 300 * 24 * time.Hour, Write: time.Minute, Restart: 5 * time.Minute, Locality: fleet.Anywhere}}
	r, err := fleet.Simulate(c)
	if err != nil {
		t.Fatal(err)
	}
	if n := r.Ledger().Failures; n != 584 || r.Queue[0].Kills < 50 || r.Queue[0].Done == fleet.Never {
		t.Errorf("%d failures, %+v", n, r.Queue[0])
	}
	if _, err := l.On(fleet.Topology{Pods: 1, RacksPerPod: 1, NodesPerRack: 100, GPUsPerNode: 8}); !errors.Is(err, trace.ErrTrace) || !strings.Contains(err.Error(), "at least 231") {
		t.Error(err)
	}
}

func TestOddFaultEventsAreReported(t *testing.T) {
	l, err := trace.ReadFaults(strings.NewReader(`[{"node_id":"a","event_time":1,"event_type":"fault_start"},{"node_id":"b","event_time":2,"event_type":"fault_end"},
		{"node_id":"a","event_time":3,"event_type":"fault_start","fault_type":{"Class":"NIC"}},{"node_id":"a","event_time":4,"event_type":"fault_end","fault_type":{"Class":"NIC"}}]`))
	if err != nil || len(l.Faults) != 2 || l.Faults[0].End != 4*24*time.Hour || l.Faults[1].End != 4*24*time.Hour {
		t.Fatalf("%v, %+v", err, l)
	}
	if got := fmt.Sprint(l.Odd.First); l.Odd.Count != 2 || !strings.Contains(got, "event 2: server b is repaired without") || !strings.Contains(got, "server a, which failed at 24h0m0s, was not repaired") {
		t.Error(got)
	}
	for says, text := range map[string]string{
		"json":                    `[{"node_id":`,
		`event 1: node_id ""`:     `[{}]`,
		"event_time missing":      `[{"node_id":"a","event_type":"fault_start"}]`,
		"event_time -1":           `[{"node_id":"a","event_time":-1,"event_type":"fault_start"}]`,
		`event_type "lunch"`:      `[{"node_id":"a","event_time":1,"event_type":"lunch"}]`,
		"event 2: event_time 0.5": `[{"node_id":"a","event_time":1,"event_type":"fault_start"},{"node_id":"a","event_time":0.5,"event_type":"fault_end"}]`,
	} {
		if _, err := trace.ReadFaults(strings.NewReader(text)); !errors.Is(err, trace.ErrTrace) || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %q", err, says)
		}
	}
}

func TestAlibabaTrace(t *testing.T) {
	pods, err := trace.ReadPods(open(t, "testdata/openb_pod_list_default.csv.gz"))
	if err != nil || len(pods) != 8152 {
		t.Fatalf("%v, %d tasks", err, len(pods))
	}
	servers, err := trace.ReadServers(open(t, "testdata/openb_node_list_gpu_node.csv.gz"))
	gpus := 0
	for _, s := range servers {
		gpus += s.GPUs
	}
	if err != nil || len(servers) != 1213 || gpus != 6212 {
		t.Fatalf("%v, %d servers, %d GPUs", err, len(servers), gpus)
	}
	jobs, shared, left := trace.PodJobs(pods)
	if len(jobs)+left.Count != 8152 || shared < 2000 || len(jobs) < 6000 {
		t.Errorf("%d jobs, %d shared, %d left", len(jobs), shared, left.Count)
	}
	c := fleet.Default()
	c.Topology, c.Horizon, c.Policy, c.Jobs = fleet.Topology{Pods: 1, RacksPerPod: 777, NodesPerRack: 1, GPUsPerNode: 8}, 160*24*time.Hour, fleet.BestFit, jobs
	r, err := fleet.Simulate(c)
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range r.Queue {
		if q.Done == fleet.Never {
			t.Fatalf("task %d of %d GPUs has not ended", i, c.Jobs[i].GPUs)
		}
	}
}

func TestBadRowsAreReportedByNumber(t *testing.T) {
	const head = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
	pods, err := trace.ReadPods(strings.NewReader(head + "a,1,1,1,1000,,LS,Running,5,9,5\nb,1,1,x,1000,,LS,Running,5,9,5\nc,1\nd,1,1,1,1000,,LS,Running,9,5,5\ne,1,1,-1,1000,,LS,Running,5,9,5\n"))
	if !errors.Is(err, trace.ErrTrace) || len(pods) != 1 {
		t.Fatalf("%v, %d rows", err, len(pods))
	}
	for _, says := range []string{"4 lines", `line 3: num_gpu "x"`, "line 4: line", `line 5: deletion_time "5": must be at least the creation_time`, `line 6: num_gpu "-1"`} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("%q does not say %q", err, says)
		}
	}
	if _, err := trace.ReadPods(strings.NewReader("a,b\n")); !errors.Is(err, trace.ErrTrace) || !strings.Contains(err.Error(), "column name") {
		t.Error(err)
	}
	if _, err := trace.ReadServers(strings.NewReader("")); !errors.Is(err, trace.ErrTrace) {
		t.Error(err)
	}
}

func FuzzFaults(f *testing.F) {
	f.Add([]byte(`[{"node_id":"a","event_time":1,"event_type":"fault_start"},{"node_id":"a","event_time":2,"event_type":"fault_end"}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := trace.ReadFaults(bytes.NewReader(data))
		if err != nil {
			if !errors.Is(err, trace.ErrTrace) {
				t.Fatal(err)
			}
			return
		}
		c := fleet.Default()
		if c.Faults, err = l.On(c.Topology); err == nil {
			if err := c.Validate(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func FuzzPods(f *testing.F) {
	f.Add([]byte("name,cpu_milli,memory_mib,num_gpu,gpu_milli,pod_phase,creation_time,deletion_time\na,1,1,1,1000,Running,5,9\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		pods, err := trace.ReadPods(bytes.NewReader(data))
		if err != nil && !errors.Is(err, trace.ErrTrace) {
			t.Fatal(err)
		}
		c := fleet.Default()
		if c.Jobs, _, _ = trace.PodJobs(pods); c.Validate() != nil && !strings.Contains(c.Validate().Error(), "GPUs") { // more than the fleet has
			t.Fatal(c.Validate())
		}
	})
}
