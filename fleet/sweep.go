package fleet

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// Sweep simulates many configurations on all cores and hands each run to visit, which is called from several goroutines and in
// any order. It keeps no run itself. The error names each configuration that failed; the others are visited all the same.
func Sweep(configs []Config, visit func(i int, r *Run)) error {
	errs := make([]error, len(configs))
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(configs)) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(configs); i = int(next.Add(1)) - 1 {
				r, err := Simulate(configs[i])
				if err != nil {
					errs[i] = fmt.Errorf("setting %d: %w", i, err)
					continue
				}
				visit(i, r)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
