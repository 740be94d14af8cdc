package widgets

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"testing"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/elastic"
	"github.com/fleetlab/fleetlab/fleet/scenario"
)

// reading takes numbers off a column, the reverse of column.put.
type reading struct {
	data  []byte
	zeros uint64
	value uint64
	open  bool
}

func (r *reading) next() uint64 {
	if !r.open && len(r.data) > 0 {
		r.zeros, r.value, r.open = r.uint(), r.uint(), true
	}
	if !r.open || r.zeros > 0 {
		r.zeros--
		return 0
	}
	r.open = false
	return r.value
}

func (r *reading) uint() uint64 {
	v, n := binary.Uvarint(r.data)
	r.data = r.data[n:]
	return v
}

func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// unpackRun is what cockpit.js does: it replays the guesser over the corrections. Of r it reads the configuration, the pauses and the
// outages only.
func unpackRun(data []byte, r *fleet.Run) []fleet.Span {
	g := newGuesser(r)
	fit := data[0]
	all := reading{data: data[1:]}
	spans := make([]fleet.Span, all.uint())
	var cols [numCols]reading
	for c := range cols {
		n := all.uint()
		cols[c].data = all.data[:n]
		all.data = all.data[n:]
	}
	or := func(c int, guess int) int {
		if v := cols[c].next(); v != 0 {
			return int(v) - 1
		}
		return guess
	}
	for i := range spans {
		s := &spans[i]
		s.Job = g.jobAt(cols[colJob].next())
		s.Start = time.Duration(g.startAt(s.Job, cols[colStart].next(), &cols[colAt])) * fleet.Resolution
		s.Node = or(colNode, g.nodes(s.Job)[fit])
		s.Nodes = or(colNodes, g.topo.NodesFor(g.jobs[s.Job].GPUs))
		s.Mask = uint16(or(colMask, int(g.mask(s.Node, s.Nodes, g.jobs[s.Job].GPUs))))
		s.Busy = or(colBusy, min(s.GPUs(), g.jobs[s.Job].GPUs))
		s.Set = g.setAt(s.Job, &cols[colSet])
		if v := cols[colEnd].next(); v != 0 {
			g.until += unzigzag(cols[colUntil].next())
			s.End, s.Reason = time.Duration(g.until)*fleet.Resolution, fleet.Reason(v-1)
		} else {
			end, why := g.end(s)
			s.End, s.Reason = time.Duration(end)*fleet.Resolution, why
		}
		g.place(s)
	}
	return spans
}

func (g *guesser) setAt(job int, c *reading) (set []int32) {
	runs := int(c.next())
	if runs == 0 {
		return nil
	}
	var next [2]int
	for range runs {
		v := int(c.next())
		kind, from := v%2, 0
		from = next[kind] + int(unzigzag(c.next()))
		next[kind] = from + v/2
		for i := from; i < next[kind]; i++ {
			if kind == 1 {
				set = append(set, g.lists[job][i])
			} else {
				set = append(set, int32(i))
			}
		}
	}
	g.lists[job] = set
	return set
}

func (g *guesser) jobAt(code uint64) int {
	job := int(g.unplaced(int32(g.cursor + 1)))
	if code != 0 {
		job += int(unzigzag(code - 1))
	}
	g.see(job)
	return job
}

func (g *guesser) startAt(job int, code uint64, explicit *reading) int64 {
	start := g.prev
	switch {
	case code == 0:
		start = millis(g.jobs[job].Arrival)
	case code == startExplicit:
		start += unzigzag(explicit.next())
	case code > 1:
		for count := code - 1; count > 0; {
			if g.releases[0].at > start {
				start = g.releases[0].at
				count--
			}
			if count > 0 {
				g.release(g.releases.pop())
			}
		}
	}
	g.releaseUpTo(start)
	g.flipUpTo(start)
	g.prev = start
	return start
}

// publicPart drops what a packed span does not hold.
func publicPart(spans []fleet.Span) []fleet.Span {
	out := make([]fleet.Span, len(spans))
	for i, s := range spans {
		out[i] = fleet.Span{Job: s.Job, Node: s.Node, Nodes: s.Nodes, Mask: s.Mask, Busy: s.Busy, Start: s.Start, End: s.End, Reason: s.Reason}
		if !consecutive(&s) {
			out[i].Set = s.Set
		}
	}
	return out
}

