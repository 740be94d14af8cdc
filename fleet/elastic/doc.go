// Package elastic is what a data-parallel training job does when it loses nodes.
//
// # The unit of loss
//
// A model that does not fit into one GPU is cut into pieces: by tensors, by layers (pipeline stages), by context. The TP × PP × CP GPUs
// that hold one copy of it are a replica, and DP replicas share the global batch. If one GPU breaks, its whole replica has to stop,
// since no other GPU of the replica can go on without that piece. So what counts is not how many nodes fail but how many replicas they
// are in. With TP 8 and PP 16 a replica is 16 nodes of 8 GPUs, and 2,048 nodes are 128 replicas. Ten nodes that fail at once leave
//
//   - 127 of 128 replicas if they are neighbours in one replica (99.2 %),
//   - 118 of 128 if each is in another one (92.2 %),
//   - 118.3 on average if they are drawn at random,
//   - 127 if the survivors are regrouped: ⌊2038/16⌋, at the price of moving the model's state.
//
// A ring of 100 replicas of one node each is left with exactly 90 of them, wherever the ten are. Geometry has this arithmetic.
//
// # The four answers
//
// A Rescaler is asked with a Break, what is left, and answers with a Regroup, how it goes on.
//
//   - Restart: give up, wait for as many nodes as before, and start again from the last checkpoint. All work since then is lost.
//   - WaitForSpare: stand still until spares are there. Nothing is lost but time.
//   - DropReplicas: go on with the replicas that are whole. The healthy GPUs of the broken ones are stranded meanwhile.
//   - Reshard: make new replicas of the survivors. Fewer GPUs are stranded, more state has to be moved.
//
// The last three need no checkpoint as long as one replica that was at work is whole, since every replica has the model's whole state:
// the job rolls back only if none is (Break.Live). An elastic stall is about 3 minutes where a restart takes 10 or more (FT-HSDP, arXiv
// 2602.00277, as quoted elsewhere). torchrun with MIN:MAX nodes stops all workers and lets them meet again; Oobleck (arXiv 2309.08125)
// keeps pipeline templates for different numbers of nodes; ReCycle (arXiv 2405.14009) sends the micro-batches of a broken pipeline
// through its neighbours; Bamboo computes redundantly; Varuna morphs the pipeline.
//
// # The batch
//
// With fewer replicas the global batch either shrinks, which changes the training, or is kept, and then each replica does more
// micro-batches. They do not divide: Batch has the arithmetic, and the trap.
package elastic
