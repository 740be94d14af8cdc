package memo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// ErrBusy is wrapped by the error of a save that could not get its turn.
var ErrBusy = errors.New("memo is being written by another notebook")

// A save takes milliseconds, so whoever has waited for ten seconds waits for something that will not come.
const (
	tries = 2000
	pause = 5 * time.Millisecond
)

// flock is tryFlock, but for tests that play a file system without locks.
var flock = tryFlock

// lock waits for its turn, a bounded number of times, and returns what gives the turn back.
//
// It locks a file of its own beside the memo, since each save puts another file in the memo's place. That file stays: to remove it would
// let one process lock the old one while another locks the new. On a file system without locks (some network homes) a second file
// stands for the lock. Nothing takes that one away when its process is killed, and to guess that it is old would break the lock for
// somebody slow, so the error says which file to delete.
func lock(path string, tries int) (unlock func(), err error) {
	f, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	for range tries {
		switch got, err := flock(f); {
		case got:
			return func() { f.Close() }, nil
		case errors.Is(err, errors.ErrUnsupported):
			f.Close()
			return lockByFile(path+".busy", tries)
		case err != nil:
			f.Close()
			return nil, err
		}
		rest()
	}
	f.Close()
	return nil, fmt.Errorf("another notebook has kept it locked for %v: interrupt the cell that saves there, then run this one again: %w", time.Duration(tries)*pause, ErrBusy)
}

// lockByFile makes a file that nobody else has made.
func lockByFile(busy string, tries int) (unlock func(), err error) {
	for range tries {
		f, err := os.OpenFile(busy, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err == nil {
			f.Close()
			return func() { _ = os.Remove(busy) }, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		rest()
	}
	return nil, fmt.Errorf("another notebook has kept it locked for %v: if no other cell is running, one was killed while it saved; delete %s and run this cell again: %w",
		time.Duration(tries)*pause, shown(busy), ErrBusy)
}

// rest gives the one who has the lock time to finish.
func rest() {
	time.Sleep(pause) //nolint:forbidigo // a lock is held in real time, by another process; no simulation reads it
}
