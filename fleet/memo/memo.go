// Package memo keeps one student's decisions: what was predicted, what the fleet said, what was decided and rejected, what would change
// the decision, and the figures that back it.
//
// # Why a file
//
// In GoNB each cell is a program of its own. Declarations persist, values do not: a prediction that one cell keeps in a variable is gone in
// the next. What a student locks in has to outlive the cell, the notebook and the session, so it lives in a file:
//
//	m := widgets.Must(memo.Update("memo.json", func(m *memo.Memo) error {
//		e := m.Act("Act I")
//		e.Decision, e.Rejected, e.Trigger = "kill", "migrate", "checkpoints 12 h apart"
//		e.Cite(memo.Figure{Name: "price", Value: 889.4, Unit: "GPU-h", Run: memo.Fingerprint(run.Config)})
//		return nil
//	}))
//	widgets.Show(widgets.Memo(m, nil))
//
// # Missing and stale
//
// A memo is evidence, and evidence wears out in two ways. A part may be missing: there is no decision without a rejected alternative.
// And a figure may be stale: it was read from a run with other levers than those now in use. A clock would not tell, since the same
// levers give the same run on any day. So each figure carries the Fingerprint of the configuration it came from, and is stale when none
// of the configurations in use has it.
//
// # What a save promises
//
// Update takes a lock, reads the newest version, lets the caller change it, keeps the last good version as a backup, and puts the new one in
// place in a single step. Two notebooks that save at once both keep their changes. A file that cannot be read is never overwritten in
// silence: see store.go for how. This file and markdown.go are pure.
package memo

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fleetlab/fleetlab/fleet/scenario"
)

// ErrMemo is wrapped by every error that the content of a memo causes. The text names the field, its value and what it must be.
var ErrMemo = errors.New("invalid memo")

// Version is the version of the format that this package writes.
const Version = 1

// Acts are the acts of the lab, in order. A memo may have entries of others too.
var Acts = []string{"Act I", "Act II", "Act III"}

// Memo is one student's decisions.
type Memo struct {
	Version int      `json:"version"`
	Saves   int      `json:"saves"`   // how often it has been saved: memos are ordered by it, not by a clock
	Entries []Entry  `json:"entries"` // one for each act that has any, in the order in which they were begun
	Notices []string `json:"-"`       // what a person has to know about how it was read, such as that a backup had to be used
}

// Entry is one act's part of the memo.
type Entry struct {
	Act         string       `json:"act"`
	Predictions []Prediction `json:"predictions,omitempty"`
	Decision    string       `json:"decision,omitempty"`
	Rejected    string       `json:"rejected,omitempty"` // the alternative that was not taken
	Trigger     string       `json:"trigger,omitempty"`  // what would change the decision
	Figures     []Figure     `json:"figures,omitempty"`
}

// Prediction is one thing that was predicted, and what the fleet said. The first answer is the one that counts.
type Prediction struct {
	Question string  `json:"question"`
	Unit     string  `json:"unit"`
	Said     float64 `json:"said"`
	Is       float64 `json:"is"`
	Revised  bool    `json:"revised,omitempty"` // another answer was given later, when the result could be known
}

// Figure is something read from a run: a number with its unit, or a word.
type Figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit,omitempty"`
	Text  string  `json:"text,omitempty"` // what was read, if it is no number
	Run   string  `json:"run"`            // Fingerprint of the configuration of the run that it was read from
}

// Current is what is in use now: for each act the fingerprints of the configurations that its levers give. Acts that are not in it are not
// judged.
type Current map[string][]string

// Act is the entry of an act, which is begun if there is none. The pointer is good until another act is begun.
func (m *Memo) Act(act string) *Entry {
	for i := range m.Entries {
		if m.Entries[i].Act == act {
			return &m.Entries[i]
		}
	}
	m.Entries = append(m.Entries, Entry{Act: act})
	return &m.Entries[len(m.Entries)-1]
}

// Predict locks predictions in. The first answer to a question stays, whatever is said later: a later one that differs is only noted, for
// by then the result may have been seen. What the fleet says is kept up to date.
func (e *Entry) Predict(gaps ...scenario.Gap) {
	for _, g := range gaps {
		i := slices.IndexFunc(e.Predictions, func(p Prediction) bool { return p.Question == g.Question })
		if i < 0 {
			e.Predictions = append(e.Predictions, Prediction{g.Question, g.Unit, g.Said, g.Is, false})
			continue
		}
		p := &e.Predictions[i]
		p.Is, p.Revised = g.Is, p.Revised || p.Said != g.Said
	}
}

// Cite puts figures into the entry. One that is there already, by its name and unit, is replaced: a memo holds the newest.
func (e *Entry) Cite(figures ...Figure) {
	for _, f := range figures {
		i := slices.IndexFunc(e.Figures, func(g Figure) bool { return g.Name == f.Name && g.Unit == f.Unit })
		if i < 0 {
			e.Figures = append(e.Figures, f)
		} else {
			e.Figures[i] = f
		}
	}
}

