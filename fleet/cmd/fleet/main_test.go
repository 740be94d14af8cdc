package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// call runs the program.
func call(args ...string) (code int, out, problems string) {
	var o, p strings.Builder
	code = run(args, &o, &p)
	return code, o.String(), p.String()
}

// answer runs the program with --format json and decodes what it says.
func answer(t *testing.T, args ...string) map[string]any {
	t.Helper()
	code, out, problems := call(append(args, "--format", "json")...)
	if code != 0 || problems != "" {
		t.Fatalf("%v: exit %d: %s", args, code, problems)
	}
	var v map[string]any
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatalf("%v: %v in %s", args, err, out)
	}
	return v
}

// want compares figures; a tolerance of 1e-9 lets platforms differ in the last bits.
func want(t *testing.T, v map[string]any, figures map[string]float64) {
	t.Helper()
	for name, w := range figures {
		got, ok := v[name].(float64)
		if !ok || math.Abs(got-w) > 1e-9*math.Abs(w) {
			t.Errorf("%s is %v, want %v", name, v[name], w)
		}
	}
}

// Daly 2006's first caption: 117 minutes.
func TestCheckpointCommand(t *testing.T) {
	args := []string{"checkpoint", "--mtbf", "24h", "--write", "5m", "--restart", "10m", "--work", "500h"}
	v := answer(t, args...)
	want(t, v, map[string]float64{"young_s": 7200})
	if o := v["optimum_s"].(float64); math.Round(o/60) != 117 || math.Abs(v["daly_s"].(float64)-o) > 0.1 {
		t.Errorf("optimum %v s, Daly %v s", o, v["daly_s"])
	}
	if g := v["goodput"].(float64); math.Abs(500*3600/v["expected_wall_s"].(float64)-g) > 1e-9 {
		t.Errorf("goodput %v, wall %v", g, v["expected_wall_s"])
	}
	at := answer(t, append(args, "--interval", "24h")...)["at_interval"].(map[string]any)
	if g := at["goodput"].(float64); g > v["goodput"].(float64) || at["interval_s"] != 86400.0 {
		t.Errorf("%v", at)
	}
	// Where no time is long enough there is none.
	if at := answer(t, "checkpoint", "--mtbf", "1m", "--write", "5m", "--interval", "100h")["at_interval"].(map[string]any); at["expected_wall_s"] != nil {
		t.Errorf("%v", at)
	}
}

func TestElasticCommand(t *testing.T) {
	for pattern, left := range map[string]float64{"adjacent": 127, "spread": 118} {
		v := answer(t, "elastic", "--replicas", "128", "--nodes-per-replica", "16", "--failed", "10", "--pattern", pattern)
		want(t, v, map[string]float64{"replicas_left": left, "best_replicas": 127, "worst_replicas": 118, "after_reshard": 127})
		rows := v["strategies"].([]any)
		if len(rows) != 4 {
			t.Fatalf("%v", rows)
		}
		var goodputs []float64
		for i, name := range []string{"restart", "wait", "drop", "reshard"} {
			row := rows[i].(map[string]any)
			if row["strategy"] != name {
				t.Errorf("row %d is %v", i, row["strategy"])
			}
			goodputs = append(goodputs, row["goodput"].(float64))
		}
		if drop := rows[2].(map[string]any); drop["replicas"] != left || drop["speed"] != left/128 {
			t.Errorf("%v", drop)
		}
		if !(goodputs[0] < goodputs[1] && goodputs[1] < goodputs[2]) {
			t.Errorf("goodputs %v", goodputs)
		}
	}
	v := answer(t, "elastic", "--replicas", "100", "--nodes-per-replica", "1", "--failed", "10")
	want(t, v, map[string]float64{"replicas_left": 90, "replicas_left_share": 0.9})
	keep := answer(t, "elastic", "--pattern", "spread", "--keep-batch")["strategies"].([]any)[2].(map[string]any)
	want(t, keep, map[string]float64{"speed": 16.0 / 18})
	want(t, answer(t, "elastic", "--failed", "0"), map[string]float64{"replicas_left": 128})
	few := answer(t, "elastic", "--failed", "1985", "--pattern", "adjacent")["strategies"].([]any)[2].(map[string]any)
	if few["replicas"] != 3.0 || few["goodput"].(float64) < 0.49 { // work for 380 years
		t.Errorf("%v", few)
	}
	late := answer(t, "elastic", "--pattern", "spread", "--repair", "9h")["strategies"].([]any)[0].(map[string]any)
	want(t, late, map[string]float64{"goodput": 3.8 / 12}) // the last checkpoint holds 19 × 12 min, and nothing was done again
	want(t, answer(t, "elastic", "--replicas", "2", "--nodes-per-replica", "3", "--failed", "6"), map[string]float64{"replicas_left": 0})
}

