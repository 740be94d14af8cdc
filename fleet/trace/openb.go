package trace

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
)

// Pod is one task of Alibaba's GPU cluster trace of 2023 (openb): a row of its pod list.
type Pod struct {
	Name                string
	CPUMilli, MemoryMiB int64         // asked for
	GPUs                int           // 0 for a task without one
	GPUMilli            int           // thousandths of one GPU: below 1000 for a task that shares one
	Phase               string        // Running, Succeeded, Failed or Pending when the trace was taken
	Created, Deleted    time.Duration // since the trace's beginning
}

// Server is one node of that trace.
type Server struct {
	Name                string
	CPUMilli, MemoryMiB int64
	GPUs                int
	Model               string // of the GPUs
}

// ReadPods reads a pod list, which may be compressed with gzip. If rows cannot be read it returns the others together with a *BadLines.
func ReadPods(r io.Reader) ([]Pod, error) {
	var pods []Pod
	err := table(r, []string{"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "pod_phase", "creation_time", "deletion_time"}, func(c *row) {
		p := Pod{
			Name: c.text("name"), CPUMilli: c.whole("cpu_milli", 1e9), MemoryMiB: c.whole("memory_mib", 1e12), GPUs: int(c.whole("num_gpu", 1000)),
			GPUMilli: int(c.whole("gpu_milli", 1000)), Phase: c.text("pod_phase"), Created: seconds(c.whole("creation_time", 3e8)), Deleted: seconds(c.whole("deletion_time", 3e8)),
		}
		if !c.wrong && p.Deleted < p.Created {
			c.bad("deletion_time", c.text("deletion_time"), "at least the creation_time")
		}
		if !c.wrong {
			pods = append(pods, p)
		}
	})
	return pods, err
}

// ReadServers reads a node list, which may be compressed with gzip. If rows cannot be read it returns the others together with a
// *BadLines.
func ReadServers(r io.Reader) ([]Server, error) {
	var servers []Server
	err := table(r, []string{"sn", "cpu_milli", "memory_mib", "gpu", "model"}, func(c *row) {
		s := Server{c.text("sn"), c.whole("cpu_milli", 1e9), c.whole("memory_mib", 1e12), int(c.whole("gpu", 1000)), c.text("model")}
		if !c.wrong {
			servers = append(servers, s)
		}
	})
	return servers, err
}

// PodJobs is the GPU tasks as jobs in order of arrival, numbered from 1: they arrive when they were created and run until they were deleted,
// in whole GPUs. A task that shares a GPU gets one for itself, since jobs here hold whole GPUs; shared counts those. Left lists tasks
// without a GPU, and those that were deleted at once.
func PodJobs(pods []Pod) (jobs []fleet.Job, shared int, left Left) {
	sorted := slices.Clone(pods)
	slices.SortStableFunc(sorted, func(a, b Pod) int { return cmp.Compare(a.Created, b.Created) })
	for _, p := range sorted {
		switch {
		case p.GPUs == 0:
			left.add("task %s: no GPU", p.Name)
			continue
		case p.Deleted == p.Created:
			left.add("task %s: deleted when it was created", p.Name)
			continue
		case p.GPUMilli < 1000:
			shared++
		}
		jobs = append(jobs, fleet.Job{ID: len(jobs) + 1, GPUs: p.GPUs, Arrival: p.Created, Work: p.Deleted - p.Created})
	}
	return jobs, shared, left
}

// row is one row of a table whose columns are found by name.
type row struct {
	at    map[string]int
	cells []string
	line  int
	all   *BadLines
	wrong bool
}

func (c *row) text(name string) string { return c.cells[c.at[name]] }

func (c *row) bad(name, value, want string) {
	if !c.wrong { // the first wrong field is enough
		c.all.add(c.line, name, value, want)
	}
	c.wrong = true
}

// whole is a whole number from 0; an empty cell is 0, and so is a fraction's remainder, as in "540.0".
func (c *row) whole(name string, most float64) int64 {
	text := c.text(name)
	if text == "" {
		return 0
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x >= 0 && x <= most) {
		c.bad(name, text, fmt.Sprintf("a number between 0 and %.0f", most))
		return 0
	}
	return int64(x)
}

// table reads a CSV with a header that has at least these columns.
func table(r io.Reader, columns []string, each func(*row)) error {
	in, err := plain(r)
	if err != nil {
		return err
	}
	lines := csv.NewReader(in)
	header, err := lines.Read()
	if err != nil {
		return fmt.Errorf("line 1: %w: %w", err, ErrTrace)
	}
	c := row{at: map[string]int{}, all: &BadLines{}}
	for i, name := range header {
		c.at[name] = i
	}
	for _, name := range columns {
		if _, found := c.at[name]; !found {
			return fmt.Errorf("line 1: column %s: must be in the header %v: %w", name, header, ErrTrace)
		}
	}
	for n := 0; ; n++ {
		cells, err := lines.Read()
		var shape *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return c.all.orNil()
		case n > mostLines:
			return fmt.Errorf("more than %d lines: %w", mostLines, ErrTrace)
		case errors.As(err, &shape):
			c.all.add(shape.Line, "line", "", fmt.Sprintf("%d fields of CSV, but: %v", len(header), shape.Err))
			if !errors.Is(err, csv.ErrFieldCount) { // after a broken quote nothing is where it seems to be
				return c.all
			}
			continue
		case err != nil:
			return fmt.Errorf("line %d: %w: %w", n+2, err, ErrTrace)
		}
		c.cells, c.wrong = cells, false
		c.line, _ = lines.FieldPos(0)
		each(&c)
	}
}
