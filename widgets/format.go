package widgets

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
)

// This file writes numbers as people read them. The unit follows a no-break space.

const nbsp = "\u00a0"

// percent writes a ratio with one decimal, rounded as fleet rounds it to decide a badge.
func percent(ratio float64) string {
	if math.IsNaN(ratio) || math.IsInf(ratio, 0) {
		return "–"
	}
	return strconv.FormatFloat(math.Round(ratio*1000)/10, 'f', 1, 64) + nbsp + "%"
}

// count writes a whole number as fleet does.
func count(n int64) string { return fleet.FormatCount(int(n)) }

// counted writes a number of things.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return count(int64(n)) + " " + thing + "s"
}

// hours writes GPU-time in GPU-hours.
func hours(g fleet.GPUTime) string { return hoursText(g.Hours()) }

// hoursText writes a number of GPU-hours: with a decimal below 1,000.
func hoursText(h float64) string {
	if math.Abs(h) < 1000 {
		return strconv.FormatFloat(h, 'f', 1, 64)
	}
	return wholeText(h)
}

// wholeText writes a number rounded to a whole one.
func wholeText(x float64) string { return count(int64(math.Round(x))) }

// dollars writes whole dollars; below $100 also the cents.
func dollars(usd float64) string {
	switch {
	case math.IsNaN(usd) || math.IsInf(usd, 0):
		return "–"
	case usd != 0 && math.Abs(usd) < 100:
		return fmt.Sprintf("$%.2f", usd)
	case usd < 0:
		return "−$" + count(int64(math.Round(-usd)))
	}
	return "$" + count(int64(math.Round(usd)))
}

// duration writes a time as fleet does, on one line.
func duration(d time.Duration) string { return strings.ReplaceAll(fleet.FormatDuration(d), " ", nbsp) }

// clock writes an instant of the run as hours:minutes:seconds since its start, with days from the third on.
func clock(d time.Duration) string {
	s, days := int64(d/time.Second), ""
	if d >= 48*time.Hour {
		days = fmt.Sprintf("%dd ", s/86400)
		s %= 86400
	}
	return fmt.Sprintf("%s%02d:%02d:%02d", strings.ReplaceAll(days, " ", nbsp), s/3600, s/60%60, s%60)
}

// exact writes a number in full, for attributes that programs read.
func exact(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