// Missing names the parts that an entry lacks, in the order of the memo.
func (e *Entry) Missing() []string {
	var missing []string
	for _, part := range []struct {
		name  string
		there bool
	}{
		{"prediction", len(e.Predictions) > 0}, {"decision", filled(e.Decision)}, {"rejected alternative", filled(e.Rejected)},
		{"trigger", filled(e.Trigger)}, {"figures", len(e.Figures) > 0},
	} {
		if !part.there {
			missing = append(missing, part.name)
		}
	}
	return missing
}

func filled(s string) bool { return strings.TrimSpace(s) != "" }

// Stale names the figures that come from none of the runs with these fingerprints. Without fingerprints nothing is stale, for then
// nobody knows.
func (e *Entry) Stale(fingerprints ...string) []string {
	var stale []string
	for _, f := range e.Figures {
		if len(fingerprints) > 0 && !slices.Contains(fingerprints, f.Run) {
			stale = append(stale, f.Name)
		}
	}
	return stale
}

// All is the entries in the order of the lab: its acts first, also those that have not been begun, then others.
func (m *Memo) All() []Entry {
	var all []Entry
	for _, act := range Acts {
		i := slices.IndexFunc(m.Entries, func(e Entry) bool { return e.Act == act })
		if i < 0 {
			all = append(all, Entry{Act: act})
		} else {
			all = append(all, m.Entries[i])
		}
	}
	for _, e := range m.Entries {
		if !slices.Contains(Acts, e.Act) {
			all = append(all, e)
		}
	}
	return all
}

// Missing names every part that the memo lacks: "Act II: trigger".
func (m *Memo) Missing() []string {
	var missing []string
	for _, e := range m.All() {
		for _, part := range e.Missing() {
			missing = append(missing, e.Act+": "+part)
		}
	}
	return missing
}

// Stale names every figure that comes from none of the runs in use: "Act I: price".
func (m *Memo) Stale(now Current) []string {
	var stale []string
	for _, e := range m.All() {
		for _, name := range e.Stale(now[e.Act]...) {
			stale = append(stale, e.Act+": "+name)
		}
	}
	return stale
}

// The bounds of a memo: far above what anybody writes by hand, and low enough that a loop in a cell cannot fill a disk.
const (
	maxEntries = 100
	maxItems   = 200
	maxText    = 20_000 // bytes
)

// Validate reports every field that cannot be kept, each with its value and its range. The errors wrap ErrMemo.
func (m *Memo) Validate() error {
	var errs []error
	check := func(ok bool, field string, value any, want string) {
		if !ok {
			errs = append(errs, fmt.Errorf("%s %v: must be %s: %w", field, value, want, ErrMemo))
		}
	}
	check(m.Version == Version, "Version", m.Version, fmt.Sprint(Version))
	check(m.Saves >= 0, "Saves", m.Saves, "at least 0")
	check(len(m.Entries) <= maxEntries, "len(Entries)", len(m.Entries), fmt.Sprintf("between 0 and %d", maxEntries))
	seen := make(map[string]bool)
	for i, e := range m.Entries {
		if i >= maxEntries || len(errs) > 5 {
			break
		}
		check(filled(e.Act) && !seen[e.Act], fmt.Sprintf("Entries[%d].Act", i), fmt.Sprintf("%.40q", e.Act), "a name that no other entry has")
		seen[e.Act] = true
		e.validate(check)
	}
	return errors.Join(errs...)
}

// validate checks one entry; check notes what is wrong.
func (e *Entry) validate(check func(ok bool, field string, value any, want string)) {
	at := fmt.Sprintf("%.40s: ", e.Act)
	text := func(field, s string) {
		check(len(s) <= maxText, at+field, fmt.Sprintf("of %d bytes", len(s)), fmt.Sprintf("at most %d bytes long", maxText))
	}
	number := func(field string, x float64) {
		check(!math.IsNaN(x) && !math.IsInf(x, 0), at+field, x, "a finite number")
	}
	text("Act", e.Act)
	text("Decision", e.Decision)
	text("Rejected", e.Rejected)
	text("Trigger", e.Trigger)
	check(len(e.Predictions) <= maxItems, at+"len(Predictions)", len(e.Predictions), fmt.Sprintf("between 0 and %d", maxItems))
	check(len(e.Figures) <= maxItems, at+"len(Figures)", len(e.Figures), fmt.Sprintf("between 0 and %d", maxItems))
	for i, p := range e.Predictions[:min(maxItems, len(e.Predictions))] {
		field := fmt.Sprintf("Predictions[%d].", i)
		text(field+"Question", p.Question+p.Unit)
		number(field+"Said", p.Said)
		number(field+"Is", p.Is)
	}
	for i, f := range e.Figures[:min(maxItems, len(e.Figures))] {
		field := fmt.Sprintf("Figures[%d].", i)
		check(filled(f.Name), at+field+"Name", fmt.Sprintf("%.40q", f.Name), "a name")
		text(field+"Text", f.Name+f.Unit+f.Text+f.Run)
		number(field+"Value", f.Value)
	}
}
