package fleet_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
)

// pods is a fleet of 2 pods × 2 racks × 4 nodes × 8 GPUs.
func pods() fleet.Config {
	c := small(4)
	c.Topology.Pods, c.Topology.RacksPerPod = 2, 2
	return c
}

// occupied fills the nodes for which keep is false with jobs that end after a second, and the others with ones that stay. First fit
// sends one job to each node, in order.
func occupied(c *fleet.Config, keep func(node int) bool) {
	for n := range c.Topology.Nodes() {
		j := fleet.Job{ID: n + 1, GPUs: c.Topology.GPUsPerNode, Work: time.Second}
		if keep(n) {
			j.Work = 1000 * time.Hour
		}
		c.Jobs = append(c.Jobs, j)
	}
}

// then is a policy that fills the fleet by first fit up to a minute, and goes on as another.
type then struct{ fleet.Policy }

func (p then) Decide(v fleet.View) fleet.Decision {
	if v.Now() < time.Minute {
		return fleet.FCFS.Decide(v)
	}
	return p.Policy.Decide(v)
}

// nodesOf is the nodes of a job's last span.
func nodesOf(r *fleet.Run, id int) (nodes []int) {
	for i := range r.Spans {
		if r.Config.Jobs[r.Spans[i].Job].ID == id {
			nodes = slices.Sorted(r.Spans[i].On)
		}
	}
	return nodes
}

// Where a gang goes, by locality and fit. Free are nodes 0, 1, 3 of rack 0 and 4, 5, 6, 7 of rack 1 (pod 0), 9, 10 of rack 2 and 12, 14, 15
// of rack 3 (pod 1).
func TestGangsGoWhereTheirLocalityAndFitSay(t *testing.T) {
	free := []int{0, 1, 3, 4, 5, 6, 7, 9, 10, 12, 14, 15}
	for _, x := range []struct {
		nodes    int
		locality fleet.Locality
		prefer   bool
		fit      fleet.Fit
		want     []int
	}{
		{2, fleet.Contiguous, false, fleet.FitFirst, []int{0, 1}},
		{2, fleet.Contiguous, false, fleet.FitBest, []int{0, 1}},
		{2, fleet.Contiguous, false, fleet.FitSpread, []int{3, 4}}, // cut from the longest run, 3–7
		{6, fleet.Contiguous, false, fleet.FitFirst, nil},
		{6, fleet.Contiguous, true, fleet.FitFirst, []int{0, 1, 3, 4, 5, 6}}, // the next wider locality that has room is a pod
		{2, fleet.SameRack, false, fleet.FitFirst, []int{0, 1}},
		{2, fleet.SameRack, false, fleet.FitBest, []int{9, 10}},   // the rack with the fewest
		{2, fleet.SameRack, false, fleet.FitSpread, []int{4, 5}},  // with the most
		{3, fleet.SameRack, false, fleet.FitBest, []int{0, 1, 3}}, // rack 2 is too small
		{5, fleet.SameRack, false, fleet.FitFirst, nil},
		{5, fleet.SameRack, true, fleet.FitBest, []int{9, 10, 12, 14, 15}}, // no rack has 5, but a pod has
		{2, fleet.SamePod, false, fleet.FitFirst, []int{0, 1}},
		{2, fleet.SamePod, false, fleet.FitBest, []int{9, 12}},  // the pod with fewer, and in it the shortest runs first
		{2, fleet.SamePod, false, fleet.FitSpread, []int{3, 4}}, // the pod with more, and its longest run
		{8, fleet.SamePod, false, fleet.FitFirst, nil},
		{8, fleet.SamePod, true, fleet.FitFirst, []int{0, 1, 3, 4, 5, 6, 7, 9}},
		{3, fleet.Anywhere, false, fleet.FitFirst, []int{0, 1, 3}},
		{3, fleet.Anywhere, false, fleet.FitBest, []int{0, 1, 12}},  // the shortest runs first: 12, then 0–1
		{3, fleet.Anywhere, false, fleet.FitSpread, []int{3, 4, 5}}, // the longest run first
		{13, fleet.Anywhere, false, fleet.FitBest, nil},
	} {
		t.Run(fmt.Sprintf("%d nodes, %v, prefer %v, %v", x.nodes, x.locality, x.prefer, x.fit), func(t *testing.T) {
			c := pods()
			occupied(&c, func(n int) bool { return !slices.Contains(free, n) })
			c.Policy = then{fleet.Queueing{Fit: x.fit}}
			c.Jobs = append(c.Jobs, fleet.Job{ID: 99, GPUs: 8 * x.nodes, Arrival: time.Hour, Work: time.Hour, Locality: x.locality, Prefer: x.prefer})
			if got := nodesOf(simulate(t, c), 99); !slices.Equal(got, x.want) {
				t.Errorf("on nodes %v, want %v", got, x.want)
			}
		})
	}
}

