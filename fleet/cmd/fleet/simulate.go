package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/checkpoint"
	"github.com/fleetlab/fleetlab/fleet/elastic"
	"github.com/fleetlab/fleetlab/fleet/failure"
	"github.com/fleetlab/fleetlab/fleet/scenario"
)

// The names of the levers' positions on the command line.
var (
	policyNames   = []string{"fcfs", "best-fit", "preemption", "easy"}
	policies      = []fleet.Policy{fleet.FCFS, fleet.BestFit, fleet.Preemption, fleet.EASY}
	rescaleNames  = []string{"restart", "wait", "drop", "reshard"}
	rescalers     = []elastic.Rescaler{elastic.Restart, elastic.WaitForSpare, elastic.DropReplicas, elastic.Reshard}
	scenarioNames = []string{"fragmented", "gamble", "rescale"}
	scenarios     = []func(fleet.Config) fleet.Config{scenario.Fragmented, scenario.Gamble, scenario.Rescaled}
)

const simulateIntro = `Simulates one act of the lab and prints its ledger.

  fragmented  Act I: 10,000 GPUs full of student jobs, and a gang of 1,000 that finds no hole
  gamble      Act II: a training job on 16,384 GPUs, with 512 spare ones, for 54 days and with the failures of Llama 3
  rescale     Act III: ten nodes of that job fail at once`

func simulate(args []string) (report, error) {
	c := fleet.Default()
	f := newFlags("simulate", simulateIntro)
	act := f.choice("scenario", scenarioNames, "fragmented", "which act")
	policy := f.choice("policy", policyNames, "fcfs", "scheduling policy (fragmented)")
	f.BoolVar(&c.Preempt, "preempt", false, "the big job may kill small ones (fragmented)")
	f.BoolVar(&c.Defrag, "defrag", false, "stop the world and migrate jobs when a gang finds no hole (fragmented)")
	f.duration(&c.Grace, "grace", 0, time.Hour, "how long an evicted job runs on (fragmented)")
	f.duration(&c.Exempt, "exempt", 0, 7*24*time.Hour, "nobody is evicted who has run for less (fragmented)")
	rescale := f.choice("rescale", rescaleNames, "restart", "what the training job does about lost nodes (gamble, rescale)")
	f.duration(&c.Checkpoint, "checkpoint", time.Minute, 24*time.Hour, "useful work between two checkpoints")
	f.duration(&c.Horizon, "horizon", time.Second, 31*24*time.Hour, "how long is simulated (fragmented, rescale); gamble takes 54 days")
	f.real(&c.RateUSD, "rate", 0, 1000, "dollars for one GPU for one hour")
	f.seed(&c.Seed, "from which jobs and faults are drawn (fragmented, gamble)")
	log := f.Bool("log", false, "print the consequence log too")
	if err := f.parse(args); err != nil {
		return report{}, err
	}
	why, useless := "act I has no training job", []string{"rescale"}
	if *act > 0 {
		why, useless = "it is of no use to the only job of acts II and III", []string{"policy", "preempt", "defrag", "grace", "exempt"}
	}
	if err := f.useless(why, useless...); err != nil {
		return report{}, err
	}
	if scenarioNames[*act] == "gamble" {
		if err := f.useless("act II takes 54 days", "horizon"); err != nil {
			return report{}, err
		}
	}
	c.Policy, c.Rescale = policies[*policy], rescalers[*rescale]
	set := scenarios[*act]
	run, err := fleet.Simulate(set(c))
	if err != nil {
		return report{}, err
	}
	r := f.report(ledgerFields(scenarioNames[*act], run))
	r.notes = legend(run)
	if *log {
		var rows []fields
		for _, i := range run.Incidents {
			rows = append(rows, fields{{"id", i.ID}, {"at_s", seconds(i.At)}, {"kind", i.Kind.String()}, {"text", i.Text}})
		}
		r.fields.add("incidents", rows)
	}
	return r, nil
}

