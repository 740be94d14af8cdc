package widgets

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/elastic"
)

// steps are the checkpoint intervals that every cockpit offers; the run's own value joins them.
var steps = []time.Duration{
	time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// grid is every setting of the levers that a cockpit offers. A lever on which nothing depends has one position.
type grid struct {
	Policies   []lever
	Switches   int // positions of each of the two switches: 2, or 1 if they stand still
	Strategies []strategy
	Taus       []time.Duration
	Settings   []setting
	Index      []int // by lever positions, see at; -1 for a setting that does not exist
	Initial    int   // the run's own setting
	Cut        bool  // it would have taken too long to simulate more
	own        fleet.Config
}

// lever is one choice of policy.
type lever struct {
	Name    string
	Code    string // the Go expression, "" for a policy of the notebook's own
	Implies bool   // it preempts by itself, so the switch is on
	Only    int    // position of the one checkpoint interval that it is offered at, -1 for all
	policy  fleet.Policy
}

// strategy is one choice of what training jobs do about lost nodes.
type strategy struct {
	Name     string
	Code     string // as in lever
	rescaler elastic.Rescaler
}

// setting is one position of all levers.
type setting struct {
	Policy, Preempt, Defrag, Strategy, Tau int // positions; the switches are 0 or 1
	config                                 fleet.Config
}

// policies are those that every cockpit with more than one job offers.
var policies = []lever{
	{Name: "FCFS", Code: "fleet.FCFS", policy: fleet.FCFS},
	{Name: "Best-Fit", Code: "fleet.BestFit", policy: fleet.BestFit},
	{Name: "EASY", Code: "fleet.EASY", policy: fleet.EASY},
	{Name: "Preemption", Code: "fleet.Preemption", policy: fleet.Preemption},
}

// strategies are those that every cockpit with a training job offers.
var strategies = []strategy{
	{"Restart", "elastic.Restart", elastic.Restart},
	{"Wait for spares", "elastic.WaitForSpare", elastic.WaitForSpare},
	{"Drop replicas", "elastic.DropReplicas", elastic.DropReplicas},
	{"Re-shard", "elastic.Reshard", elastic.Reshard},
}

// gridOf is the levers' grid around a configuration.
func gridOf(c fleet.Config) grid {
	g := grid{own: c, Switches: 2, Taus: slices.Clone(steps)}
	if !slices.Contains(g.Taus, c.Checkpoint) {
		g.Taus = append(g.Taus, c.Checkpoint)
		slices.SortFunc(g.Taus, cmp.Compare[time.Duration])
	}
	ownLever, ownPlan := 0, 0
	g.Policies, ownLever = leversFor(c)
	g.Strategies, ownPlan = strategiesFor(c)
	if len(c.Jobs) == 1 && c.Jobs[0].Train != nil { // it has the fleet for itself: nothing to schedule
		g.Policies, g.Switches = g.Policies[ownLever:ownLever+1], 1
		ownLever = 0
	}
	g.economise(&ownLever, &ownPlan)
	for p := range g.Policies {
		l := &g.Policies[p]
		l.Implies, l.Only = fleet.Preempts(l.policy), -1
		if l.Code == "" {
			l.Only = slices.Index(g.Taus, c.Checkpoint)
		}
		for preempt := range g.Switches {
			for defrag := range g.Switches {
				for plan := range g.Strategies {
					for tau := range g.Taus {
						g.add(setting{Policy: p, Preempt: preempt, Defrag: defrag, Strategy: plan, Tau: tau})
					}
				}
			}
		}
	}
	preempt, defrag := bit(c.Preempt || g.Policies[ownLever].Implies), bit(c.Defrag)
	if g.Switches == 1 {
		preempt, defrag = 0, 0
	}
	g.Initial = g.at(ownLever, preempt, defrag, ownPlan, slices.Index(g.Taus, c.Checkpoint))
	return g
}

// leversFor is the choices of policy, and which of them is the config's own.
func leversFor(c fleet.Config) (list []lever, own int) {
	list = slices.Clone(policies)
	own = slices.IndexFunc(list, func(l lever) bool { return samePolicy(l.policy, c.Policy) })
	if own < 0 {
		own = len(list)
		list = append(list, ownPolicy(c.Policy))
	}
	return list, own
}

// strategiesFor is the choices of strategy, and which of them is the config's own. Without a training job there is nothing to choose.
func strategiesFor(c fleet.Config) (list []strategy, own int) {
	mine := strategy{fleet.RescalerName(c.Rescale), "", c.Rescale}
	if !slices.ContainsFunc(c.Jobs, func(j fleet.Job) bool { return j.Train != nil }) {
		return []strategy{mine}, 0
	}
	list = slices.Clone(strategies)
	for i, s := range list {
		if same(s.rescaler, c.Rescale) {
			return list, i
		}
	}
	mine.Name = ownName(mine.Name, func(s string) bool {
		return slices.ContainsFunc(list, func(x strategy) bool { return x.Name == s || fleet.RescalerName(x.rescaler) == s })
	})
	return append(list, mine), len(list)
}

// same compares two rescalers, of which one's own may be of a type that cannot be compared.
func same(a, b elastic.Rescaler) (equal bool) {
	defer func() { _ = recover() }()
	return a == b
}

// mostWork is how much a grid may take to simulate: about ten seconds of one core, in microseconds.
const mostWork = 10_000_000

// mostJobs bounds what travels: so many jobs, over all settings.
const mostJobs = 2_500_000

// work is about how many microseconds a run takes. It is a count and no measurement, so that the same run always gives the same grid.
func work(c *fleet.Config) int {
	perFault := 1
	for _, j := range c.Jobs {
		if j.Train != nil {
			perFault = max(perFault, c.Topology.NodesFor(j.GPUs)/8)
		}
	}
	return len(c.Jobs) + perFault*len(c.Faults) + 1
}

// economise leaves levers out, from the one that teaches least, until the grid takes no longer than it may.
func (g *grid) economise(policy, plan *int) {
	fits := func() bool {
		n := len(g.Policies) * g.Switches * g.Switches * len(g.Strategies) * len(g.Taus)
		return n == 1 || n*work(&g.own) <= mostWork && n*len(g.own.Jobs) <= mostJobs
	}
	for _, cut := range []func(){
		func() {
			if g.Switches == 2 {
				g.Strategies, *plan = g.Strategies[*plan:*plan+1], 0
			}
		},
		func() { g.Taus = []time.Duration{g.own.Checkpoint} },
		func() { g.Switches = 1 },
		func() { g.Policies, *policy = g.Policies[*policy:*policy+1], 0 },
		func() { g.Strategies, *plan = g.Strategies[*plan:*plan+1], 0 },
	} {
		if fits() {
			return
		}
		g.Cut = true
		cut()
	}
}

// add puts a setting into the grid, unless its policy preempts anyway and the switch is off. A policy from the notebook may take
// seconds for a run, so it is offered at the run's own checkpoint interval only.
func (g *grid) add(s setting) {
	l := g.Policies[s.Policy]
	if g.Switches == 2 && l.Implies && s.Preempt == 0 || l.Only >= 0 && l.Only != s.Tau {
		g.Index = append(g.Index, -1)
		return
	}
	s.config = g.own
	s.config.Policy, s.config.Rescale, s.config.Checkpoint = l.policy, g.Strategies[s.Strategy].rescaler, g.Taus[s.Tau]
	if g.Switches == 2 {
		s.config.Preempt, s.config.Defrag = s.Preempt == 1, s.Defrag == 1
	}
	g.Index = append(g.Index, len(g.Settings))
	g.Settings = append(g.Settings, s)
}

// at is the number of a setting.
func (g *grid) at(policy, preempt, defrag, strategy, tau int) int {
	return g.Index[(((policy*g.Switches+preempt)*g.Switches+defrag)*len(g.Strategies)+strategy)*len(g.Taus)+tau]
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

// ownPolicy is the last choice: a policy from the notebook, under its own name.
func ownPolicy(p fleet.Policy) lever {
	name := ownName(fleet.PolicyName(p), func(s string) bool {
		return slices.ContainsFunc(policies, func(l lever) bool { return l.Name == s })
	})
	return lever{Name: name, policy: p}
}

// ownName is a name from the notebook, short enough for a lever and unlike those that are taken.
func ownName(name string, taken func(string) bool) string {
	name = strings.TrimPrefix(strings.TrimPrefix(name, "*"), "main.")
	if len([]rune(name)) > 24 {
		name = string([]rune(name)[:23]) + "…"
	}
	if name == "" || taken(name) {
		name += " (yours)"
	}
	return name
}

func bit(on bool) int {
	if on {
		return 1
	}
	return 0
}
