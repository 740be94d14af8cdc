package scenario_test

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
	"github.com/fleetlab/fleetlab/fleet/scenario"
)

func TestActIsStudentsGiveActI(t *testing.T) {
	if a, b := scenario.Fragmented(fleet.Default()), scenario.FragmentedBy(fleet.Default(), scenario.ActIStudents.Times(1)); !reflect.DeepEqual(a, b) {
		t.Error("FragmentedBy with Act I's students is not Fragmented")
	}
}

func TestOtherStudentsGiveAnotherDay(t *testing.T) {
	base := len(scenario.Fragmented(fleet.Default()).Jobs)
	before := slices.Clone(scenario.ActIStudents.PerHour)
	half := scenario.FragmentedBy(fleet.Default(), scenario.ActIStudents.Times(0.5))
	if n := float64(len(half.Jobs)) / float64(base); math.Abs(n-0.5) > 0.05 {
		t.Errorf("half as many students give %.3f of the jobs", n)
	}
	if !slices.Equal(before, scenario.ActIStudents.PerHour) {
		t.Error("Times has changed Act I itself")
	}
	ones := scenario.ActIStudents
	ones.Sizes = []scenario.Size{{GPUs: 1, Share: 1}}
	c := scenario.FragmentedBy(fleet.Default(), ones)
	for _, j := range c.Jobs {
		if j.ID != c.Big && j.GPUs != 1 {
			t.Fatalf("job %d has %d GPUs", j.ID, j.GPUs)
		}
	}
	small := fleet.Default()
	small.Topology.Pods = 5
	for _, c := range []fleet.Config{half, c, scenario.FragmentedBy(small, scenario.ActIStudents.Times(0.5))} {
		if _, err := fleet.Simulate(c); err != nil {
			t.Error(err)
		}
	}
}

func TestStudentsThatCannotBeAreNamed(t *testing.T) {
	with := func(f func(*scenario.Students)) scenario.Students {
		s := scenario.ActIStudents
		s.PerHour, s.Sizes = slices.Clone(s.PerHour), slices.Clone(s.Sizes)
		f(&s)
		return s
	}
	for want, s := range map[string]scenario.Students{
		"PerHour[0] NaN":           scenario.ActIStudents.Times(math.NaN()),
		"PerHour[0] 0":             scenario.ActIStudents.Times(0),
		"PerHour[0] 4.8e+12":       scenario.ActIStudents.Times(1e9),
		"0 PerHour, 0 Sizes":       {},
		"Sizes[1].GPUs 9":          with(func(s *scenario.Students) { s.Sizes[1].GPUs = 9 }),
		"Sizes[0].Share -1":        with(func(s *scenario.Students) { s.Sizes[0].Share = -1 }),
		"shares of Sizes sum to 0": with(func(s *scenario.Students) { s.Sizes = []scenario.Size{{GPUs: 1}} }),
		"Median 0s":                with(func(s *scenario.Students) { s.Median = 0 }),
		"Sigma +Inf":               with(func(s *scenario.Students) { s.Sigma = math.Inf(1) }),
		"Overask 0.5":              with(func(s *scenario.Students) { s.Overask = 0.5 }),
	} {
		if _, err := fleet.Simulate(scenario.FragmentedBy(fleet.Default(), s)); !errors.Is(err, fleet.ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	c := fleet.Default()
	c.Horizon = 30 * 24 * time.Hour
	if _, err := fleet.Simulate(scenario.FragmentedBy(c, scenario.ActIStudents.Times(4))); err == nil || !strings.Contains(err.Error(), "must be at most 500000") {
		t.Error(err)
	}
}
