package fleet_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/fleetlab/fleetlab/fleet"
)

// The queue waits of single-GPU jobs under FCFS agree with theory: Erlang C for exponential service on c GPUs, Pollaczek–Khinchine for
// general service on one. Each row is replicated with independent seeds, the first tenth of each replication is dropped, and the
// exact mean must lie in the 99 % confidence interval (Student's t) of the replications' means.
//
// 28 rows at 99 % would miss one time in four if the seeds were drawn anew each time; they are fixed, and a miss would be looked at, not
// seeded away.

const replications = 24

// queueConfig is a queue with servers GPUs at this utilization.
func queueConfig(servers int, utilization, mean float64, jobs int, service func() float64, src rand.Source) fleet.Config {
	c := fleet.Default()
	c.Topology = fleet.Topology{Pods: 1, RacksPerPod: 1, NodesPerRack: (servers + 7) / 8, GPUsPerNode: min(servers, 8)}
	gap := distuv.Exponential{Rate: float64(servers) * utilization / mean, Src: src}
	var at float64
	c.Jobs = make([]fleet.Job, jobs)
	for i := range c.Jobs {
		at += gap.Rand()
		c.Jobs[i] = fleet.Job{
			ID: i + 1, GPUs: 1, Arrival: time.Duration(at * float64(time.Second)),
			Work: max(fleet.Resolution, time.Duration(service()*float64(time.Second))),
		}
	}
	c.Horizon = min(c.Jobs[jobs-1].Arrival+time.Hour, 400*24*time.Hour)
	return c
}

// meanWait is the mean wait in seconds after warm-up of one replication. Time is scaled down so that a long queue fits the horizon.
func meanWait(t *testing.T, c fleet.Config) float64 {
	t.Helper()
	r := simulate(t, c)
	var waits []float64
	for i, q := range r.Queue {
		if i >= len(r.Queue)/10 && c.Jobs[i].Arrival < c.Horizon {
			waits = append(waits, q.Wait.Seconds())
		}
	}
	return stat.Mean(waits, nil)
}

func checkInterval(t *testing.T, means []float64, want float64) {
	t.Helper()
	mean, sd := stat.MeanStdDev(means, nil)
	n := float64(len(means))
	half := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.995) * sd / math.Sqrt(n)
	t.Logf("mean wait %.2f ± %.2f s, exact %.2f s", mean, half, want)
	if math.Abs(mean-want) > max(half, 0.05) { // where nobody ever waits the interval has no width: 0.05 s
		t.Errorf("mean wait %.2f s is not within ± %.2f s of the exact %.2f s", mean, half, want)
	}
	if want > 10 && half > want/3 {
		t.Errorf("± %.2f s says little about %.2f s: simulate more jobs", half, want)
	}
}

func oracle(t *testing.T, v any) {
	t.Helper()
	raw, err := os.ReadFile("testdata/queues.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, v); err != nil {
		t.Fatal(err)
	}
}

func TestErlangC(t *testing.T) {
	var o struct {
		MMC []struct {
			Servers     int     `json:"servers"`
			Utilization float64 `json:"utilization"`
			Mean        float64 `json:"mean_service_s"`
			Wait        float64 `json:"mean_wait_s"`
		} `json:"mmc"`
	}
	oracle(t, &o)
	if len(o.MMC) != 16 {
		t.Fatalf("%d rows", len(o.MMC))
	}
	for row, q := range o.MMC {
		t.Run(fmt.Sprintf("M/M/%d at %g", q.Servers, q.Utilization), func(t *testing.T) {
			t.Parallel()
			checkInterval(t, replicate(t, q.Servers, q.Utilization, q.Mean, row, func(src rand.Source) func() float64 {
				return distuv.Exponential{Rate: scale / q.Mean, Src: src}.Rand
			}), q.Wait)
		})
	}
}

func TestPollaczekKhinchine(t *testing.T) {
	var o struct {
		MG1 []struct {
			Utilization float64 `json:"utilization"`
			CS2         float64 `json:"cs2"`
			Mean        float64 `json:"mean_service_s"`
			Wait        float64 `json:"mean_wait_s"`
		} `json:"mg1"`
	}
	oracle(t, &o)
	if len(o.MG1) != 12 {
		t.Fatalf("%d rows", len(o.MG1))
	}
	for row, q := range o.MG1 {
		t.Run(fmt.Sprintf("M/G/1 at %g with cs2 %g", q.Utilization, q.CS2), func(t *testing.T) {
			t.Parallel()
			checkInterval(t, replicate(t, 1, q.Utilization, q.Mean, 100+row, func(src rand.Source) func() float64 {
				return service(q.Mean/scale, q.CS2, src)
			}), q.Wait)
		})
	}
}

// scale speeds the whole queue up, waits included, so that enough jobs fit before the longest horizon.
const scale = 60.0

// replicate returns the mean wait of each replication, scaled back.
func replicate(t *testing.T, servers int, utilization, mean float64, row int, draw func(rand.Source) func() float64) []float64 {
	jobs := 25_000
	if utilization > 0.85 {
		jobs = 120_000
	}
	means := make([]float64, replications)
	for k := range means {
		seed := uint64(row*1000 + k)
		c := queueConfig(servers, utilization, mean/scale, jobs, draw(rand.NewPCG(seed, 1)), rand.NewPCG(seed, 2))
		means[k] = meanWait(t, c) * scale
	}
	return means
}

// service draws times with this mean and squared coefficient of variation: constant, exponential, or hyperexponential with balanced
// means (two phases, each with half of the load).
func service(mean, cs2 float64, src rand.Source) func() float64 {
	switch cs2 {
	case 0:
		return func() float64 { return mean }
	case 1:
		return distuv.Exponential{Rate: 1 / mean, Src: src}.Rand
	}
	p := (1 + math.Sqrt((cs2-1)/(cs2+1))) / 2
	fast, slow := distuv.Exponential{Rate: 2 * p / mean, Src: src}, distuv.Exponential{Rate: 2 * (1 - p) / mean, Src: src}
	pick := rand.New(src)
	return func() float64 {
		if pick.Float64() < p {
			return fast.Rand()
		}
		return slow.Rand()
	}
}
