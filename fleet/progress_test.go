package fleet

import (
	"math/rand/v2"
	"testing"
	"time"
)

// dumb walks a job's running time second by second: the slow, obvious twin of plan.at.
func dumb(clock, restart, tau, write, left, phase time.Duration) (p pace) {
	inCycle, inWrite := phase, time.Duration(0)
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
			p.saves++
		}
	}
	return p
}

func TestPaceAgreesWithStepping(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	sec := func(n int) time.Duration { return time.Duration(rng.IntN(n)) * time.Second }
	for range 5000 {
		restart, tau, write, left := sec(5), time.Second+sec(20), sec(6), time.Second+sec(100)
		phase := time.Duration(rng.IntN(int(tau/time.Second))) * time.Second
		pl := plan{restart: restart, work: left, tau: tau, write: write, phase: phase}
		end := pl.length()
		clock := min(sec(200), end)
		got, want := pl.at(clock), dumb(clock, restart, tau, write, left, phase)
		if clock == end && got.work != left {
			t.Fatalf("after %v, all of the plan, work is %v of %v", end, got.work, left)
		}
		if write == 0 && got.work == left { // a free checkpoint at the very end is no difference
			want.saved, want.saves = got.saved, got.saves
		}
		if got != want {
			t.Fatalf("%+v at %v: got %+v, stepping gives %+v", pl, clock, got, want)
		}
	}
}

// S12 dmtcp PR#783: the interval was measured from the start of a write. It counts useful work, not the write.
func TestS12IntervalExcludesWrite(t *testing.T) {
	const tau, write = 20 * time.Minute, 10 * time.Minute
	for n := time.Duration(1); n < 10; n++ {
		if p := (plan{work: 100 * time.Hour, tau: tau, write: write}).at(n * (tau + write)); p.saved != n*tau || p.work != n*tau || p.write != n*write {
			t.Fatalf("after %d cycles: %+v", n, p)
		}
	}
}

// At a fraction of the speed a span never gets more done than its time allows, and at its end all is done.
func TestPaceAtFractionsOfTheSpeed(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	ms := func(n int) time.Duration { return time.Duration(rng.IntN(n)) * time.Millisecond }
	for range 3000 {
		den := 1 + rng.Int64N(20)
		p := plan{restart: ms(5), work: time.Millisecond + ms(60), tau: time.Millisecond + ms(12), write: ms(4), persist: ms(3), speed: speed{1 + rng.Int64N(den), den}}
		p.phase = min(ms(14), p.tau)
		end := p.length()
		var last pace
		for clock := time.Duration(0); clock <= end; clock += time.Millisecond {
			x := p.at(clock)
			spent := clock - x.restart - x.write
			if x.work < last.work || x.saved < last.saved || x.saved > x.work || int64(x.work)*p.speed.den > int64(spent)*p.speed.num {
				t.Fatalf("%+v at %v: %+v after %+v", p, clock, x, last)
			}
			last = x
		}
		if last.work != p.work || p.at(end-time.Millisecond).work == p.work {
			t.Fatalf("%+v: after %v, all of it, %v is done; one step before %v", p, end, last.work, p.at(end-time.Millisecond).work)
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
		if got := (plan{work: c.work, tau: time.Hour, write: 5 * time.Minute}).length(); got != c.want {
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
