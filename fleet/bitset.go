package fleet

import "math/bits"

// bitset is a set of small whole numbers: nodes, in this package.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (b bitset) add(i int)      { b[i>>6] |= 1 << (i & 63) }
func (b bitset) has(i int) bool { return b[i>>6]>>(i&63)&1 == 1 }
func (b bitset) remove(i int)   { b[i>>6] &^= 1 << (i & 63) }

// without is the word w of b, less the elements of avoid, which may be nil.
func (b bitset) without(avoid bitset, w int) uint64 {
	if avoid == nil {
		return b[w]
	}
	return b[w] &^ avoid[w]
}

// count is the number of elements from one bound up to, and without, the other.
func (b bitset) count(from, to int) (n int) {
	for w := from >> 6; w<<6 < to; w++ {
		word := b[w]
		if lo := from - w<<6; lo > 0 {
			word &= ^uint64(0) << lo
		}
		if hi := to - w<<6; hi < 64 {
			word &= 1<<hi - 1
		}
		n += bits.OnesCount64(word)
	}
	return n
}

// longestRun is the first element and the length of the longest run of consecutive elements; the lowest of equally long ones,
// and -1, 0 for an empty set.
func (b bitset) longestRun() (start, length int) {
	start = -1
	for first, n := range b.runs {
		if n > length {
			start, length = first, n
		}
	}
	return start, length
}

// runs yields each maximal run of consecutive elements in ascending order, as its first element and its length.
func (b bitset) runs(yield func(start, length int) bool) {
	run, start := 0, 0
	for w, word := range b {
		if run == 0 && word == 0 {
			continue
		}
		for at := 0; at < 64; {
			rest := word >> at
			if run == 0 { // look for the next element
				if rest == 0 {
					break
				}
				at += bits.TrailingZeros64(rest)
				start, rest = w*64+at, word>>at
			}
			n := min(bits.TrailingZeros64(^rest), 64-at)
			run, at = run+n, at+n
			if at < 64 { // the run ends inside this word
				if !yield(start, run) {
					return
				}
				run = 0
			}
		}
	}
	if run > 0 {
		yield(start, run)
	}
}

// elements yields the elements in ascending order. The set may change while it is walked, behind the element that was yielded.
func (b bitset) elements(yield func(int) bool) {
	for w := range b {
		for word := b[w]; word != 0; word &= word - 1 {
			if !yield(w*64 + bits.TrailingZeros64(word)) {
				return
			}
		}
	}
}
