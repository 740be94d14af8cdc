// Package fleet simulates a fleet of GPUs that many jobs share: who gets which GPUs, what fails, what is lost, and what it costs.
//
// It is a discrete-event simulation. The clock jumps from event to event: a job arrives or ends, a node fails or comes back, a grace
// period is over. After each instant the Policy is asked who starts next and where. Nothing happens between events, and everything
// that happens between them – useful work, checkpoint writes, a tax – is arithmetic on the times of the events around it.
//
// # The way of the data
//
// A Config holds all that a run depends on: the Topology, the levers (Policy, Preempt, Defrag, Checkpoint), the prices, and the Jobs
// and Faults that a scenario adds. Simulate turns it into a Run, the record of who held what from when to when. Everything else is a
// pure read of the Run: Ledger is the account, At is one instant GPU by GPU, Incidents is the log.
//
//	c := fleet.Default()
//	c.Policy, c.Defrag = fleet.BestFit, true
//	run, err := fleet.Simulate(scenario.Fragmented(c))
//
// # The paradox
//
// A GPU that is held is busy. Whether it is productive is another question, and the Split answers it: GPU-time divides into useful
// work and nine other things, and they add up to capacity × time, exactly, at every instant. Times are whole milliseconds so that the
// sums have no rounding error.
//
// # Gangs and holes
//
// A job that fits into a node takes any free GPUs of one. A larger job is a gang: it takes a run of consecutive whole nodes, or, if its
// Locality says so, whole nodes of one rack, of one pod or from anywhere, all at once or not at all. That is why 2,000 idle GPUs can be too few for a job of 1,000: what counts is the largest hole. There are two
// ways to make one. Evicting kills jobs of lower priority and loses their work since the last checkpoint; it happens only if the gang
// then fits, and the cheapest window of nodes is taken. Migrating stops the whole fleet, packs the jobs tighter and lets them go on
// from where they were, at the price of the pause and of slower running afterwards.
//
// # Queues and teams
//
// A Policy is asked whose turn it is and where the job goes. Those of the lab are values of Queueing: an Order (arrival, priority with
// ageing, fair share), a Backfill (nobody passes a job that waits, everybody may, or EASY's one reservation), and a Fit (first, best,
// spread). A policy of one's own has the same means: View has the queue, the running jobs with the ends that are expected of
// them, places and reservations. Whoever decides, a Team never holds more than its quota.
//
// # Promises
//
// The same Config gives the same Run, byte for byte. No wall clock, no global random source, no logging, no goroutines inside a run.
// Bad input is an error that names the field, its value and its range, and wraps ErrConfig; a policy that fails or panics is an error
// that wraps ErrPolicy. Only a broken invariant of the simulator itself panics.
package fleet
