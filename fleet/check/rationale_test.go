package check

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/elastic"
	"github.com/fleetlab/fleetlab/fleet/memo"
	"github.com/fleetlab/fleetlab/fleet/scenario"
)

func simulated(t testing.TB, c fleet.Config) *fleet.Run {
	t.Helper()
	run, err := fleet.Simulate(c)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// actII is Act II's figures with round values.
func actII() []Required {
	return []Required{
		{Figure: memo.Figure{Name: "MTBF", Value: 2.71, Unit: "h"}, Or: []float64{3.093, 3}, Words: []string{"mtbf", "mttf", "failures every"}},
		{Figure: memo.Figure{Name: "checkpoint interval", Value: 11.7, Unit: "min"}, Words: []string{"interval", "checkpoint", "τ"}},
	}
}

// actI is Act I's.
func actI() []Required {
	return []Required{
		{Figure: memo.Figure{Name: "decision", Text: "kill"}, Words: []string{"kill", "evict"}, Not: []string{"migrat"}},
		{Figure: memo.Figure{Name: "price", Value: 889.4, Unit: "GPU-h"}, Or: []float64{859.7}},
		{Figure: memo.Figure{Name: "price in dollars", Value: 2668, Unit: "$"}},
	}
}

func verdicts(findings []Finding) string {
	var s []string
	for _, f := range findings {
		s = append(s, string(f.Verdict))
	}
	return strings.Join(s, " ")
}

func TestRationaleOfActII(t *testing.T) {
	for text, want := range map[string]string{
		// Good, in many ways of writing.
		"With an MTBF of 3 h the golden interval is 12 min.":                                        "cited cited",
		"The golden interval at an MTBF of 3.09 hours is 12 min.":                                   "cited cited",
		"MTTF: 180 min. I write a checkpoint every 11.7 minutes.":                                   "cited cited",
		"Failures every three hours; so τ = 12m.":                                                   "cited cited",
		"The **MTBF** is 2 h 43 m.\n\n- checkpoint interval: 0.195 h":                               "cited cited",
		"| MTBF | 3,09 h |\n| interval | 11,7 min |":                                                "cited cited",
		"mtbf 10,800 s, interval 702 s":                                                             "cited cited",
		"An MTBF of 3 h. With an interval of 3 h I would lose half, so my interval is 12 min.":      "cited cited",
		"A node's MTBF is 5 years, but that of 2,048 nodes is an MTBF of 3 h; checkpoint at 12 min": "cited cited",
		"Every 12-minute interval costs a write. MTBF 3-hour.":                                      "cited cited",
		// Lacking.
		"":                                  "lacking lacking",
		" \n\t":                             "lacking lacking",
		"I trust my gut.":                   "lacking lacking",
		"The MTBF and the interval matter.": "lacking lacking",
		"My checkpoint interval is 12 min.": "lacking cited",
		"The restart takes 3 h.":            "lacking lacking", // a right number of something else
		"MTBF 3 GPU-h, interval 12 %":       "lacking lacking",
		"MTBF3 h interval12 min":            "lacking lacking",
		// Contradicting.
		"MTBF is 5 h and I chose 12 min as the interval.":   "contradicted cited",
		"With an MTBF of 3 h I write checkpoints every 3 h": "cited contradicted",
		"MTBF 12 min, interval 3 h":                         "contradicted contradicted",
		"MTBF of 3.2 h, interval of 12.4 min":               "contradicted contradicted",
		"MTBF −3 h; interval of 1 d 12 min":                 "contradicted contradicted",
	} {
		if got := verdicts(Rationale(text, actII())); got != want {
			t.Errorf("%q:\n got %s\nwant %s\n%v", text, got, want, Rationale(text, actII()))
		}
	}
}

func TestRationaleOfActI(t *testing.T) {
	for text, want := range map[string]string{
		"I kill: 860 GPU-h of work lost, $2,668 in all. Migrating would cost 1,543 GPU-h, $4,629.": "cited cited cited",
		"Killing costs 889.4 GPU hours, 2668 dollars":                                              "cited cited cited",
		"Evict them: 37 GPU-days or 2.7k USD":                                                      "cited cited cited",
		"killed for 53,364 GPU-minutes / US$ 2 668":                                                "cited cited cited",
		"KILL 889,4 GPU-h and USD 2.668":                                                           "cited cited cited",
		"Kill; 0.889 thousand GPU-hours and $0.002668 million":                                     "cited cited cited",
		"I migrate. It costs 1,543 GPU-h and $4,629.":                                              "contradicted contradicted contradicted",
		"I kill, since it is cheap.":                                                               "cited lacking lacking",
		"2,668 jobs on 889 GPUs for 889.4 h; skill":                                                "lacking lacking lacking",
		"kill: 889.4 GPU-h, $26.68":                                                                "cited cited contradicted",
		"kill: 889.4 GPU-h, -$2,668":                                                               "cited cited contradicted",
	} {
		if got := verdicts(Rationale(text, actI())); got != want {
			t.Errorf("%q:\n got %s\nwant %s\n%v", text, got, want, Rationale(text, actI()))
		}
	}
}

// Counts and ratios go by what is counted and by their names.
func TestRationaleOfCountsAndRatios(t *testing.T) {
	required := []Required{
		{Figure: memo.Figure{Name: "need", Value: 125, Unit: "nodes"}},
		{Figure: memo.Figure{Name: "goodput", Value: 46.6, Unit: "%"}, Words: []string{"goodput"}},
	}
	for text, want := range map[string]string{
		"It needs 125 whole nodes at a goodput of 47 %.": "cited cited",
		"125 consecutive idle nodes; goodput: 0.47":      "cited cited",
		"a 125-node hole, 46.6 per cent goodput":         "cited cited",
		"1 node of 130; goodput of 90 %":                 "contradicted contradicted",
		"125 jobs; 47 % idle":                            "lacking lacking",
	} {
		if got := verdicts(Rationale(text, required)); got != want {
			t.Errorf("%q:\n got %s\nwant %s\n%v", text, got, want, Rationale(text, required))
		}
	}
}

// The tolerance is what it says: 2 %, or rounding.
func TestToleranceOfNumbers(t *testing.T) {
	for _, x := range []struct {
		value float64
		text  string
		want  Verdict
	}{
		{100, "102 h", Cited}, {100, "98 h", Cited}, {100, "103 h", Contradicted}, {100, "97 h", Contradicted},
		{11.5, "12 h", Cited}, {11.4, "12 h", Contradicted}, {1.4, "1 h", Contradicted}, {0, "0 h", Cited}, {0, "1 h", Contradicted},
		{math.NaN(), "1 h", Contradicted}, {math.Inf(1), "1e300 h", Contradicted}, {1e300, "1e300 h", Cited},
	} {
		f := Rationale(x.text, []Required{{Figure: memo.Figure{Name: "time", Value: x.value, Unit: "h"}}})[0]
		if f.Verdict != x.want {
			t.Errorf("%v against %q: %s, want %s", x.value, x.text, f.Verdict, x.want)
		}
	}
}

// Nothing that a student can write stops the check, makes it slow or reaches the grader unprintable.
func TestHostileTextsAreReadInTime(t *testing.T) {
	for name, text := range map[string]string{
		"huge":          strings.Repeat("The MTBF is 5 h and the interval 7 min. ", 500_000),
		"one sentence":  strings.Repeat("MTBF 5 h interval 7 min ", 100_000),
		"digits":        strings.Repeat("9", 5_000_000),
		"commas":        strings.Repeat("1,", 100_000),
		"groups":        "1" + strings.Repeat(",111", 50_000) + " h MTBF",
		"numbers":       strings.Repeat("1 ", 500_000),
		"letters":       strings.Repeat("m", 500_000),
		"broken UTF-8":  "MTBF \xff\xfe 5 h\xff interval \xc3 7 min",
		"cut in a rune": strings.Repeat("é", MaxText),
		"control":       "MTBF \x00\x1b[31m5\u202e h\r interval\a 7\u200b min",
		"markup":        "<script>alert('MTBF 5 h')</script> interval <b>7</b> min",
		"format verbs":  "MTBF %!d(MISSING) 5 h %s%n, interval 7 min",
		"regex":         "MTBF (((((5 h, interval [[[7 min\\",
		"exponents":     "MTBF 1e999 h, 1e-999 h, interval 9e99999 min",
		"nines":         "MTBF 99999999999999999999999999999999999999 h",
	} {
		began := time.Now()
		for _, f := range Rationale(text, actII()) {
			s := f.String()
			if f.Verdict == Cited || len(s) > 400 || !utf8.ValidString(s) || strings.ContainsAny(s, "\x00\x1b\r\n\u202e") {
				t.Errorf("%s: %q", name, s)
			}
			if f.Cut != (len(text) > MaxText) {
				t.Errorf("%s: cut %v", name, f.Cut)
			}
		}
		if took := time.Since(began); took > 20*time.Second { // they take less than one on an idle machine
			t.Errorf("%s took %v", name, took)
		}
	}
}

func TestFindingsSpeak(t *testing.T) {
	f := Rationale("MTBF is 5 h", actII())
	want := "⚠ contradicted: MTBF – the text says “5 h”, the run says 2.71 h\n✗ lacking: checkpoint interval – the run says 11.7 min"
	if got := f[0].String() + "\n" + f[1].String(); got != want {
		t.Error(got)
	}
	if got := Rationale("checkpoint: 12 min", actII())[1].String(); got != "✓ cited: checkpoint interval, 11.7 min (“12 min”)" {
		t.Error(got)
	}
	if f := Rationale("x", nil); len(f) != 0 {
		t.Error(f)
	}
}

// The exemplar of Act I's notebook cites the figures of its run, and the exemplar's words on the other decision are no contradiction.
func TestTheExemplarOfActICitesItsRun(t *testing.T) {
	const exemplar = `*Exemplar.* I kill. At a checkpoint interval of 3 h this throws away 859.7 GPU-h of work and 29.7 GPU-h of restarts, together $2,668, nearly all of it lost work; the
big job starts at once. Migrating would cost 1,327 GPU-h of pause and 216.2 GPU-h of tax, $4,629, and the big job would wait 10 m: everybody pays for it, also those
who never move.`
	c := fleet.Default()
	c.Preempt = true
	kill := simulated(t, scenario.Fragmented(c))
	for _, f := range Rationale(exemplar, ActIFigures(kill)) {
		if f.Verdict != Cited {
			t.Error(f)
		}
	}
	c.Preempt, c.Defrag = false, true
	c.Seed = 3
	if got := verdicts(Rationale("I kill at 859.7 GPU-h, $2,668.", ActIFigures(simulated(t, scenario.Fragmented(c))))); got != "contradicted contradicted contradicted" {
		t.Errorf("figures of another run: %s", got)
	}
}

func TestFiguresOfActsIIAndIII(t *testing.T) {
	c := fleet.Default()
	c.Checkpoint = 12 * time.Minute
	run := simulated(t, scenario.Gamble(c))
	if got := verdicts(Rationale("At an MTTF of 3 h I checkpoint every 12 min.", ActIIFigures(run))); got != "cited cited" {
		t.Error(got)
	}
	own := fmt.Sprintf("At an MTTF of %.2f h I checkpoint every 0.2 h.", run.Ledger().MTBF.Hours())
	if got := verdicts(Rationale(own, ActIIFigures(run))); got != "cited cited" {
		t.Error(got)
	}
	c = fleet.Default()
	for _, x := range []struct {
		strategy elastic.Rescaler
		text     string
	}{
		{elastic.DropReplicas, "I drop the ten broken replicas: 9,683 GPU-h are lost, the goodput is 95.1 %."},
		{elastic.Reshard, "Re-sharding loses 2,955 GPU-h and keeps 98.5 % useful; dropping would lose 9,683 GPU-h."},
		{elastic.Restart, "We restart, for 116,438 GPU-h, at a goodput of 41 %."},
		{elastic.WaitForSpare, "We wait: 99,346 GPU-h and 0.495 of goodput."},
	} {
		c.Rescale = x.strategy
		for _, f := range Rationale(x.text, ActIIIFigures(simulated(t, scenario.Rescaled(c)))) {
			if f.Verdict != Cited || f.Figure.Run == "" {
				t.Errorf("%v: %v", x.strategy, f)
			}
		}
	}
	if ActIFigures(nil) != nil || ActIIFigures(nil) != nil || ActIIIFigures(nil) != nil {
		t.Error("figures of no run")
	}
}

func FuzzRationale(f *testing.F) {
	f.Add("MTBF is 3 h 5 m, interval 1,2 min; $2.7k or −889.4 GPU-h, 47 %")
	f.Fuzz(func(t *testing.T, text string) {
		for _, required := range [][]Required{actI(), actII()} {
			for _, x := range Rationale(text, required) {
				if !utf8.ValidString(x.String()) {
					t.Errorf("%q", x.String())
				}
			}
		}
	})
}
