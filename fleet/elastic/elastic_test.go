package elastic_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/fleetlab/fleetlab/fleet/elastic"
)

// Every row of the table of replicas that are left, and the random pattern's mean inside its own 99 % interval.
func TestReplicasLeftAfterFailures(t *testing.T) {
	raw, err := os.ReadFile("testdata/elastic.json")
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Rows []struct {
			Replicas        int     `json:"replicas"`
			NodesPerReplica int     `json:"nodes_per_replica"`
			Failed          int     `json:"failed_nodes"`
			Best            int     `json:"best_replicas"`
			Worst           int     `json:"worst_replicas"`
			Expected        float64 `json:"expected_replicas_random"`
			Reshard         int     `json:"after_reshard"`
		}
	}
	if err := json.Unmarshal(raw, &table); err != nil || len(table.Rows) != 15 {
		t.Fatalf("%v, %d rows", err, len(table.Rows))
	}
	for _, x := range table.Rows {
		g := elastic.Geometry{Replicas: x.Replicas, NodesPerReplica: x.NodesPerReplica}
		got, err := g.After(x.Failed)
		if err != nil {
			t.Fatal(err)
		}
		if got.Best != x.Best || got.Worst != x.Worst || got.Reshard != x.Reshard || math.Abs(got.Expected-x.Expected) > 0.5e-4 { // its last digit
			t.Errorf("%+v of %+v: got %+v", x, g, got)
		}
		for pattern, want := range map[elastic.Pattern]int{elastic.Adjacent: x.Best, elastic.Spread: x.Worst} {
			if left := left(t, g, x.Failed, pattern, 0); left != want {
				t.Errorf("%d %v of %+v: %d replicas left, want %d", x.Failed, pattern, g, left, want)
			}
		}
		var drawn []float64
		for seed := range uint64(400) {
			drawn = append(drawn, float64(left(t, g, x.Failed, elastic.Random, seed)))
		}
		mean, sd := stat.MeanStdDev(drawn, nil)
		half := distuv.StudentsT{Sigma: 1, Nu: float64(len(drawn) - 1)}.Quantile(0.995) * sd / math.Sqrt(float64(len(drawn)))
		if math.Abs(mean-got.Expected) > max(half, 1e-9) {
			t.Errorf("%d random of %+v: %.3f ± %.3f replicas left, want %.3f", x.Failed, g, mean, half, got.Expected)
		}
	}
}

