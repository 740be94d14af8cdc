package facts

// What a checkpoint weighs, and what a restart is made of.
var (
	BytesPerParameter = Fact{
		Name: "BytesPerParameter", Value: 14, Unit: "bytes per parameter", Low: 12, High: 16,
		Source: "mixed-precision Adam: weights, master weights and two moments; BLOOM's checkpoint of 176B is 2.3 TB, which is 13", Date: "2022", Verified: Computed,
	}
	BLOOMCheckpointTB = Fact{Name: "BLOOMCheckpointTB", Value: 2.3, Unit: "TB, 176 billion parameters", Source: "training notes of BLOOM-176B", Date: "2022", Verified: Verbatim}
	OPTCheckpointTB   = Fact{Name: "OPTCheckpointTB", Value: 1.6, Unit: "TB, 175 billion parameters", Source: "the public logbook of OPT-175B", Date: "2021", Verified: Verbatim}

	RestartDetect = Fact{
		Name: "RestartDetect", Value: 60, Unit: "seconds until a failure is noticed", High: 600,
		Source: "the restart model of a textbook on machine learning systems; MegaScale (arXiv 2402.15627) says under 10 min", Date: "2024", Verified: Quoted,
	}
	RestartReschedule = Fact{
		Name: "RestartReschedule", Value: 180, Unit: "seconds until processes run on good nodes",
		Source: "the restart model of a textbook on machine learning systems", Date: "2024", Verified: Quoted,
	}
	RestartWarmUp = Fact{
		Name: "RestartWarmUp", Value: 120, Unit: "seconds until steps take their normal time",
		Source: "the restart model of a textbook on machine learning systems", Date: "2024", Verified: Quoted,
	}
	ByteCheckpointBlock = Fact{
		Name: "ByteCheckpointBlock", Value: 0.59, Unit: "seconds that an asynchronous checkpoint of 405B on 8,960 GPUs blocks",
		Source: "ByteCheckpoint, arXiv 2407.20143", Date: "2024", Verified: Quoted,
	}
	ByteCheckpointPersist = Fact{
		Name: "ByteCheckpointPersist", Value: 51, Unit: "seconds until it is persisted",
		Source: "ByteCheckpoint, arXiv 2407.20143, 405B on 8,960 GPUs", Date: "2024", Verified: Quoted,
	}
	ByteCheckpointLoad = Fact{
		Name: "ByteCheckpointLoad", Value: 129, Unit: "seconds to load it",
		Source: "ByteCheckpoint, arXiv 2407.20143, 405B on 8,960 GPUs", Date: "2024", Verified: Quoted,
	}
	ByteCheckpointHDFS = Fact{
		Name: "ByteCheckpointHDFS", Value: 200, Unit: "seconds to write 175B on 4,096 GPUs to HDFS",
		Source: "ByteCheckpoint, arXiv 2407.20143", Date: "2024", Verified: Quoted,
	}
	MetaCheckpointWrite = Fact{
		Name: "MetaCheckpointWrite", Value: 300, Unit: "seconds of one write", Source: metaReliability, Date: "2024-10", Verified: Quoted,
	}
	MetaRestart = Fact{
		Name: "MetaRestart", Value: 300, Unit: "seconds from a failure until work goes on", Low: 300, High: 1200,
		Source: metaReliability, Date: "2024-10", Verified: Quoted,
	}
	ElasticStall = Fact{
		Name: "ElasticStall", Value: 180, Unit: "seconds that an elastic job stands still after a failure", Source: "FT-HSDP, arXiv 2602.00277: about 3 min",
		Date: "2026-02", Verified: Quoted,
	}
	RestartStall = Fact{
		Name: "RestartStall", Value: 600, Unit: "seconds that a job without elasticity stands still, at least", Source: "FT-HSDP, arXiv 2602.00277: 10 min or more",
		Date: "2026-02", Verified: Quoted,
	}
)

// CheckpointBytes is the size of a checkpoint of so many parameters.
func CheckpointBytes(parameters float64) float64 { return parameters * BytesPerParameter.Value }
