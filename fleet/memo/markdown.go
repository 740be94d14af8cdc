package memo

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fleetlab/fleetlab/fleet"
)

// Marks of what is not as it should be. Each is a sign and a word, and so is the mark of what is complete.
const (
	MarkComplete = "✓ complete"
	MarkMissing  = "✗ missing"
	MarkStale    = "⚠ stale"
)

// Markdown is the memo as a document. Missing and stale parts are marked.
func (m *Memo) Markdown(now Current) string {
	var b strings.Builder
	b.WriteString("# Decision memo\n")
	for _, notice := range m.Notices {
		fmt.Fprintf(&b, "\n> ⚠ %s\n", escape(notice))
	}
	for _, e := range m.All() {
		e.writeMarkdown(&b, now[e.Act])
	}
	return b.String()
}

func (e *Entry) writeMarkdown(b *strings.Builder, now []string) {
	fmt.Fprintf(b, "\n## %s (%s)\n\n", escape(e.Act), e.State(now...))
	if len(e.Predictions) == 0 {
		fmt.Fprintf(b, "- **Predicted:** %s\n", MarkMissing)
	}
	for _, p := range e.Predictions {
		fmt.Fprintf(b, "- **Predicted:** %s: %s\n", escape(p.Question), escape(p.String()))
	}
	for _, part := range [][2]string{{"Decided", e.Decision}, {"Rejected", e.Rejected}, {"Trigger that would change it", e.Trigger}} {
		text := MarkMissing
		if filled(part[1]) {
			text = escape(part[1])
		}
		fmt.Fprintf(b, "- **%s:** %s\n", part[0], text)
	}
	if len(e.Figures) == 0 {
		fmt.Fprintf(b, "- **Figures:** %s\n", MarkMissing)
	}
	for _, f := range e.Figures {
		stale := ""
		if f.staleAgainst(now) {
			stale = " – " + MarkStale + ": these are not the levers now in use"
		}
		fmt.Fprintf(b, "- **Figure:** %s: %s (run %s)%s\n", escape(f.Name), escape(f.String()), escape(f.Run), stale)
	}
}

// State is a sign and a few words on what an entry lacks.
func (e *Entry) State(now ...string) string {
	missing, stale := e.Missing(), e.Stale(now...)
	var words []string
	if len(missing) > 0 {
		words = append(words, MarkMissing+": "+strings.Join(missing, ", "))
	}
	if len(stale) > 0 {
		words = append(words, MarkStale+": "+strings.Join(stale, ", "))
	}
	if words == nil {
		return MarkComplete
	}
	return strings.Join(words, "; ")
}

func (f Figure) staleAgainst(now []string) bool { return len(now) > 0 && !slices.Contains(now, f.Run) }

// String is the figure as people write it: "889.4 GPU-h", "$2,668", "47 %", "kill".
func (f Figure) String() string {
	switch number := formatNumber(f.Value); {
	case f.Text != "":
		return f.Text
	case f.Unit == "$":
		return strings.Replace("$"+number, "$−", "−$", 1)
	default:
		return amount(f.Value, f.Unit)
	}
}

// amount is a number with its unit, which is a plural if it is a word.
func amount(x float64, unit string) string {
	if x == 1 && len(unit) > 2 {
		unit = strings.TrimSuffix(unit, "s")
	}
	return strings.TrimSpace(formatNumber(x) + " " + unit)
}

// String is what was said against what is.
func (p Prediction) String() string {
	text := "said " + amount(p.Said, p.Unit) + ", is " + amount(p.Is, p.Unit)
	if p.Revised {
		text += " (another answer was given later)"
	}
	return text
}

// formatNumber writes a number with thousands separators and so many decimals that four digits are left.
func formatNumber(x float64) string {
	switch size := max(x, -x); {
	case size >= 1e15 || size > 0 && size < 1e-3:
		return strconv.FormatFloat(x, 'g', 4, 64)
	case size >= 999.95:
		return fleet.FormatCount(int(x + max(-0.5, min(0.5, x)))) // rounded, away from 0
	case size >= 99.995:
		return trimZeros(strconv.FormatFloat(x, 'f', 1, 64))
	case size >= 1:
		return trimZeros(strconv.FormatFloat(x, 'f', 2, 64))
	default:
		return trimZeros(strconv.FormatFloat(x, 'f', 4, 64))
	}
}

func trimZeros(s string) string {
	if strings.Contains(s, ".") {
		s = strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
	}
	return strings.Replace(s, "-", "−", 1)
}

// escape makes text one line of Markdown in which nothing is markup: a memo is read by others than its author.
func escape(s string) string {
	return escaper.Replace(strings.Join(strings.Fields(s), " "))
}

var escaper = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "|", `\|`, "#", `\#`, "!", `\!`, "$", `\$`,
)

// marked is an entry in JSON, with what is wrong with it.
type marked struct {
	Entry
	Missing []string `json:"missing"`
	Stale   []string `json:"stale"`
}

// JSON is the memo for other programs: what is in the file, and for each act the parts that are missing or stale. The error wraps ErrMemo.
func (m *Memo) JSON(now Current) ([]byte, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	doc := struct {
		Version int      `json:"version"`
		Saves   int      `json:"saves"`
		Notices []string `json:"notices,omitempty"`
		Entries []marked `json:"entries"`
	}{m.Version, m.Saves, m.Notices, nil}
	for _, e := range m.All() {
		doc.Entries = append(doc.Entries, marked{e, append([]string{}, e.Missing()...), append([]string{}, e.Stale(now[e.Act]...)...)})
	}
	return indented(doc)
}

// indented writes a value as lines of JSON.
func indented(v any) ([]byte, error) {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrMemo)
	}
	return append(b, '\n'), nil
}
