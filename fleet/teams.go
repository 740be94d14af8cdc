package fleet

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"time"
)

// This file keeps the accounts of the teams: what they hold, for the quota, and what they have used, for fair share. What a job holds
// is what it keeps from others, stranded GPUs included; a training job that has lost nodes is charged for all it asked for, so that it
// can always grow back within the quota.

// account is one team's.
type account struct {
	held    int           // GPUs of its running jobs
	used    uint64        // decayed GPU-time, up to at
	at      time.Duration // when used was last carried on
	blocked bool          // the log has said that its quota makes a job wait
}

// calcPeriod is how often usage decays: Slurm's PriorityCalcPeriod.
const calcPeriod = 5 * time.Minute

// defaultHalfLife is Slurm's PriorityDecayHalfLife.
const defaultHalfLife = 7 * 24 * time.Hour

// decayOf is what usage is multiplied with each calcPeriod, in 2⁻³²: usage is a whole number, so all machines get the same order.
func decayOf(halfLife time.Duration) uint64 {
	return uint64(math.Round(math.Exp2(-float64(calcPeriod)/float64(halfLife)) * (1 << 32)))
}

// openAccounts makes an account for each team, and one for the jobs without any.
func (s *sim) openAccounts() {
	if len(s.cfg.Teams) == 0 {
		return
	}
	s.teams = make([]account, len(s.cfg.Teams)+1)
	q, _ := asQueueing(s.cfg.Policy)
	s.decay = decayOf(cmp.Or(q.HalfLife, defaultHalfLife))
}

// charge is the number of GPUs that a job keeps from others: whole nodes for a gang.
func (s *sim) charge(j *Job) int {
	if j.GPUs > s.topo.GPUsPerNode {
		return s.topo.NodesFor(j.GPUs) * s.topo.GPUsPerNode
	}
	return j.GPUs
}

// accrue carries a team's usage on to now.
func (s *sim) accrue(team int) {
	a := &s.teams[team]
	for a.at < s.now {
		next := min(s.now, a.at-a.at%calcPeriod+calcPeriod)
		a.used += uint64(over(a.held, next-a.at))
		if a.at = next; next%calcPeriod == 0 {
			hi, lo := bits.Mul64(a.used, s.decay)
			a.used = hi<<32 | lo>>32
		}
		if a.held == 0 && a.used == 0 {
			a.at = s.now
		}
	}
}

// book changes what a job's team holds.
func (s *sim) book(job, by int) {
	if s.teams == nil {
		return
	}
	team := s.jobs[job].Team
	s.accrue(team)
	s.teams[team].held += by * s.charge(&s.jobs[job])
}

// join books a job that starts, and leave one that ends or goes back to the queue.
func (s *sim) join(job int) {
	s.state[job].began, s.state[job].booked = s.now, true
	s.book(job, 1)
}

func (s *sim) leave(job int) {
	if s.state[job].booked {
		s.state[job].booked = false
		s.book(job, -1)
	}
}

// holds is what a team holds, and what is being cleared for its jobs other than this one.
func (s *sim) holds(team, but int) int {
	held := s.teams[team].held
	for k := range s.plans {
		if p := &s.plans[k]; p.job != but && s.jobs[p.job].Team == team {
			held += s.charge(&s.jobs[p.job])
		}
	}
	return held
}

// quotaAllows tells whether a job can start without taking its team over the quota, and, unless head is nil, without taking from a head
// of the same team what that will need. (Slurm leaves a job over it pending with the reason AssocGrpGRES, Kueue with its nominalQuota
// used up; neither lets it block others.)
func (s *sim) quotaAllows(job int, head *Job) bool {
	j := &s.jobs[job]
	if s.teams == nil || j.Team == 0 || s.cfg.Teams[j.Team-1].Quota == 0 {
		return true
	}
	need := s.holds(j.Team, job) + s.charge(j)
	if head != nil && head.Team == j.Team {
		need += s.charge(head)
	}
	return need <= s.cfg.Teams[j.Team-1].Quota
}

// byShare is the teams in the order of their usage per share.
func (s *sim) byShare() []int {
	if s.teams == nil {
		return []int{0}
	}
	order := make([]int, len(s.teams))
	for t := range order {
		order[t] = t
		s.accrue(t)
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(
			lessPer(s.teams[a].used, s.shares(a), s.teams[b].used, s.shares(b)),
			lessPer(uint64(s.teams[a].held), s.shares(a), uint64(s.teams[b].held), s.shares(b)),
		)
	})
	return order
}

// shares is a team's part of the fleet against the others'.
func (s *sim) shares(team int) uint64 {
	if team == 0 {
		return 1
	}
	return uint64(max(1, s.cfg.Teams[team-1].Shares))
}

// lessPer compares x/m with y/n.
func lessPer(x, m, y, n uint64) int {
	xHi, xLo := bits.Mul64(x, n)
	yHi, yLo := bits.Mul64(y, m)
	return cmp.Or(cmp.Compare(xHi, yHi), cmp.Compare(xLo, yLo))
}

// logQuotas says of the gangs, of the watched job, and of the first job of a team that it happens to, that their quota makes them wait.
func (s *sim) logQuotas() {
	for team := range s.teams {
		if team == 0 || s.cfg.Teams[team-1].Quota == 0 {
			continue
		}
		blocked := false
		for k := range s.queues {
			for _, i := range s.queues[k].waiting {
				if s.queues[k].team != team || s.quotaAllows(int(i), nil) {
					continue
				}
				j := &s.jobs[i]
				if j.GPUs > s.topo.GPUsPerNode || j.ID == s.cfg.Big || !blocked && !s.teams[team].blocked {
					s.logQuota(int(i))
				}
				blocked = true
			}
		}
		s.teams[team].blocked = blocked
	}
}
