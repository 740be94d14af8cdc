package trace_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/trace"
)

func open(t testing.TB, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func readSWF(t testing.TB, path string) trace.SWF {
	t.Helper()
	s, err := trace.ReadSWF(open(t, path))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The mean and the longest wait and the makespan of both synthetic logs, under FCFS and EASY, are the published ones. (That every
// single start is right, too, is tested in package fleet.)
func TestReplayGivesThePublishedWaits(t *testing.T) {
	z, err := gzip.NewReader(open(t, "../testdata/batch.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	type figures struct {
		Mean     float64 `json:"mean_wait_s"`
		Max      float64 `json:"max_wait_s"`
		Makespan float64 `json:"makespan_s"`
	}
	var oracle struct {
		Traces map[string]struct {
			Procs int     `json:"procs"`
			FCFS  figures `json:"fcfs"`
			EASY  figures `json:"easy"`
		} `json:"traces"`
	}
	if err := json.NewDecoder(z).Decode(&oracle); err != nil || len(oracle.Traces) != 2 {
		t.Fatal(err)
	}
	for name, x := range oracle.Traces {
		log := readSWF(t, "../testdata/"+name+".gz")
		for want, policy := range map[figures]fleet.Policy{x.FCFS: fleet.FCFS, x.EASY: fleet.EASY} {
			c, left, err := log.Replay(x.Procs, policy)
			if err != nil || left.Count != 0 {
				t.Fatalf("%v, %+v", err, left)
			}
			r, err := fleet.Simulate(c)
			if err != nil {
				t.Fatal(err)
			}
			s, err := trace.Summarize(r)
			if err != nil || s.Jobs != 3000 {
				t.Fatalf("%v, %+v", err, s)
			}
			if math.Abs(s.MeanWait.Seconds()-want.Mean) > 0.5e-4 || s.MaxWait.Seconds() != want.Max || s.Makespan.Seconds() != want.Makespan {
				t.Errorf("%s, %v: %+v, want %+v", name, policy, s, want)
			}
		}
	}
}

func TestNASALogHas18239Jobs(t *testing.T) {
	s := readSWF(t, "testdata/NASA-iPSC-1993-3.1-cln.swf.gz")
	if len(s.Jobs) != 18239 || s.Get("Computer") != "Intel iPSC/860" || s.Get("MaxProcs") != "128" {
		t.Errorf("%d jobs, %v", len(s.Jobs), s.Header[:3])
	}
	if j := s.Jobs[1]; j.Number != 2 || j.Submit != 1460 || j.Run != 3726 || j.Processors != 128 || j.AskedTime != -1 || j.Group != 1 {
		t.Errorf("%+v", j)
	}
	c, left, err := s.Replay(128, fleet.FCFS)
	if err != nil || left.Count != 0 || len(c.Jobs) != 18239 {
		t.Fatalf("%v, %+v", err, left)
	}
	r, err := fleet.Simulate(c)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := trace.Summarize(r) // its submit times are start times, so that hardly anybody waits
	t.Logf("%+v", sum)
	if err != nil || sum.MeanWait > 10*time.Minute {
		t.Errorf("%v, %+v", err, sum)
	}
}

const good = "1 0 -1 10 2 -1 -1 2 20 -1 1 1 1 -1 1 1 -1 -1\n"

func TestMalformedLinesAreReportedByNumber(t *testing.T) {
	log := "; Version: 2.2\n" + good + strings.Join([]string{
		"2 1 -1 10 2", "x 1 -1 10 2 -1 -1 2 20 -1 1 1 1 -1 1 1 -1 -1", "1 1 -1 10 2 -1 -1 2 20 -1 1 1 1 -1 1 1 -1 -1",
		"3 9 -1 10 2 -1 -1 2 20 -1 1 1 1 -1 1 1 -1 -1", "4 5 -1 10 2 -1 -1 2 20 -1 1 1 1 -1 1 1 -1 -1",
		"5 9 -1 1.5 2 -1 -1 2 20 -1 1 1 1 -1 1 1 -1 -1", "6 9 -1 10 -7 -1 -1 2 20 -1 1 1 1 -1 1 1 -1 -1",
		"7 9 -1 10 2 NaN -1 2 20 -1 1 1 1 -1 1 1 -1 -1", "8 9 -1 99999999999999999999 2 -1 -1 2 20 -1 1 1 1 -1 1 1 -1 -1",
	}, "\n")
	s, err := trace.ReadSWF(strings.NewReader(log))
	var bad *trace.BadLines
	if !errors.Is(err, trace.ErrTrace) || !errors.As(err, &bad) || bad.Count != 8 || len(s.Jobs) != 2 {
		t.Fatalf("%v, %d jobs", err, len(s.Jobs))
	}
	for _, says := range []string{
		"8 lines cannot be read", "line 3: line \"2 1 -1 10 2\": must be 18 fields, not 5", "line 4: job number \"x\"", "line 5: job number \"1\": must be one that no job before it has",
		"line 7: submit time \"5\": must be at least 9", "line 8: run time \"1.5\": must be a whole number", "line 9: processors \"-7\"",
		"line 10: CPU time \"NaN\"", "line 11: run time \"99999999999999999999\"",
	} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("%q does not say %q", err, says)
		}
	}
}

func TestWhatCannotBeReplayedIsListed(t *testing.T) {
	s, err := trace.ReadSWF(strings.NewReader(good + "2 1 -1 -1 2 -1 -1 2 20 -1 1 1 1 -1 1 1 -1 -1\n3 2 -1 10 -1 -1 -1 -1 20 -1 1 1 1 -1 1 1 -1 -1\n" +
		"4 3 -1 10 -1 -1 -1 9 -1 -1 1 1 1 -1 1 1 -1 -1\n5 4 -1 0 -1 -1 -1 4 -1 -1 1 1 1 -1 1 1 -1 -1\n"))
	if err != nil {
		t.Fatal(err)
	}
	c, left, err := s.Replay(8, fleet.EASY)
	if err != nil || left.Count != 3 || len(c.Jobs) != 2 || fmt.Sprint(left.First) != "[job 2: run time unknown job 3: processors unknown job 4: 9 processors of 8]" {
		t.Errorf("%v, %+v, %d jobs", err, left, len(c.Jobs))
	}
	if j := c.Jobs[1]; j.Work != fleet.Resolution || j.GPUs != 4 || j.Limit != fleet.Resolution || c.Jobs[0].Limit != 20*time.Second {
		t.Errorf("%+v", c.Jobs)
	}
	if _, err := fleet.Simulate(c); err != nil {
		t.Error(err)
	}
	if _, _, err := s.Replay(0, fleet.FCFS); !errors.Is(err, trace.ErrTrace) || !strings.Contains(err.Error(), "procs 0") {
		t.Error(err)
	}
	if _, err := trace.Summarize(&fleet.Run{}); !errors.Is(err, trace.ErrTrace) {
		t.Error(err)
	}
}

// zeros is an endless file.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestHostileFilesEndInAnError(t *testing.T) {
	if _, err := trace.ReadSWF(zeros{}); !errors.Is(err, trace.ErrTrace) {
		t.Errorf("a line without end: %v", err)
	}
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	if _, err := io.CopyN(z, zeros{}, 1<<20); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := trace.ReadSWF(&bomb); !errors.Is(err, trace.ErrTrace) {
		t.Errorf("a compressed line without end: %v", err)
	}
	if _, err := trace.ReadSWF(strings.NewReader("\x1f\x8bnonsense")); !errors.Is(err, trace.ErrTrace) {
		t.Errorf("broken gzip: %v", err)
	}
	if s, err := trace.ReadSWF(strings.NewReader("")); err != nil || len(s.Jobs) != 0 {
		t.Errorf("an empty file: %v", err)
	}
}

func FuzzSWF(f *testing.F) {
	f.Add([]byte("; a: b\n" + good))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := trace.ReadSWF(bytes.NewReader(data))
		if err != nil && !errors.Is(err, trace.ErrTrace) {
			t.Fatal(err)
		}
		c, _, err := s.Replay(64, fleet.EASY)
		if err != nil {
			return
		}
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
	})
}

