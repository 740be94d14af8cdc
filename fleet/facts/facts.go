// Package facts holds every number that comes from outside, each with its source, date, unit and how far it was verified.
package facts

// Fact is one outside number.
type Fact struct {
	Value    float64
	Unit     string
	Low      float64 // published range, 0 if there is none
	High     float64
	Source   string
	Date     string
	Verified Mark
}

// Mark tells how far a fact was verified.
type Mark string

// The marks.
const (
	Verbatim   Mark = "V" // read in the source's own text
	Quoted     Mark = "Q" // read as a quote in another text
	Computed   Mark = "C" // computed from verbatim figures
	Remembered Mark = "R" // not verified
	Assumed    Mark = "A" // chosen for the lab; no source claims it
)

// GPUHourUSD is the price of an H100 for one hour, used or idle.
var GPUHourUSD = Fact{
	Value: 3, Unit: "USD per GPU-hour", Low: 1.99, High: 5,
	Source: "on-demand list prices of H100 clouds (Low to High); Value is the middle of the $2–4 that the lab speaks of", Date: "2026-05", Verified: Quoted,
}

// Llama3MFU is the model FLOPs utilisation of the 405B run on 16,384 GPUs.
var Llama3MFU = Fact{
	Value: 0.41, Unit: "model FLOPs / peak FLOPs",
	Source: "The Llama 3 Herd of Models, arXiv 2407.21783, Table 4 (TP 8, PP 16, DP 128)", Date: "2024-07", Verified: Verbatim,
}
