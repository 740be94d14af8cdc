// Package trace reads logs of real clusters: jobs in the Standard Workload Format, tasks of a public GPU cluster trace, and a log of
// faults. It turns them into the jobs and faults of package fleet.
//
// A log is evidence, so nothing in it is dropped silently: lines that cannot be read are reported by number (BadLines), and jobs that
// can be read but not replayed, say because nobody wrote down how long they ran, are listed (Left).
package trace
