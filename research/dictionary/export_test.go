package dictionary

import "hash/crc32"

// ReadSet makes a set of a snapshot and the bytes of a values file.
func ReadSet(snapshot Snapshot, access Access, file []byte) (*Set, error) {
	return newSet(snapshot, access, file)
}

// Seal returns a values file with a body and right checksums, so that a fuzz test
// reaches the reader of the body.
func Seal(body []byte) []byte {
	h := header{folding: folding(), body: uint64(len(body)), sum: crc32.Checksum(body, castagnoli)}
	return append(h.append(nil), body...)
}

// Distance is the distance of two texts.
func Distance(a, b string, most int) int { return distance([]rune(a), []rune(b), most) }
