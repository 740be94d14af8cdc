package main

import (
	"time"

	"github.com/fleetlab/fleetlab/fleet/checkpoint"
)

const checkpointIntro = `Works out how often a job should write a checkpoint, and what that leaves of its time.

Failures are exponential and may strike during writes and restarts too. The interval is useful work between two checkpoints,
without the write.`

func checkpoints(args []string) (report, error) {
	var m checkpoint.Model
	f := newFlags("checkpoint", checkpointIntro)
	f.DurationVar(&m.MTBF, "mtbf", 24*time.Hour, "mean `time` between failures of the whole job, 1s to 87600h")
	f.DurationVar(&m.Write, "write", 5*time.Minute, "`time` that one write stops the job, 0s to 87600h; of an asynchronous checkpoint the snapshot")
	f.DurationVar(&m.Restart, "restart", 10*time.Minute, "`time` from a failure until work goes on, 0s to 87600h")
	f.DurationVar(&m.Persist, "persist", 0, "`time` that an asynchronous snapshot takes in the background until it counts, 0s to 87600h; 0s is synchronous")
	work := f.Duration("work", 500*time.Hour, "useful `time` that the job needs, 1ms to 876000h")
	interval := f.Duration("interval", 0, "also say what this interval (`time`) gives")
	if err := f.parse(args); err != nil {
		return report{}, err
	}
	if err := m.Validate(); err != nil {
		return report{}, err
	}
	if *work < time.Millisecond || *work > 876_000*time.Hour {
		return report{}, usage("--work %v: must be between 1ms and 876000h", *work)
	}
	if f.given("interval") && (*interval < time.Millisecond || *interval > 87_600*time.Hour) {
		return report{}, usage("--interval %v: must be between 1ms and 87600h", *interval)
	}
	best := m.Optimum()
	r := report{json: f.format == "json", fields: fields{
		{"mtbf_s", seconds(m.MTBF)},
		{"write_s", seconds(m.Write)},
		{"restart_s", seconds(m.Restart)},
		{"persist_s", seconds(m.Persist)},
		{"work_s", seconds(*work)},
		{"young_s", seconds(m.Young())},
		{"daly_s", seconds(m.Daly())},
		{"optimum_s", seconds(best)},
		{"expected_wall_s", wall(m, *work, best)},
		{"goodput", m.Goodput(best)},
	}}
	if f.given("interval") {
		r.fields.add("at_interval", fields{
			{"interval_s", seconds(*interval)},
			{"expected_wall_s", wall(m, *work, *interval)},
			{"goodput", m.Goodput(*interval)},
		})
	}
	return r, nil
}

// wall is the expected wall time in seconds, or nil if it is longer than can be said: 292 years.
func wall(m checkpoint.Model, work, interval time.Duration) any {
	w := m.Wall(work, interval)
	return orNone(w != checkpoint.Forever, seconds(w))
}
