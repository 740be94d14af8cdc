package check

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file reads quantities out of prose: "3 h", "3.09 hours", "1 h 30 m", "860 GPU-h", "$2,668", "2.7k USD", "47 %", "125 whole nodes".
// It is generous: what people write in a hurry counts, and where a number can be read in two ways ("2,668" has a thousands separator, or a
// decimal comma) both readings count.

// dimension is what a quantity measures.
type dimension string

// The dimensions, and in brackets what their numbers are kept in.
const (
	inTime    dimension = "time"     // [s]
	inGPUTime dimension = "GPU-time" // [GPU-s]
	inMoney   dimension = "money"    // [$]
	inRatio   dimension = "ratio"    // [%]
	inThings  dimension = "things"   // anything else; the words after the number say what
)

// quantity is a number in a text.
type quantity struct {
	start, end int // in the text
	dim        dimension
	readings   []reading
	unit       float64  // of a time: how many seconds it has, so that "1 h 30 m" can be put together
	nouns      []string // of things: the words after the number, in lower case, without a plural s
	bare       bool     // nothing says what it is: 0.9 may be 90 %
}

// reading is one way to read a number.
type reading struct {
	value  float64
	half   float64 // half a unit of the last digit
	digits int     // significant ones
}

const (
	space  = `[\s\p{Zs}]{0,3}`
	hyphen = `[\s\p{Zs}·⋅×*‐‑–-]{0,3}`
	end    = `(?:[^\p{L}]|$)`
)

var (
	numbers = regexp.MustCompile(`(?i)\d{1,3}(?:[,.'’ \x{00A0}\x{202F}\x{2009}]\d{3})+(?:[.,]\d+)?\b|\d+(?:[.,]\d+)*(?:e[+-]?\d{1,3}\b)?|\.\d+|` +
		`\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|sixty|ninety)\b`)
	grouped = regexp.MustCompile(`^[1-9]\d{0,2}(?:[,.]\d{3})+$`)

	dollarsBefore = regexp.MustCompile(`(?i)(?:\$|usd)[\s\p{Zs}]?[-−]?$`)
	dollarsAfter  = regexp.MustCompile(`(?i)^` + space + `(?:\$|(?:us[ -]?)?dollars?` + end + `|usd` + end + `)`)
	gpuTimeAfter  = regexp.MustCompile(`(?i)^` + hyphen + `gpus?(?:[\s\p{Zs}·⋅×*‐‑–-]{1,3}(hours?|hrs?|h|days?|d|minutes?|mins?|m|seconds?|secs?|s)|(hours?|hrs?|h))` + end)
	timeAfter     = regexp.MustCompile(`(?i)^` + hyphen + `(ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|years?)` + end)
	percentAfter  = regexp.MustCompile(`(?i)^` + space + `(?:%|per[ -]?cent` + end + `|pct` + end + `)`)
	powerAfter    = regexp.MustCompile(`(?i)^(?:(k)|` + space + `(thousand|million|billion|bn))` + end)
	moneyPower    = regexp.MustCompile(`(?i)^` + space + `(k|m|thousand|million|billion|bn)` + end)
	nounsAfter    = regexp.MustCompile(`^` + hyphen + `(\p{L}+)(?:[\s\p{Zs}-]+(\p{L}+))?(?:[\s\p{Zs}-]+(\p{L}+))?`)
)

