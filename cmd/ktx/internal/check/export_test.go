package check

// LinePositions returns the places of offsets, asked for one after the other.
func LinePositions(text string, offsets []int) [][2]int {
	x := lineIndex{text: text}
	out := make([][2]int, len(offsets))
	for i, offset := range offsets {
		out[i][0], out[i][1] = x.position(offset)
	}
	return out
}
