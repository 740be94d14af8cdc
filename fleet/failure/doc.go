// Package failure draws what breaks in a fleet, when, and for how long.
//
// # One node, many nodes
//
// A node that fails once in 264 days is a good one. A job on 2,048 of them is interrupted every three hours, since any node stops it: the
// mean time between failures of a job is that of a node divided by their number. MTBF is the word for things that are repaired; MTTF, for
// things that are not, means the same number where repairs are short.
//
// # How failures are spread
//
// Of each single node the hazard falls with time: a node that has just been repaired is likelier to fail again than one that has run for a
// month. A Weibull distribution of the gaps with a shape below 1 says so (0.7 to 0.8 at Los Alamos). But a fleet superposes many nodes,
// and the sum of many independent renewal processes tends to a Poisson process whatever the single ones are (Palm and Khinchin): for a
// large job exponential gaps are a good model even so. What breaks that is correlation. A switch takes its whole rack, a power spike its
// neighbours, and in a published log of 400 servers 9 % of the faults begin at the instant of another one.
//
// # What it takes down
//
// Each interruption has a cause, drawn from the counts of Llama 3's log, and the cause has a scope: a GPU, a node, a rack behind a switch,
// or software, which breaks nothing. The percentages that are printed in that log's table do not match its counts (148 of 419 is 35.3 %,
// not 30.1 %), so the counts are what is drawn from. Silent data corruption is special: nothing stops, and only some time later is
// it noticed that all that was computed since is wrong.
package failure
