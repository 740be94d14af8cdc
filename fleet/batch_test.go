package fleet_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
)

// Batch traces in the Standard Workload Format, and the start of every job under FCFS and EASY as other simulators have it: see "about"
// in testdata/batch.json.gz.

func gunzip(t testing.TB, name string) []byte {
	t.Helper()
	f, err := os.Open("testdata/" + name + ".gz")
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// swf reads a trace: one GPU on a node stands for a processor, and a job may have any of them.
func swf(t testing.TB, name string, processors int) fleet.Config {
	t.Helper()
	c := fleet.Default()
	c.Topology = fleet.Topology{Pods: 1, RacksPerPod: 1, NodesPerRack: processors, GPUsPerNode: 1}
	c.Horizon = 30 * 24 * time.Hour
	lines := bufio.NewScanner(strings.NewReader(string(gunzip(t, name))))
	for lines.Scan() {
		line := strings.Fields(lines.Text())
		if len(line) == 0 || strings.HasPrefix(line[0], ";") {
			continue
		}
		field := func(n int) int { // from 1, as the format counts
			x, err := strconv.Atoi(line[n-1])
			if err != nil {
				t.Fatal(err)
			}
			return x
		}
		j := fleet.Job{
			ID: field(1), Arrival: time.Duration(field(2)) * time.Second, Work: time.Duration(field(4)) * time.Second, GPUs: field(8),
			Limit: time.Duration(field(9)) * time.Second, Locality: fleet.Anywhere,
		}
		if j.GPUs < 1 {
			j.GPUs = field(5)
		}
		c.Jobs = append(c.Jobs, j)
	}
	return c
}

// batch is one trace of the oracle.
type batch struct {
	Procs  int     `json:"procs"`
	FCFS   summary `json:"fcfs"`
	EASY   summary `json:"easy"`
	StartF []int   `json:"fcfs_start_s"`
	StartE []int   `json:"easy_start_s"`
}

type summary struct {
	Mean     float64 `json:"mean_wait_s"`
	Max      int     `json:"max_wait_s"`
	Makespan int     `json:"makespan_s"`
}

func batches(t testing.TB) map[string]batch {
	t.Helper()
	var o struct {
		Traces map[string]batch `json:"traces"`
	}
	if err := json.Unmarshal(gunzip(t, "batch.json"), &o); err != nil {
		t.Fatal(err)
	}
	if len(o.Traces) != 2 {
		t.Fatalf("%d traces", len(o.Traces))
	}
	return o.Traces
}

func TestBatchTracesStartAsInOtherSimulators(t *testing.T) {
	for name, b := range batches(t) {
		for _, x := range []struct {
			policy fleet.Policy
			starts []int
			want   summary
		}{{fleet.FCFS, b.StartF, b.FCFS}, {fleet.EASY, b.StartE, b.EASY}} {
			t.Run(name+" "+fleet.PolicyName(x.policy), func(t *testing.T) {
				c := swf(t, name, b.Procs)
				c.Policy = x.policy
				r := simulate(t, c)
				if len(x.starts) != 3000 || len(c.Jobs) != 3000 {
					t.Fatalf("%d jobs, %d starts", len(c.Jobs), len(x.starts))
				}
				differ := 0
				var got summary
				for i, q := range r.Queue {
					start := time.Duration(x.starts[i]) * time.Second
					if q.FirstRun != start {
						if differ++; differ <= 5 {
							t.Errorf("job %d starts at %v, not at %v", c.Jobs[i].ID, q.FirstRun, start)
						}
					}
					got.Mean += q.Wait.Seconds() / 3000
					got.Max = max(got.Max, int(q.Wait/time.Second))
					got.Makespan = max(got.Makespan, int((q.Done-c.Jobs[0].Arrival)/time.Second))
				}
				if differ > 0 || got.Max != x.want.Max || got.Makespan != x.want.Makespan || int(got.Mean*10000+0.5) != int(x.want.Mean*10000+0.5) {
					t.Errorf("%d of 3000 starts differ; %+v, want %+v", differ, got, x.want)
				}
			})
		}
	}
}

func BenchmarkBatch(b *testing.B) {
	const name = "synthetic-exact-256.swf"
	for _, p := range []fleet.Policy{fleet.FCFS, fleet.EASY} {
		b.Run(fleet.PolicyName(p), func(b *testing.B) {
			c := swf(b, name, 256)
			c.Policy = p
			b.ReportAllocs()
			for b.Loop() {
				simulate(b, c)
			}
		})
	}
}
