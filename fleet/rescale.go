package fleet

import (
	"fmt"
	"slices"
	"time"

	"github.com/fleetlab/fleetlab/fleet/elastic"
)

// This file is what happens to a training job when nodes are lost or come back. It is taken off its nodes at the instant of the
// failure; when all else of that instant has happened its Rescaler is asked, and it goes on with fewer replicas, stands still, or
// crashes into the queue. While it is not at full strength the Rescaler is asked again whenever a node has changed.

// RescalerName is the name that a Rescaler gives itself, else its type.
func RescalerName(r elastic.Rescaler) string { return ownName(r) }

// trainingState is what the simulation knows about a training job that it does not about others.
type trainingState struct {
	rank     []int32       // all nodes of the job, replica by replica: first those at work, then the rest, lost ones too
	running  int           // replicas at work, or, while it stands still, those that have the model's state
	holding  int           // replicas at the front of rank that have the model's state
	progress time.Duration // when it was taken off its nodes
	asked    int           // sim.changes when the Rescaler was last asked
	wounded  bool          // it was taken off its nodes at this instant
	broken   bool          // and not only off nodes that it had no use for
	rest     time.Duration // of the restart or stall that was interrupted then
	paid     time.Duration // of it before
	holders  int           // as the span had it
	spoiled  bool          // by a silent corruption: no replica has a good state
	still    bool          // it waits for nodes
}

// nodesPerReplica is the size of a replica of job.
func (s *sim) nodesPerReplica(job int) int {
	return s.jobs[job].Train.replicaGPUs() / s.topo.GPUsPerNode
}

// lift takes a training job off its nodes, as it stands.
func (s *sim) lift(id int32) {
	sp := s.release(id, Rescaled)
	p := s.run.pace(sp, s.now)
	st := &s.state[sp.Job]
	t := st.training
	t.holding = t.running
	t.rest, t.paid, t.holders = sp.restart-p.restart, sp.paid+p.restart, sp.holders
	if t.rest > 0 { // the newcomers have not got the state yet
		t.holding = sp.holders / s.nodesPerReplica(sp.Job)
	}
	st.saved, t.progress = s.saved(sp, p), sp.from+p.work
	st.redo = lose(sp.redo, t.progress, t.progress, Useful)
}

// wound lifts a job that has lost a node, or whose software has crashed there, if it still stands. If what it computed is wrong, node
// is nowhere and clean its last good progress, else that is Never.
func (s *sim) wound(job, node int, scope Scope, clean time.Duration, h *hits) {
	st := &s.state[job]
	t, id := st.training, s.jobs[job].ID
	k := s.nodesPerReplica(job)
	at := slices.Index(t.rank, int32(node)) / k // the replica
	working := node == nowhere || t.still || at < t.running
	if scope == Software && at >= t.running {
		return // nothing of it ran there
	}
	if !t.wounded {
		s.lift(st.span)
		t.wounded, t.broken = true, false
		s.wounded = append(s.wounded, job)
	}
	if scope == Software && at < t.holding { // the process had the state, and the node will be given it anew
		lost := slices.Clone(t.rank[at*k : (at+1)*k])
		t.rank = slices.Insert(slices.Delete(t.rank, at*k, (at+1)*k), (t.holding-1)*k, lost...)
		t.holding--
	}
	if clean != Never {
		st.saved, t.spoiled = min(st.saved, clean), true
	}
	list := &h.shrunk
	if working {
		list, t.broken = &h.broken, true
	}
	if !slices.Contains(*list, id) {
		*list = append(*list, id)
	}
}

// regroup asks each training job that has lost a node, and each that lacks some while nodes have changed, how it goes on.
func (s *sim) regroup() {
	for _, job := range s.wounded {
		t := s.state[job].training
		if !t.broken {
			t.wounded = false
			s.trainOn(job)
			continue
		}
		b := s.breakOf(job)
		r, err := s.askRescaler(job, b)
		if err != nil {
			s.err = err
			return
		}
		t.wounded, t.spoiled, t.still = false, false, false
		s.carryOn(job, b, r)
	}
	s.wounded = s.wounded[:0]
	s.grow()
}

// grow lets the jobs that lack replicas have nodes that have come free. It tells whether one has taken some.
func (s *sim) grow() (grown bool) {
	if s.now < s.pausedUntil || s.err != nil {
		return false
	}
	for _, job := range s.trainings {
		more, err := s.growOne(job)
		if err != nil {
			s.err = err
			return false
		}
		grown = grown || more
	}
	return grown
}

