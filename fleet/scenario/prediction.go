package scenario

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
)

// ErrPrediction is wrapped by the error of a prediction that cannot be right: the text names the field, its value and the range.
var ErrPrediction = errors.New("impossible prediction")

// Gap sets one thing that was predicted against what the run says.
type Gap struct {
	Question string
	Unit     string
	Said     float64
	Is       float64
}

// FragmentedGuess is what a student predicts of Act I before anything is shown.
type FragmentedGuess struct {
	LargestHole int     // when the big job arrives: largest run of idle nodes, in nodes; 0 to the size of the fleet
	BigWait     float64 // hours that the big job waits; 0 to the hours from its arrival to the end of the run
}

// Gaps sets the guess against the run. The error wraps ErrPrediction.
func (g FragmentedGuess) Gaps(r *fleet.Run) ([]Gap, error) {
	l := r.Ledger()
	if l.Window.Start == 0 {
		return nil, impossible("Horizon", r.Config.Horizon, fmt.Sprintf("above %v, when the big job arrives", ActIBig.Arrival))
	}
	nodes, most := r.Config.Topology.Nodes(), (l.Window.End - l.Window.Start).Hours()
	if g.LargestHole < 0 || g.LargestHole > nodes {
		return nil, impossible("LargestHole", g.LargestHole, fmt.Sprintf("between 0 and %d nodes", nodes))
	}
	if math.IsNaN(g.BigWait) || g.BigWait < 0 || g.BigWait > most {
		return nil, impossible("BigWait", g.BigWait, fmt.Sprintf("between 0 and %v hours", most))
	}
	is := r.At(l.Window.Start - fleet.Resolution)
	return []Gap{
		{fmt.Sprintf("largest hole when the big job arrives, at %s", fleet.FormatDuration(l.Window.Start)), "nodes", float64(g.LargestHole), float64(is.LargestHole)},
		{"wait of the big job" + soFar(l), "hours", g.BigWait, l.BigWait.Round(time.Minute).Hours()},
	}, nil
}

// impossible is the error of a field whose value cannot be right.
func impossible(field string, value any, want string) error {
	return fmt.Errorf("%s %v: must be %s: %w", field, value, want, ErrPrediction)
}

func soFar(l fleet.Ledger) string {
	if l.BigStart == fleet.Never {
		return " (it never started)"
	}
	return ""
}
