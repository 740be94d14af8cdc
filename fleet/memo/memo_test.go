package memo

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/elastic"
	"github.com/fleetlab/fleetlab/fleet/scenario"
)

// whole is a memo in which Act I is complete, and Act II has a decision and nothing else.
func whole() *Memo {
	m := &Memo{Version: Version}
	e := m.Act("Act I")
	e.Predict(scenario.Gap{Question: "largest hole", Unit: "nodes", Said: 60, Is: 1})
	e.Decision, e.Rejected, e.Trigger = "kill", "migrate", "checkpoints 12 h apart"
	e.Cite(Figure{Name: "price", Value: 889.43, Unit: "GPU-h", Run: "aaaaaaaaaaaa"}, Figure{Name: "price", Value: 2668.3, Unit: "$", Run: "bbbbbbbbbbbb"})
	m.Act("Act II").Decision = "12 min"
	return m
}

func TestMissingAndStaleAreNamed(t *testing.T) {
	m := whole()
	want := []string{
		"Act II: prediction", "Act II: rejected alternative", "Act II: trigger", "Act II: figures",
		"Act III: prediction", "Act III: decision", "Act III: rejected alternative", "Act III: trigger", "Act III: figures",
	}
	if got := m.Missing(); !slices.Equal(got, want) {
		t.Errorf("missing %q", got)
	}
	for _, x := range []struct {
		now  Current
		want []string
	}{
		{nil, nil},
		{Current{"Act II": {"cccccccccccc"}}, nil},
		{Current{"Act I": {"aaaaaaaaaaaa", "bbbbbbbbbbbb"}}, nil},
		{Current{"Act I": {"aaaaaaaaaaaa"}}, []string{"Act I: price"}},
		{Current{"Act I": {"cccccccccccc"}}, []string{"Act I: price", "Act I: price"}},
	} {
		if got := m.Stale(x.now); !slices.Equal(got, x.want) {
			t.Errorf("%v: stale %q, want %q", x.now, got, x.want)
		}
	}
}

func TestTheFirstPredictionCounts(t *testing.T) {
	var e Entry
	e.Predict(scenario.Gap{Question: "wait", Unit: "hours", Said: 0.5, Is: 7.5})
	e.Predict(scenario.Gap{Question: "wait", Unit: "hours", Said: 0.5, Is: 7})
	if p := e.Predictions[0]; p.Revised || p.Is != 7 || len(e.Predictions) != 1 {
		t.Errorf("the same answer again: %+v", p)
	}
	e.Predict(scenario.Gap{Question: "wait", Unit: "hours", Said: 7, Is: 7})
	if p := e.Predictions[0]; !p.Revised || p.Said != 0.5 {
		t.Errorf("another answer: %+v", p)
	}
	if got := e.Predictions[0].String(); got != "said 0.5 hours, is 7 hours (another answer was given later)" {
		t.Error(got)
	}
}

func TestCiteReplacesAFigureOfTheSameName(t *testing.T) {
	e := whole().Act("Act I")
	e.Cite(Figure{Name: "price", Value: 1, Unit: "$"})
	if len(e.Figures) != 2 || e.Figures[1].Value != 1 || e.Figures[0].Value != 889.43 {
		t.Errorf("%+v", e.Figures)
	}
}

