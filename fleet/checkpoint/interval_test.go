package checkpoint_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fleetlab/fleetlab/fleet/checkpoint"
)

const year = 365 * 24 * time.Hour

// row is one line of the oracle: values computed outside this project, the optimum by golden-section search.
type row struct {
	MTBF    float64 `json:"mtbf_s"`
	Write   float64 `json:"write_s"`
	Restart float64 `json:"restart_s"`
	Optimum float64 `json:"optimum_s"`
	Young   float64 `json:"young_s"`
	Daly    float64 `json:"daly_s"`
	Best    float64 `json:"goodput_at_optimum"`
	At1h    float64 `json:"goodput_at_1h"`
	At24h   float64 `json:"goodput_at_24h"`
}

func (r row) model() checkpoint.Model {
	return checkpoint.Model{MTBF: seconds(r.MTBF), Write: seconds(r.Write), Restart: seconds(r.Restart)}
}

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * 1e9)) }

func oracle(t testing.TB) []row {
	t.Helper()
	data, err := os.ReadFile("testdata/checkpoint.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Rows []row }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Rows) != 90 {
		t.Fatalf("%d rows, want 90", len(file.Rows))
	}
	return file.Rows
}

// Every value of every row, to 1e-6 of itself (the optimum to 1e-4, as a search for a flat maximum finds no more) plus half a unit in the
// last digit that the file prints: times have 3 decimals, goodputs 6.
func TestEveryRowOfTheOracle(t *testing.T) {
	const halfMs, halfPpm = 0.5e-3, 0.5e-6
	for i, r := range oracle(t) {
		m := r.model()
		check := func(what string, got, want, relative, rounding float64) {
			if !(math.Abs(got-want) <= relative*want+rounding) {
				t.Errorf("row %d %+v: %s %.9g, want %.9g", i, m, what, got, want)
			}
		}
		check("Optimum", m.Optimum().Seconds(), r.Optimum, 1e-4, halfMs)
		check("Young", m.Young().Seconds(), r.Young, 1e-6, halfMs)
		check("Daly", m.Daly().Seconds(), r.Daly, 1e-6, halfMs)
		check("Goodput at the optimum", m.Goodput(m.Optimum()), r.Best, 1e-6, halfPpm)
		check("Goodput at 1 h", m.Goodput(time.Hour), r.At1h, 1e-6, halfPpm)
		check("Goodput at 24 h", m.Goodput(24*time.Hour), r.At24h, 1e-6, halfPpm)
	}
}

// The captions of Figures 3 to 5: δ = 5 min, R = 10 min, 500 h of work. They are Daly's equation 37, in useful work without the write, to
// the digits printed there. The third tells the formulas apart: exact it would be 9.2, Young's 12.2, and with the write 14.1.
func TestDaly2006Captions(t *testing.T) {
	for _, c := range []struct {
		mtbf         time.Duration
		want, digits float64 // minutes; half a unit in the last digit
	}{{24 * time.Hour, 117, 0.5}, {6 * time.Hour, 57, 0.5}, {15 * time.Minute, 9.1, 0.05}} {
		m := checkpoint.Model{MTBF: c.mtbf, Write: 5 * time.Minute, Restart: 10 * time.Minute}
		if got := m.Daly().Minutes(); math.Abs(got-c.want) > c.digits {
			t.Errorf("M = %v: %.3f min, the caption says %g", c.mtbf, got, c.want)
		}
	}
	m := checkpoint.Model{MTBF: 15 * time.Minute, Write: 5 * time.Minute, Restart: 10 * time.Minute}
	near(t, "exact", m.Optimum().Minutes(), 9.167, 0.001)
	near(t, "Young", m.Young().Minutes(), 12.247, 0.001)
}

// Equation 37 switches to M at δ = 2M.
func TestDaly2006Eq37SwitchesAtTwoMTBF(t *testing.T) {
	m := checkpoint.Model{MTBF: time.Hour, Write: 2*time.Hour - 1}
	near(t, "just below", m.Daly().Hours(), 2-4.0/3+2.0/9, 1e-6)
	for _, w := range []time.Duration{2 * time.Hour, 3 * time.Hour, year} {
		if m.Write = w; m.Daly() != time.Hour {
			t.Errorf("δ = %v: %v, want M", w, m.Daly())
		}
	}
}