// A small job goes to the first node that holds it, to the fullest, or to the emptiest.
func TestSmallJobsByFit(t *testing.T) {
	for fit, want := range map[fleet.Fit]int{fleet.FitFirst: 0, fleet.FitBest: 1, fleet.FitSpread: 2} {
		for _, place := range []fleet.Placement{nil, []fleet.Placement{fleet.PlaceFirst, fleet.PlaceBest, fleet.PlaceSpread}[fit]} {
			c := small(3)
			for n, gpus := range []int{5, 6, 4} { // so many are held on each node
				c.Jobs = append(c.Jobs, fleet.Job{ID: n + 1, GPUs: gpus, Work: 100 * time.Hour})
			}
			c.Policy = then{fleet.Queueing{Fit: fit, Place: place}}
			c.Jobs = append(c.Jobs, fleet.Job{ID: 99, GPUs: 2, Arrival: time.Hour, Work: time.Hour})
			if got := nodesOf(simulate(t, c), 99); len(got) != 1 || got[0] != want {
				t.Errorf("%v: on node %v, want %d", fit, got, want)
			}
		}
	}
}

// The log says what a gang needs and what there is, by its locality.
func TestWaitingReasonNamesTheLocality(t *testing.T) {
	for _, x := range []struct {
		locality fleet.Locality
		prefer   bool
		want     string
	}{
		{fleet.SameRack, false, "needs 13 nodes in one rack, largest rack has 4 free"},
		{fleet.SamePod, false, "needs 13 nodes in one pod, largest pod has 7 free"},
		{fleet.Anywhere, false, "needs 13 whole nodes, 12 are free"},
		{fleet.SamePod, true, "needs 13 whole nodes, preferably in one pod, 12 are free"},
		{fleet.Contiguous, false, "needs 13 consecutive nodes, largest hole 5"},
		{fleet.Contiguous, true, "needs 13 whole nodes, preferably consecutive ones, 12 are free"},
	} {
		c := pods()
		occupied(&c, func(n int) bool { return slices.Contains([]int{2, 8, 11, 13}, n) })
		c.Jobs = append(c.Jobs, fleet.Job{ID: 99, GPUs: 104, Arrival: time.Hour, Work: time.Hour, Locality: x.locality, Prefer: x.prefer})
		wantIncident(t, simulate(t, c), fleet.BigWaits, "job 99 waits: "+x.want+", ")
	}
}

// crowd is 8 nodes of 2 GPUs in 2 racks with jobs that stay: small ones, gangs, some too important to be evicted, some nodes free; and
// a gang that comes last.
func crowd(seed uint64) fleet.Config {
	rng := rand.New(rand.NewPCG(seed, 3))
	c := fleet.Default()
	c.Topology = fleet.Topology{Pods: 1, RacksPerPod: 2, NodesPerRack: 4, GPUsPerNode: 2}
	c.Policy, c.Checkpoint, c.Horizon = fleet.BestFit, 24*time.Hour, 10*time.Hour
	for id := 1; id <= 3+rng.IntN(12); id++ {
		j := fleet.Job{ID: id, GPUs: 1, Arrival: time.Duration(id) * 20 * time.Minute, Work: 1000 * time.Hour, Restart: time.Duration(rng.IntN(300)) * time.Minute}
		switch rng.IntN(4) {
		case 0:
			j.GPUs, j.Locality = 3+rng.IntN(6), fleet.Anywhere
		case 1:
			j.GPUs = 2
		}
		if rng.IntN(8) == 0 {
			j.Priority = 20
		}
		c.Jobs = append(c.Jobs, j)
	}
	c.Big = 99
	c.Jobs = append(c.Jobs, fleet.Job{
		ID: c.Big, GPUs: 3 + rng.IntN(10), Arrival: 9 * time.Hour, Work: 1000 * time.Hour, Priority: 10, Locality: fleet.Locality(rng.IntN(4)),
	})
	return c
}

