package widgets

import (
	"encoding/base64"
	"errors"
	"html"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/check"
	"github.com/fleetlab/fleetlab/fleet/memo"
	"github.com/fleetlab/fleetlab/fleet/scenario"
)

// memoStory is a memo with a complete act of which a figure is stale, one that is begun and one that is not, read from a backup.
func memoStory() *memo.Memo {
	m := &memo.Memo{Version: memo.Version, Notices: []string{
		"memo.json is damaged (unexpected EOF): its backup memo.json.bak is used, in which the last save may be lacking. A save keeps the damaged file under another name.",
	}}
	e := m.Act("Act I")
	e.Predict(scenario.Gap{Question: "largest hole when the big job arrives, at 4 h 30 m", Unit: "nodes", Said: 60, Is: 1},
		scenario.Gap{Question: "wait of the big job", Unit: "hours", Said: 0.5, Is: 7.5})
	e.Predict(scenario.Gap{Question: "wait of the big job", Unit: "hours", Said: 7.5, Is: 7.5})
	e.Decision, e.Rejected = "kill the small jobs on the cheapest 125 nodes", "migrate: 1,543 GPU-h and $4,629, and everybody pays"
	e.Trigger = "checkpoints 12 h apart:\nthen killing costs more than migrating"
	e.Cite(memo.Figure{Name: "decision", Text: "kill", Run: "0123456789ab"}, memo.Figure{Name: "price", Value: 889.43, Unit: "GPU-h", Run: "0123456789ab"},
		memo.Figure{Name: "price in dollars", Value: 2668.3, Unit: "$", Run: "ba9876543210"})
	m.Act("Act II").Decision = "a checkpoint every 12 min"
	return m
}

var rubricStory = []Points{
	{2, "the decision and its price: GPU-hours and dollars, with the part that makes up most of it"},
	{2, "the rejected alternative with its price, and who pays it"},
	{1, "a trigger that would turn the decision, as a number"},
}

func TestGoldenMemoAndGuide(t *testing.T) {
	golden(t, "memo.txt", render(t, Memo(memoStory(), memo.Current{"Act I": {"0123456789ab"}})).Text)
	kill := scenario.Fragmented(fleet.Default())
	kill.Preempt = true
	gamble := scenario.Gamble(fleet.Default())
	golden(t, "guide.txt", render(t, RationaleGuide(simulate(t, kill), check.ActIFigures, rubricStory...)).Text+"\n"+
		render(t, RationaleGuide(simulate(t, gamble), check.ActIIFigures)).Text)
}

// The downloads hold what the memo exports, and the text twin of the Markdown is the same.
func TestMemoDownloadsAreTheExports(t *testing.T) {
	m := memoStory()
	page := render(t, Memo(m, nil)).HTML
	files := regexp.MustCompile(`download="([^"]+)" href="data:[^"]*;base64,([^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(files) != 2 {
		t.Fatalf("%d downloads", len(files))
	}
	json, err := m.JSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{m.Markdown(nil), string(json)} {
		got, err := base64.StdEncoding.DecodeString(html.UnescapeString(files[i][2]))
		if err != nil || string(got) != want {
			t.Errorf("%s: %v, %.200s", files[i][1], err, got)
		}
	}
	if !strings.Contains(html.UnescapeString(page), m.Markdown(nil)) {
		t.Error("the Markdown is not there as text")
	}
}

// What is not as it should be is marked by a sign and a word, in both forms of the output.
func TestMemoMarksWithSignAndWord(t *testing.T) {
	out := render(t, Memo(memoStory(), memo.Current{"Act I": {"0123456789ab"}}))
	for _, want := range []string{memo.MarkMissing, memo.MarkStale, "memo.json is damaged", "another answer was given later"} {
		if !strings.Contains(out.HTML, want) || !strings.Contains(out.Text, want) {
			t.Errorf("%q is lacking", want)
		}
	}
	if n := strings.Count(out.HTML, `data-complete="true"`); n != 0 {
		t.Errorf("%d acts are complete", n)
	}
	if n := strings.Count(render(t, Memo(memoStory(), nil)).HTML, `data-complete="true"`); n != 1 {
		t.Errorf("when nothing is judged stale %d acts are complete, want 1", n)
	}
}

func TestMemoEscapesWhatAStudentWrote(t *testing.T) {
	m := memoStory()
	m.Act("Act I").Decision = `</pre></div><script>alert(1)</script><img src=x onerror=alert(1)>`
	m.Act(`"><script>alert(2)</script>`).Trigger = `javascript:alert(1)`
	m.Notices = append(m.Notices, "<b>bold</b>")
	page := render(t, Memo(m, nil)).HTML
	for _, bad := range []string{"<script", "<img", "<b>bold"} {
		if strings.Contains(page, bad) {
			t.Errorf("%s reached the page as markup", bad)
		}
	}
}

func TestBadMemosAndGuidesGiveAClearMessage(t *testing.T) {
	bad := memoStory()
	bad.Entries[0].Figures[1].Value = math.NaN()
	run := simulate(t, small(1, fleet.FCFS, false, false, 3600e9))
	for want, v := range map[string]View{
		"the memo is nil": Memo(nil, nil), "Figures[1].Value NaN: must be a finite number": Memo(bad, nil),
		"the run of the rationale is nil": RationaleGuide(nil, check.ActIFigures), "the figures of the rationale are nil": RationaleGuide(run, nil),
	} {
		if _, err := v.Render(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// N13: what went wrong with the file is drawn in the cell, by the name that the student knows and without the words for machines.
func TestN13StoreErrorsAreDrawn(t *testing.T) {
	t.Chdir(t.TempDir())
	_, err := memo.Update(filepath.Join("nowhere", "memo.json"), func(*memo.Memo) error { return nil })
	if !errors.Is(err, memo.ErrStore) {
		t.Fatal(err)
	}
	text := render(t, errorView(err)).Text
	if !strings.Contains(text, "nowhere/memo.json: NOT saved (no such file or directory): make the folder nowhere writable") || strings.Contains(text, memo.ErrStore.Error()) {
		t.Error(text)
	}
}

// A guide of a fleet on which nothing was decided, and of other acts, has no broken figures.
func TestGuidesOfOddRuns(t *testing.T) {
	run := simulate(t, fleet.Default())
	for _, figures := range []func(*fleet.Run) []check.Required{check.ActIFigures, check.ActIIFigures, check.ActIIIFigures} {
		out := render(t, RationaleGuide(run, figures))
		for _, broken := range []string{"NaN", "%!", "Inf", "ZgotmplZ"} {
			if strings.Contains(pictures.ReplaceAllString(out.HTML, "")+out.Text, broken) {
				t.Errorf("%q in %s", broken, out.Text)
			}
		}
	}
}
