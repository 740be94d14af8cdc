// Package checkpoint answers one question: how often should a long job save its state?
//
// # The trade-off
//
// A job that never saves starts from nothing after each failure. A job that saves all the time does nothing else. Between the two lies
// an interval at which the time spent on writing and the time lost to redone work are about equal, and there the job is fastest.
//
//	δ  Model.Write    the write blocks the job for so long
//	M  Model.MTBF     mean time between failures of all that the job runs on: a fleet's, not a GPU's
//	R  Model.Restart  from the failure until the job works again: detect, reschedule, load, warm up
//	P  Model.Persist  an asynchronous checkpoint counts only so long after its snapshot; 0 if the write is synchronous
//	τ  interval       useful work from the end of one checkpoint to the start of the next; from start to start it is τ + δ
//
// Goodput is useful work / time, 0–1: of the job, over a run long enough to see many failures.
//
// # Young, Daly, and the exact optimum
//
// Of each interval the job spends about δ/τ on writing. A failure comes every M and destroys half an interval on average, so it
// spends about τ/2M on rework. The sum is least where both are equal: at τ = √(2δM), Young's interval (1974). With a failure every
// 3 h and a write of 2 min that is 27 min, and 7.5 % go to each.
//
// Young's sum lets a failure cost τ/2 however long τ is, and lets no failure strike a write or a restart. Daly (2006) lets them strike
// at any time, with exponential gaps between them. Then the goodput is
//
//	G(τ) = τ · e^(−R/M) / (M · (e^((τ+δ)/M) − 1))
//
// and its maximum, x = τ/M, solves −x − ln(1−x) = δ/M. With s = √(2δ/M) the solution is the series
//
//	x = s − s²/3 + s³/36 + s⁴/270 + …
//
// Its first term is Young's interval, its first three are Daly's formula, and the whole is τ* = M · (1 + W₀(−e^(−1−δ/M))), with Lambert's
// function W₀. At the optimum, and only there, goodput has a short form: G(τ*) = e^(−R/M) · (1 − τ*/M). So whatever the store, a job whose
// best interval is a tenth of the MTBF loses a tenth of its time, restarts not counted.
//
// R and P are not in the optimum. They cost the same share of time at any interval (Vaidya 1997 says so of P). They matter for how
// much is lost, not for how often to save.
//
// # Traps
//
// The estimate 1 − δ/τ − R/M has no rework in it and grows with τ without end: WithoutRework. It says 92.0 % where 86.7 % is right to
// first order, and would advise never to save at all.
//
// First-order estimates are for τ far below M: FirstOrder and ETTR turn negative where the goodput is merely bad.
//
// The maximum is flat, so an interval that is somewhat off costs little: at M = 3 h, δ = 2 min and R = 385 s twice or half the best costs
// 3 points of 82.8, and 1 h instead of 25.5 min 4.6. But 24 h leaves 0.3 %: G falls as e^(−τ/M), and the job all but never reaches a
// checkpoint.
//
// An asynchronous write makes δ short, and Young's interval with it, until P binds: a snapshot has to be durable before the next is
// taken, so no interval is shorter than P.
//
// MTBF is a mean, and the formulas want exponential gaps too. Real ones are burstier (Weibull shapes of 0.6 to 0.8). MonteCarlo plays
// the same model with other gaps; see Gaps for what changes and what theory still holds.
//
// # Sources
//
// J. W. Young, A first order approximation to the optimum checkpoint interval, CACM 17 (9), 1974. J. T. Daly, A higher order estimate
// of the optimum checkpoint interval for restart dumps, FGCS 22 (3), 2006, doi 10.1016/j.future.2004.11.016. N. H. Vaidya, Impact of
// checkpoint latency on overhead ratio of a checkpointing scheme, IEEE Trans. Computers 46 (8), 1997.
//
// All of it is pure: the same Model, interval and seed give the same numbers. Nothing is logged, and no input panics.
package checkpoint
