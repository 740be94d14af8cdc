package trace

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
)

// SWF is a log in the Standard Workload Format of the Parallel Workloads Archive (version 2.2).
type SWF struct {
	Header []Comment
	Jobs   []SWFJob
}

// Comment is a line "; Key: Value" at the top of a log. A key may occur more than once.
type Comment struct{ Key, Value string }

// Get is the value of the first comment with this key, "" if there is none.
func (s SWF) Get(key string) string {
	for _, c := range s.Header {
		if c.Key == key {
			return c.Value
		}
	}
	return ""
}

// SWFJob is one line: 18 fields, in the order of the format. Unknown is −1. Times are seconds, memory kilobytes for each processor.
type SWFJob struct {
	Number      int64 // from 1
	Submit      int64 // since the start of the log
	Wait        int64 // in the queue
	Run         int64 // from start to end
	Processors  int64 // that it got
	CPU         float64
	Memory      float64
	AskedProcs  int64 // processors that it asked for
	AskedTime   int64 // run time that it asked for
	AskedMemory float64
	Status      int64 // 1 completed, 0 failed, 5 cancelled, 2 to 4 parts of a job
	User        int64
	Group       int64
	Application int64
	Queue       int64
	Partition   int64
	Preceding   int64 // number of a job that had to end first
	ThinkTime   int64 // between that end and this submit
}

// swfFields are the names of the fields, for errors.
var swfFields = [18]string{
	"job number", "submit time", "wait time", "run time", "processors", "CPU time", "memory", "requested processors", "requested time",
	"requested memory", "status", "user", "group", "application", "queue", "partition", "preceding job", "think time",
}

// ReadSWF reads a log, which may be compressed with gzip. If lines cannot be read it returns the others together with a *BadLines. That
// includes submit times out of order and job numbers that occur twice.
func ReadSWF(r io.Reader) (SWF, error) {
	var s SWF
	var bad BadLines
	seen := map[int64]bool{}
	last := int64(math.MinInt64)
	err := eachLine(r, func(line int, text string) {
		text = strings.TrimSpace(text)
		switch {
		case text == "":
		case text[0] == ';':
			if key, value, found := strings.Cut(strings.TrimSpace(text[1:]), ":"); found {
				s.Header = append(s.Header, Comment{strings.TrimSpace(key), strings.TrimSpace(value)})
			}
		default:
			j, ok := parseSWF(line, text, &bad)
			switch {
			case !ok:
			case seen[j.Number]:
				bad.add(line, swfFields[0], strconv.FormatInt(j.Number, 10), "one that no job before it has")
			case j.Submit < last:
				bad.add(line, swfFields[1], strconv.FormatInt(j.Submit, 10), fmt.Sprintf("at least %d, that of the job before it", last))
			default:
				seen[j.Number], last = true, j.Submit
				s.Jobs = append(s.Jobs, j)
			}
		}
	})
	return s, cmp.Or(err, bad.orNil())
}

// parseSWF reads one line. It reports the first field that is wrong.
func parseSWF(line int, text string, bad *BadLines) (j SWFJob, ok bool) {
	words := strings.Fields(text)
	if len(words) != len(swfFields) {
		bad.add(line, "line", text, fmt.Sprintf("18 fields, not %d", len(words)))
		return j, false
	}
	for i, to := range []any{
		&j.Number, &j.Submit, &j.Wait, &j.Run, &j.Processors, &j.CPU, &j.Memory, &j.AskedProcs, &j.AskedTime, &j.AskedMemory, &j.Status,
		&j.User, &j.Group, &j.Application, &j.Queue, &j.Partition, &j.Preceding, &j.ThinkTime,
	} {
		var err error
		x, low, high := 0.0, -1.0, 1e12
		switch to := to.(type) {
		case *int64:
			*to, err = strconv.ParseInt(words[i], 10, 64)
			x = float64(*to)
		case *float64:
			*to, err = strconv.ParseFloat(words[i], 64)
			x = *to
		}
		switch i {
		case 0:
			low, high = 1, 1e9
		case 1:
			low, high = 0, 4e9
		case 3, 8:
			high = 3e8 // ten years
		}
		if err != nil || !(x >= low && x <= high) {
			kind := "a whole number"
			if _, real := to.(*float64); real {
				kind = "a number"
			}
			bad.add(line, swfFields[i], words[i], fmt.Sprintf("%s between %.0f and %.0f", kind, low, high))
			return j, false
		}
	}
	return j, true
}