func left(t *testing.T, g elastic.Geometry, failed int, p elastic.Pattern, seed uint64) int {
	t.Helper()
	nodes, err := g.Fail(failed, p, seed)
	if err != nil || len(nodes) != failed {
		t.Fatalf("%v: %v", nodes, err)
	}
	n, err := g.Left(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestGeometryErrors(t *testing.T) {
	g := elastic.Geometry{Replicas: 4, NodesPerReplica: 2}
	for _, x := range []struct {
		says string
		err  error
	}{
		{"Replicas 0: must be between 1", elastic.Geometry{NodesPerReplica: 1}.Validate()},
		{"NodesPerReplica -1", elastic.Geometry{Replicas: 1, NodesPerReplica: -1}.Validate()},
		{"failed -1: must be between 0 and 8", second(g.After(-1))},
		{"failed 9", second(g.After(9))},
		{"failed 9", second(g.Fail(9, elastic.Random, 0))},
		{"pattern unknown (7)", second(g.Fail(1, 7, 0))},
		{"failed node 8: must be between 0 and 7", second(g.Left([]int{8}))},
	} {
		if !errors.Is(x.err, elastic.ErrGeometry) || !strings.Contains(x.err.Error(), x.says) {
			t.Errorf("got %v, want %q", x.err, x.says)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// S13 torchft#186: the batch drifted after a scale-down. Kept, it has the same tokens and takes the rounded-up micro-batches.
func TestS13BatchAfterScaleDown(t *testing.T) {
	keep := elastic.Batch{MicroBatches: 2048, Keep: true}
	if keep.PerReplica(128, 128) != 16 || keep.PerReplica(128, 118) != 18 || keep.StepGrowth(128, 118) != 1.125 || keep.TokensShare(128, 118) != 1 {
		t.Error("kept: want 16 and 18 micro-batches, 9/8 of the time, the same tokens")
	}
	if num, den := keep.Rate(128, 118); num != 16 || den != 18 {
		t.Errorf("kept: %d/%d of the speed", num, den)
	}
	shrink := elastic.Batch{MicroBatches: 2048}
	if num, den := shrink.Rate(128, 118); num != 118 || den != 128 || shrink.StepGrowth(128, 118) != 1 || shrink.TokensShare(128, 118) != 118.0/128 {
		t.Errorf("shrunk: %d/%d of the speed", num, den)
	}
	for alive := 1; alive <= 128; alive++ { // never faster than its GPUs
		if num, den := keep.Rate(128, alive); num*128 > den*alive {
			t.Errorf("%d of 128 replicas at %d/%d of the speed", alive, num, den)
		}
	}
	if num, den := keep.Rate(128, 0); num != 0 || den != 1 || keep.StepGrowth(128, 0) != 0 || keep.TokensShare(128, 0) != 0 {
		t.Error("without replicas there is no speed")
	}
}

// random is a break of up to 12 replicas with some nodes lost and some spares.
func random(seed uint64) elastic.Break {
	rng := rand.New(rand.NewPCG(seed, 5))
	b := elastic.Break{NodesPerReplica: 1 + rng.IntN(4), Min: 1}
	nodes := rng.Perm(100)
	for range 1 + rng.IntN(12) {
		b.Replicas = append(b.Replicas, nodes[:b.NodesPerReplica:b.NodesPerReplica])
		nodes = nodes[b.NodesPerReplica:]
	}
	b.Running = rng.IntN(len(b.Replicas) + 1)
	p := rng.Float64()
	for _, n := range slices.Concat(b.Replicas...) {
		if rng.Float64() < p {
			b.Lost = append(b.Lost, n)
		}
	}
	b.Spares = slices.Clone(nodes[:rng.IntN(6)])
	slices.Sort(b.Lost)
	slices.Sort(b.Spares)
	return b
}

// checkStrategies holds what is true of every answer.
func checkStrategies(t *testing.T, b elastic.Break) {
	t.Helper()
	before := fmt.Sprint(b)
	answers := map[elastic.Rescaler]elastic.Regroup{}
	for _, s := range elastic.Strategies() {
		r := s.Rescale(b)
		if err := b.Check(r); err != nil {
			t.Fatalf("%v of %+v: %v", s, b, err)
		}
		if !reflect.DeepEqual(r, s.Rescale(b)) {
			t.Fatalf("%v answers twice in two ways", s)
		}
		answers[s] = r
	}
	if fmt.Sprint(b) != before {
		t.Fatalf("a strategy has changed the break: %v, was %v", b, before)
	}
	if r := answers[elastic.Restart]; r.Wait || len(r.Replicas) > 0 {
		t.Fatalf("restart goes on: %+v", r)
	}
	if r := answers[elastic.WaitForSpare]; r.Wait == (len(r.Replicas) == len(b.Replicas)) || r.Wait != (len(b.Lost) > len(b.Spares)) {
		t.Fatalf("waiting: all or nothing, got %+v of %+v", r, b)
	}
	drop, reshard := answers[elastic.DropReplicas], answers[elastic.Reshard]
	usable := len(slices.Concat(b.Replicas...)) - len(b.Lost) + len(b.Spares)
	if want := min(len(b.Replicas), usable/b.NodesPerReplica); len(reshard.Replicas) != want {
		t.Fatalf("re-sharding makes %d replicas of %d usable nodes, want %d", len(reshard.Replicas), usable, want)
	}
	if len(drop.Replicas) > len(reshard.Replicas) {
		t.Fatalf("dropping leaves %d replicas, re-sharding %d", len(drop.Replicas), len(reshard.Replicas))
	}
	for _, replica := range b.Replicas { // a whole replica stays as it is
		for _, r := range []elastic.Regroup{drop, reshard} {
			if b.Whole(replica) && !slices.ContainsFunc(r.Replicas, func(x []int) bool { return slices.Equal(x, replica) }) {
				t.Fatalf("whole replica %v was taken apart: %v", replica, r.Replicas)
			}
		}
	}
	stay := 0
	for _, replica := range b.Replicas[:b.Running] {
		if b.Whole(replica) {
			stay++
		}
	}
	if got := b.Moved(drop); got != (len(drop.Replicas)-stay)*b.NodesPerReplica || b.Live() != (stay > 0) {
		t.Fatalf("%d nodes get the state, %d replicas of %d stay", got, stay, len(drop.Replicas))
	}
}

func TestStrategies(t *testing.T) {
	for seed := range uint64(3000) {
		checkStrategies(t, random(seed))
	}
}

func FuzzRescale(f *testing.F) {
	f.Add(uint64(0))
	f.Fuzz(func(t *testing.T, seed uint64) { checkStrategies(t, random(seed)) })
}

func TestCheckSaysWhatIsWrong(t *testing.T) {
	b := elastic.Break{NodesPerReplica: 2, Min: 1, Replicas: [][]int{{0, 1}, {2, 3}}, Running: 2, Lost: []int{3}, Spares: []int{9}}
	for says, r := range map[string]elastic.Regroup{
		"must be one or the other":                   {Wait: true, Replicas: [][]int{{0, 1}}},
		"3 replicas: must be at most the 2":          {Replicas: [][]int{{0, 1}, {2, 9}, {2, 9}}},
		"replica 1 has 1 nodes: must be 2":           {Replicas: [][]int{{0, 1}, {2}}},
		"node 3 is down":                             {Replicas: [][]int{{2, 3}}},
		"replica 0 has node 17: must be a node of":   {Replicas: [][]int{{0, 17}}},
		"replica 0 has node -1: must be a node of":   {Replicas: [][]int{{0, -1}}},
		"replica 0 has node 0 twice":                 {Replicas: [][]int{{0, 0}}},
		"node 1 is in two replicas, 0 and 1":         {Replicas: [][]int{{0, 1}, {1, 9}}},
		"replica 1 has node 100: must be a node of ": {Replicas: [][]int{{0, 1}, {9, 100}}},
	} {
		if err := b.Check(r); !errors.Is(err, elastic.ErrRegroup) || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %q", err, says)
		}
	}
	for _, r := range []elastic.Regroup{{}, {Wait: true}, {Replicas: [][]int{{0, 1}, {2, 9}}}, {Replicas: [][]int{{9, 0}}}} {
		if err := b.Check(r); err != nil {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

func TestOwnFunction(t *testing.T) {
	mine := elastic.Rescaling("Mine", func(b elastic.Break) [][]int { return b.Replicas[:1] })
	if r := mine.Rescale(elastic.Break{Replicas: [][]int{{4}, {5}}}); fmt.Sprint(mine) != "Mine" || len(r.Replicas) != 1 || r.Wait {
		t.Errorf("%v: %+v", mine, r)
	}
	if r := elastic.Rescaling("None", nil).Rescale(elastic.Break{}); r.Replicas != nil || r.Wait {
		t.Errorf("without a function it gives up: %+v", r)
	}
}

func ExampleGeometry_After() {
	g := elastic.Geometry{Replicas: 128, NodesPerReplica: 16} // TP 8 × PP 16 on nodes of 8 GPUs
	r, err := g.After(10)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("neighbours %d, each in another replica %d, at random %.2f, regrouped %d\n", r.Best, r.Worst, r.Expected, r.Reshard)
	// Output: neighbours 127, each in another replica 118, at random 118.32, regrouped 127
}

func ExampleRescaling() {
	mine := elastic.Rescaling("Mine", func(b elastic.Break) (keep [][]int) {
		for _, replica := range b.Replicas {
			if b.Whole(replica) {
				keep = append(keep, replica)
			}
		}
		return keep
	})
	ring := elastic.Break{NodesPerReplica: 2, Min: 1, Replicas: [][]int{{0, 1}, {2, 3}, {4, 5}}, Running: 3, Lost: []int{2}}
	fmt.Println(mine.Rescale(ring).Replicas)
	// Output: [[0 1] [4 5]]
}

func BenchmarkRescale(b *testing.B) {
	g := elastic.Geometry{Replicas: 128, NodesPerReplica: 16}
	ring := elastic.Break{NodesPerReplica: 16, Min: 1, Running: 128}
	nodes := make([]int, g.Nodes())
	for i := range nodes {
		nodes[i] = i
	}
	ring.Replicas = slices.Collect(slices.Chunk(nodes, 16))
	ring.Lost, _ = g.Fail(10, elastic.Spread, 0)
	for _, s := range elastic.Strategies() {
		b.Run(fmt.Sprint(s), func(b *testing.B) {
			for b.Loop() {
				if err := ring.Check(s.Rescale(ring)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
