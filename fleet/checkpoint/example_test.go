package checkpoint_test

import (
	"fmt"
	"time"

	"github.com/fleetlab/fleetlab/fleet/checkpoint"
)

// A 175B model on a fleet with a failure every three hours: 2.4 TB at 20 GB/s are two minutes. Young, Daly and the exact optimum agree to
// 80 seconds, and an hour is too long.
func Example() {
	m := checkpoint.Model{MTBF: 3 * time.Hour, Write: 2 * time.Minute, Restart: 385 * time.Second}
	for _, interval := range []time.Duration{m.Young(), m.Daly(), m.Optimum(), time.Hour, 24 * time.Hour} {
		fmt.Printf("every %7.2f min: goodput %.3f\n", interval.Minutes(), m.Goodput(interval))
	}
	// Output:
	// every   26.83 min: goodput 0.828
	// every   25.52 min: goodput 0.828
	// every   25.52 min: goodput 0.828
	// every   60.00 min: goodput 0.782
	// every 1440.00 min: goodput 0.003
}

// The estimate without rework looks best where the job is worst.
func ExampleModel_WithoutRework() {
	m := checkpoint.Model{MTBF: 3 * time.Hour, Write: time.Minute, Restart: 5 * time.Minute}
	for _, interval := range []time.Duration{m.Young(), 24 * time.Hour} {
		fmt.Printf("without rework %.3f, first order %.3f, exact %.3f\n", m.WithoutRework(interval), m.FirstOrder(interval), m.Goodput(interval))
	}
	// Output:
	// without rework 0.920, first order 0.867, exact 0.874
	// without rework 0.972, first order -3.028, exact 0.003
}

// How long do 500 hours of work take, saved every two hours and every day?
func ExampleModel_Wall() {
	m := checkpoint.Model{MTBF: 24 * time.Hour, Write: 5 * time.Minute, Restart: 10 * time.Minute}
	fmt.Printf("%.0f h\n", m.Wall(500*time.Hour, 2*time.Hour).Hours())
	fmt.Printf("%.0f h\n", m.Wall(500*time.Hour, 24*time.Hour).Hours())
	// Output:
	// 548 h
	// 870 h
}

// Five intervals on the scale of a slider from a minute to a day.
func ExampleModel_Sweep() {
	m := checkpoint.Model{MTBF: 3 * time.Hour, Write: 24500 * time.Millisecond, Restart: 385 * time.Second}
	points, err := m.Sweep(time.Minute, 24*time.Hour, 5)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range points {
		fmt.Printf("%8.1f min %.3f\n", p.Interval.Minutes(), p.Goodput)
	}
	// Output:
	//      1.0 min 0.683
	//      6.2 min 0.889
	//     37.9 min 0.857
	//    233.8 min 0.469
	//   1440.0 min 0.003
}

// The simulation knows nothing of the formula. With exponential gaps they agree; with bursts the formula is too pessimistic.
func ExampleModel_MonteCarlo() {
	m := checkpoint.Model{MTBF: 3 * time.Hour, Write: 2 * time.Minute, Restart: 385 * time.Second}
	trial := checkpoint.Trial{Interval: m.Optimum(), Replications: 200, Failures: 500, Seed: 1}
	fmt.Printf("formula     %.2f\n", m.Goodput(trial.Interval))
	for _, shape := range []float64{1, 0.7} {
		trial.Gaps.Shape = shape
		r, err := m.MonteCarlo(trial)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("shape %.1f   %.2f, known to ± %.3f, %d failures\n", shape, r.Goodput, (r.High-r.Low)/2, r.Failures)
	}
	// Output:
	// formula     0.83
	// shape 1.0   0.83, known to ± 0.001, 100000 failures
	// shape 0.7   0.84, known to ± 0.001, 100000 failures
}
