package trace

import (
	"bytes"
	"cmp"
	_ "embed" // the fault log
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
)

// FaultLog is a log of the faults of servers.
type FaultLog struct {
	Faults []NodeFault   // in order of Start
	Length time.Duration // from the log's beginning to its last event
	Odd    Left          // events that do not fit: an end without a start, a start without an end
}

// NodeFault is one fault of one server.
type NodeFault struct {
	Node        string        // name of the server
	Start, End  time.Duration // since the log's beginning; End is the log's if the fault had not ended by then
	Level       string        // what kind: "Hardware Failure", "Software Failure", …
	Class       string        // what part: "GPU", "NIC", …
	Description string
}

//go:embed data/fault_trace.json.gz
var infiniteHBD []byte

// InfiniteHBD is the log of 400 GPU servers over 348 days: 584 faults, on 231 of them. Source: stepfun-ai/InfiniteHBD-Trace, 2025,
// Apache-2.0.
func InfiniteHBD() (FaultLog, error) { return ReadFaults(bytes.NewReader(infiniteHBD)) }

// faultEvent is one event of the JSON form.
type faultEvent struct {
	Node string   `json:"node_id"`
	Time *float64 `json:"event_time"` // days
	Type string   `json:"event_type"` // fault_start or fault_end
	What struct {
		Level string
		Class string
		Desc  string
	} `json:"fault_type"`
}

// ReadFaults reads a list of events in JSON, which may be compressed with gzip: node_id, event_time in days, event_type fault_start or
// fault_end, and fault_type with Level, Class and Desc. Faults of one server may overlap; an end closes the oldest open one of the
// same class, else the oldest. The error wraps ErrTrace and names the event, counted from 1, the field, its value and what it must be.
func ReadFaults(r io.Reader) (FaultLog, error) {
	var log FaultLog
	in, err := plain(r)
	if err != nil {
		return log, err
	}
	var events []faultEvent
	if err := json.NewDecoder(in).Decode(&events); err != nil {
		return log, fmt.Errorf("json: %w: %w", err, ErrTrace)
	}
	open := map[string][]int{} // by server: indexes of faults that have not ended
	last := 0.0
	for i, e := range events {
		bad := func(field string, value any, want string) error {
			return fmt.Errorf("event %d: %s %v: must be %s: %w", i+1, field, value, want, ErrTrace)
		}
		switch {
		case e.Node == "":
			return log, bad("node_id", `""`, "a name")
		case e.Time == nil:
			return log, bad("event_time", "missing", "a number of days")
		case !(*e.Time >= last && *e.Time <= 36500):
			return log, bad("event_time", *e.Time, fmt.Sprintf("at least %v, the time of the event before it, and at most 36500 days", last))
		case e.Type != "fault_start" && e.Type != "fault_end":
			return log, bad("event_type", fmt.Sprintf("%q", e.Type), "fault_start or fault_end")
		}
		last = *e.Time
		at := time.Duration(math.Round(last*86400)) * time.Second
		if e.Type == "fault_start" {
			open[e.Node] = append(open[e.Node], len(log.Faults))
			log.Faults = append(log.Faults, NodeFault{Node: e.Node, Start: at, End: -1, Level: e.What.Level, Class: e.What.Class, Description: e.What.Desc})
			continue
		}
		mine := open[e.Node]
		if len(mine) == 0 {
			log.Odd.add("event %d: server %s is repaired without having failed", i+1, e.Node)
			continue
		}
		k := max(0, slices.IndexFunc(mine, func(f int) bool { return log.Faults[f].Class == e.What.Class }))
		log.Faults[mine[k]].End = at
		open[e.Node] = slices.Delete(mine, k, k+1)
	}
	log.Length = time.Duration(math.Round(last*86400)) * time.Second
	for i := range log.Faults {
		if f := &log.Faults[i]; f.End < 0 {
			f.End = log.Length
			log.Odd.add("server %s, which failed at %v, was not repaired", f.Node, f.Start)
		}
	}
	return log, nil
}

// On lays the log on a fleet: its servers, in the order in which they first fail, are nodes 0, 1, 2 …, and each fault takes the whole node
// down. The error wraps ErrTrace if the fleet has fewer nodes than the log has servers that fail.
func (l FaultLog) On(t fleet.Topology) ([]fleet.Fault, error) {
	node := map[string]int{}
	faults := make([]fleet.Fault, 0, len(l.Faults))
	for _, f := range l.Faults {
		if _, known := node[f.Node]; !known {
			node[f.Node] = len(node)
		}
		faults = append(faults, fleet.Fault{
			Node: node[f.Node], At: f.Start, Repair: max(fleet.Resolution, f.End-f.Start), Cause: cmp.Or(f.Class, "unknown") + ": " + cmp.Or(f.Description, "no description"),
		})
	}
	if len(node) > t.Nodes() {
		return nil, fmt.Errorf("topology of %d nodes: must have at least %d, the servers of the log: %w", t.Nodes(), len(node), ErrTrace)
	}
	return faults, nil
}
