package fleet

import (
	"math/rand/v2"
	"testing"
	"time"
)

// dumb walks a job's running time second by second: the slow, obvious twin of paceAt.
func dumb(clock, restart, tau, write, left time.Duration) (p pace) {
	var inCycle, inWrite time.Duration
	for t := time.Duration(0); t < clock; t += time.Second {
		switch {
		case p.restart < restart:
			p.restart += time.Second
		case p.work == left:
			return p
		case inCycle < tau:
			inCycle += time.Second
			p.work += time.Second
		default:
			inWrite += time.Second
			p.write += time.Second
		}
		if inCycle == tau && inWrite == write && p.work < left {
			p.saved, inCycle, inWrite = p.work, 0, 0
		}
	}
	return p
}

func TestPaceAgreesWithStepping(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	sec := func(n int) time.Duration { return time.Duration(rng.IntN(n)) * time.Second }
	for range 5000 {
		restart, tau, write, left := sec(5), time.Second+sec(20), sec(6), time.Second+sec(100)
		end := runTime(restart, left, tau, write)
		clock := min(sec(200), end)
		got, want := paceAt(clock, restart, tau, write, left), dumb(clock, restart, tau, write, left)
		if clock == end && got.work != left {
			t.Fatalf("after runTime %v work is %v of %v", end, got.work, left)
		}
		if write == 0 && got.work == left { // a free checkpoint at the very end is no difference
			want.saved = got.saved
		}
		if got != want {
			t.Fatalf("restart %v τ %v write %v left %v at %v: got %+v, stepping gives %+v", restart, tau, write, left, clock, got, want)
		}
	}
}

// The interval counts useful work, not the write (dmtcp PR#783).
func TestCheckpointIntervalExcludesWrite(t *testing.T) {
	const tau, write = 20 * time.Minute, 10 * time.Minute
	for n := time.Duration(1); n < 10; n++ {
		if p := paceAt(n*(tau+write), 0, tau, write, 100*time.Hour); p.saved != n*tau || p.work != n*tau || p.write != n*write {
			t.Fatalf("after %d cycles: %+v", n, p)
		}
	}
}

func TestRunTimeHasNoLastWrite(t *testing.T) {
	for _, c := range []struct{ work, want time.Duration }{
		{30 * time.Minute, 30 * time.Minute},
		{time.Hour, time.Hour},
		{time.Hour + time.Millisecond, time.Hour + time.Millisecond + 5*time.Minute},
		{3 * time.Hour, 3*time.Hour + 10*time.Minute},
	} {
		if got := runTime(0, c.work, time.Hour, 5*time.Minute); got != c.want {
			t.Errorf("%v of work with τ = 1 h and δ = 5 m takes %v, want %v", c.work, got, c.want)
		}
	}
}

func TestLoseKeepsEarlierReasons(t *testing.T) {
	const h = time.Hour
	list := lose(nil, 2*h, 5*h, Rework)    // fell from 5 to 2
	list = lose(list, 2*h, 3*h, Preempted) // redid 2–3, lost it again to an eviction
	want := []redo{{3 * h, Preempted}, {5 * h, Rework}}
	if len(list) != 2 || list[0] != want[0] || list[1] != want[1] {
		t.Fatalf("got %v, want %v", list, want)
	}
	if list = lose(list, 6*h, 6*h, Rework); list != nil {
		t.Fatalf("past all of it nothing is left to do again, got %v", list)
	}
}

func TestBitsetRuns(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		n := 1 + rng.IntN(300)
		b, in := newBitset(n), make([]bool, n)
		p := rng.Float64()
		for i := range in {
			if in[i] = rng.Float64() < p; in[i] {
				b.add(i)
			}
		}
		start, length := -1, 0
		for i, run := 0, 0; i < n; i++ {
			if run++; !in[i] {
				run = 0
			}
			if run > length {
				start, length = i-run+1, run
			}
		}
		if s, l := b.longestRun(); s != start || l != length {
			t.Fatalf("%v: longest run %d+%d, want %d+%d", in, s, l, start, length)
		}
	}
}