// Left is what of a log cannot be replayed.
type Left struct {
	Count int
	First []string // why, of the first ten
}

func (l *Left) add(format string, args ...any) {
	if l.Count++; len(l.First) < 10 {
		l.First = append(l.First, fmt.Sprintf(format, args...))
	}
}

// Replay is a configuration that runs the jobs of a log again on so many processors, each of them a node with one GPU, with no topology:
// any processors will do. It begins with the first job that can be replayed: at the run's 0 is that job's submit time. A job that ran for 0 s runs for fleet.Resolution, the shortest run there is; one whose requested time is
// unknown asks for its run time. There are no failures, and checkpoints cost nothing, so that what counts is the queue. Left lists the
// jobs without a run time or a number of processors, and those that are too large. The error wraps ErrTrace: procs must be 1 to 200,000,
// and the log must not be longer than fleet.MaxHorizon.
func (s SWF) Replay(procs int, policy fleet.Policy) (fleet.Config, Left, error) {
	c := fleet.Default()
	c.Topology = fleet.Topology{Pods: 1, RacksPerPod: 1, NodesPerRack: procs, GPUsPerNode: 1}
	c.Policy, c.Checkpoint = policy, 24*time.Hour
	var left Left
	if procs < 1 || procs > 200_000 {
		return c, left, fmt.Errorf("procs %d: must be between 1 and 200000: %w", procs, ErrTrace)
	}
	var work time.Duration // if they ran one after the other
	first := int64(0)
	for _, j := range s.Jobs {
		gpus := j.Processors
		if gpus <= 0 {
			gpus = j.AskedProcs
		}
		switch {
		case j.Run < 0:
			left.add("job %d: run time unknown", j.Number)
			continue
		case gpus <= 0:
			left.add("job %d: processors unknown", j.Number)
			continue
		case gpus > int64(procs):
			left.add("job %d: %d processors of %d", j.Number, gpus, procs)
			continue
		}
		if len(c.Jobs) == 0 {
			first = j.Submit
		}
		job := fleet.Job{
			ID: int(j.Number), GPUs: int(gpus), Arrival: seconds(j.Submit - first), Work: max(fleet.Resolution, seconds(j.Run)), Locality: fleet.Anywhere,
		}
		job.Limit = job.Work
		if j.AskedTime > 0 {
			job.Limit = seconds(j.AskedTime)
		}
		c.Jobs = append(c.Jobs, job)
		work = min(work+job.Work, fleet.MaxHorizon)
	}
	if n := len(c.Jobs); n > 0 && c.Jobs[n-1].Arrival >= fleet.MaxHorizon {
		return c, left, fmt.Errorf("job %d: submit time %d s: must be less than %d s, ten years, after the first: %w",
			c.Jobs[n-1].ID, first+int64(c.Jobs[n-1].Arrival.Seconds()), int64(fleet.MaxHorizon.Seconds()), ErrTrace)
	} else if n > 0 {
		c.Horizon = min(fleet.MaxHorizon, max(time.Second, c.Jobs[n-1].Arrival+work+time.Second))
	}
	return c, left, nil
}

// seconds is a time of so many seconds.
func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

// Summary is what a replay has shown.
type Summary struct {
	Jobs     int
	MeanWait time.Duration // from submit to start
	MaxWait  time.Duration
	Makespan time.Duration // from the first submit to the last end
}

// Summarize looks at the queue of a finished run. The error wraps ErrTrace if there are no jobs, or if some had not finished at the horizon.
func Summarize(r *fleet.Run) (Summary, error) {
	s := Summary{Jobs: len(r.Queue)}
	if s.Jobs == 0 {
		return s, fmt.Errorf("no job can be replayed: %w", ErrTrace)
	}
	var sum float64
	for i, q := range r.Queue {
		if q.Done == fleet.Never {
			return s, fmt.Errorf("job %d had not finished after %v: %w", r.Config.Jobs[i].ID, r.Config.Horizon, ErrTrace)
		}
		sum += q.Wait.Seconds()
		s.MaxWait = max(s.MaxWait, q.Wait)
		s.Makespan = max(s.Makespan, q.Done-r.Config.Jobs[0].Arrival)
	}
	s.MeanWait = time.Duration(math.Round(sum / float64(s.Jobs) * float64(time.Second)))
	return s, nil
}
