//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package memo

import (
	"errors"
	"os"
	"syscall"
)

// tryFlock asks the system for a lock on an open file, and does not wait for it. The system takes the lock back when the process ends,
// however it ends. Where the file system has no locks the error is errors.ErrUnsupported; ENOLCK is what NFS says without a lock service.
func tryFlock(f *os.File) (got bool, err error) {
	switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case err == nil:
		return true, nil
	case errors.Is(err, syscall.EWOULDBLOCK), errors.Is(err, syscall.EINTR):
		return false, nil
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.EINVAL):
		return false, errors.ErrUnsupported
	default:
		return false, err
	}
}
