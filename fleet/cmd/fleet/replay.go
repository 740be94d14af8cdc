package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/trace"
)

const replayIntro = `Runs the jobs of a log in the Standard Workload Format again, on processors without a topology, and measures the queue.

Times in the log are seconds. A log compressed with gzip is read too. If lines cannot be read nothing is replayed, and they are
reported by number; --skip-bad replays the others.`

func replay(args []string) (report, error) {
	f := newFlags("replay", replayIntro)
	path := f.String("swf", "", "`file` to read, - for the standard input")
	procs := f.Int("procs", 0, "processors (`number`), 1 to 200000; if it is not given, MaxProcs or MaxNodes in the log's header")
	policy := f.String("policy", "fcfs", "scheduling `policy`: fcfs (strict) or easy (backfill with one reservation)")
	skip := f.Bool("skip-bad", false, "replay what can be read, and count the rest")
	if err := f.parse(args); err != nil {
		return report{}, err
	}
	p, err := oneOf("policy", *policy, []string{"fcfs", "easy"}, []fleet.Policy{fleet.FCFS, fleet.EASY})
	if err != nil {
		return report{}, err
	}
	if *path == "" {
		return report{}, usage("--swf: must name a file, or - for the standard input")
	}
	log, bad, err := readSWF(*path, *skip)
	if err != nil {
		return report{}, err
	}
	if !f.given("procs") {
		if *procs, err = procsOf(log); err != nil {
			return report{}, err
		}
	}
	if *procs < 1 || *procs > 200_000 {
		return report{}, usage("--procs %d: must be between 1 and 200000", *procs)
	}
	c, left, err := log.Replay(*procs, p)
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
	r := report{json: f.format == "json", fields: fields{
		{"policy", *policy},
		{"procs", *procs},
		{"jobs", s.Jobs},
		{"mean_wait_s", seconds(s.MeanWait)},
		{"max_wait_s", seconds(s.MaxWait)},
		{"makespan_s", seconds(s.Makespan)},
		{"left_out", left.Count},
		{"bad_lines", bad.Count},
	}}
	for _, why := range left.First {
		r.notes = append(r.notes, "left out: "+why)
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
func procsOf(log trace.SWF) (n int, err error) {
	for _, key := range []string{"MaxProcs", "MaxNodes"} {
		if _, err := fmt.Sscan(log.Get(key), &n); err == nil && n > 0 {
			return n, nil
		}
	}
	return 0, usage("--procs: must be given, since the log's header has neither MaxProcs nor MaxNodes")
}
