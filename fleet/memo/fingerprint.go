package memo

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/fleetlab/fleetlab/fleet"
)

// Fingerprint is a short name for a configuration: equal configurations have the same, and configurations that differ in a lever, the
// seed, a job, a fault or anything else that a run depends on have different ones. It is the same on every machine.
//
// Policies and rescalers go by their names, and those that are made of parts by their parts too. The body of a function has no
// fingerprint: whoever changes a placement of their own and keeps its name keeps the fingerprint.
func Fingerprint(c fleet.Config) string {
	h := sha256.New()
	fmt.Fprintf(h, "policy %q %+v\nrescale %q\nunfit %v\n", fleet.PolicyName(c.Policy), partsOf(c.Policy), fleet.RescalerName(c.Rescale), c.Unfit != nil)
	addJobs(h, c.Jobs)
	fmt.Fprintf(h, "faults %+v\n", c.Faults)
	// What is left is plain values, so fields that are added to Config one day are in it by themselves.
	c.Policy, c.Rescale, c.Jobs, c.Faults, c.Unfit = nil, nil, nil, nil, nil
	fmt.Fprintf(h, "%+v\n", c)
	return hex.EncodeToString(h.Sum(nil)[:6])
}

func addJobs(w io.Writer, jobs []fleet.Job) {
	for _, j := range jobs {
		if j.Train != nil { // what it points to counts, not where it is
			fmt.Fprintf(w, "train %+v\n", *j.Train)
			j.Train = nil
		}
		fmt.Fprintf(w, "job %+v\n", j)
	}
}

// parts is a Queueing that prints as its fields instead of its name.
type parts fleet.Queueing

// partsOf is what a policy is made of, as far as it can be seen.
func partsOf(p fleet.Policy) parts {
	q, ours := p.(fleet.Queueing)
	if at, pointer := p.(*fleet.Queueing); pointer && at != nil {
		q, ours = *at, true
	}
	if !ours {
		return parts{}
	}
	q.Place = nil // an address, which differs from process to process
	return parts(q)
}
