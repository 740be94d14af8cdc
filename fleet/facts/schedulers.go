package facts

// Defaults of schedulers, as their documentation gives them.
var (
	SlurmBackfillInterval = Fact{Name: "SlurmBackfillInterval", Value: 30, Unit: "seconds (bf_interval)", Source: slurm, Date: "2024", Verified: Quoted}
	SlurmBackfillWindow   = Fact{
		Name: "SlurmBackfillWindow", Value: 1440, Unit: "minutes (bf_window); shorter than the longest limit it lets large jobs starve", Source: slurm, Date: "2024", Verified: Quoted,
	}
	SlurmBackfillDepth = Fact{
		Name: "SlurmBackfillDepth", Value: 500, Unit: "jobs (bf_max_job_test); the 100 that is often quoted is default_queue_depth, of the main scheduler",
		Source: "Slurm, src/plugins/sched/backfill/backfill.c", Date: "2026", Verified: Verbatim,
	}
	SlurmBackfillResolution = Fact{Name: "SlurmBackfillResolution", Value: 60, Unit: "seconds (bf_resolution)", Source: slurm, Date: "2024", Verified: Quoted}
	KubernetesGrace         = Fact{
		Name: "KubernetesGrace", Value: 30, Unit: "seconds (terminationGracePeriodSeconds)", Source: "Kubernetes' documentation", Date: "2024", Verified: Quoted,
	}
	MetaPreemptibleAfter = Fact{Name: "MetaPreemptibleAfter", Value: 2, Unit: "hours until a job can be preempted", Source: metaReliability, Date: "2024-10", Verified: Quoted}
	MetaLongestJob       = Fact{Name: "MetaLongestJob", Value: 7, Unit: "days that a job may last", Source: metaReliability, Date: "2024-10", Verified: Quoted}
)

const slurm = "Slurm's documentation of sched/backfill"
