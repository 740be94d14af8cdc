package facts

// What a fleet costs and draws.
var (
	GPUHourUSD = Fact{
		Name: "GPUHourUSD", Value: 3, Unit: "USD per GPU-hour, used or idle", Low: 1.99, High: 5,
		Source: "on-demand list prices of H100 clouds (Low to High); Value is the middle of the $2–4 that the lab speaks of", Date: "2026-05", Verified: Quoted,
	}
	GPUHourYearUSD = Fact{
		Name: "GPUHourYearUSD", Value: 2.35, Unit: "USD per GPU-hour on a one-year contract", Low: 1.70, High: 2.35,
		Source: "H100 contracts: 1.70 in October 2025, 2.35 in March 2026", Date: "2026-03", Verified: Quoted,
	}
	NodeKilowatts = Fact{Name: "NodeKilowatts", Value: 10.2, Unit: "kW of a server with 8 H100", Source: "NVIDIA's data sheet of the DGX H100", Date: "2023", Verified: Remembered}
	IdleGPUWatts  = Fact{Name: "IdleGPUWatts", Value: 80, Unit: "W of an idle H100", Low: 60, High: 100, Source: "common readings of nvidia-smi", Date: "2024", Verified: Remembered}
)
