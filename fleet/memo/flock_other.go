//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package memo

import (
	"errors"
	"os"
)

// tryFlock has no lock to offer here.
func tryFlock(*os.File) (got bool, err error) { return false, errors.ErrUnsupported }
