package check

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode"

	"github.com/fleetlab/fleetlab/fleet/memo"
)

// Required is a figure that a rationale has to cite.
type Required struct {
	memo.Figure
	Or    []float64 // other values that are as right, in the same unit
	Words []string  // what a text calls it, in any case, as beginnings of words; of a word figure the ways to say it; none if the unit says enough
	Not   []string  // of a word figure: the ways to say something else instead
}

// Tolerance is how far a cited number may be from the run's, as a share of it. One with at least two digits may be rounded, too: "12 min" is
// right for 11.7 min.
const Tolerance = 0.02

// MaxText is how many bytes of a rationale are read.
const MaxText = 100_000

// Verdict says how a text deals with a required figure.
type Verdict string

// The verdicts.
const (
	Cited        Verdict = "cited"
	Lacking      Verdict = "lacking"
	Contradicted Verdict = "contradicted"
)

// Finding is what a text says of one required figure.
type Finding struct {
	Figure  memo.Figure
	Verdict Verdict
	Found   string // what the text says, if it says anything
	Cut     bool   // the text is longer than MaxText, and the rest of it was not read
}

// String is the finding in one line, with a sign and a word.
func (f Finding) String() string {
	var s string
	switch f.Verdict {
	case Cited:
		s = fmt.Sprintf("✓ cited: %s, %s (“%s”)", f.Figure.Name, f.Figure, f.Found)
	case Contradicted:
		s = fmt.Sprintf("⚠ contradicted: %s – the text says “%s”, the run says %s", f.Figure.Name, f.Found, f.Figure)
	default:
		s = fmt.Sprintf("✗ lacking: %s – the run says %s", f.Figure.Name, f.Figure)
	}
	if f.Cut {
		s += fmt.Sprintf(" (only the first %d bytes were read)", MaxText)
	}
	return s
}

// Rationale says which of the required figures a text cites, lacks or contradicts: one finding for each, in their order. It is for the one
// who grades, and for the student before that. It gives no points: it reads numbers and their names, not reasons. What it cannot see is
// sense: it takes "I would never kill" for a decision to kill.
//
// A number counts for a figure if it measures the same thing in whatever unit, and stands nearer to the figure's name than to
// another's in its sentence, or to none. Values that a text only weighs ("at 12 h I would migrate") do no harm if the right one is there too.
func Rationale(text string, required []Required) []Finding {
	cut := len(text) > MaxText
	if cut {
		text = strings.ToValidUTF8(text[:MaxText], "")
	}
	r := newReader(text, required)
	findings := make([]Finding, len(required))
	for i, f := range required {
		findings[i] = Finding{Figure: f.Figure, Cut: cut}
		if f.Text != "" {
			findings[i].Verdict, findings[i].Found = word(text, f)
			continue
		}
		verdict, at := r.number(i)
		findings[i].Verdict = verdict
		if at != nobody {
			q := r.quantities[at]
			findings[i].Found = quote(text[q.start:q.end])
		}
	}
	return findings
}

// word looks for a figure that is a word.
func word(text string, f Required) (Verdict, string) {
	if m := namesOf(append(slices.Clone(f.Words), f.Text)).FindStringSubmatch(text); m != nil {
		return Cited, quote(m[1])
	}
	if len(f.Not) > 0 {
		if m := namesOf(f.Not).FindStringSubmatch(text); m != nil {
			return Contradicted, quote(m[1])
		}
	}
	return Lacking, ""
}

// namesOf finds words that begin with one of names.
func namesOf(names []string) *regexp.Regexp {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = regexp.QuoteMeta(n)
	}
	return regexp.MustCompile(`(?i)(?:^|[^\p{L}\p{N}])((?:` + strings.Join(quoted, "|") + `)\p{L}*)`)
}

// reader has what a text says in order.
type reader struct {
	required   []Required
	quantities []quantity
	sentence   []int    // by quantity: the number of its sentence
	bound      []int    // by quantity: the figure whose name is nearest in its sentence, or nobody
	named      [][]int  // by figure: the sentences with its name, in order
	wanted     []wanted // by figure
}

const nobody = -1

// wanted is a figure in the terms of the quantities.
type wanted struct {
	dim    dimension
	noun   string // of things
	values []float64
}

