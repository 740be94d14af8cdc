package facts_test

import (
	"math"
	"testing"

	"github.com/fleetlab/fleetlab/fleet/facts"
)

func TestLlama3TableAddsUp(t *testing.T) {
	sum, hardware := 0, 0
	for _, i := range facts.Llama3Interruptions {
		sum += i.Count
		if i.Component == "GPU" || i.Component == "Host" || i.Component == "Network" || i.Component == "Unplanned maintenance" {
			hardware += i.Count
		}
	}
	if sum != 419 {
		t.Errorf("%d unexpected interruptions, the paper counts 419", sum)
	}
	if share := float64(hardware) / float64(sum); math.Abs(share-0.78) > 0.08 {
		t.Errorf("%.2f of them from hardware, the paper says about 0.78 (it doesn't say which rows it counts)", share)
	}
	if mtbf := facts.Llama3Window.Hours() / float64(sum); math.Abs(mtbf-3.093) > 0.001 {
		t.Errorf("MTBF %.3f h, want 3.093", mtbf)
	}
}

func TestNodeFailuresPerDay(t *testing.T) {
	if got := facts.NodeFailuresPerDay(); math.Abs(got-2.90e-3) > 0.01e-3 {
		t.Errorf("%v per node-day", got)
	}
}

func TestFactsHaveSources(t *testing.T) {
	for _, f := range []facts.Fact{facts.GPUHourUSD, facts.Llama3MFU, facts.RepairMedian, facts.RepairMean} {
		if f.Source == "" || f.Date == "" || f.Unit == "" || f.Verified == "" || f.High > 0 && (f.Value < f.Low || f.Value > f.High) {
			t.Errorf("%+v", f)
		}
	}
}