func TestValidateNamesFieldValueAndRange(t *testing.T) {
	for want, change := range map[string]func(m *Memo){
		"Act I: Figures[0].Value NaN: must be a finite number":              func(m *Memo) { m.Entries[0].Figures[0].Value = math.NaN() },
		"Act I: Predictions[0].Said +Inf: must be a finite number":          func(m *Memo) { m.Entries[0].Predictions[0].Said = math.Inf(1) },
		`Act I: Figures[1].Name "": must be a name`:                         func(m *Memo) { m.Entries[0].Figures[1].Name = "" },
		"Act II: Decision of 20001 bytes: must be at most 20000 bytes long": func(m *Memo) { m.Entries[1].Decision = strings.Repeat("x", 20_001) },
		`Entries[1].Act "Act I": must be a name that no other entry has`:    func(m *Memo) { m.Entries[1].Act = "Act I" },
		`Entries[0].Act " ": must be a name`:                                func(m *Memo) { m.Entries[0].Act = " " },
		"len(Entries) 101: must be between 0 and 100":                       func(m *Memo) { m.Entries = make([]Entry, 101) },
		"Act I: len(Figures) 500: must be between 0 and 200":                func(m *Memo) { m.Entries[0].Figures = make([]Figure, 500) },
		"Version 0: must be 1":                                              func(m *Memo) { m.Version = 0 },
		"Saves -1: must be at least 0":                                      func(m *Memo) { m.Saves = -1 },
	} {
		m := whole()
		change(m)
		err := m.Validate()
		if !errors.Is(err, ErrMemo) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if err := whole().Validate(); err != nil {
		t.Error(err)
	}
}

func TestMarkdownMarksAndEscapes(t *testing.T) {
	m := whole()
	m.Act("Act I").Trigger = "if `x` | <script>alert(1)</script>\n\n# and *more*"
	m.Notices = []string{"memo.json is damaged"}
	text := m.Markdown(Current{"Act I": {"aaaaaaaaaaaa"}})
	for _, want := range []string{
		"> ⚠ memo.json is damaged", "## Act I (⚠ stale: price)", "said 60 nodes, is 1 node", "- **Figure:** price: 889.4 GPU-h (run aaaaaaaaaaaa)\n",
		`- **Figure:** price: \$2,668 (run bbbbbbbbbbbb) – ⚠ stale`, `if \` + "`x\\`" + ` \| &lt;script&gt;alert(1)&lt;/script&gt; \# and \*more\*`,
		"## Act II (✗ missing: prediction, rejected alternative, trigger, figures)", "- **Rejected:** ✗ missing", "## Act III (✗ missing: prediction, decision,",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
	if full := m.Act("Act I").State(); full != MarkComplete {
		t.Error(full)
	}
}

func TestJSONMarks(t *testing.T) {
	m := whole()
	raw, err := m.JSON(Current{"Act I": {"aaaaaaaaaaaa"}})
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Entries []struct {
			Act, Decision  string
			Missing, Stale []string
		}
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	if e := doc.Entries; len(e) != 3 || e[0].Decision != "kill" || !slices.Equal(e[0].Stale, []string{"price"}) || len(e[0].Missing) != 0 || len(e[2].Missing) != 5 {
		t.Errorf("%+v", e)
	}
	again, _ := m.JSON(Current{"Act I": {"aaaaaaaaaaaa"}})
	if string(raw) != string(again) {
		t.Error("two exports differ")
	}
	m.Entries[0].Figures[0].Value = math.NaN()
	if _, err := m.JSON(nil); !errors.Is(err, ErrMemo) {
		t.Errorf("error %v", err)
	}
}

// Whatever field of Config is changed, however deep, the fingerprint changes. New fields are found by themselves.
func TestAnyFieldChangesTheFingerprint(t *testing.T) {
	config := func() *fleet.Config {
		c := scenario.Gamble(fleet.Default())
		c.Faults, c.Teams = c.Faults[:1], []fleet.Team{{Name: "a"}}
		train := *c.Jobs[0].Train
		c.Jobs[0].Train = &train
		c.Policy = fleet.Queueing{Name: "mine"}
		return &c
	}
	base := Fingerprint(*config())
	if again := Fingerprint(*config()); again != base {
		t.Fatalf("%s, then %s", base, again)
	}
	fields := 0
	var visit func(path string, at func(*fleet.Config) reflect.Value)
	visit = func(path string, at func(*fleet.Config) reflect.Value) {
		c := config()
		v := at(c)
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				visit(path+"."+v.Type().Field(i).Name, func(c *fleet.Config) reflect.Value { return at(c).Field(i) })
			}
			return
		case reflect.Slice:
			visit(path+"[0]", func(c *fleet.Config) reflect.Value { return at(c).Index(0) })
			return
		case reflect.Pointer:
			visit(path, func(c *fleet.Config) reflect.Value { return at(c).Elem() })
			return
		case reflect.Int, reflect.Int64:
			v.SetInt(v.Int() + 1)
		case reflect.Uint8, reflect.Uint64:
			v.SetUint(v.Uint() + 1)
		case reflect.Float64:
			v.SetFloat(v.Float() + 1e-9)
		case reflect.Bool:
			v.SetBool(!v.Bool())
		case reflect.String:
			v.SetString(v.String() + "x")
		case reflect.Interface:
			return // the policies, below
		default:
			t.Fatalf("%s: this test does not know a %s", path, v.Kind())
		}
		fields++
		if Fingerprint(*c) == base {
			t.Errorf("%s does not matter", path)
		}
	}
	visit("Config", func(c *fleet.Config) reflect.Value { return reflect.ValueOf(c).Elem() })
	if fields < 55 {
		t.Errorf("only %d fields were tried", fields)
	}
}

type silly struct{}

func (*silly) Decide(fleet.View) fleet.Decision { return fleet.Decision{} }
func (*silly) String() string                   { panic("no name") }

func TestPoliciesGoByNameAndParts(t *testing.T) {
	place := func(fleet.View, fleet.Job) int { return fleet.Wait }
	seen := map[string]string{}
	for name, p := range map[string]fleet.Policy{
		"FCFS": fleet.FCFS, "Best-Fit": fleet.BestFit, "EASY": fleet.EASY, "Preemption": fleet.Preemption, "placing": fleet.Placing("mine", place),
		"parts": fleet.Queueing{Name: "FCFS", Ageing: time.Hour, Order: fleet.ByPriority}, "other type": (*silly)(nil), "nil": nil,
	} {
		c := fleet.Default()
		c.Policy = p
		f := Fingerprint(c)
		if before, twice := seen[f]; twice {
			t.Errorf("%s and %s have the same fingerprint", name, before)
		}
		seen[f] = name
	}
	for _, r := range elastic.Strategies()[1:] {
		c := fleet.Default()
		c.Rescale = r
		if f := Fingerprint(c); seen[f] != "" {
			t.Errorf("%v and %s have the same fingerprint", r, seen[f])
		} else {
			seen[f] = fleet.RescalerName(r)
		}
	}
}

// What is simulated has the fingerprint of what was asked for.
func TestARunHasTheFingerprintOfItsConfig(t *testing.T) {
	for _, c := range []fleet.Config{scenario.Fragmented(fleet.Default()), scenario.Rescaled(fleet.Default())} {
		run, err := fleet.Simulate(c)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := Fingerprint(c), Fingerprint(run.Config); a != b || len(a) != 12 {
			t.Errorf("config %s, run %s", a, b)
		}
	}
}

func TestNumbersAreReadable(t *testing.T) {
	for want, x := range map[string]float64{
		"889.4": 889.43, "2,668": 2668.3, "1,000": 999.97, "0.5": 0.5, "3.09": 3.09, "0": 0, "46.6": 46.6, "−1,544": -1544.2, "0.0012": 0.0012, "1e+20": 1e20, "12": 12,
	} {
		if got := formatNumber(x); got != want {
			t.Errorf("%v: %q, want %q", x, got, want)
		}
	}
}