// Victims are the cheapest, and of equally cheap sets one of the fewest: against all sets of nodes that would do.
func TestVictimsAreTheCheapestOfAllSets(t *testing.T) {
	var evicted, free, hopeless, gangs int
	for seed := range uint64(400) {
		c := crowd(seed)
		big := c.Jobs[len(c.Jobs)-1]
		before := simulate(t, c)
		c.Preempt = true
		after := simulate(t, c)
		cost, victims, possible := dumbVictims(before, big)
		q, l := after.Queue[len(c.Jobs)-1], after.Ledger()
		n := 0
		for i, sp := range after.Spans {
			if sp.Reason == fleet.Evicted && sp.End == big.Arrival {
				n++
				gangs += b2i(after.Spans[i].Nodes > 1)
			}
		}
		if got := l.Price.Lost + l.Price.Restarts; possible && (got != cost || n != victims) || !possible && n > 0 || possible != (q.FirstRun == big.Arrival) {
			t.Fatalf("seed %d: %d nodes, %v: %d evicted at %v GPU-h, want %d at %v; possible %v, starts at %v",
				seed, (big.GPUs+1)/2, big.Locality, n, got.Hours(), victims, cost.Hours(), possible, q.FirstRun)
		}
		evicted, free, hopeless = evicted+b2i(n > 0), free+b2i(possible && n == 0), hopeless+b2i(!possible)
	}
	if evicted < 50 || free < 10 || hopeless < 10 || gangs < 20 {
		t.Errorf("%d runs with evictions, %d of gangs; %d needed none, %d were hopeless", evicted, gangs, free, hopeless)
	}
}

// dumbVictims tries all sets of nodes for a gang at the instant of its arrival.
func dumbVictims(r *fleet.Run, big fleet.Job) (cost fleet.GPUTime, victims int, possible bool) {
	nodes, need := r.Config.Topology.Nodes(), r.Config.Topology.NodesFor(big.GPUs)
	for set := range 1 << nodes {
		var place []int
		for n := range nodes {
			if set>>n&1 == 1 {
				place = append(place, n)
			}
		}
		if len(place) != need || !nearEnough(r.Config.Topology, place, big.Locality) {
			continue
		}
		ok, c, v := true, fleet.GPUTime(0), 0
		for i := range r.Spans {
			sp := &r.Spans[i]
			on := sp.Start <= big.Arrival && sp.End > big.Arrival && sp.Job != len(r.Config.Jobs)-1 &&
				slices.ContainsFunc(place, func(n int) bool { return slices.Contains(slices.Collect(sp.On), n) })
			if on {
				j := r.Config.Jobs[sp.Job]
				ok = ok && j.Priority < big.Priority
				c += fleet.GPUTime(j.GPUs) * fleet.GPUTime((big.Arrival-sp.Start+j.Restart)/fleet.Resolution)
				v++
			}
		}
		if ok && (!possible || c < cost || c == cost && v < victims) {
			cost, victims, possible = c, v, true
		}
	}
	return cost, victims, possible
}

func nearEnough(t fleet.Topology, nodes []int, l fleet.Locality) bool {
	for i, n := range nodes {
		switch {
		case l == fleet.Contiguous && n != nodes[0]+i, l == fleet.SameRack && t.Rack(n) != t.Rack(nodes[0]), l == fleet.SamePod && t.Pod(n) != t.Pod(nodes[0]):
			return false
		}
	}
	return true
}

// Migration makes a place of each locality, loses no work, and moves nobody where there is none to be made.
func TestMigrationForEveryLocality(t *testing.T) {
	for _, x := range []struct {
		locality fleet.Locality
		nodes    int
		starts   bool
	}{
		{fleet.Contiguous, 7, true}, {fleet.SameRack, 4, true}, {fleet.SamePod, 7, true}, {fleet.Anywhere, 12, true},
		{fleet.SameRack, 5, false}, {fleet.SamePod, 9, false}, {fleet.Anywhere, 13, false},
	} {
		c := pods()
		c.Defrag, c.Policy = true, then{fleet.FCFS}
		fill(&c, 16, func(int) (time.Duration, int) { return 100 * time.Hour, 0 }) // 2 GPUs of each node would be 4 nodes
		for i := range c.Jobs {
			if i%8 == 1 {
				c.Jobs[i].Work = 100 * time.Hour
			}
		}
		c.Big = 999
		c.Jobs = append(c.Jobs, fleet.Job{ID: c.Big, GPUs: 8 * x.nodes, Arrival: time.Hour, Work: time.Hour, Priority: 1, Locality: x.locality})
		r := simulate(t, c)
		l := r.Ledger()
		if started := l.BigStart != fleet.Never; started != x.starts || started != (l.Migrations > 0) || evictions(r) != 0 || l.Price.Lost != 0 {
			t.Errorf("%d nodes, %v: starts at %v after %d migrations", x.nodes, x.locality, l.BigStart, l.Migrations)
		}
		if place := nodesOf(r, c.Big); x.starts && (len(place) != x.nodes || !nearEnough(c.Topology, place, x.locality)) {
			t.Errorf("%v: on nodes %v", x.locality, place)
		}
		nobodyShares(t, r)
	}
}
