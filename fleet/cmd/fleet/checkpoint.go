package main

import (
	"time"

	"github.com/fleetlab/fleetlab/fleet/checkpoint"
)

const checkpointIntro = `Works out how often a job should write a checkpoint, and what that leaves of its time.

Failures are exponential and may strike during writes and restarts too. The interval is useful work between two checkpoints,
without the write; it is never shorter than --persist. An expected wall time of more than 292 years is printed as –.`

func checkpoints(args []string) (report, error) {
	m := checkpoint.Model{MTBF: 24 * time.Hour, Write: 5 * time.Minute, Restart: 10 * time.Minute}
	work, interval := 500*time.Hour, time.Duration(0)
	f := newFlags("checkpoint", checkpointIntro)
	f.duration(&m.MTBF, "mtbf", time.Second, years(10), "mean time between failures of the whole job")
	f.duration(&m.Write, "write", 0, years(10), "how long one write stops the job, of an asynchronous checkpoint the snapshot")
	f.duration(&m.Restart, "restart", 0, years(10), "from a failure until work goes on")
	f.duration(&m.Persist, "persist", 0, years(10), "how long an asynchronous snapshot takes in the background until it counts, 0s for synchronous writes")
	f.duration(&work, "work", time.Millisecond, years(100), "useful work that the job has to do")
	f.duration(&interval, "interval", time.Millisecond, years(10), "also say what this interval gives")
	if err := f.parse(args); err != nil {
		return report{}, err
	}
	if err := m.Validate(); err != nil {
		return report{}, err
	}
	best := m.Optimum()
	r := f.report(fields{
		{"mtbf_s", seconds(m.MTBF)},
		{"write_s", seconds(m.Write)},
		{"restart_s", seconds(m.Restart)},
		{"persist_s", seconds(m.Persist)},
		{"work_s", seconds(work)},
		{"young_s", seconds(m.Young())},
		{"daly_s", seconds(m.Daly())},
		{"optimum_s", seconds(best)},
		{"expected_wall_s", wall(m, work, best)},
		{"goodput", m.Goodput(best)},
	})
	if f.given("interval") {
		r.fields.add("at_interval", fields{
			{"interval_s", seconds(interval)},
			{"effective_interval_s", seconds(max(interval, m.Persist))},
			{"expected_wall_s", wall(m, work, interval)},
			{"goodput", m.Goodput(interval)},
		})
	}
	return r, nil
}

// wall is the expected wall time in seconds, or nil if it is longer than can be said: 292 years.
func wall(m checkpoint.Model, work, interval time.Duration) any {
	w := m.Wall(work, interval)
	return orNone(w != checkpoint.Forever, seconds(w))
}

// years is a time of so many years of 365 days.
func years(n int) time.Duration { return time.Duration(n) * 365 * 24 * time.Hour }