func newReader(text string, required []Required) *reader {
	r := &reader{required: required, quantities: quantitiesIn(text), named: make([][]int, len(required)), wanted: make([]wanted, len(required))}
	ends := sentenceEnd.FindAllStringIndex(text, -1)
	sentenceOf := func(at int) int { return sort.Search(len(ends), func(i int) bool { return ends[i][0] >= at }) }
	names := make([][][]int, len(required))
	for i, f := range required {
		r.wanted[i] = want(f)
		if f.Text == "" && len(f.Words) > 0 {
			for _, m := range namesOf(f.Words).FindAllStringSubmatchIndex(text, -1) {
				names[i] = append(names[i], m[2:4])
				r.named[i] = append(r.named[i], sentenceOf(m[2]))
			}
		}
	}
	for k, q := range r.quantities {
		r.sentence, r.bound = append(r.sentence, sentenceOf(q.start)), append(r.bound, nobody)
		nearest := len(text) + 1
		for i := range required {
			if !r.wanted[i].like(q) {
				continue
			}
			next := sort.Search(len(names[i]), func(n int) bool { return names[i][n][0] >= q.start })
			for n := max(0, next-1); n < min(next+1, len(names[i])); n++ {
				if d := gap(text, q, names[i][n]); d < nearest && r.named[i][n] == r.sentence[k] {
					r.bound[k], nearest = i, d
				}
			}
		}
	}
	return r
}

// sentenceEnd is where one sentence, item of a list or row of a table ends.
var sentenceEnd = regexp.MustCompile(`[.!?;](?:\s|$)|\n\s*(?:\n|[-*|#+])`)

// gap is how far a name is from a quantity. A comma between them counts as much as some words: in "an MTBF of 3 h, interval 12 min" the 3 h
// are the MTBF.
func gap(text string, q quantity, name []int) int {
	from, to := name[1], q.start
	if name[0] >= q.end {
		from, to = q.end, name[0]
	}
	d := max(0, to-from)
	if d < commaGap && strings.ContainsAny(text[from:max(from, to)], ",|\n") {
		d += commaGap
	}
	return d
}

const commaGap = 20 // bytes

// want translates a figure.
func want(f Required) wanted {
	w := wanted{dim: inThings, noun: singular(f.Unit)}
	scale := 1.0
	if m := gpuTimeAfter.FindStringSubmatch(f.Unit); m != nil {
		w.dim, scale = inGPUTime, secondsOf(m[1]+m[2])
	} else if m := timeAfter.FindStringSubmatch(f.Unit); m != nil {
		w.dim, scale = inTime, secondsOf(m[1])
	} else if percentAfter.MatchString(f.Unit) {
		w.dim = inRatio
	} else if dollarsAfter.MatchString(f.Unit) {
		w.dim = inMoney
	}
	for _, v := range append([]float64{f.Value}, f.Or...) {
		w.values = append(w.values, v*scale)
	}
	return w
}

// like tells whether a quantity measures the same thing.
func (w wanted) like(q quantity) bool {
	return w.dim == q.dim && (w.dim != inThings || slices.Contains(q.nouns, w.noun))
}

// fits tells whether a quantity has one of the right values. A bare 0.9 fits 90 %.
func (w wanted) fits(q quantity) bool {
	share := w.dim == inRatio && q.bare && q.readings[0].half < 0.5
	if !share && !w.like(q) {
		return false
	}
	if share {
		q.readings = slices.Clone(q.readings)
		q.scale(100)
	}
	for _, v := range w.values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		for _, x := range q.readings {
			off := math.Abs(x.value - v)
			if off <= Tolerance*math.Abs(v)+1e-9 || x.digits >= 2 && off <= x.half*(1+1e-9) {
				return true
			}
		}
	}
	return false
}

// number judges a figure that is a number, and names the quantity that decides.
func (r *reader) number(figure int) (Verdict, int) {
	w, named := r.wanted[figure], r.named[figure]
	unnamed := len(r.required[figure].Words) == 0
	claim, other, stray := nobody, nobody, nobody // a wrong value by this name, a right one by another name, a wrong one without a name
	for k, q := range r.quantities {
		switch fits := w.fits(q); {
		case fits && (r.bound[k] == figure || r.bound[k] == nobody && (unnamed || len(named) > 0)):
			return Cited, k
		case fits && holds(named, r.sentence[k]):
			other = k
		case r.bound[k] == figure && claim == nobody:
			claim = k
		case unnamed && w.like(q) && r.bound[k] == nobody && (stray == nobody || w.off(q) < w.off(r.quantities[stray])):
			stray = k
		}
	}
	switch {
	case claim != nobody:
		return Contradicted, claim
	case other != nobody:
		return Cited, other
	case stray != nobody:
		return Contradicted, stray
	}
	return Lacking, nobody
}

// off is how far a quantity is from the run's own value.
func (w wanted) off(q quantity) float64 { return math.Abs(q.readings[0].value - w.values[0]) }

// holds tells whether sorted has x.
func holds(sorted []int, x int) bool {
	_, found := slices.BinarySearch(sorted, x)
	return found
}

// quote is a piece of a student's text that is fit to be shown: short, on one line, without what can't be printed.
func quote(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsPrint(r):
			return r
		}
		return -1
	}, s)
	s = strings.Trim(s, " .,;:)")
	if runes := []rune(s); len(runes) > 40 {
		s = string(runes[:39]) + "…"
	}
	return s
}