func checkPacking(t *testing.T, r *fleet.Run) (size int) {
	t.Helper()
	data := packRun(r)
	got, want := unpackRun(data, r), publicPart(r.Spans)
	if len(got) != len(want) {
		t.Fatalf("%d spans became %d", len(want), len(got))
	}
	for i := range want {
		if fmt.Sprint(got[i]) != fmt.Sprint(want[i]) {
			t.Fatalf("span %d of %d: packed and unpacked %+v, want %+v", i, len(want), got[i], want[i])
		}
	}
	return len(data)
}

// last puts each job on the highest-numbered node that holds it: a policy that neither guess knows.
func last(v fleet.View, j fleet.Job) int {
	for n := v.Nodes() - 1; n >= 0; n-- {
		if v.Free(n) >= j.GPUs {
			return n
		}
	}
	return fleet.Wait
}

// emptiest puts each job on the node with the most free GPUs, as the Kubernetes scheduler does by default.
func emptiest(v fleet.View, j fleet.Job) int {
	at := fleet.Wait
	for n := range v.Nodes() {
		if f := v.Free(n); f >= j.GPUs && (at == fleet.Wait || f > v.Free(at)) {
			at = n
		}
	}
	return at
}

// scattered puts each job on a node that nobody could guess.
func scattered(v fleet.View, j fleet.Job) int {
	for i := range v.Nodes() {
		if n := (j.ID*7919 + i) % v.Nodes(); v.Free(n) >= j.GPUs {
			return n
		}
	}
	return fleet.Wait
}

// small is a fleet of 64 nodes with students, a gang, faults, evictions and migrations.
func small(seed uint64, policy fleet.Policy, preempt, defrag bool, tau time.Duration) fleet.Config {
	c := fleet.Default()
	c.Topology = fleet.Topology{Pods: 2, RacksPerPod: 8, NodesPerRack: 4, GPUsPerNode: 8}
	c.Policy, c.Preempt, c.Defrag, c.Checkpoint, c.Seed = policy, preempt, defrag, tau, seed
	rng := rand.New(rand.NewPCG(seed, 0))
	var at time.Duration
	for id := 1; id <= 400; id++ {
		at += time.Duration(rng.ExpFloat64() * float64(70*time.Second)).Round(fleet.Resolution)
		j := fleet.Job{
			ID: id, GPUs: 1 + rng.IntN(4), Arrival: at, Work: time.Duration(rng.Int64N(int64(4*time.Hour))) + time.Minute, Write: 20 * time.Second,
			Restart: time.Minute,
		}
		if id%100 == 0 {
			j.GPUs, j.Priority = 40+rng.IntN(60), 5
			c.Big = id
		}
		c.Jobs = append(c.Jobs, j)
	}
	for range 12 {
		c.Faults = append(c.Faults, fleet.Fault{
			Node: rng.IntN(c.Topology.Nodes()), At: time.Duration(rng.Int64N(int64(c.Horizon))), Repair: time.Hour, Cause: "test",
		})
	}
	slices.SortFunc(c.Faults, func(a, b fleet.Fault) int { return int(a.At - b.At) })
	return c
}