func TestFailuresCommand(t *testing.T) {
	v := answer(t, "failures", "--preset", "llama3", "--nodes", "2048", "--days", "54", "--seeds", "6")
	if lo, hi := v["total_low"].(float64), v["total_high"].(float64); lo > 419 || hi < 419 || len(v["counts"].([]any)) != 18 {
		t.Errorf("from %v to %v, %v causes", lo, hi, len(v["counts"].([]any)))
	}
	if m := v["mtbf_expected_s"].(float64) / 3600; math.Abs(m-3.093) > 0.001 {
		t.Errorf("MTBF %v h", m)
	}
	small := answer(t, "failures", "--preset", "rsc2", "--nodes", "1", "--days", "0.1", "--seeds", "2")
	want(t, small, map[string]float64{"total_high": -math.Log(0.005) / 2}) // no fault in two runs is not certainty
	if small["total"] != 0.0 || small["mtbf_s"] != nil {
		t.Errorf("%v", small)
	}
}

// The figures of the published replay of a synthetic log.
func TestReplayCommand(t *testing.T) {
	const log = "../../testdata/synthetic-exact-256.swf.gz"
	want(t, answer(t, "replay", "--swf", log, "--procs", "256", "--policy", "easy"),
		map[string]float64{"jobs": 3000, "mean_wait_s": 3095.956666667, "max_wait_s": 229504, "makespan_s": 924822, "left_out": 0, "bad_lines": 0})
	want(t, answer(t, "replay", "--swf", log), map[string]float64{"procs": 256, "max_wait_s": 759699, "makespan_s": 1575677})

	bad := filepath.Join(t.TempDir(), "bad.swf")
	text := "1 0 -1 10 2 -1 -1 2 20 -1 1 1 1 -1 1 1 -1 -1\n2 0 -1\n3 5 -1 10 9 -1 -1 9 20 -1 1 1 1 -1 1 1 -1 -1\n"
	if err := os.WriteFile(bad, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	empty, header := filepath.Join(t.TempDir(), "empty.swf"), filepath.Join(t.TempDir(), "header.swf")
	for name, text := range map[string]string{empty: "", header: "; MaxProcs: many\n1 0 -1 10 2 -1 -1 2 20 -1 1 1 1 -1 1 1 -1 -1\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--swf", bad, "--procs", "4"}, 1, "line 2: line \"2 0 -1\": must be 18 fields, not 3"},
		{[]string{"--swf", bad, "--skip-bad"}, 2, "--procs: must be given"},
		{[]string{"--swf", filepath.Join(t.TempDir(), "none.swf"), "--procs", "4"}, 1, "none.swf"},
		{[]string{"--procs", "4"}, 2, "--swf: must name a file"},
		{[]string{"--swf", log, "--procs", "-1"}, 2, "--procs \"-1\": must be a whole number between 1 and 200000"},
		{[]string{"--swf", filepath.Dir(bad)}, 1, "is a directory"},
		{[]string{"--swf", empty}, 1, "there is no job in it"},
		{[]string{"--swf", header}, 1, "MaxProcs \"many\" in the log's header: must be a whole number"},
		{[]string{"--swf", log, "--policy", "best-fit"}, 2, "fcfs, easy"},
	} {
		code, out, problems := call(append([]string{"replay"}, x.args...)...)
		if code != x.code || out != "" || !strings.Contains(problems, x.says) {
			t.Errorf("%v: exit %d, %q does not say %q", x.args, code, problems, x.says)
		}
	}
	want(t, answer(t, "replay", "--swf", bad, "--procs", "4", "--skip-bad"), map[string]float64{"jobs": 1, "left_out": 1, "bad_lines": 1})
	if _, out, _ := call("replay", "--swf", bad, "--procs", "4", "--skip-bad"); !strings.Contains(out, "job 3: 9 processors of 4") || !strings.Contains(out, "line 2") {
		t.Error(out)
	}
}