func ExampleReadSWF() {
	s, err := trace.ReadSWF(strings.NewReader("; MaxProcs: 4\n1 0 -1 100 4 -1 -1 4 100 -1 1 1 1 -1 1 1 -1 -1\n2 5 -1 10 1 -1 -1 1 10 -1 1 1 1 -1 1 1 -1 -1\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	c, _, err := s.Replay(4, fleet.FCFS)
	if err != nil {
		fmt.Println(err)
		return
	}
	run, err := fleet.Simulate(c)
	if err != nil {
		fmt.Println(err)
		return
	}
	sum, _ := trace.Summarize(run)
	fmt.Println(sum.Jobs, "jobs, the longest wait is", sum.MaxWait)
	// Output: 2 jobs, the longest wait is 1m35s
}

func BenchmarkReadNASA(b *testing.B) {
	raw, err := os.ReadFile("testdata/NASA-iPSC-1993-3.1-cln.swf.gz")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := trace.ReadSWF(bytes.NewReader(raw)); err != nil {
			b.Fatal(err)
		}
	}
}

// A log that was cut from a longer one, or counts from 1970, begins with its first job, and a byte order mark is no field.
func TestReplayBeginsWithTheFirstJob(t *testing.T) {
	log, err := trace.ReadSWF(strings.NewReader("\ufeff7 1000000000 -1 10 2 -1 -1 2 20 -1 1 1 1 -1 1 1 -1 -1\n8 1000000005 -1 10 2 -1 -1 2 20 -1 1 1 1 -1 1 1 -1 -1\n"))
	if err != nil {
		t.Fatal(err)
	}
	c, left, err := log.Replay(2, fleet.FCFS)
	if err != nil || left.Count != 0 || len(c.Jobs) != 2 || c.Jobs[0].Arrival != 0 || c.Jobs[1].Arrival != 5*time.Second {
		t.Fatalf("%v, %v, %v", c.Jobs, left, err)
	}
	log.Jobs[1].Submit += 10 * 365 * 24 * 3600
	if _, _, err = log.Replay(2, fleet.FCFS); !errors.Is(err, trace.ErrTrace) || !strings.Contains(err.Error(), "less than 315360000 s") {
		t.Errorf("%v", err)
	}
}