func (s *sim) growOne(job int) (grown bool, err error) {
	st, t := &s.state[job], s.state[job].training
	if st.span < 0 || st.deadline != Never || t.asked == s.changes || !t.still && t.running == s.jobs[job].Train.DP {
		return false, nil
	}
	t.asked = s.changes
	r, err := s.askRescaler(job, s.breakOf(job))
	if err != nil || len(r.Replicas) < s.jobs[job].Train.fewest() || !t.still && len(r.Replicas) <= t.running {
		return false, err
	}
	s.lift(st.span)
	t.still = false
	s.carryOn(job, s.breakOf(job), r)
	t.asked = s.changes
	return true, nil
}

// trainOn puts a job that has lost nothing but nodes it had no use for back on the others.
func (s *sim) trainOn(job int) {
	t := s.state[job].training
	sp := s.trainingSpan(job)
	sp.speed = s.jobs[job].Train.speed(t.running)
	sp.restart, sp.paid, sp.holders, sp.goesOn = t.rest, t.paid, t.holders, true
	s.occupy(&sp)
}

// breakOf is the job as its Rescaler sees it.
func (s *sim) breakOf(job int) elastic.Break {
	st, t := &s.state[job], s.state[job].training
	k := s.nodesPerReplica(job)
	b := elastic.Break{Now: s.now, NodesPerReplica: k, Min: s.jobs[job].Train.fewest(), Running: t.running}
	if st.span < 0 { // lifted: the state is what counts
		b.Running = t.holding
	}
	if t.spoiled {
		b.Running = 0
	}
	mine := newBitset(len(s.free))
	nodes := make([]int, len(t.rank))
	for i, n := range t.rank {
		nodes[i] = int(n)
		mine.add(int(n))
		held := st.span >= 0 && slices.Contains(s.onNode[n], st.span)
		if !held && !s.vacant(int(n)) {
			b.Lost = append(b.Lost, int(n))
		}
	}
	slices.Sort(b.Lost)
	for replica := range slices.Chunk(nodes, k) {
		b.Replicas = append(b.Replicas, replica)
	}
	for _, other := range s.wounded { // what another job has just been lifted off is not free yet
		if t := s.state[other].training; t.wounded && other != job {
			for _, n := range t.rank {
				mine.add(int(n))
			}
		}
	}
	for n := range s.empty.elements {
		if s.vacant(n) && !mine.has(n) && s.inReach(job, n) {
			b.Spares = append(b.Spares, n)
		}
	}
	return b
}

// inReach tells whether a job may have a node as a spare: one in its rack or pod, if its Locality requires that.
func (s *sim) inReach(job, node int) bool {
	switch j, first := &s.jobs[job], int(s.state[job].training.rank[0]); {
	case j.Prefer:
		return true
	case j.Locality == SameRack:
		return s.topo.Rack(node) == s.topo.Rack(first)
	case j.Locality == SamePod:
		return s.topo.Pod(node) == s.topo.Pod(first)
	default:
		return true
	}
}

// vacant tells whether a node is up, wholly free and kept for nobody.
func (s *sim) vacant(node int) bool { return s.empty.has(node) && s.kept[node] == 0 }

// askRescaler turns a panic or a wrong answer, which may be a student's, into an error.
func (s *sim) askRescaler(job int, b elastic.Break) (r elastic.Regroup, err error) {
	rescaler := s.cfg.Rescale
	bad := func(why any) error {
		return fmt.Errorf("rescaler %s of job %d at %s: %v: %w", ownName(rescaler), s.jobs[job].ID, FormatDuration(s.now), why, ErrPolicy)
	}
	defer func() {
		if p := recover(); p != nil {
			err = bad(fmt.Sprintf("panic: %v", p))
		}
	}()
	r = rescaler.Rescale(b.Clone()) // it may write into its break, but not into ours
	if wrong := b.Check(r); wrong != nil {
		err = bad(wrong)
	}
	return r, err
}

// carryOn does what the Rescaler has answered. The job is on no node at this point.
func (s *sim) carryOn(job int, b elastic.Break, r elastic.Regroup) {
	t := s.state[job].training
	switch {
	case r.Wait:
		s.standStill(job, b)
	case len(r.Replicas) == 0:
		s.crash(job, s.fallBack(job, elastic.Break{}))
	case len(r.Replicas) < b.Min:
		s.giveUp(job, len(r.Replicas))
	default:
		lost, live := s.fallBack(job, b), b.Live()
		moved := b.Moved(r)
		t.rank, t.running = s.newRanks(b, r), len(r.Replicas)
		sp := s.trainingSpan(job)
		sp.speed = s.jobs[job].Train.speed(t.running)
		sp.restart = s.jobs[job].Restart
		if live {
			sp.holders = len(r.Replicas)*b.NodesPerReplica - moved
			if sp.restart = s.jobs[job].Train.Stall; moved > 0 {
				sp.restart += s.jobs[job].Train.Move
			}
		}
		s.occupy(&sp)
		s.logRescale(&sp, b, moved, lost)
	}
	t.asked = s.changes
}

