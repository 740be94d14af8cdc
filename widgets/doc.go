// Package widgets turns runs of a fleet into notebook outputs: configuration and results in, HTML out.
//
// A View is data that can be rendered. Rendering is pure: the same run gives the same bytes, with nothing taken from clock, random
// source or network. Show sends a rendered view to the notebook, and prints its text where there is none:
//
//	run := widgets.Must(fleet.Simulate(scenario.Fragmented(levers())))
//	widgets.Show(widgets.Cockpit(run))
//
// The views are
//
//   - Cockpit, the dashboard, and Summary, a run without levers;
//   - Compare, two decisions side by side;
//   - Holes and Queue, a run over time; Curve, goodput over the checkpoint interval; Timeline, training jobs under several strategies;
//   - Locked and Gap, which wait for a prediction; Memo, a student's decisions; RationaleGuide, the figures that a rationale has to cite;
//   - Init, the chart library, once per notebook.
//
// Judge shows the verdict of a check. Live is the one that asks the kernel, for levers that no grid can hold.
//
// # Why an output needs no kernel
//
// A control that asks the kernel works in some front ends and hangs in others. But the levers of the lab make a small grid, and a
// setting simulates in about ten milliseconds. So Cockpit simulates all of them, and sends the results along: the levers switch among
// them in the browser. That works in a hub at any address, in a sandboxed frame, in an exported page, and with the kernel stopped.
//
// A hundred runs of thousands of jobs would be megabytes. They travel as corrections to guesses instead, exactly: see codec.go for the
// format, and codec.js for its twin.
//
// # What an output is made of
//
// Each output has, from the outside in: a picture and tables that need neither script nor style, for untrusted notebooks and static
// pages; the data; and a script that builds the interactive part in a shadow tree, where the styles of the notebook do not reach and
// two cockpits on one page do not meet. If the script cannot run, what is outside stays. Where it runs, the same picture and tables are
// under "Text version".
//
// Every word and figure of badges, cards and bar is written in Go, by the templates in html/, from the definitions in package fleet.
// The script moves them into place; it computes only what the heatmap shows.
//
// The elements that tests and other programs read have data attributes: data-zone names the row of the lab's contract, data-badge,
// data-card, data-part and data-count the figures, and data-value holds each number in full.
package widgets