func simulate(t testing.TB, c fleet.Config) *fleet.Run {
	t.Helper()
	r, err := fleet.Simulate(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// rings is a small fleet with two training jobs on scattered nodes, students, gangs that do not fill their last node, and faults of
// single GPUs, nodes and software.
func rings(seed uint64, least int) fleet.Config {
	c := small(seed, fleet.BestFit, true, false, 20*time.Minute)
	for i := range c.Jobs {
		if c.Jobs[i].GPUs > 8 {
			c.Jobs[i].Locality = fleet.Anywhere
		}
	}
	for k, at := range []time.Duration{0, 2 * time.Hour} {
		j := fleet.Job{
			ID: 1001 + k, GPUs: 8 * 16, Arrival: at, Work: 8 * time.Hour, Write: 20 * time.Second, Restart: 3 * time.Minute, Priority: 9, Locality: fleet.Anywhere,
			Train: &fleet.Training{TP: 8, PP: 2, CP: 1, DP: 8, Stall: time.Minute, Move: 20 * time.Second, MinReplicas: least},
		}
		i, _ := slices.BinarySearchFunc(c.Jobs, at, func(j fleet.Job, t time.Duration) int { return int(j.Arrival - t) })
		c.Jobs = slices.Insert(c.Jobs, i, j)
	}
	c.Big, c.Rescale = 1001, elastic.Reshard
	for i := range c.Faults {
		switch f := &c.Faults[i]; i % 3 {
		case 1:
			f.Scope, f.GPU = fleet.OneGPU, i%8
		case 2:
			f.Scope, f.Repair = fleet.Software, 0
		}
	}
	return c
}

// week is the first week of Act II.
func week() fleet.Config {
	c := scenario.Gamble(fleet.Default())
	c.Horizon, c.Rescale = 7*24*time.Hour, elastic.DropReplicas
	c.Faults = c.Faults[:sort.Search(len(c.Faults), func(i int) bool { return c.Faults[i].At >= c.Horizon })]
	return c
}

func TestPackingKeepsRingsAndWhatIsStranded(t *testing.T) {
	for seed := range uint64(20) {
		for _, c := range []fleet.Config{rings(seed, 0), rings(seed, 7)} {
			for _, c.Rescale = range elastic.Strategies() {
				checkPacking(t, simulate(t, c))
			}
		}
	}
	r := simulate(t, scenario.Gamble(fleet.Default()))
	t.Logf("Act II: %d spans take %d bytes", len(r.Spans), checkPacking(t, r))
}

func TestPackingIsExactWhateverThePolicy(t *testing.T) {
	for seed := range uint64(8) {
		for _, p := range []fleet.Policy{fleet.FCFS, fleet.BestFit, fleet.Preemption, fleet.Placing("last", last), fleet.Placing("emptiest", emptiest), fleet.Placing("scattered", scattered)} {
			for switches := range 4 {
				for _, tau := range []time.Duration{time.Minute, time.Hour, 24 * time.Hour} {
					checkPacking(t, simulate(t, small(seed, p, switches&1 == 1, switches&2 == 2, tau)))
				}
			}
		}
	}
}

// No rule of the simulator is a condition of the format: a schedule of nonsense survives as well.
func TestPackingIsExactForAnySchedule(t *testing.T) {
	for seed := range uint64(50) {
		r := simulate(t, small(seed, fleet.FCFS, false, false, time.Hour))
		rng := rand.New(rand.NewPCG(seed, 1))
		for i := range r.Spans {
			s, n := &r.Spans[i], 0
			if rng.IntN(4) > 0 {
				continue
			}
			s.Job, s.Node, s.Nodes, s.Mask = rng.IntN(len(r.Config.Jobs)), rng.IntN(40), 1+rng.IntN(20), uint16(rng.IntN(256))
			s.Start = time.Duration(rng.Int64N(int64(r.Config.Horizon))).Truncate(fleet.Resolution)
			s.End = s.Start + time.Duration(rng.Int64N(int64(time.Hour))).Truncate(fleet.Resolution)
			s.Reason, s.Busy = fleet.Reason(rng.IntN(6)), rng.IntN(s.Nodes*8+1)
			if rng.IntN(2) == 0 {
				for s.Set = nil; len(s.Set) < s.Nodes; s.Set = append(s.Set, int32(n)) {
					n = rng.IntN(64)
				}
				s.Node = int(s.Set[0])
			}
		}
		checkPacking(t, r)
	}
}

func TestActIPacksSmall(t *testing.T) {
	r := simulate(t, scenario.Fragmented(fleet.Default()))
	if size := checkPacking(t, r); size > len(r.Spans)/8 {
		t.Errorf("%d spans took %d bytes, want at most one bit each", len(r.Spans), size)
	}
}

// instant is what cockpit.js and fleet must agree on.
type instant struct {
	Setting, Working, Idle, Failed, Stranded, Queued, Hole, HoleNode int
	At                                                               int64
	Sum                                                              uint32
}

// checksum runs over state and job of each GPU.
func checksum(s fleet.Snapshot) uint32 {
	h := uint32(2166136261)
	for i := range s.State {
		h = (h ^ uint32(s.State[i])) * 16777619
		h = (h ^ uint32(s.Job[i])) * 16777619
	}
	return h
}

const replayJS = `
const fs = require("fs"), zlib = require("zlib");
const [html, codec, times] = process.argv.slice(1);
const page = fs.readFileSync(html, "utf8"), data = page.match(/data-fleet="data">([^<]*)</)[1];
const bytes = new Uint8Array(zlib.gunzipSync(Buffer.from(data, "base64")));
const js = new Function(fs.readFileSync(codec, "utf8") + "; return { unpackJobs, unpackRun, snapshot, profile };")();
const len = new DataView(bytes.buffer).getUint32(0, true), base = 4 + len;
const grid = JSON.parse(Buffer.from(bytes.subarray(4, base)).toString()), t = grid.topology;
const topo = { pods: t.Pods, racks: t.RacksPerPod, perRack: t.NodesPerRack, gpus: t.GPUsPerNode, nodes: t.Pods * t.RacksPerPod * t.NodesPerRack };
const jobs = js.unpackJobs(bytes, base), out = [];
let slowest = 0;
grid.settings.forEach((s, i) => {
  const f = { tau: grid.taus[s.levers[4]].ms, pauses: s.pauses, outages: grid.outages[s.outages], gaveUp: s.gaveUp }, began = performance.now();
  const run = js.unpackRun(bytes, base + s.at, topo, jobs, grid.horizon, f);
  if (i) slowest = Math.max(slowest, performance.now() - began);
  for (const at of JSON.parse(times)) {
    const p = js.snapshot(topo, jobs, run, f, at);
    let h = 2166136261;
    for (let g = 0; g < p.state.length; g++) {
      h = Math.imul(h ^ p.state[g], 16777619);
      h = Math.imul(h ^ (p.span[g] < 0 ? 0 : jobs.id[run.job[p.span[g]]]), 16777619);
    }
    out.push({ Setting: i, At: at, Working: p.working, Idle: p.idle, Failed: p.failed, Stranded: p.stranded, Queued: p.queued, Hole: p.hole.len, HoleNode: p.hole.node, Sum: h >>> 0 });
  }
});
console.log(JSON.stringify({ instants: out, slowest }));
`

// The heatmap in the browser shows what fleet says, GPU by GPU, for every setting.
func TestBrowserReplaysWhatFleetSays(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: the browser's decoder cannot run here")
	}
	configs := map[string]fleet.Config{
		"Act I": scenario.Fragmented(fleet.Default()), "small": small(3, fleet.Placing("last", last), false, false, 20*time.Minute),
		"rings": rings(5, 0), "a job gives up": rings(6, 6), "Act II, one week": week(), "Act III": scenario.Rescaled(fleet.Default()),
	}
	for name, c := range configs {
		t.Run(name, func(t *testing.T) { checkBrowser(t, node, c) })
	}
}

func checkBrowser(t *testing.T, node string, c fleet.Config) {
	run := simulate(t, c)
	out, err := Cockpit(run).Render()
	if err != nil {
		t.Fatal(err)
	}
	html := filepath.Join(t.TempDir(), "cockpit.html")
	if err := os.WriteFile(html, []byte(out.HTML), 0o600); err != nil {
		t.Fatal(err)
	}
	times := []int64{0, millis(c.Horizon) - 1, millis(momentOfTruth(run)), millis(momentOfTruth(run)) + 1}
	for i := range int64(9) {
		times = append(times, millis(c.Horizon)*(2*i+1)/20)
	}
	for _, o := range run.Outages {
		times = append(times, millis(o.Start))
	}
	list, err := json.Marshal(times)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := exec.Command(node, "-e", replayJS, html, "codec.js", string(list)).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	var got struct {
		Instants []instant
		Slowest  float64
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		t.Fatal(err)
	}
	g := gridOf(run.Config)
	want := make([]instant, len(g.Settings)*len(times))
	err = fleet.Sweep(g.configs(), func(i int, r *fleet.Run) {
		for k, at := range times {
			s := r.At(time.Duration(at) * fleet.Resolution)
			hole := s.Hole
			want[i*len(times)+k] = instant{i, s.Working, s.Idle, s.Failed, s.Stranded, s.Queued, s.LargestHole, hole, at, checksum(s)}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Instants) != len(want) {
		t.Fatalf("%d instants, want %d", len(got.Instants), len(want))
	}
	for i := range want {
		if got.Instants[i] != want[i] {
			t.Errorf("the browser says %+v, fleet says %+v", got.Instants[i], want[i])
		}
	}
	t.Logf("%d settings at %d instants agree; the slowest setting took %.1f ms to unpack", len(g.Settings), len(times), got.Slowest)
}