var (
	numberWords = map[string]float64{
		"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
		"fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "sixty": 60, "ninety": 90,
	}
	powers = map[string]float64{"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "billion": 1e9, "bn": 1e9}
)

// secondsOf is how long a unit of time is.
func secondsOf(unit string) float64 {
	switch unit = strings.ToLower(unit); {
	case unit == "ms":
		return 1e-3
	case strings.HasPrefix(unit, "s"):
		return 1
	case strings.HasPrefix(unit, "m"):
		return 60
	case strings.HasPrefix(unit, "h"):
		return 3600
	case strings.HasPrefix(unit, "d"):
		return 86400
	case strings.HasPrefix(unit, "w"):
		return 7 * 86400
	}
	return 365 * 86400
}

// quantitiesIn finds the quantities of a text, in order. Its time grows with the length of the text and no faster.
func quantitiesIn(text string) []quantity {
	var all []quantity
	for at := 0; at < len(text); {
		found := numbers.FindStringIndex(text[at:])
		if found == nil {
			break
		}
		start, stop := at+found[0], at+found[1]
		at = stop
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		if unicode.IsLetter(before) || unicode.IsDigit(before) || before == '_' { // H100, Llama3, node_7
			continue
		}
		readings := readNumber(text[start:stop])
		if readings == nil {
			continue
		}
		q := quantity{start: start, end: stop, readings: readings}
		q.readUnit(text)
		if negative(text[:start]) {
			q.scale(-1)
		}
		if last := len(all) - 1; last >= 0 && all[last].continuedBy(q, text) {
			all[last].add(q)
		} else {
			all = append(all, q)
		}
		at = max(at, q.end)
	}
	return all
}

// readNumber is the ways to read a number, nil if it is none.
func readNumber(s string) (readings []reading) {
	if x, word := numberWords[strings.ToLower(s)]; word {
		return []reading{{x, 0.5, 1}}
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '\'' || r == '’' {
			return -1
		}
		return r
	}, s)
	add := func(plain string) {
		x, err := strconv.ParseFloat(plain, 64)
		if err != nil || math.IsInf(x, 0) {
			return
		}
		mantissa, exponent, _ := strings.Cut(strings.ToLower(plain), "e")
		whole, decimals, _ := strings.Cut(mantissa, ".")
		power, _ := strconv.Atoi(exponent)
		digits := len(strings.TrimLeft(whole+decimals, "0"))
		readings = append(readings, reading{x, 0.5 * math.Pow10(power-len(decimals)), digits})
	}
	comma, dot := strings.LastIndex(s, ","), strings.LastIndex(s, ".")
	switch {
	case comma >= 0 && dot >= 0: // the last one is the decimal sign
		add(strings.Replace(strings.ReplaceAll(s, s[min(comma, dot):][:1], ""), ",", ".", 1))
	default:
		if grouped.MatchString(s) {
			add(strings.NewReplacer(",", "", ".", "").Replace(s))
		}
		if strings.Count(s, ",")+strings.Count(s, ".") <= 1 {
			add(strings.Replace(s, ",", ".", 1))
		}
	}
	return readings
}

// readUnit finds out what comes after the number, or before it if that is a dollar sign.
func (q *quantity) readUnit(text string) {
	after := func(re *regexp.Regexp) []string {
		rest := text[q.end:min(len(text), q.end+100)]
		m := re.FindStringSubmatchIndex(rest)
		if m == nil {
			return nil
		}
		groups := []string{rest[:m[1]]}
		stop := m[1]
		for i := 2; i < len(m); i += 2 {
			groups = append(groups, "")
			if m[i] >= 0 {
				groups[i/2], stop = rest[m[i]:m[i+1]], m[i+1]
			}
		}
		q.end += stop
		return groups
	}
	power := func(re *regexp.Regexp) {
		if m := after(re); m != nil {
			q.scale(powers[strings.ToLower(strings.Join(m[1:], ""))])
		}
	}
	if m := dollarsBefore.FindStringIndex(text[max(0, q.start-8):q.start]); m != nil {
		q.start, q.dim = max(0, q.start-8)+m[0], inMoney
		power(moneyPower)
		return
	}
	power(powerAfter)
	if m := after(gpuTimeAfter); m != nil {
		q.dim = inGPUTime
		q.scale(secondsOf(m[1] + m[2]))
	} else if m := after(timeAfter); m != nil {
		q.dim, q.unit = inTime, secondsOf(m[1])
		q.scale(q.unit)
	} else if after(percentAfter) != nil {
		q.dim = inRatio
	} else if after(dollarsAfter) != nil {
		q.dim = inMoney
	} else {
		q.dim, q.bare = inThings, true
		stop := q.end
		if m := after(nounsAfter); m != nil {
			for _, noun := range m[1:] {
				q.nouns = append(q.nouns, singular(noun))
			}
		}
		q.end = stop // the next number may be among these words
	}
}

// singular is a noun as it is compared.
func singular(noun string) string { return strings.TrimSuffix(strings.ToLower(noun), "s") }

func (q *quantity) scale(by float64) {
	for i := range q.readings {
		q.readings[i].value *= by
		q.readings[i].half *= math.Abs(by)
	}
}

// negative tells whether a number has a minus sign; the dash of "3–5 h" is none.
func negative(before string) bool {
	before = strings.TrimSuffix(before, "$")
	for _, minus := range []string{"-", "−"} {
		if rest, found := strings.CutSuffix(before, minus); found {
			r, _ := utf8.DecodeLastRuneInString(rest)
			return rest == "" || unicode.IsSpace(r) || r == '(' || r == '$'
		}
	}
	return false
}

// continuedBy tells whether a time goes on with a smaller unit: "1 h 30 m", "2 d 1 h".
func (q *quantity) continuedBy(next quantity, text string) bool {
	return q.dim == inTime && next.dim == inTime && next.unit < q.unit && strings.TrimSpace(text[q.end:next.start]) == "" && next.start-q.end <= 4 &&
		next.readings[0].value < q.unit
}

func (q *quantity) add(next quantity) {
	r, n := q.readings[0], next.readings[0]
	q.readings = []reading{{r.value + n.value, n.half, r.digits + n.digits}}
	q.end, q.unit = next.end, next.unit
}
