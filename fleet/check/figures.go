package check

import (
	"time"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/facts"
	"github.com/fleetlab/fleetlab/fleet/memo"
)

// This file says which figures the rationale of each act has to cite, with the values of the student's own run.

// The ways to say what was decided in Act I.
var (
	killing   = []string{"kill", "evict", "preempt"}
	migrating = []string{"migrat", "defrag", "stop the world", "stop-the-world"}
	waiting   = []string{"wait", "neither", "do nothing"}
)

// ActIFigures is what the rationale of Act I has to cite: the decision that was taken in the run, and what it cost.
func ActIFigures(run *fleet.Run) []Required {
	if run == nil {
		return nil
	}
	l := run.Ledger()
	decision := Required{Figure: memo.Figure{Name: "decision", Text: "wait"}, Words: waiting, Not: append(append([]string{}, killing...), migrating...)}
	switch {
	case l.Evictions > 0 && l.Migrations > 0:
		decision = Required{Figure: memo.Figure{Name: "decision", Text: "kill and migrate"}, Words: append(append([]string{}, killing...), migrating...)}
	case l.Evictions > 0:
		decision = Required{Figure: memo.Figure{Name: "decision", Text: "kill"}, Words: killing, Not: migrating}
	case l.Migrations > 0:
		decision = Required{Figure: memo.Figure{Name: "decision", Text: "migrate"}, Words: migrating, Not: killing}
	}
	most := max(l.Price.Lost, l.Price.Restarts, l.Price.Pause, l.Price.Tax)
	return of(run,
		decision,
		Required{Figure: memo.Figure{Name: "price, or its largest part", Value: l.Price.Total().Hours(), Unit: "GPU-h"}, Or: []float64{most.Hours()}},
		Required{Figure: memo.Figure{Name: "price in dollars", Value: l.Price.USD, Unit: "$"}},
	)
}

// ActIIFigures is what the rationale of Act II has to cite: the time between failures and the interval that was chosen. Right are the
// MTBF that the run met, the one of the Llama 3 log, from which its failures are drawn, and the 3 h that the lab's text rounds it to.
func ActIIFigures(run *fleet.Run) []Required {
	if run == nil {
		return nil
	}
	tau, unit := run.Config.Checkpoint.Minutes(), "min"
	if run.Config.Checkpoint >= 2*time.Hour {
		tau, unit = run.Config.Checkpoint.Hours(), "h"
	}
	return of(run,
		Required{
			Figure: memo.Figure{Name: "MTBF", Value: run.Ledger().MTBF.Hours(), Unit: "h"}, Or: []float64{facts.Llama3MTBF().Hours(), 3},
			Words: []string{"mtbf", "mttf", "time between failures", "time to failure", "a failure every", "failures every", "fails every", "failure each"},
		},
		Required{
			Figure: memo.Figure{Name: "checkpoint interval", Value: tau, Unit: unit},
			Words:  []string{"interval", "checkpoint", "τ", "tau", "write every", "save every"},
		},
	)
}

// ActIIIFigures is what the rationale of Act III has to cite: what the ring was made to do, and what it cost.
func ActIIIFigures(run *fleet.Run) []Required {
	if run == nil {
		return nil
	}
	words := map[string][2][]string{
		"Restart from checkpoint": {{"restart", "crash"}, {"drop", "re-shard", "reshard", "wait for"}},
		"Wait for spares":         {{"wait", "spare"}, {"drop", "re-shard", "reshard", "restart"}},
		"Drop broken replicas":    {{"drop"}, {"re-shard", "reshard", "restart", "wait for"}},
		"Re-shard onto survivors": {{"re-shard", "reshard"}, {"drop", "restart", "wait for"}},
	}
	name := fleet.RescalerName(run.Config.Rescale)
	w := words[name]
	l := run.Ledger()
	asked := (l.Training.Split.Total() + l.Training.Lacking).Hours()
	return of(run,
		Required{Figure: memo.Figure{Name: "decision", Text: name}, Words: w[0], Not: w[1]},
		Required{Figure: memo.Figure{Name: "cost: GPU-time that did nothing useful", Value: asked * (1 - l.Goodput), Unit: "GPU-h"}},
		Required{Figure: memo.Figure{Name: "goodput", Value: 100 * l.Goodput, Unit: "%"}, Words: []string{"goodput", "useful"}},
	)
}

// of says which run figures come from.
func of(run *fleet.Run, required ...Required) []Required {
	name := memo.Fingerprint(run.Config)
	for i := range required {
		required[i].Run = name
	}
	return required
}

// Figures is the figures alone, for a memo to cite.
func Figures(required []Required) []memo.Figure {
	figures := make([]memo.Figure, len(required))
	for i, r := range required {
		figures[i] = r.Figure
	}
	return figures
}
