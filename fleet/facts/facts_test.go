package facts_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"path/filepath"
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

func TestFactsAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range facts.All() {
		if f.Name == "" || f.Source == "" || f.Date == "" || f.Unit == "" || seen[f.Name] {
			t.Errorf("%+v lacks something, or stands twice", f)
		}
		if f.Low != 0 && f.Value < f.Low || f.High != 0 && f.Value > f.High {
			t.Errorf("%s: %v is outside of %v to %v", f.Name, f.Value, f.Low, f.High)
		}
		switch f.Verified {
		case facts.Verbatim, facts.Quoted, facts.Computed, facts.Remembered, facts.Assumed:
		default:
			t.Errorf("%s: no mark %q", f.Name, f.Verified)
		}
		seen[f.Name] = true
	}
}

// Every variable of type Fact is in All, under its own name.
func TestAllListsEveryFact(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, f := range facts.All() {
		listed[f.Name] = true
	}
	declared := 0
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			v, ok := n.(*ast.ValueSpec)
			if !ok || len(v.Values) != 1 {
				return true
			}
			if c, ok := v.Values[0].(*ast.CompositeLit); ok {
				if kind, ok := c.Type.(*ast.Ident); ok && kind.Name == "Fact" {
					if declared++; !listed[v.Names[0].Name] {
						t.Errorf("%s is not in All, or under another name", v.Names[0].Name)
					}
				}
			}
			return true
		})
	}
	if declared != len(listed) || declared < 50 {
		t.Errorf("%d facts declared, %d listed", declared, len(listed))
	}
}

// Computed figures follow from those they were computed from.
func TestComputedFigures(t *testing.T) {
	if m := facts.Llama3MTBF().Hours(); math.Abs(m-3.093) > 0.001 {
		t.Errorf("MTBF %.3f h", m)
	}
	if m := facts.Llama3Window.Hours() / (facts.Llama3Interrupted.Value + facts.Llama3Planned.Value); math.Abs(m-2.78) > 0.005 {
		t.Errorf("MTBF with planned interruptions %.3f h", m)
	}
	if perGPU := facts.Llama3MTBF().Hours() * facts.Llama3GPUs; math.Abs(perGPU-50_677) > 1 {
		t.Errorf("%.0f h per GPU", perGPU)
	}
	if perDay := 24 / facts.Llama3MTBF().Hours() / facts.Llama3Nodes; math.Abs(perDay-3.79e-3) > 0.005e-3 {
		t.Errorf("%v per node-day", perDay)
	}
	if perDay := 584.0 / 400 / 348; math.Abs(perDay-facts.TraceFailures.Value) > 0.005e-3 {
		t.Errorf("%v per node-day", perDay)
	}
	if b := facts.CheckpointBytes(175e9); b != 2.45e12 {
		t.Errorf("%v bytes for 175B", b)
	}
	if perParameter := facts.BLOOMCheckpointTB.Value * 1e12 / 176e9; perParameter < facts.BytesPerParameter.Low || perParameter > facts.BytesPerParameter.Value {
		t.Errorf("BLOOM has %v bytes a parameter", perParameter)
	}
	// A pod is 3,072 GPUs.
	if gpus := facts.PodRacks.Value * facts.RackNodes.Value * 8; gpus != 3072 {
		t.Errorf("%v GPUs in a pod", gpus)
	}
	for _, p := range facts.Llama3Parallelism {
		if p.TP*p.CP*p.PP*p.DP != p.GPUs {
			t.Errorf("%+v", p)
		}
	}
}
