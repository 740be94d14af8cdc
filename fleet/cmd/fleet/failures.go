package main

import (
	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/facts"
	"github.com/fleetlab/fleetlab/fleet/failure"
)

const failuresIntro = `Draws what breaks in a fleet, and counts it by cause over several seeds.

  llama3  causes and rate of the Llama 3 log: 419 unexpected interruptions of 2,048 nodes in 54 days
  rsc1    6.50 node failures per 1,000 node-days (Meta's RSC-1), with Llama 3's mix of hardware causes
  rsc2    2.34 (Meta's RSC-2)`

func failures(args []string) (report, error) {
	f := newFlags("failures", failuresIntro)
	preset := f.String("preset", "llama3", "causes and rate (`name`): llama3, rsc1 or rsc2")
	nodes := f.Int("nodes", facts.Llama3Nodes, "nodes of 8 GPUs (`number`), 1 to 25000")
	length := f.Float64("days", facts.Llama3Window.Hours()/24, "`days` for which faults are drawn, up to 400")
	seeds := f.Int("seeds", 6, "how many seeds (`number`), 2 to 10000")
	seed := f.Uint64("seed", 0, "the first of them (`number`)")
	shape := f.Float64("shape", 1, "Weibull shape of the gaps of one node (`number`), 0.3 to 10: 1 is exponential, below 1 the hazard falls")
	if err := f.parse(args); err != nil {
		return report{}, err
	}
	if *nodes < 1 || *nodes > 25_000 {
		return report{}, usage("--nodes %d: must be between 1 and 25000", *nodes)
	}
	if !(*length > 0 && *length <= 400) {
		return report{}, usage("--days %v: must be above 0 and at most 400", *length)
	}
	topology := fleet.Topology{Pods: 1, RacksPerPod: 1, NodesPerRack: *nodes, GPUsPerNode: 8}
	models := []failure.Model{failure.Llama3(topology), failure.Meta(topology, facts.MetaRSC1Failures.Value), failure.Meta(topology, facts.MetaRSC2Failures.Value)}
	m, err := oneOf("preset", *preset, []string{"llama3", "rsc1", "rsc2"}, models)
	if err != nil {
		return report{}, err
	}
	m.Horizon, m.Seed, m.Shape = days(*length), *seed, *shape
	s, err := m.Summarize(*seeds)
	if err != nil {
		return report{}, err
	}
	r := report{json: f.format == "json", fields: fields{
		{"preset", *preset},
		{"nodes", *nodes},
		{"days", *length},
		{"seeds", s.Seeds},
		{"total", s.Total.Mean},
		{"total_low", s.Total.Low},
		{"total_high", s.Total.High},
		{"mtbf_s", orNone(s.MTBF > 0, seconds(s.MTBF))},
		{"mtbf_expected_s", seconds(m.MTBF())},
	}}
	var rows []fields
	for _, c := range s.ByCause {
		rows = append(rows, fields{{"cause", c.Cause}, {"mean", c.Count.Mean}, {"low", c.Count.Low}, {"high", c.Count.High}, {"share", c.Share}})
	}
	r.fields.add("counts", rows)
	r.notes = []string{"total and counts: mean over the seeds, with the 99 % confidence interval from low to high"}
	return r, nil
}
