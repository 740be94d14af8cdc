package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/trace"
)

const replayIntro = `Runs the jobs of a log in the Standard Workload Format again, on processors without a topology, and measures the queue.

Times in the log are seconds, and it may be ten years long; what counts is the time since its first submit. A job that ran for 0 s runs
for 1 ms, and one that did not say how long it would run is taken to have known it. A log compressed with gzip is read too. If lines cannot be read nothing is replayed, and they are
reported by number; --skip-bad replays the others.`

var replayNames = []string{"fcfs", "easy"}

// mostProcs is the largest fleet of one processor to a node.
const mostProcs = 200_000

func replay(args []string) (report, error) {
	f := newFlags("replay", replayIntro)
	path, procs := f.String("swf", "", "`file` to read, - for the standard input"), 0
	f.count(&procs, "procs", 1, mostProcs, "processors; if it is not given, MaxProcs or MaxNodes in the log's header")
	policy := f.choice("policy", replayNames, "fcfs", "scheduling policy, strict fcfs or easy with its backfill and one reservation")
	skip := f.Bool("skip-bad", false, "replay what can be read, and count the rest")
	if err := f.parse(args); err != nil {
		return report{}, err
	}
	p := []fleet.Policy{fleet.FCFS, fleet.EASY}[*policy]
	if *path == "" {
		return report{}, usage("--swf: must name a file, or - for the standard input")
	}
	log, bad, err := readSWF(*path, *skip)
	if err != nil {
		return report{}, err
	}
	if len(log.Jobs) == 0 {
		return report{}, fmt.Errorf("%s: there is no job in it", *path)
	}
	if !f.given("procs") {
		if procs, err = procsOf(log); err != nil {
			return report{}, err
		}
	}
	c, left, err := log.Replay(procs, p)
	if err != nil {
		return report{}, err
	}
	run, err := fleet.Simulate(c)
	if err != nil {
		return report{}, err
	}
	s, err := trace.Summarize(run)
	if err != nil {
		return report{}, err
	}
	r := f.report(fields{
		{"policy", replayNames[*policy]},
		{"procs", procs},
		{"jobs", s.Jobs},
		{"mean_wait_s", seconds(s.MeanWait)},
		{"max_wait_s", seconds(s.MaxWait)},
		{"makespan_s", seconds(s.Makespan)},
		{"left_out", left.Count},
		{"bad_lines", bad.Count},
	})
	if left.Count > 0 {
		why := "left out:\n  " + strings.Join(left.First, "\n  ")
		if more := left.Count - len(left.First); more > 0 {
			why += fmt.Sprintf("\n  and %d more", more)
		}
		r.notes = append(r.notes, why)
	}
	if bad.Count > 0 {
		r.notes = append(r.notes, bad.Error())
	}
	return r, nil
}

// readSWF reads a log. Lines that cannot be read are an error, unless they are to be skipped.
func readSWF(path string, skip bool) (trace.SWF, trace.BadLines, error) {
	in := os.Stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return trace.SWF{}, trace.BadLines{}, fmt.Errorf("--swf: %w", err)
		}
		defer file.Close()
		in = file
	}
	log, err := trace.ReadSWF(in)
	var bad *trace.BadLines
	if errors.As(err, &bad) {
		if !skip {
			return log, *bad, fmt.Errorf("%s: %w\n--skip-bad replays the others", path, err)
		}
		return log, *bad, nil
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return log, trace.BadLines{}, err
}

// procsOf is the number of processors in the header of a log.
func procsOf(log trace.SWF) (int, error) {
	for _, key := range []string{"MaxProcs", "MaxNodes"} {
		text := log.Get(key)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 || n > mostProcs {
			return 0, fmt.Errorf("%s %q in the log's header: must be a whole number between 1 and %d; --procs overrides it", key, text, mostProcs)
		}
		return n, nil
	}
	return 0, usage("--procs: must be given, since the log's header has neither MaxProcs nor MaxNodes")
}
