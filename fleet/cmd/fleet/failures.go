package main

import (
	"fmt"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/facts"
	"github.com/fleetlab/fleetlab/fleet/failure"
)

const failuresIntro = `Draws what breaks in a fleet, and counts it by cause over several seeds.

  llama3  causes and rate of the Llama 3 log: 419 unexpected interruptions of 2,048 nodes in 54 days
  rsc1    6.50 node failures per 1,000 node-days (Meta's RSC-1), with Llama 3's mix of hardware causes
  rsc2    2.34 (Meta's RSC-2)`

var presets = []string{"llama3", "rsc1", "rsc2"}

func failures(args []string) (report, error) {
	f := newFlags("failures", failuresIntro)
	nodes, length, seeds, seed, shape := facts.Llama3Nodes, facts.Llama3Window.Hours()/24, 6, uint64(0), 1.0
	preset := f.choice("preset", presets, "llama3", "causes and rate")
	f.count(&nodes, "nodes", 1, 25_000, "nodes of 8 GPUs")
	f.real(&length, "days", 0.001, 400, "days for which faults are drawn")
	f.count(&seeds, "seeds", 2, 10_000, "how many seeds; with many nodes and days fewer, for 5000000 faults at most")
	f.seed(&seed, "the first seed")
	f.real(&shape, "shape", 0.3, 10, "Weibull shape of the gaps of one node, 1 is exponential, below 1 the hazard falls")
	if err := f.parse(args); err != nil {
		return report{}, err
	}
	topology := fleet.Topology{Pods: 1, RacksPerPod: 1, NodesPerRack: nodes, GPUsPerNode: 8}
	models := []failure.Model{failure.Llama3(topology), failure.Meta(topology, facts.MetaRSC1Failures.Value), failure.Meta(topology, facts.MetaRSC2Failures.Value)}
	m := models[*preset]
	m.Horizon, m.Seed, m.Shape = days(length), seed, shape
	s, err := m.Summarize(seeds)
	if err != nil {
		return report{}, fmt.Errorf("--%w", err) // too many seeds
	}
	r := f.report(fields{
		{"preset", presets[*preset]},
		{"nodes", nodes},
		{"days", length},
		{"shape", shape},
		{"seeds", s.Seeds},
		{"first_seed", seed},
		{"total", s.Total.Mean},
		{"total_low", s.Total.Low},
		{"total_high", s.Total.High},
		{"mtbf_s", orNone(s.MTBF > 0, seconds(s.MTBF))},
		{"mtbf_expected_s", seconds(m.MTBF())},
	})
	var rows []fields
	for _, c := range s.ByCause {
		rows = append(rows, fields{{"cause", c.Cause}, {"mean", c.Count.Mean}, {"low", c.Count.Low}, {"high", c.Count.High}, {"share", c.Share}})
	}
	r.fields.add("counts", rows)
	r.notes = []string{"total and counts: mean over the seeds, with the 99 % confidence interval from low to high (Student's t, or a Poisson count's where all seeds agree)"}
	return r, nil
}
