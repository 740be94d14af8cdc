package widgets

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
)

// steps are the checkpoint intervals that every cockpit offers; the run's own value joins them.
var steps = []time.Duration{
	time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// grid is every setting of the levers that a cockpit offers.
type grid struct {
	Policies []lever
	Taus     []time.Duration
	Settings []setting
	Index    []int // by lever positions, see at; -1 for a setting that does not exist
	Initial  int   // the run's own setting
}

// lever is one choice of policy.
type lever struct {
	Name    string
	Code    string // the Go expression, "" for a policy of the notebook's own
	Implies bool   // it preempts by itself, so the switch is on
	Only    int    // position of the one checkpoint interval that it is offered at, -1 for all
	policy  fleet.Policy
}

// setting is one position of all levers.
type setting struct {
	Policy, Preempt, Defrag, Tau int // positions; the switches are 0 or 1
	config                       fleet.Config
}

// gridOf is the levers' grid around a configuration.
func gridOf(c fleet.Config) grid {
	g := grid{
		Policies: []lever{
			{Name: "FCFS", Code: "fleet.FCFS", policy: fleet.FCFS},
			{Name: "Best-Fit", Code: "fleet.BestFit", policy: fleet.BestFit},
			{Name: "Preemption", Code: "fleet.Preemption", policy: fleet.Preemption},
		},
		Taus: slices.Clone(steps),
	}
	own := slices.IndexFunc(g.Policies, func(l lever) bool { return samePolicy(l.policy, c.Policy) })
	if own < 0 {
		own = len(g.Policies)
		g.Policies = append(g.Policies, ownPolicy(c.Policy))
	}
	if !slices.Contains(g.Taus, c.Checkpoint) {
		g.Taus = append(g.Taus, c.Checkpoint)
		slices.SortFunc(g.Taus, cmp.Compare[time.Duration])
	}
	for p := range g.Policies {
		g.Policies[p].Implies, g.Policies[p].Only = fleet.Preempts(g.Policies[p].policy), -1
		if p == 3 {
			g.Policies[p].Only = slices.Index(g.Taus, c.Checkpoint)
		}
		for preempt := range 2 {
			for defrag := range 2 {
				for tau := range g.Taus {
					g.add(c, setting{Policy: p, Preempt: preempt, Defrag: defrag, Tau: tau})
				}
			}
		}
	}
	preempt := c.Preempt || g.Policies[own].Implies
	g.Initial = g.at(own, bit(preempt), bit(c.Defrag), slices.Index(g.Taus, c.Checkpoint))
	return g
}

// add puts a setting into the grid, unless its policy preempts anyway and the switch is off. A policy from the notebook may take
// seconds for a run, so it is offered at the run's own checkpoint interval only.
func (g *grid) add(c fleet.Config, s setting) {
	l := g.Policies[s.Policy]
	if l.Implies && s.Preempt == 0 || l.Only >= 0 && l.Only != s.Tau {
		g.Index = append(g.Index, -1)
		return
	}
	s.config = c
	s.config.Policy = g.Policies[s.Policy].policy
	s.config.Preempt = s.Preempt == 1
	s.config.Defrag = s.Defrag == 1
	s.config.Checkpoint = g.Taus[s.Tau]
	g.Index = append(g.Index, len(g.Settings))
	g.Settings = append(g.Settings, s)
}

// at is the number of a setting.
func (g *grid) at(policy, preempt, defrag, tau int) int {
	return g.Index[((policy*2+preempt)*2+defrag)*len(g.Taus)+tau]
}

func (g *grid) configs() []fleet.Config {
	out := make([]fleet.Config, len(g.Settings))
	for i, s := range g.Settings {
		out[i] = s.config
	}
	return out
}

// samePolicy compares by what is printed: two policies of a type that holds functions cannot be compared with ==.
func samePolicy(a, b fleet.Policy) bool { return fmt.Sprintf("%#v", a) == fmt.Sprintf("%#v", b) }

// ownPolicy is the fourth choice: a policy from the notebook, under its own name.
func ownPolicy(p fleet.Policy) lever {
	name := strings.TrimPrefix(strings.TrimPrefix(fleet.PolicyName(p), "*"), "main.")
	if len([]rune(name)) > 24 {
		name = string([]rune(name)[:23]) + "…"
	}
	if name == "FCFS" || name == "Best-Fit" || name == "Preemption" || name == "" {
		name += " (yours)"
	}
	return lever{Name: name, policy: p}
}

func bit(on bool) int {
	if on {
		return 1
	}
	return 0
}
