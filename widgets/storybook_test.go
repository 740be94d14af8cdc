package widgets

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/scenario"
)

func TestPage(t *testing.T) {
	dir := os.Getenv("PAGE_DIR")
	if dir == "" {
		t.Skip()
	}
	out, err := Cockpit(simulate(t, scenario.Fragmented(fleet.Default()))).Render()
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(filepath.Join(dir, "cockpit.html"), []byte("<!doctype html><meta charset=utf-8><body style='margin:8px'>"+out.HTML), 0o644)
}
