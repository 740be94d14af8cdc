package fleet

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fleetlab/fleetlab/fleet/elastic"
)

// This file words the consequence log. Each sentence is made from the run's own state at that instant.

func (s *sim) log(kind Kind, node, job int, format string, args ...any) {
	s.run.Incidents = append(s.run.Incidents, Incident{
		ID: len(s.run.Incidents) + 1, At: s.now, Kind: kind, Node: node, Job: job, Text: fmt.Sprintf(format, args...),
	})
}

// FormatDuration writes a time as people say it: "3 h 5 m", "45 s", "2 d 1 h". Two units at most; below a second in milliseconds.
func FormatDuration(d time.Duration) string {
	if d < 0 {
		return "never"
	}
	if d > 0 && d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	units := []struct {
		name string
		size time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}}
	for i, u := range units {
		if d < u.size {
			continue
		}
		text := fmt.Sprintf("%d %s", d/u.size, u.name)
		if i+1 < len(units) {
			if rest := d % u.size / units[i+1].size; rest > 0 {
				text += fmt.Sprintf(" %d %s", rest, units[i+1].name)
			}
		}
		return text
	}
	return "0 s"
}

// FormatCount writes a whole number with thousands separators.
func FormatCount(n int) string {
	if n < 0 {
		return "−" + FormatCount(-n)
	}
	digits := strconv.Itoa(n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

func hours(g GPUTime) string {
	if g.Hours() >= 100 {
		return FormatCount(int(g.Hours()+0.5)) + " GPU-h"
	}
	return fmt.Sprintf("%.1f GPU-h", g.Hours())
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "ch") {
		noun += "e"
	}
	return FormatCount(n) + " " + noun + "s"
}

// list names a few jobs and counts the others.
func list(ids []int) string {
	const enough = 4
	var parts []string
	for i, id := range ids {
		if i == enough && len(ids) > enough+1 {
			parts = append(parts, fmt.Sprintf("and %s more", FormatCount(len(ids)-enough)))
			break
		}
		parts = append(parts, strconv.Itoa(id))
	}
	return strings.Join(parts, ", ")
}

func (s *sim) name(job int) string {
	j := s.jobs[job]
	return fmt.Sprintf("job %d (%s)", j.ID, plural(j.GPUs, "GPU"))
}

// need is the place that a job needs, in words.
func (s *sim) need(j Job) string {
	n := s.topo.NodesFor(j.GPUs)
	switch {
	case j.GPUs <= s.topo.GPUsPerNode:
		return plural(j.GPUs, "GPU") + " on one node"
	case j.Locality == Anywhere:
		return fmt.Sprintf("%d whole nodes", n)
	case j.Locality == Contiguous && j.Prefer:
		return fmt.Sprintf("%d whole nodes, preferably consecutive ones", n)
	case j.Locality == Contiguous:
		return fmt.Sprintf("%d consecutive nodes", n)
	case j.Prefer:
		return fmt.Sprintf("%d whole nodes, preferably in %v", n, j.Locality)
	default:
		return fmt.Sprintf("%d nodes in %v", n, j.Locality)
	}
}

// most is the largest place for a job of this kind that is free, in words.
func (s *sim) most(j Job) string {
	if j.GPUs <= s.topo.GPUsPerNode || j.near() == Contiguous {
		return fmt.Sprintf("largest hole %d", s.holeLen)
	}
	most, size := 0, s.topo.domain(j.near())
	for from := 0; from < len(s.free); from += size {
		most = max(most, s.empty.count(from, from+size))
	}
	switch j.near() {
	case SameRack:
		return fmt.Sprintf("largest rack has %d free", most)
	case SamePod:
		return fmt.Sprintf("largest pod has %d free", most)
	default:
		return fmt.Sprintf("%d are free", most)
	}
}

// idleWords counts the idle GPUs, and wonders if they are enough.
func (s *sim) idleWords(j Job) string {
	if s.idle < j.GPUs {
		return fmt.Sprintf("%s GPUs are idle", FormatCount(s.idle))
	}
	return fmt.Sprintf("though %s GPUs are idle", FormatCount(s.idle))
}

func (s *sim) where(node int) string {
	return fmt.Sprintf("node %d (rack %d, pod %d)", node, s.topo.Rack(node), s.topo.Pod(node))
}

func (s *sim) nodes(first, n int) string {
	if n == 1 {
		return s.where(first)
	}
	return fmt.Sprintf("nodes %d–%d", first, first+n-1)
}

// Sorts of messages about a job that waits: each is said once.
const (
	saidWaits = iota
	saidNoEviction
	saidNoMigration
	saidExempt
	saidQuota
	sorts
)

// once tells whether a message of this sort is the first since the job entered the queue.
func (s *sim) once(job, sort int) bool {
	said := s.state[job].said[sort]
	s.state[job].said[sort] = true
	return !said
}

// logWaits says of a gang, or of the watched job, why it does not start; and of the head of the queue what is reserved for it.
func (s *sim) logWaits(job int, head bool) {
	j := s.jobs[job]
	if j.GPUs <= s.topo.GPUsPerNode && j.ID != s.cfg.Big || !s.once(job, saidWaits) {
		return
	}
	reserved := ""
	if q, ours := asQueueing(s.cfg.Policy); head && ours && q.Backfill == Reserve {
		reserved = s.reservedWords(&j)
	}
	s.log(BigWaits, -1, j.ID, "job %d waits: needs %s, %s, %s%s", j.ID, s.need(j), s.most(j), s.idleWords(j), reserved)
}

// reservedWords says what EASY keeps for a job.
func (s *sim) reservedWords(j *Job) string {
	r := s.reserve(j, newBitset(len(s.free)))
	if r.at == forever {
		return "; nothing is reserved, for no end of the running jobs is foreseen that would make room"
	}
	return fmt.Sprintf("; %s reserved for it, free in %s if all jobs keep to their limits", s.placeWords(slices.Collect(r.nodes.elements)), FormatDuration(r.at-s.now))
}

// team is the name of a team in the log.
func (s *sim) team(n int) string {
	if name := s.cfg.Teams[n-1].Name; name != "" {
		return name
	}
	return strconv.Itoa(n)
}

func (s *sim) logQuota(job int) {
	if j := &s.jobs[job]; s.once(job, saidQuota) {
		s.log(OverQuota, -1, j.ID, "job %d waits: team %s holds %s GPUs of its quota of %s, and the job would take %s (Slurm's reason: AssocGrpGRES)", j.ID, s.team(j.Team),
			FormatCount(s.holds(j.Team, job)), FormatCount(s.cfg.Teams[j.Team-1].Quota), FormatCount(s.charge(j)))
	}
}

// logNoEviction says why nobody is evicted for a job; again is when the exemption of those in the way runs out, or forever.
func (s *sim) logNoEviction(job int, again time.Duration) {
	j := s.jobs[job]
	switch {
	case again < forever:
		if s.once(job, saidExempt) {
			s.log(NoEviction, -1, j.ID, "nobody is evicted for job %d yet: it needs %s, and jobs in its way are exempt until they have run for %s; the next look is in %s",
				j.ID, s.need(j), FormatDuration(s.cfg.Exempt), FormatDuration(again-s.now))
		}
	case s.once(job, saidNoEviction):
		s.log(NoEviction, -1, j.ID, "nobody is evicted for job %d: it needs %s, and they would not come free even without every job of lower priority", j.ID, s.need(j))
	}
}

func (s *sim) logNoMigration(job int) {
	if j := s.jobs[job]; s.once(job, saidNoMigration) {
		s.log(NoMigration, -1, j.ID, "nothing migrates for job %d: no packing of the running jobs leaves %s free", j.ID, s.need(j))
	}
}

func (s *sim) logStart(job int, sp *Span) {
	j, st, w := s.jobs[job], &s.state[job], s.run.Queue[job]
	switch {
	case st.failed:
		from := "from the beginning, for it had no checkpoint yet"
		if st.saved > 0 {
			from = fmt.Sprintf("from its checkpoint at %s of work", FormatDuration(st.saved))
		}
		s.log(Recovery, sp.Node, j.ID, "recovery: job %d starts again on %s %s after the failure, %s", j.ID, s.placeWords(spanNodes(sp)), FormatDuration(s.now-st.since), from)
	case j.ID == s.cfg.Big || j.GPUs > s.topo.GPUsPerNode:
		s.log(BigStarted, sp.Node, j.ID, "%s starts on %s after %s in the queue", s.name(job), s.placeWords(spanNodes(sp)), FormatDuration(w.Wait))
	}
}

// placeWords names the nodes of a place.
func (s *sim) placeWords(nodes []int) string {
	first, last := slices.Min(nodes), slices.Max(nodes)
	if last-first+1 == len(nodes) {
		return s.nodes(first, len(nodes))
	}
	return fmt.Sprintf("%s between %d and %d", plural(len(nodes), "node"), first, last)
}

func spanNodes(sp *Span) []int { return slices.Collect(sp.On) }

func (s *sim) logFailure(f Fault, h hits) {
	cause := f.Cause
	if cause == "" {
		cause = "cause unknown"
	}
	if f.Silent > 0 {
		cause += fmt.Sprintf(", %s ago and unnoticed until now", FormatDuration(f.Silent))
	}
	var what []string
	if len(h.killed) > 0 {
		what = append(what, fmt.Sprintf("it wiped out %s of work of %s (%s) since the last %scheckpoints; back to the queue",
			hours(h.lost), plural(len(h.killed), "job"), list(h.killed), verified(f)))
	}
	for _, id := range h.broken {
		what = append(what, fmt.Sprintf("the training ring of job %d is broken", id))
	}
	for _, id := range h.shrunk {
		if !slices.Contains(h.broken, id) {
			what = append(what, fmt.Sprintf("job %d trains on, it was stranded there", id))
		}
	}
	if len(h.recalled) > 0 {
		what = append(what, fmt.Sprintf("checkpoints of %s in the queue (%s) are bad: %s of work since the last good ones lost",
			plural(len(h.recalled), "job"), list(h.recalled), hours(h.wrong)))
	}
	if len(h.spoiled) > 0 {
		what = append(what, fmt.Sprintf("%s (%s) had finished with wrong results", plural(len(h.spoiled), "job"), list(h.spoiled)))
	}
	if what == nil {
		what = []string{"nobody was on it"}
	}
	s.log(NodeFailed, f.Node, 0, "%s: %s; %s", s.failureWords(f), cause, strings.Join(what, "; "))
}

// failureWords says what a fault has taken down.
func (s *sim) failureWords(f Fault) string {
	switch f.Scope {
	case OneGPU:
		return fmt.Sprintf("GPU %d of %s failed", f.GPU, s.where(f.Node))
	case Software:
		return fmt.Sprintf("software crashed on %s", s.where(f.Node))
	default:
		return s.nodes(f.Node, f.nodes()) + " failed"
	}
}

func verified(f Fault) string {
	if f.Silent > 0 {
		return "good "
	}
	return ""
}

func (s *sim) logRepair(node int, mask uint16, since time.Duration) {
	what := s.where(node)
	if mask != s.fullMask {
		what = plural(bits.OnesCount16(mask), "GPU") + " of " + what
	}
	verb := "is"
	if bits.OnesCount16(mask) > 1 && mask != s.fullMask {
		verb = "are"
	}
	s.log(NodeRepaired, node, 0, "%s %s back after %s", what, verb, FormatDuration(s.now-since))
}

func (s *sim) logRescale(sp *Span, b elastic.Break, moved int, lost GPUTime) {
	j, t := s.jobs[sp.Job], s.state[sp.Job].training
	state := "a live replica has the state, so nothing is lost"
	if !b.Live() {
		state = fmt.Sprintf("no live replica has the state: back to the checkpoint at %s of work, %s lost", FormatDuration(t.progress), hours(lost))
	}
	if moved > 0 {
		state += fmt.Sprintf("; %s get the state", plural(moved, "node"))
	}
	s.log(Rescale, sp.Node, j.ID, "job %d goes on with %d of %d replicas at %.1f %% of its speed after %s; %s; %s stranded",
		j.ID, t.running, j.Train.DP, 100*sp.speed.share(), FormatDuration(sp.restart), state, plural(sp.GPUs()-sp.Busy, "GPU"))
}

func (s *sim) logStandStill(sp *Span, b elastic.Break, lost GPUTime) {
	text := fmt.Sprintf("job %d stands still on %s and waits for %d more", s.jobs[sp.Job].ID, plural(sp.Nodes, "node"), len(b.Lost))
	if lost > 0 {
		text += fmt.Sprintf("; no live replica has the state: %s since its last checkpoint lost", hours(lost))
	}
	s.log(Rescale, sp.Node, s.jobs[sp.Job].ID, "%s", text)
}

func (s *sim) logNotice(p *evictionPlan) {
	j := s.jobs[p.job]
	s.log(Eviction, p.nodes[0], j.ID, "job %d (priority %d) takes the place of %s on %s, with %s of grace",
		j.ID, j.Priority, plural(len(p.victims), "job"), s.placeWords(p.nodes), FormatDuration(s.cfg.Grace))
}

func (s *sim) logEviction(p *evictionPlan) {
	j := s.jobs[p.job]
	if len(p.killed) == 0 {
		return // all had ended by themselves
	}
	s.log(Eviction, p.nodes[0], j.ID, "%s (%s) on %s killed for job %d (priority %d): %s of work since the last checkpoints lost; back to the queue",
		plural(len(p.killed), "job"), list(p.killed), s.placeWords(p.nodes), j.ID, j.Priority, hours(p.lost))
}

func (s *sim) logCancel(p *evictionPlan, why string, spared int) {
	s.log(NoEviction, p.nodes[0], s.jobs[p.job].ID, "eviction for job %d on %s given up: %s; %s spared", s.jobs[p.job].ID, s.placeWords(p.nodes), why, plural(spared, "job"))
}

func (s *sim) logMigration(m *migrationPlan, job int) {
	s.log(Relocation, -1, s.jobs[job].ID, "the world stops for %s: %s (%s) move in %s, so that job %d finds its place; they then run %.0f %% slower for %s",
		FormatDuration(m.pause), plural(len(m.moves), "job"), plural(m.gpus, "GPU"), plural(m.batches, "batch"), s.jobs[job].ID,
		s.cfg.Migration.Tax*100, FormatDuration(s.cfg.Migration.TaxFor))
}

// promise notes that the big job should have started by now, if it has not.
func (s *sim) promise(job int) {
	if s.run.Queue[job].FirstRun == Never {
		j := s.jobs[job]
		why := fmt.Sprintf("largest hole %s of the %d it needs", plural(s.holeLen, "node"), s.topo.NodesFor(j.GPUs))
		if j.GPUs > s.topo.GPUsPerNode && j.near() != Contiguous {
			why = fmt.Sprintf("needs %s, %s", s.need(j), s.most(j))
		}
		s.log(SLAMissed, -1, j.ID, "SLA missed: job %d has waited for more than %s; %s", j.ID, FormatDuration(s.cfg.SLA.Start), why)
	}
}

// logPromise notes at the horizon what the promises came to.
func (s *sim) logPromise() {
	if i := s.run.big; s.cfg.Big != 0 && s.run.Queue[i].FirstRun == Never && s.jobs[i].Arrival < s.now {
		s.log(BigWaits, -1, s.cfg.Big, "job %d still waits at the end of the run, after %s: needs %s, %s, %s",
			s.cfg.Big, FormatDuration(s.run.Queue[i].Wait), s.need(s.jobs[i]), s.most(s.jobs[i]), s.idleWords(s.jobs[i]))
	}
	if _, p95 := s.run.studentWaits(); p95 > s.cfg.SLA.Wait {
		s.log(SLAMissed, -1, 0, "SLA missed: 95 %% of the student jobs waited for up to %s, more than %s", FormatDuration(p95), FormatDuration(s.cfg.SLA.Wait))
	}
}
