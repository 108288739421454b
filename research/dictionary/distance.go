package dictionary

// maxDistanceRunes bounds the texts that [distance] compares. Longer texts are
// taken for different.
const maxDistanceRunes = 256

// distance returns how many letters must be put in, taken out, replaced or
// exchanged with the next one to turn a into b. It returns most + 1 if that is more
// than most, which is at most 3.
func distance(a, b []rune, most int) int {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) == 0 || len(b) == 0 {
		return min(len(a)+len(b), most+1)
	}
	if most == 0 || len(a)-len(b) > most || len(b)-len(a) > most || len(a) > maxDistanceRunes || len(b) > maxDistanceRunes {
		return most + 1
	}
	var rows [3][maxDistanceRunes + 1]uint8 // a distance above most is most + 1
	over := uint8(most + 1)                 //nolint:gosec // it is small
	before, last, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		last[j] = uint8(min(j, most+1)) //nolint:gosec // it is small
	}
	for i := 1; i <= len(a); i++ {
		from, to := max(1, i-most), min(len(b), i+most)
		row[from-1] = over
		if from == 1 {
			row[0] = uint8(min(i, most+1)) //nolint:gosec // it is small
		}
		least := row[from-1]
		for j := from; j <= to; j++ {
			d := last[j-1]
			if a[i-1] != b[j-1] {
				d++
			}
			d = min(d, row[j-1]+1)
			if j < i+most { // last has no such place otherwise
				d = min(d, last[j]+1)
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, before[j-2]+1)
			}
			row[j] = min(d, over)
			least = min(least, row[j])
		}
		if least > uint8(most) { //nolint:gosec // it is small
			return most + 1
		}
		before, last, row = last, row, before
	}
	return int(last[len(b)])
}
