// Command fleet runs the lab's models from a shell: the simulator, the checkpoint formulas, the geometry of elastic training, failures
// as they occur, and the replay of job traces.
//
//	go run ./fleet/cmd/fleet simulate --scenario fragmented --policy best-fit --preempt
//	go run ./fleet/cmd/fleet checkpoint --mtbf 24h --write 5m --restart 10m --work 500h
//
// Each command prints a table, or with --format json one JSON object with the same figures. Times in the output are seconds unless
// their name says otherwise, ratios are 0–1; – or null is a figure that there is none of. It exits with 0 if all went well, with 1 if something could not be read or simulated, and
// with 2 if the command line is wrong; the reason then stands on the standard error.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// command is one of the program's commands. run gets its own arguments and answers with what is to be printed.
type command struct {
	name    string
	summary string
	run     func(args []string) (report, error)
}

func commands() []command {
	return []command{
		{"simulate", "run one act of the lab and print its ledger", simulate},
		{"replay", "run the jobs of a real log again", replay},
		{"checkpoint", "how often to write a checkpoint, and what that leaves of the time", checkpoints},
		{"elastic", "what a training job is left with when nodes fail, by strategy", elastics},
		{"failures", "draw what breaks, and count it by cause", failures},
	}
}

// errUsage is wrapped by the errors of a wrong command line.
var errUsage = errors.New("see --help")

func usage(format string, args ...any) error {
	return fmt.Errorf("%s: %w", strings.ReplaceAll(fmt.Sprintf(format, args...), "`", ""), errUsage)
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the whole program: it returns the exit code.
func run(args []string, out, problems io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(problems, overview())
		return 2
	}
	name := args[0]
	if name == "help" || name == "-h" || name == "--help" || name == "-help" {
		if len(args) == 1 {
			return exitCode("help", helpText(overview()), out, problems)
		}
		name, args = args[1], []string{args[1], "--help"}
	}
	for _, c := range commands() {
		if c.name != name {
			continue
		}
		r, err := c.run(args[1:])
		if err == nil {
			err = r.write(out)
		}
		return exitCode(c.name, err, out, problems)
	}
	fmt.Fprintf(problems, "fleet: unknown command %q\n\n%s", name, overview())
	return 2
}

// helpText is not an error: it is what --help prints.
type helpText string

func (h helpText) Error() string { return string(h) }

func exitCode(name string, err error, out, problems io.Writer) int {
	var help helpText
	switch {
	case err == nil:
		return 0
	case errors.As(err, &help):
		if _, err = fmt.Fprint(out, string(help)); err == nil {
			return 0
		}
	}
	fmt.Fprintf(problems, "fleet %s: %v\n", name, err)
	if errors.Is(err, errUsage) || isBadInput(err) {
		return 2
	}
	return 1
}

func overview() string {
	var b strings.Builder
	fmt.Fprint(&b, "fleet simulates a GPU fleet, and works out when to checkpoint and what a failure costs.\n\nUsage:\n\n  fleet <command> [flags]\n\nCommands:\n\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "  %-12s%s\n", c.name, c.summary)
	}
	fmt.Fprint(&b, "\nfleet <command> --help lists the flags of a command.\n")
	return b.String()
}