func TestSimulateCommand(t *testing.T) {
	v := answer(t, "simulate", "--scenario", "fragmented", "--preempt", "--seed", "10", "--log")
	if v["big_started"] != true || v["sla_met"] != true || len(v["incidents"].([]any)) == 0 {
		t.Errorf("%v", v)
	}
	parts, sum := v["gpu_hours"].(map[string]any), 0.0
	for _, g := range parts {
		sum += g.(float64)
	}
	if want := 10000 * 7.5; math.Abs(sum-want) > 1e-6 {
		t.Errorf("parts add up to %v GPU-h, want %v", sum, want)
	}
	for _, policy := range policyNames {
		if v := answer(t, "simulate", "--policy", policy); v["gpus"] != 10000.0 {
			t.Errorf("%s: %v", policy, v)
		}
	}
	gamble := answer(t, "simulate", "--scenario", "gamble", "--checkpoint", "12m")["training"].(map[string]any)
	if g := gamble["goodput"].(float64); g < 0.88 || g > 0.92 || gamble["crashes"].(float64) < 300 {
		t.Errorf("%v", gamble)
	}
	rescale := answer(t, "simulate", "--scenario", "rescale", "--rescale", "drop")
	if g := rescale["goodput"].(float64); g < 0.9 {
		t.Errorf("%v", rescale)
	}
}

// The same command line gives the same bytes, as a table and as JSON.
func TestSameArgumentsSameBytes(t *testing.T) {
	for _, args := range [][]string{{"simulate"}, {"elastic"}, {"failures"}, {"checkpoint", "--format", "json"}} {
		_, first, _ := call(args...)
		if _, again, _ := call(args...); first != again || first == "" {
			t.Errorf("%v differs", args)
		}
	}
}