// ledgerFields is the ledger of a run as figures.
func ledgerFields(act string, run *fleet.Run) fields {
	c, l := run.Config, run.Ledger()
	var f fields
	f.add("scenario", act)
	f.add("policy", policyNames[slices.IndexFunc(policies, func(p fleet.Policy) bool { return fleet.PolicyName(p) == fleet.PolicyName(c.Policy) })])
	f.add("seed", c.Seed)
	f.add("gpus", c.Topology.GPUs())
	f.add("jobs", len(c.Jobs))
	f.add("window_s", seconds(l.Window.End-l.Window.Start))
	f.add("checkpoint_s", seconds(c.Checkpoint))
	f.add("goodput", l.Goodput)
	f.add("goodput_met", l.GoodputMet())
	f.add("cluster_mfu", l.ClusterMFU)
	f.add("fragmentation", l.Fragmentation)
	f.add("fragmentation_met", l.FragmentationMet())
	f.add("fgd_of_idle", l.FGDOfIdle)
	f.add("fgd_of_total", l.FGDOfTotal)
	f.add("sla_met", l.SLAMet)
	there := arrived(&c)
	f.add("big_wait_s", orNone(there, seconds(l.BigWait)))
	f.add("big_started", orNone(there, l.BigStart != fleet.Never))
	f.add("student_wait_median_s", seconds(l.StudentMedian))
	f.add("student_wait_p95_s", seconds(l.StudentP95))
	f.add("cost_per_hour_usd", l.CostPerHourUSD)
	f.add("cost_usd", l.CostUSD)
	f.add("waste_usd", l.WasteUSD)
	f.add("failures", l.Failures)
	f.add("mtbf_s", orNone(l.Failures > 0, seconds(l.MTBF)))
	f.add("evictions", l.Evictions)
	f.add("migrations", l.Migrations)
	f.add("price_gpu_h", l.Price.Total().Hours())
	f.add("price_usd", l.Price.USD)
	var parts fields
	for p, g := range l.Split {
		parts.add(fleet.Part(p).String(), g.Hours())
	}
	f.add("gpu_hours", parts)
	if l.Training.Window.End > 0 {
		f.add("training", trainingFields(l.Training))
	}
	return f
}

// arrived tells whether the watched job arrives before the horizon.
func arrived(c *fleet.Config) bool {
	return slices.ContainsFunc(c.Jobs, func(j fleet.Job) bool { return j.ID == c.Big && j.Arrival < c.Horizon })
}

// legend explains the figures.
func legend(run *fleet.Run) []string {
	l := run.Ledger()
	sla := run.Config.SLA
	return []string{
		fmt.Sprintf("window: %s to %s of the run, from the arrival of the watched (big) job to the horizon", fleet.FormatDuration(l.Window.Start), fleet.FormatDuration(l.Window.End)),
		fmt.Sprintf("met: goodput above %.0f %%; fragmentation below %.0f %%; SLA, the big job started within %s and 95 %% of the others waited at most %s",
			100*fleet.GoodputFloor, 100*fleet.FragmentationLimit, fleet.FormatDuration(sla.Start), fleet.FormatDuration(sla.Wait)),
		"goodput: " + l.GoodputDefinition().Formula,
		"fragmentation: " + fleet.DefFragmentation.Formula,
		"fgd: " + fleet.DefFGD.Formula,
		"price: what evictions and migrations took from the jobs that ran: lost work, restarts, pause and slower running",
	}
}

func trainingFields(t fleet.TrainingLedger) fields {
	return fields{
		{"window_s", seconds(t.Window.End - t.Window.Start)},
		{"goodput", t.Goodput},
		{"mfu", t.MFU},
		{"work_s", seconds(t.Work)},
		{"tokens", t.Tokens},
		{"tokens_per_s", t.TokensPerSecond},
		{"crashes", t.Crashes},
		{"rescales", t.Rescales},
		{"waits", t.Waits},
		{"useful_gpu_h", t.Split[fleet.Useful].Hours()},
		{"checkpoint_gpu_h", t.Split[fleet.Checkpoint].Hours()},
		{"rework_gpu_h", t.Split[fleet.Rework].Hours()},
		{"detect_gpu_h", t.Detect.Hours()},
		{"reschedule_gpu_h", t.Reschedule.Hours()},
		{"load_gpu_h", t.Load.Hours()},
		{"warm_up_gpu_h", t.WarmUp.Hours()},
		{"stall_gpu_h", t.Stall.Hours()},
		{"stranded_gpu_h", t.Split[fleet.Stranded].Hours()},
		{"lacking_gpu_h", t.Lacking.Hours()},
	}
}

// orNone is the value if there is one, else nil.
func orNone(some bool, value any) any {
	if some {
		return value
	}
	return nil
}

// isBadInput tells whether an error is the user's input, not a file or the program.
func isBadInput(err error) bool {
	for _, kind := range []error{fleet.ErrConfig, checkpoint.ErrModel, elastic.ErrGeometry, failure.ErrModel} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// days is a number of days as a time.
func days(n float64) time.Duration { return time.Duration(n * 24 * float64(time.Hour)) }
