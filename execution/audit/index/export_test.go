package index

// SetSizes sets how many events make a block, and how many rows are few. It returns what
// sets them back.
func SetSizes(block, few int64) (back func()) {
	oldBlock, oldFew := blockEvents, fewRows
	blockEvents, fewRows = block, few
	return func() { blockEvents, fewRows = oldBlock, oldFew }
}