func TestBadInputNamesFlagValueAndRange(t *testing.T) {
	for _, x := range []struct {
		args string
		says []string
	}{
		{"", []string{"Usage", "checkpoint"}},
		{"dance", []string{`unknown command "dance"`}},
		{"checkpoint --mtbf 0s", []string{`--mtbf "0s"`, "a time such as 24h, 5m or 30s, between 1s and 87600h"}},
		{"checkpoint --mtbf 24", []string{`--mtbf "24"`, "a time such as 24h"}},
		{"checkpoint --write -5m", []string{`--write "-5m"`, "between 0s"}},
		{"checkpoint --mtbf soon", []string{`"soon"`, "mtbf"}},
		{"checkpoint --interval 0s", []string{`--interval "0s"`, "between 1ms"}},
		{"checkpoint --work 0s", []string{`--work "0s"`, "between 1ms"}},
		{"checkpoint --speed 7", []string{"--speed", "not defined"}},
		{"checkpoint 24h", []string{`unexpected argument "24h"`}},
		{"checkpoint --format xml", []string{`--format "xml"`, "table, json"}},
		{"elastic --failed 3000", []string{"--failed 3000", "between 0 and 2048"}},
		{"elastic --failed -1", []string{`--failed "-1"`}},
		{"elastic --replicas 0", []string{`--replicas "0"`, "between 1 and 25000"}},
		{"elastic --replicas 20000 --failed 1", []string{"--nodes-per-replica 16", "at most 25000 nodes, not 320000"}},
		{"elastic --spares 9223372036854775807", []string{"--spares", "between 0 and 25000"}},
		{"elastic --pattern diagonal", []string{`--pattern "diagonal"`, "random, adjacent, spread"}},
		{"elastic --at 13h", []string{"--at 13h", "--horizon 12h"}},
		{"elastic --at 0s", []string{`--at "0s"`, "between 1ms"}},
		{"elastic --horizon -1h", []string{`--horizon "-1h"`, "between 1s"}},
		{"elastic --micro-batches 100", []string{"--micro-batches 100", "multiple of --replicas 128"}},
		{"elastic --repair 0s", []string{`--repair "0s"`, "between 1ms"}},
		{"failures --preset moon", []string{`--preset "moon"`, "llama3, rsc1, rsc2"}},
		{"failures --nodes 0", []string{`--nodes "0"`, "between 1 and 25000"}},
		{"failures --days NaN", []string{`--days "NaN"`, "between 0.001 and 400"}},
		{"failures --seeds 1", []string{`--seeds "1"`, "between 2 and 10000"}},
		{"failures --shape 0.1", []string{`--shape "0.1"`, "between 0.3 and 10"}},
		{"failures --nodes 25000 --days 400 --seeds 2600", []string{"--seeds 2600", "at most 5000000 faults"}},
		{"simulate --scenario war", []string{`--scenario "war"`, "fragmented, gamble, rescale"}},
		{"simulate --policy lifo", []string{`--policy "lifo"`, "fcfs, best-fit, preemption, easy"}},
		{"simulate --rescale pray", []string{`--rescale "pray"`, "restart, wait, drop, reshard"}},
		{"simulate --checkpoint 1s", []string{`--checkpoint "1s"`, "between 1m and 24h"}},
		{"simulate --rate NaN", []string{`--rate "NaN"`, "between 0 and 1000"}},
		{"simulate --seed -1", []string{`--seed "-1"`, "between 0 and 18446744073709551615"}},
		{"simulate --preempt false", []string{`"false"`, "--name=false"}},
		{"simulate --rescale drop", []string{"--rescale: must not be given"}},
		{"simulate --scenario gamble --horizon 1h", []string{"--horizon: must not be given", "54 days"}},
		{"simulate --scenario rescale --defrag", []string{"--defrag: must not be given"}},
	} {
		code, out, problems := call(strings.Fields(x.args)...)
		if code != 2 || out != "" {
			t.Errorf("%q: exit %d, output %q", x.args, code, out)
		}
		for _, says := range x.says {
			if !strings.Contains(problems, says) {
				t.Errorf("%q: %q does not say %q", x.args, problems, says)
			}
		}
	}
}

func TestHelpNamesUnitsAndDefaults(t *testing.T) {
	for _, c := range commands() {
		code, out, problems := call(c.name, "--help")
		if code != 0 || problems != "" || !strings.Contains(out, "Usage: fleet "+c.name) || !strings.Contains(out, "--format") {
			t.Errorf("%s: exit %d, %s%s", c.name, code, out, problems)
		}
	}
	if code, out, _ := call("help"); code != 0 || !strings.Contains(out, "simulate") {
		t.Errorf("exit %d, %s", code, out)
	}
	if _, out, _ := call("checkpoint", "--help"); !strings.Contains(out, "between 1s and 87600h") || !strings.Contains(out, "(default 24h)") {
		t.Error(out)
	}
}

// A table has what the JSON has.
func TestTableHasTheSameFigures(t *testing.T) {
	_, table, _ := call("elastic", "--pattern", "spread")
	for name := range answer(t, "elastic", "--pattern", "spread") {
		if name != "notes" && !strings.Contains(table, name) {
			t.Errorf("the table lacks %s", name)
		}
	}
}