// Where Young and Daly break down, in numbers: how far each is from the exact interval, and what share of the best goodput it gets. The
// comments of Young and Daly quote this table.
func TestWhereYoungAndDalyBreakDown(t *testing.T) {
	const m = 100 * time.Hour
	for _, c := range []struct {
		write                              float64 // δ/M
		young, daly, youngShare, dalyShare float64
	}{
		{0.01, +0.0488, -0.00001, 0.99985, 1.00000},
		{0.1, +0.1671, -0.0004, 0.9953, 1.0000},
		{0.5, +0.4321, -0.0055, 0.9520, 0.99999},
		{1, +0.6808, -0.0182, 0.8759, 0.9999},
		{1.9999, +1.1107, -0.0619, 0.7112, 0.9981},
		{2, +1.1107, +0.0554, 0.7112, 0.9986},
		{5, +2.1702, +0.0025, 0.3631, 1.0000},
	} {
		model := checkpoint.Model{MTBF: m, Write: time.Duration(c.write * float64(m))}
		exact := model.Optimum()
		off := func(d time.Duration) float64 { return float64(d)/float64(exact) - 1 }
		share := func(d time.Duration) float64 { return model.Goodput(d) / model.Goodput(exact) }
		near(t, "Young", off(model.Young()), c.young, 0.0001)
		near(t, "Daly", off(model.Daly()), c.daly, 0.0001)
		near(t, "share of Young", share(model.Young()), c.youngShare, 0.0001)
		near(t, "share of Daly", share(model.Daly()), c.dalyShare, 0.0001)
	}
}

// Neither Restart nor Persist moves the maximum (of Persist: Vaidya 1997), and at it goodput is e^(−(R+P)/M) · (1 − τ*/M).
func TestOptimumDependsOnWriteAndMTBFAlone(t *testing.T) {
	for _, r := range oracle(t) {
		m := r.model()
		exact := m.Optimum()
		m.Persist = exact / 2
		if m.Optimum() != exact {
			t.Errorf("%+v: %v, without Persist %v", m, m.Optimum(), exact)
		}
		lost := math.Exp(-(m.Restart + m.Persist).Seconds() / m.MTBF.Seconds())
		near(t, "goodput", m.Goodput(exact), lost*(1-exact.Seconds()/m.MTBF.Seconds()), 1e-9)
	}
}

// The two sides of an asynchronous checkpoint: ByteCheckpoint's 0.59 s of blocking make Young's interval under 2 min at M = 3 h, and 51 s to
// persist don't bind yet. With 200 s they do: the interval is what persisting takes, and there the goodput falls as it gets longer.
func TestPersistBoundsTheInterval(t *testing.T) {
	m := checkpoint.Model{MTBF: 3 * time.Hour, Write: 590 * time.Millisecond, Restart: 385 * time.Second, Persist: 51 * time.Second}
	near(t, "free", m.Optimum().Seconds(), 112.5, 0.1)
	m.Persist = 200 * time.Second
	if m.Optimum() != m.Persist {
		t.Errorf("Optimum %v, want Persist", m.Optimum())
	}
	if m.Goodput(time.Minute) != m.Goodput(m.Persist) || m.Goodput(m.Persist) <= m.Goodput(m.Persist+time.Second) {
		t.Error("an interval below Persist must count as Persist, and a longer one must be worse")
	}
}

func TestWriteForNothingMeansSavingAllTheTime(t *testing.T) {
	m := checkpoint.Model{MTBF: time.Hour, Restart: 6 * time.Minute}
	if m.Young() != 0 || m.Daly() != 0 || m.Optimum() != 0 {
		t.Errorf("Young %v, Daly %v, Optimum %v, want 0", m.Young(), m.Daly(), m.Optimum())
	}
	near(t, "goodput", m.Goodput(0), math.Exp(-0.1), 1e-15)
	near(t, "goodput of a very short interval", m.Goodput(1), math.Exp(-0.1), 1e-9)
}

func TestValidateNamesFieldValueAndRange(t *testing.T) {
	good := checkpoint.Model{MTBF: time.Second, Write: 10 * year, Restart: 10 * year, Persist: 10 * year}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	bad := checkpoint.Model{MTBF: time.Second - 1, Write: -1, Restart: 10*year + 1, Persist: math.MinInt64}
	err := bad.Validate()
	if !errors.Is(err, checkpoint.ErrModel) {
		t.Fatalf("%v does not wrap ErrModel", err)
	}
	for _, want := range []string{
		"MTBF 999.999999ms: must be between 1s and 87600h0m0s", "Write -1ns: must be between 0s and 87600h0m0s",
		"Restart 87600h0m0.000000001s: must be", "Persist -2562047h47m16.854775808s: must be",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q lacks %q", err, want)
		}
	}
	if bad.Young() != 0 || bad.Daly() != 0 || bad.Optimum() != 0 || bad.Wall(1, 1) != checkpoint.Forever {
		t.Error("an invalid model must give no interval and no end")
	}
	for _, g := range []float64{bad.Goodput(1), bad.FirstOrder(1), bad.WithoutRework(1), bad.ETTR(1)} {
		if !math.IsNaN(g) {
			t.Errorf("%v, want NaN for an invalid model", g)
		}
	}
}

// near is a check to a stated tolerance; a NaN fails it.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: %.9g, want %.9g ± %.2g", what, got, want, tolerance)
	}
}

func BenchmarkOptimum(b *testing.B) {
	m := checkpoint.Model{MTBF: 3 * time.Hour, Write: 2 * time.Minute}
	for b.Loop() {
		m.Optimum()
	}
}
