package widgets

import (
	"os"
	"time"
)

// This file is the life of a Live cell, without a notebook: messages in, frames out.

// message is what the page sends. It travels as text, since GoNB drops the values 0, false and "".
type message struct {
	Kind    string `json:"kind"`    // hello, alive, touch, move, wait (other cells have begun to wait), stop or bye
	Seq     int    `json:"seq"`     // of a move, growing
	At      []int  `json:"at"`      // of a move: the step of each knob
	Waiting bool   `json:"waiting"` // of a hello: other cells wait, or nobody knows
	Hidden  bool   `json:"hidden"`  // the page is in the background
}

// liveFrame is a view and what it belongs to.
type liveFrame struct {
	values Values
	out    Output
	seq    int
	heard  bool // the page has been heard: it waits for this to show its levers
}

// limits is how long a Live cell waits for what.
type limits struct {
	answer time.Duration // for the page to answer
	queue  time.Duration // for a hand, while other cells wait
	quiet  time.Duration // for a hand
	gone   time.Duration // for a sign of life from the page
	hidden time.Duration // the same in the background, where a browser wakes a page once in a minute
	gap    time.Duration // between two frames
}

var liveLimits = limits{
	answer: 2500 * time.Millisecond, queue: 2700 * time.Millisecond, quiet: 10 * time.Minute, gone: 15 * time.Second, hidden: 90 * time.Second,
	gap: 250 * time.Millisecond,
}

// ending is why a Live cell is no longer live.
type ending int

const (
	goesOn ending = iota
	nobody        // no page has answered
	queued        // other cells wait and nobody has touched the levers
	stopped
	closed
	idle
	wasInterrupted
)

// session is a Live cell while it is live. One goroutine owns it.
type session struct {
	limits  limits
	compute func(Values) Output
	show    func(liveFrame)
	retry   func() // asks for the page once more

	last              liveFrame // what is shown
	wanted            *liveFrame
	computing         bool
	done              chan liveFrame
	heard, hidden     bool
	retried           bool
	seq               int       // of the newest move
	came              time.Time // when the cell began, before its first view
	began, life, hand time.Time
	shown             time.Time
	deadline          time.Time // for a hand, while other cells wait
}

// beat is how often the session looks at the clock.
const beat = 50 * time.Millisecond

// run lives until there is a reason to end. A computation that has not ended by then is left behind.
func (s *session) run(in <-chan message, interrupt <-chan os.Signal) ending {
	s.began = time.Now()
	s.life, s.hand, s.done = s.began, s.began, make(chan liveFrame, 1)
	clock := time.NewTicker(beat)
	defer clock.Stop()
	for {
		why := goesOn
		select {
		case m := <-in:
			why = s.take(m)
		case f := <-s.done:
			s.computing = false
			s.put(f)
		case <-clock.C:
			why = s.look(time.Now())
		case <-interrupt:
			why = wasInterrupted
		}
		if why != goesOn {
			return why
		}
		s.next()
	}
}

// take notes what the page says.
func (s *session) take(m message) ending {
	now := time.Now()
	s.life, s.hidden = now, m.Hidden
	switch m.Kind {
	case "hello":
		if !s.heard && m.Waiting { // the first view has taken its part of the time, but not all of it
			s.deadline = s.came.Add(s.limits.queue)
			if least := now.Add(s.limits.queue / 3); s.deadline.Before(least) {
				s.deadline = least
			}
		}
		s.heard = true
		s.last.seq = s.seq // a page that has built its levers anew counts on from here
		s.put(s.last)
	case "wait":
		s.deadline = now.Add(s.limits.queue)
	case "touch", "move":
		s.hand, s.deadline = now, time.Time{}
		if m.Kind == "move" && m.Seq > s.seq {
			s.seq = m.Seq
			s.wanted = s.moved(m)
		}
	case "stop":
		return stopped
	case "bye":
		return closed
	}
	return goesOn
}

// moved is the frame that a move asks for.
func (s *session) moved(m message) *liveFrame {
	v, err := s.last.values.moved(m.At)
	if err != nil {
		return &liveFrame{values: s.last.values, out: errorOutput(err), seq: m.Seq}
	}
	return &liveFrame{values: v, seq: m.Seq}
}

// look ends what has lasted too long.
func (s *session) look(now time.Time) ending {
	gone := s.limits.gone
	if s.hidden {
		gone = s.limits.hidden
	}
	switch {
	case !s.heard && now.Sub(s.began) >= s.limits.answer:
		return nobody
	case !s.heard && !s.retried && now.Sub(s.began) >= s.limits.answer/2:
		s.retried = true
		s.retry()
	case s.heard && now.Sub(s.life) >= gone:
		return closed
	case s.heard && !s.deadline.IsZero() && now.After(s.deadline):
		return queued
	case now.Sub(s.hand) >= s.limits.quiet:
		return idle
	}
	return goesOn
}

// next begins the newest computation that is asked for, if none runs and the last frame has had its time.
func (s *session) next() {
	if s.wanted == nil || s.computing || time.Since(s.shown) < s.limits.gap {
		return
	}
	f := *s.wanted
	s.wanted = nil
	if f.out != (Output{}) { // it is wrong already
		s.put(f)
		return
	}
	s.computing = true
	go func() {
		f.out = s.compute(f.values)
		s.done <- f
	}()
}

// put shows a frame.
func (s *session) put(f liveFrame) {
	f.heard = s.heard
	s.last, s.shown = f, time.Now()
	s.show(f)
}
