package scenario_test

import (
	"testing"

	"github.com/fleetlab/fleetlab/fleet"
)

// Backfill alone does not start the big job on that day: students ask for up to four times what they need, and no 125 neighbours are
// promised free within the day. The students lose nothing by the reservation.
func TestEASYReservesButTheDayIsTooShort(t *testing.T) {
	easy := run(t, func(c *fleet.Config) { c.Policy = fleet.EASY }).Ledger()
	greedy := run(t, func(c *fleet.Config) { c.Policy = fleet.BestFit }).Ledger()
	t.Logf("EASY: start %v, goodput %.3f, fragmentation %.3f, p95 %v; Best-Fit: goodput %.3f, p95 %v", easy.BigStart, easy.Goodput, easy.Fragmentation, easy.StudentP95, greedy.Goodput, greedy.StudentP95)
	if easy.BigStart != fleet.Never {
		t.Errorf("the big job starts at %v", easy.BigStart)
	}
	if d := greedy.Goodput - easy.Goodput; d > 0.05 || d < -0.05 {
		t.Errorf("goodput %.3f with EASY, %.3f with Best-Fit", easy.Goodput, greedy.Goodput)
	}
}