// newRanks orders all nodes of the job anew: the replicas that go on, first those that have the state already; then the rest as they
// were, without as many lost nodes as were replaced.
func (s *sim) newRanks(b elastic.Break, r elastic.Regroup) []int32 {
	var has, gets, rest []int32
	used := newBitset(len(s.free))
	for _, replica := range r.Replicas {
		to := &gets
		if slices.ContainsFunc(b.Replicas[:b.Running], func(old []int) bool { return slices.Equal(old, replica) }) {
			to = &has
		}
		for _, n := range replica {
			*to = append(*to, int32(n))
			used.add(n)
		}
	}
	surplus := -len(b.Replicas) * b.NodesPerReplica
	for _, replica := range b.Replicas {
		for _, n := range replica {
			if !used.has(n) {
				surplus++
			}
		}
	}
	surplus += len(has) + len(gets)
	replaced := func(replica []int) bool { // all that is left of it is lost nodes
		return !slices.ContainsFunc(replica, func(n int) bool { return !used.has(n) && b.Alive(n) })
	}
	for _, pass := range []bool{true, false} { // first whose replica has gone on with others in their place
		for _, replica := range b.Replicas {
			for _, n := range replica {
				if surplus > 0 && !used.has(n) && !b.Alive(n) && (!pass || replaced(replica)) {
					used.add(n)
					surplus--
				}
			}
		}
	}
	for _, replica := range b.Replicas {
		for _, n := range replica {
			if !used.has(n) {
				rest = append(rest, int32(n))
			}
		}
	}
	return slices.Concat(has, gets, rest[:len(rest)-max(0, surplus)])
}

// trainingSpan is the next span of a lifted job: its replicas at work, and the nodes that the others still have.
func (s *sim) trainingSpan(job int) Span {
	st, t, g := &s.state[job], s.state[job].training, s.topo.GPUsPerNode
	sp := Span{Job: job, Start: s.now, from: t.progress, redo: st.redo}
	sp.Busy = t.running * s.nodesPerReplica(job) * g
	sp.phase = min(t.progress-st.saved, s.run.planOf(&sp).tau)
	for i, n := range t.rank {
		if i < sp.Busy/g || s.vacant(int(n)) {
			sp.Set = append(sp.Set, n)
		}
	}
	sp.Node, sp.Nodes = int(sp.Set[0]), len(sp.Set)
	return sp
}

// fallBack takes a lifted job to its last checkpoint, unless a live replica has its state; it returns the work that this loses.
func (s *sim) fallBack(job int, b elastic.Break) GPUTime {
	st, t, j := &s.state[job], s.state[job].training, &s.jobs[job]
	if b.Live() {
		return 0
	}
	lost := over(j.GPUs, t.progress-st.saved)
	st.redo = lose(st.redo, st.saved, t.progress, Rework)
	t.progress = st.saved
	s.cleanse(job)
	if lost > 0 {
		s.run.losses = append(s.run.losses, loss{at: s.now, work: lost, why: Rework})
	}
	return lost
}

// standStill keeps the nodes that are left until more are there.
func (s *sim) standStill(job int, b elastic.Break) {
	t := s.state[job].training
	lost := s.fallBack(job, b)
	var whole, broken []int32
	t.running = 0
	for i, replica := range b.Replicas {
		to := &broken
		if i < b.Running && b.Whole(replica) {
			to = &whole
			t.running++
		}
		for _, n := range replica {
			*to = append(*to, int32(n))
		}
	}
	t.rank, t.still = append(whole, broken...), true
	if len(b.Lost) == len(t.rank) { // it has nothing to stand on
		s.crash(job, lost)
		return
	}
	sp := s.trainingSpan(job)
	sp.Busy, sp.speed = 0, speed{0, 1}
	s.occupy(&sp)
	s.logStandStill(&sp, b, lost)
}

// crash sends a lifted job back to the queue, from where it starts again from its last checkpoint.
func (s *sim) crash(job int, lost GPUTime) {
	st, j := &s.state[job], &s.jobs[job]
	s.run.Queue[job].Kills++
	st.restarts, st.failed = true, true
	s.log(Crashed, -1, j.ID, "job %d crashes: it lost a node and gives its others back; %s of work since its last checkpoint lost; back to the queue", j.ID, hours(lost))
	s.enqueue(job)
}

// giveUp ends a lifted job for good.
func (s *sim) giveUp(job, replicas int) {
	j := &s.jobs[job]
	s.run.Queue[job].GaveUp = s.now
	s.leave(job)
	s.log(GaveUp, -1, j.ID, "job %d ends for good: %s left of %d, and it needs at least %d", j.ID, plural(replicas, "replica"), j.Train.DP, j.Train.fewest())
}

// over tells whether a job has ended, one way or the other.
func (s *sim) over(job int) bool {
	return s.run.Queue[job].Done != Never || s.run.Queue[job].GaveUp != Never
}
