package trace

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ErrTrace is wrapped by all errors of this package.
var ErrTrace = errors.New("unreadable trace")

// BadLines is the error of a log with lines that cannot be read. The others were read.
type BadLines struct {
	Count int       // of all of them
	First []BadLine // the first ten
}

// BadLine is one of them.
type BadLine struct {
	Line  int    // from 1
	Field string // which field, or "line"
	Value string // what stands there
	Want  string // what should
}

// Error lists the first ten.
func (b *BadLines) Error() string {
	var text strings.Builder
	noun := "lines"
	if b.Count == 1 {
		noun = "line"
	}
	fmt.Fprintf(&text, "%d %s cannot be read", b.Count, noun)
	for _, l := range b.First {
		fmt.Fprintf(&text, "\n  line %d: %s %q: must be %s", l.Line, l.Field, l.Value, l.Want)
	}
	if more := b.Count - len(b.First); more > 0 {
		fmt.Fprintf(&text, "\n  and %d more", more)
	}
	return text.String()
}

// Unwrap makes errors.Is(err, ErrTrace) true.
func (b *BadLines) Unwrap() error { return ErrTrace }

func (b *BadLines) add(line int, field, value, want string) {
	if b.Count++; len(b.First) < 10 {
		if len(value) > 60 {
			value = value[:60] + "…"
		}
		b.First = append(b.First, BadLine{line, field, value, want})
	}
}

// orNil is the error, if there is something bad at all.
func (b *BadLines) orNil() error {
	if b.Count == 0 {
		return nil
	}
	return b
}

// Bounds on what is read, so that a hostile file ends in an error.
const (
	longestLine = 64 << 10
	mostLines   = 5_000_000
	mostBytes   = 1 << 30 // after decompression
)

// plain is a reader of the text, which may be compressed with gzip, and which ends with an error after a gigabyte.
func plain(r io.Reader) (io.Reader, error) {
	in := bufio.NewReaderSize(r, longestLine)
	magic, err := in.Peek(2)
	if err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("gzip: %w: %w", err, ErrTrace)
		}
		return &bounded{z, mostBytes}, nil
	}
	return &bounded{in, mostBytes}, nil
}

// bounded is a reader that fails after so many bytes.
type bounded struct {
	r    io.Reader
	left int64
}

// Read reads on.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("more than %d bytes: %w", int64(mostBytes), ErrTrace)
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// eachLine calls f with each line and its number.
func eachLine(r io.Reader, f func(line int, text string)) error {
	in, err := plain(r)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 4096), longestLine)
	n := 0
	for lines.Scan() {
		text := lines.Text()
		if n++; n == 1 {
			text = strings.TrimPrefix(text, "\ufeff") // the byte order mark that some editors write
		}
		if n > mostLines {
			return fmt.Errorf("more than %d lines: %w", mostLines, ErrTrace)
		}
		f(n, text)
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("line %d: must be at most %d bytes long: %w", n+1, longestLine, ErrTrace)
	} else if err != nil {
		return fmt.Errorf("line %d: %w: %w", n+1, err, ErrTrace)
	}
	return nil
}
