package facts

// How large models are trained, and on what.
var (
	Llama3MFU = Fact{
		Name: "Llama3MFU", Value: 0.41, Unit: "model FLOPs / peak FLOPs, 405B on 16,384 GPUs", Low: 0.38, High: 0.43,
		Source: llama3 + ", Table 4 (TP 8, PP 16, DP 128; 8,192 GPUs with DP 64 reach 0.43, CP 16 and DP 4 0.38)", Date: "2024-07", Verified: Verbatim,
	}
	MegaScaleMFU = Fact{Name: "MegaScaleMFU", Value: 0.552, Unit: "model FLOPs / peak FLOPs on 12,288 GPUs", Source: "MegaScale, arXiv 2402.15627", Date: "2024", Verified: Quoted}
	BatchTokens  = Fact{Name: "BatchTokens", Value: 16e6, Unit: "tokens of one step", Source: llama3 + ", Table 4", Date: "2024-07", Verified: Verbatim}

	H100PeakFLOPS = Fact{
		Name: "H100PeakFLOPS", Value: 989e12, Unit: "FLOP/s, dense BF16", Source: "NVIDIA's data sheet of the H100 SXM", Date: "2023", Verified: Remembered,
	}
	H100TDPWatts = Fact{Name: "H100TDPWatts", Value: 700, Unit: "W", Source: llama3 + ", §3.3", Date: "2024-07", Verified: Verbatim}

	RackNodes = Fact{Name: "RackNodes", Value: 2, Unit: "servers of 8 GPUs in a rack", Source: llama3 + ", §3.3", Date: "2024-07", Verified: Verbatim}
	PodRacks  = Fact{
		Name: "PodRacks", Value: 192, Unit: "racks of a pod, 3,072 GPUs at full bisection; 8 pods, 1:7 oversubscribed above",
		Source: llama3 + ", §3.3", Date: "2024-07", Verified: Verbatim,
	}
	StorageTBps = Fact{
		Name: "StorageTBps", Value: 2, Unit: "TB/s sustained (Value) and at peak (High)", Low: 2, High: 7, Source: llama3 + ", §3.3", Date: "2024-07", Verified: Verbatim,
	}
)

const (
	llama3          = "The Llama 3 Herd of Models, arXiv 2407.21783"
	metaReliability = "Revisiting Reliability in Large-Scale Machine Learning Research Clusters, arXiv 2410.21680"
	infiniteHBD     = "stepfun-ai/InfiniteHBD-Trace (Apache-2.0), 584 faults of 400 servers in 348 days"
)

// Parallelism is one row of Llama 3's table of configurations.
type Parallelism struct {
	GPUs, TP, CP, PP, DP int
	MFU                  float64
}

// Llama3Parallelism is Table 4 of the Llama 3 paper, V: 405B with sequences of 8,192 tokens on 8,192 and 16,384 GPUs, and of 131,072
// tokens with context parallelism. The GPUs of the last row follow from its other figures, with DP 4 as it was handed down to us; with DP 8
// it would be 16,384.
var Llama3Parallelism = []Parallelism{
	{8192, 8, 1, 16, 64, 0.43},
	{16384, 8, 1, 16, 128, 0.41},
	{8192, 8, 16, 16, 4, 0.38},
}
