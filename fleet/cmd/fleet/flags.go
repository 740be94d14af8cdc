package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// flags is the flag set of a command, with the flag that all have. Each flag knows its range: --help prints it, and a value outside it
// is an error that names it.
type flags struct {
	*flag.FlagSet
	intro  string
	format *int
	bad    error // what the flag that stopped the parsing has to say
}

var formats = []string{"table", "json"}

func newFlags(name, intro string) *flags {
	f := &flags{FlagSet: flag.NewFlagSet(name, flag.ContinueOnError), intro: intro}
	f.SetOutput(io.Discard)
	f.format = f.choice("format", formats, "table", "how the figures are written")
	return f
}

// value is a flag's value: what it is now, and how to set it.
type value struct {
	text func() string
	set  func(string) error
}

// String is the value as it would be typed.
func (v *value) String() string {
	if v.text == nil {
		return ""
	}
	return v.text()
}

// Set reads a value from the command line.
func (v *value) Set(s string) error { return v.set(s) }

// add makes a flag. parse tells whether the text is a value in range; want says what is.
func (f *flags) add(name, want, help string, text func() string, parse func(string) bool) {
	f.Var(&value{text, func(s string) error {
		if parse(s) {
			return nil
		}
		f.bad = usage("--%s %q: must be %s", name, s, want)
		return f.bad
	}}, name, help+": "+strings.Replace(want, howTimesAreWritten, "", 1))
}

const howTimesAreWritten = " such as 24h, 5m or 30s,"

// duration is a flag for a time. Below lo it counts as not given.
func (f *flags) duration(p *time.Duration, name string, lo, hi time.Duration, help string) {
	text := func() string {
		if *p < lo {
			return ""
		}
		return short(*p)
	}
	f.add(name, fmt.Sprintf("a `time`%s between %s and %s", howTimesAreWritten, short(lo), short(hi)), help, text, func(s string) bool {
		d, err := time.ParseDuration(s)
		*p = d
		return err == nil && d >= lo && d <= hi
	})
}

// short is a time without its zeros.
func short(d time.Duration) string {
	s := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, zero) {
			s = s[:len(s)-2]
		}
	}
	return s
}

// count is a flag for a whole number. Below lo it counts as not given.
func (f *flags) count(p *int, name string, lo, hi int, help string) {
	text := func() string {
		if *p < lo {
			return ""
		}
		return strconv.Itoa(*p)
	}
	f.add(name, fmt.Sprintf("a whole `number` between %d and %d", lo, hi), help, text, func(s string) bool {
		n, err := strconv.Atoi(s)
		*p = n
		return err == nil && n >= lo && n <= hi
	})
}

// seed is a flag for a seed.
func (f *flags) seed(p *uint64, help string) {
	f.add("seed", fmt.Sprintf("a whole `number` between 0 and %d", uint64(math.MaxUint64)), help, func() string { return strconv.FormatUint(*p, 10) }, func(s string) (ok bool) {
		n, err := strconv.ParseUint(s, 10, 64)
		*p = n
		return err == nil
	})
}

// real is a flag for a number that need not be whole.
func (f *flags) real(p *float64, name string, lo, hi float64, help string) {
	f.add(name, fmt.Sprintf("a `number` between %v and %v", lo, hi), help, func() string { return fmt.Sprint(*p) }, func(s string) bool {
		x, err := strconv.ParseFloat(s, 64)
		*p = x + 0 // never −0
		return err == nil && x >= lo && x <= hi
	})
}

// choice is a flag for one of several names. It returns which one, by position; upper and lower case are the same.
func (f *flags) choice(name string, names []string, chosen, help string) *int {
	at := position(names, chosen)
	f.add(name, "one of "+strings.Join(names, ", "), help, func() string { return names[at] }, func(s string) bool {
		i := position(names, s)
		at = max(i, 0)
		return i >= 0
	})
	return &at
}

func position(names []string, name string) int {
	for i, n := range names {
		if strings.EqualFold(n, name) {
			return i
		}
	}
	return -1
}

// parse reads the arguments. The error is usage, or help if that was asked for.
func (f *flags) parse(args []string) error {
	err := f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return helpText(f.help())
	case f.bad != nil:
		return f.bad
	case err != nil:
		return usage("%s", strings.NewReplacer(": -", ": --", "flag -", "flag --", "for -", "for --").Replace(err.Error()))
	case f.NArg() > 0:
		return usage("unexpected argument %q: flags come as --name value, switches as --name or --name=false", f.Arg(0))
	}
	return nil
}

// report begins the command's report.
func (f *flags) report(figures fields) report { return report{json: *f.format == 1, fields: figures} }

// help lists the flags with their ranges and defaults.
func (f *flags) help() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nUsage: fleet %s [flags]\n\n", f.intro, f.Name())
	f.VisitAll(func(x *flag.Flag) {
		kind, text := flag.UnquoteUsage(x)
		if kind == "value" { // a choice: its names are in the text
			kind = "name"
		}
		def := ""
		if x.DefValue != "" && x.DefValue != "false" {
			def = " (default " + x.DefValue + ")"
		}
		fmt.Fprintf(&b, "  --%s\n        %s%s\n", strings.TrimSpace(x.Name+" "+kind), text, def)
	})
	fmt.Fprint(&b, "\nTimes are written as 24h, 5m, 30s or 1h30m.\n")
	return b.String()
}

// given tells whether a flag stands on the command line.
func (f *flags) given(name string) (yes bool) {
	f.Visit(func(x *flag.Flag) { yes = yes || x.Name == name })
	return yes
}

// useless is the error of a flag that stands on the command line though nothing depends on it, or nil.
func (f *flags) useless(why string, names ...string) error {
	for _, n := range names {
		if f.given(n) {
			return usage("--%s: must not be given: %s", n, why)
		}
	}
	return nil
}
