package index

// SetManyRows sets how many rows are counted by two connections at a time.
func SetManyRows(n int64) { manyRows = n }
