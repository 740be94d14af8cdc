package memo_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/memo"
)

// A decision is kept with a figure of the run that backs it. When the levers change the figure is stale.
func ExampleUpdate() {
	dir, err := os.MkdirTemp("", "memo")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	c := fleet.Default()
	m, err := memo.Update(filepath.Join(dir, "memo.json"), func(m *memo.Memo) error {
		e := m.Act("Act I")
		e.Decision, e.Rejected, e.Trigger = "kill", "migrate", "checkpoints 12 h apart"
		e.Cite(memo.Figure{Name: "price", Value: 889.4, Unit: "GPU-h", Run: memo.Fingerprint(c)})
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	c.Preempt = true
	fmt.Println(m.Act("Act I").State(memo.Fingerprint(c)))
	// Output:
	// ✗ missing: prediction; ⚠ stale: price
}
