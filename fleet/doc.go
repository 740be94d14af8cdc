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
// A job that fits into a node takes any free GPUs of one. A larger job is a gang: it takes whole nodes, all at once or not at all, and
// consecutive ones, unless its Locality is content with any of one rack, one pod or the fleet. That is why 2,000 idle GPUs can be too
// few for a job of 1,000: what counts is the largest hole. There are two ways to make one. Evicting kills jobs of lower priority and
// loses their work since the last checkpoint; it happens only if the gang then fits, and the cheapest window of nodes is taken.
// Migrating stops the whole fleet, packs the jobs tighter and lets them go on from where they were, at the price of the pause and of
// slower running afterwards.
//
// # Queues and teams
//
// A Policy is asked whose turn it is and where the job goes. Those of the lab are values of Queueing: an Order (arrival, priority with
// ageing, fair share), a Backfill (nobody passes a job that waits, everybody may, or EASY's one reservation), and a Fit (first, best,
// spread). A policy of one's own has the same means: View has the queue, the running jobs with the ends that are expected of
// them, places and reservations. Whoever decides, a Team never holds more than its quota.
//
// # What breaks
//
// A Fault takes down a GPU, a node, several neighbouring nodes at once, or only the software on a node; its Scope says which. A job on
// what broke falls back to its last checkpoint and queues again. Silent data corruption is found late, and then the checkpoints
// written since are as wrong as the work: the job falls back to the last one before it. Package failure draws faults as they occur.
//
// # Training jobs
//
// A gang with a Training is a data-parallel training job. Its unit of loss is the replica, and what it does about lost nodes is a lever,
// Config.Rescale: crash and restart from the checkpoint, wait for spares, drop the broken replicas, or regroup the survivors (package
// elastic). It rolls back only if no live replica has the model's state. Healthy GPUs of a broken replica are stranded: held, and of
// no use. Run.Training is its account, Run.Strengths its course.
//
// # Promises
//
// The same Config gives the same Run, byte for byte. No wall clock, no global random source, no logging, no goroutines inside a run.
// Bad input is an error that names the field, its value and its range, and wraps ErrConfig; a policy or a rescaler that fails or panics
// is an error that wraps ErrPolicy. Only a broken invariant of the simulator itself panics.
package fleet
