package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// report is what a command has found: named figures in order. It is written as a table for people or as a JSON object for programs,
// and both have the same figures.
type report struct {
	json   bool
	fields fields
	notes  []string // what figures mean
}

// fields are figures by name. A value is a number, a string, a bool, nil for "there is none", fields, or a list of fields, which is a
// table.
type fields []field

type field struct {
	name  string
	value any
}

func (f *fields) add(name string, value any) { *f = append(*f, field{name, value}) }

// seconds is a time as a number, exact to the nanosecond.
func seconds(d time.Duration) float64 { return float64(d) / float64(time.Second) }

func (r report) write(w io.Writer) error {
	if r.json {
		all := r.fields
		if len(r.notes) > 0 {
			all = append(slices.Clone(all), field{"notes", r.notes})
		}
		data, err := json.Marshal(all)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := json.Indent(&b, data, "", "  "); err != nil {
			return err
		}
		b.WriteByte('\n')
		_, err = w.Write(b.Bytes())
		return err
	}
	var b strings.Builder
	r.fields.table(&b, "")
	if len(r.notes) > 0 {
		fmt.Fprintf(&b, "\n%s\n", strings.Join(r.notes, "\n"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// MarshalJSON keeps the order of the fields. What JSON has no number for, such as an infinite time, becomes null.
func (f fields) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, x := range f {
		if i > 0 {
			b.WriteByte(',')
		}
		if v, ok := x.value.(float64); ok && (math.IsInf(v, 0) || math.IsNaN(v)) {
			x.value = nil
		}
		value, err := json.Marshal(x.value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", x.name, err)
		}
		fmt.Fprintf(&b, "%s:%s", strconv.Quote(x.name), value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// table writes the plain figures first, then each group and list under its name.
func (f fields) table(b *strings.Builder, title string) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	if title != "" {
		fmt.Fprintf(w, "\n%s\n", title)
	}
	for _, x := range f {
		switch x.value.(type) {
		case fields, []fields:
		default:
			fmt.Fprintf(w, "%s\t%s\n", x.name, text(x.value))
		}
	}
	_ = w.Flush() // to a strings.Builder, which does not fail
	for _, x := range f {
		switch v := x.value.(type) {
		case fields:
			v.table(b, x.name)
		case []fields:
			list(b, x.name, v)
		}
	}
}

// list writes rows of equal fields.
func list(b *strings.Builder, title string, rows []fields) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\n%s\n", title)
	for i, row := range rows {
		var names, cells []string
		for _, x := range row {
			names, cells = append(names, x.name), append(cells, text(x.value))
		}
		if i == 0 {
			fmt.Fprintln(w, strings.Join(names, "\t"))
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	_ = w.Flush()
}

// text is a value for people: numbers with six digits at most.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return "–"
	case float64:
		switch {
		case math.IsInf(v, 1):
			return "infinite"
		case v == math.Trunc(v) && math.Abs(v) < 1e15:
			return strconv.FormatFloat(v, 'f', 0, 64)
		case math.Abs(v) >= 1e5:
			return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
		default:
			return strconv.FormatFloat(v, 'g', 6, 64)
		}
	default:
		return fmt.Sprint(v)
	}
}
