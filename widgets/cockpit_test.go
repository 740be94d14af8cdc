package widgets

import (
	"fmt"
	"testing"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/scenario"
)

func actI(t testing.TB) *fleet.Run {
	r, err := fleet.Simulate(scenario.Fragmented(fleet.Default()))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestProbe(t *testing.T) {
	r := actI(t)
	fmt.Println("spans", len(r.Spans), "packed", len(packRun(r)), "incidents", len(r.Incidents))
	for range 2 {
		t0 := time.Now()
		out, err := Cockpit(r).Render()
		fmt.Println(len(out.HTML), err, time.Since(t0))
		if err == nil {
			fmt.Println(out.Text[:3000])
		}
	}
	g := gridOf(r.Config)
	t0 := time.Now()
	fleet.Sweep(g.configs(), func(i int, r *fleet.Run) {})
	fmt.Println("sweep only", time.Since(t0), len(g.Settings))
	results := make([]result, len(g.Settings))
	fleet.Sweep(g.configs(), func(i int, r *fleet.Run) { results[i], _ = resultOf(r) })
	tot, txt := 0, 0
	for i, x := range results {
		tot += len(x.spans)
		for _, in := range x.incidents {
			txt += len(in.Text)
		}
		fmt.Println(g.Settings[i].Policy, g.Settings[i].Preempt, g.Settings[i].Defrag, g.Settings[i].Tau, len(x.spans), len(x.incidents))
	}
	fmt.Println("spans bytes", tot, "incident text", txt)
	t0 = time.Now()
	p, bin := payloadOf(&r.Config, &g, results)
	s, _ := p.compress(bin)
	fmt.Println("payload", time.Since(t0), len(s), len(bin))
}
