package widgets

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
)

// This file packs the spans of a run so small that a whole lever grid travels in one notebook output. Nothing is rounded and nothing
// is dropped: a reader that replays the same predictor gets back each span, whatever policy placed it.
//
// The idea: most of a schedule can be guessed. Jobs start in the order in which they arrived; a job starts when it arrives, or when
// another one ends; it goes to the first node that has room, or to the fullest; it takes the lowest free GPUs there; it ends when its
// work and its checkpoint writes are done. The packer makes that guess for each span, from the spans before it and the outages alone,
// and writes down only where the truth differs. cockpit.js makes the same guesses and applies the same corrections, so the two must
// change together.
//
// Each quantity is one column of numbers, of which 0 means "as guessed". A column is stored as pairs (zeros before, number), so a
// schedule without surprises takes a few bytes, and gzip does the rest.

// The columns of a packed run.
const (
	colJob   = iota // 0 the next job, in order of arrival, that was not placed yet; else zigzag(job − that) + 1
	colStart        // 0 at the job's arrival; 1 with the span before; 2+k at the k-th distinct release after that; startExplicit
	colAt           // only after startExplicit: zigzag(start − start of the span before)
	colNode         // 0 the node that the run's fit says, else node + 1
	colNodes        // 0 as many as the topology says, else nodes + 1
	colMask         // 0 the lowest free GPUs, or all of them for more than one node; else mask + 1
	colEnd          // 0 as worked out; else reason + 1
	colUntil        // only after a colEnd that is not 0: zigzag(end − last such end)
	colBusy         // 0 all GPUs that the job asked for are at work, else GPUs at work + 1; the others are stranded
	colSet          // 0 consecutive nodes; else the number of runs that the list of nodes is made of, then each run: see putSet
	numCols
)

// A fit is a guess at placement. Each run is packed with the one that is right most often.
const (
	fitFirst = iota // the lowest-numbered node with room
	fitBest         // the node with the fewest free GPUs that has room; the lowest-numbered of equals
	fitWorst        // the node with the most free GPUs; the lowest-numbered of equals
	fitLast         // the highest-numbered node with room
	numFits
)

const (
	startExplicit = 64 // in colStart: the instant is in colAt
	maxSkip       = 60 // releases that colStart can count
)

// column collects numbers as pairs of zeros and a number.
type column struct {
	data  []byte
	zeros uint64
}

func (c *column) put(v uint64) {
	if v == 0 {
		c.zeros++
		return
	}
	c.data = binary.AppendUvarint(c.data, c.zeros)
	c.data = binary.AppendUvarint(c.data, v)
	c.zeros = 0
}

// zigzag folds the sign into the lowest bit, so that small numbers stay short whatever their sign.
func zigzag(v int64) uint64 { return uint64(v<<1) ^ uint64(v>>63) }

func millis(d time.Duration) int64 { return int64(d / fleet.Resolution) }

// packRun is the spans of r as bytes: the fit, the number of spans, then each column as its length and its data.
func packRun(r *fleet.Run) []byte {
	var cols [numCols]column
	var node [numFits]column
	var missed [numFits]int
	g := newGuesser(r)
	for i := range r.Spans {
		s := &r.Spans[i]
		cols[colJob].put(g.jobCode(s.Job))
		start, explicit := g.startCode(s)
		cols[colStart].put(start)
		if start == startExplicit {
			cols[colAt].put(explicit)
		}
		for fit, n := range g.nodes(s.Job) {
			missed[fit] += node[fit].putUnless(s.Node, n)
		}
		cols[colNodes].putUnless(s.Nodes, g.topo.NodesFor(g.jobs[s.Job].GPUs))
		cols[colMask].putUnless(int(s.Mask), int(g.mask(s.Node, s.Nodes, g.jobs[s.Job].GPUs)))
		cols[colBusy].putUnless(s.Busy, min(s.GPUs(), g.jobs[s.Job].GPUs))
		g.putSet(&cols[colSet], s)
		end, until := g.endCode(s)
		cols[colEnd].put(end)
		if end != 0 {
			cols[colUntil].put(until)
		}
		g.place(s)
	}
	fit := slices.Index(missed[:], slices.Min(missed[:]))
	cols[colNode] = node[fit]
	out := binary.AppendUvarint([]byte{byte(fit)}, uint64(len(r.Spans)))
	for _, c := range cols {
		out = binary.AppendUvarint(out, uint64(len(c.data)))
		out = append(out, c.data...)
	}
	return out
}

// putUnless puts 0 if the truth was guessed, else truth + 1, and counts the latter.
func (c *column) putUnless(truth, guess int) int {
	if truth == guess {
		c.put(0)
		return 0
	}
	c.put(uint64(truth + 1))
	return 1
}

// putSet writes the list of a span's nodes as runs. A run of consecutive nodes is 2 × its length and zigzag(its first node − the node
// after the last such run); a piece of the job's last list is 2 × its length + 1 and zigzag(where it begins − where the last piece
// ended). A training job that has lost a node is a few pieces of what it was.
func (g *guesser) putSet(c *column, s *fleet.Span) {
	if consecutive(s) {
		c.put(0)
		return
	}
	old := g.lists[s.Job]
	where := make(map[int32]int, len(old))
	for i, n := range old {
		where[n] = i
	}
	type run struct{ kind, from, length int }
	var runs []run
	for i := 0; i < len(s.Set); {
		at, known := where[s.Set[i]]
		x := run{kind: 0, from: int(s.Set[i])}
		same := func() bool { return s.Set[i+x.length] == s.Set[i]+int32(x.length) }
		if known {
			x = run{kind: 1, from: at}
			same = func() bool { return at+x.length < len(old) && old[at+x.length] == s.Set[i+x.length] }
		}
		for i+x.length < len(s.Set) && same() {
			x.length++
		}
		runs = append(runs, x)
		i += x.length
	}
	c.put(uint64(len(runs)))
	var next [2]int
	for _, x := range runs {
		c.put(uint64(2*x.length + x.kind))
		c.put(zigzag(int64(x.from - next[x.kind])))
		next[x.kind] = x.from + x.length
	}
	g.lists[s.Job] = s.Set
}

// consecutive tells whether a span's nodes are one run of them, in order.
func consecutive(s *fleet.Span) bool {
	for i, n := range s.Set {
		if int(n) != s.Node+i {
			return false
		}
	}
	return true
}

// packJobs is the jobs as columns of varints, after each other: ID and arrival as differences, the rest as they are.
func packJobs(jobs []fleet.Job) []byte {
	out := binary.AppendUvarint(nil, uint64(len(jobs)))
	id, at := int64(0), int64(0)
	for _, j := range jobs {
		out = binary.AppendUvarint(out, zigzag(int64(j.ID)-id))
		id = int64(j.ID)
	}
	for _, j := range jobs {
		out = binary.AppendUvarint(out, uint64(millis(j.Arrival)-at))
		at = millis(j.Arrival)
	}
	for _, j := range jobs {
		out = binary.AppendUvarint(out, uint64(j.GPUs))
	}
	for _, j := range jobs {
		out = binary.AppendUvarint(out, uint64(millis(j.Work)))
	}
	for _, j := range jobs {
		out = binary.AppendUvarint(out, uint64(millis(j.Write)))
	}
	for _, j := range jobs {
		out = binary.AppendUvarint(out, uint64(j.Phase))
	}
	return out
}
