package widgets

import (
	"fmt"
	"html/template"
	"os"
	"strconv"
	"strings"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/scenario"
)

// Guess is a prediction that can be set against a run: see scenario.FragmentedGuess.
type Guess interface {
	Gaps(run *fleet.Run) ([]scenario.Gap, error)
}

// Locked shows its views only once the prediction is made: until then, that is while predict panics as an unanswered cell does, it
// shows a lock and nothing else. The lock never fails a cell, so a notebook that nobody has answered yet runs to its end. A prediction
// that cannot be true of the run is an error.
func Locked[G Guess](predict func() G, run *fleet.Run, views ...View) View {
	return view(func() (Output, error) {
		guess, made := ask(predict)
		if !made {
			html, err := expand("lock", nil)
			return Output{HTML: html, Text: lockText}, err
		}
		if err := checkRun("the run of the prediction", run); err != nil {
			return Output{}, err
		}
		if _, err := guess.Gaps(run); err != nil {
			return Output{}, fmt.Errorf("your prediction: %w", err)
		}
		var all Output
		for _, v := range views {
			out, err := v.Render()
			if err != nil {
				return Output{}, err
			}
			all.HTML += out.HTML
			all.Text += out.Text
		}
		return all, nil
	})
}

// Gap sets what was predicted against what the run says. Without a prediction it is locked.
func Gap[G Guess](predict func() G, run *fleet.Run) View {
	return Locked(predict, run, view(func() (Output, error) {
		gaps, err := predict().Gaps(run)
		if err != nil {
			return Output{}, fmt.Errorf("your prediction: %w", err)
		}
		rows := gapRows(gaps)
		html, err := expand("gap", struct {
			Style template.CSS
			Rows  []gapRow
		}{template.CSS(themeCSS + viewCSS), rows})
		return Output{HTML: html, Text: gapText(rows)}, err
	}))
}

const lockText = "Locked until you predict: in the prediction cell above put your lines in place of the panic, run it, then run this cell again.\n"

// ask calls predict and tells whether it answered.
func ask[G any](predict func() G) (guess G, made bool) {
	if predict == nil {
		return guess, false
	}
	defer func() {
		if recover() != nil {
			made = false
		}
	}()
	return predict(), true
}

// gapRow is one line of "you said, the fleet says".
type gapRow struct{ Question, Said, Is, Off string }

func gapRows(gaps []scenario.Gap) []gapRow {
	rows := make([]gapRow, len(gaps))
	for i, g := range gaps {
		off := "exactly right"
		switch {
		case g.Said > g.Is:
			off = quantity(g.Said-g.Is, g.Unit) + " too many"
		case g.Said < g.Is:
			off = quantity(g.Is-g.Said, g.Unit) + " too few"
		}
		rows[i] = gapRow{g.Question, quantity(g.Said, g.Unit), quantity(g.Is, g.Unit), off}
	}
	return rows
}

// quantity writes a number with its unit, which is a plural.
func quantity(x float64, unit string) string {
	if x == 1 {
		unit = strings.TrimSuffix(unit, "s")
	}
	return strconv.FormatFloat(x, 'g', 4, 64) + nbsp + unit
}

func gapText(rows []gapRow) string {
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "%s: you said %s, the fleet says %s – %s\n", r.Question, r.Said, r.Is, r.Off)
	}
	return b.String()
}

// Judge says whether a check passed: name states the claim, err is what the check returned. A check that did not pass is drawn with
// its reason and ends the cell with status 1, so that it counts as failed.
//
//	widgets.Judge("finds a node with room", check.Fits(bestFit))
func Judge(name string, err error) {
	out, rerr := verdict(name, err).Render()
	if rerr != nil {
		fail(rerr)
	}
	send(out)
	if err != nil {
		os.Exit(1)
	}
}

func verdict(name string, err error) View {
	return view(func() (Output, error) {
		v := struct {
			Name   string
			Passed bool
			Why    []string
		}{Name: name, Passed: err == nil}
		text := "✓ passed: " + name + "\n"
		if err != nil {
			v.Why = errorText(err)
			text = "✗ not passed: " + name + "\n  " + strings.Join(v.Why, "\n  ") + "\n"
		}
		html, xerr := expand("verdict", v)
		return Output{HTML: html, Text: text}, xerr
	})
}
