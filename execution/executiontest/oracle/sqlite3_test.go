package oracle_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

// A stored is one value as sqlite3 shows it: its storage class, and its bytes
// where it is not NULL. Those of a REAL are the float's own, in big-endian
// order, since the command line prints fewer digits than a float has. Those of
// a text are in UTF-8.
type stored struct {
	class string
	bytes []byte
}

// cell returns what ktx must make of the value. The float of a REAL is compared
// as such: its text is "" here.
func (v stored) cell() cell {
	switch {
	case v.class == "null":
		return cell{}
	case v.class == "blob" || !utf8.Valid(v.bytes):
		return cell{'s', execution.HexText(v.bytes)}
	default:
		return cell{'s', string(v.bytes)}
	}
}

func (v stored) float() float64 {
	var bits uint64
	for _, b := range v.bytes {
		bits = bits<<8 | uint64(b)
	}
	return math.Float64frombits(bits)
}

// shown returns the float as it would be read from JSON.
func (v stored) shown() string {
	switch f := v.float(); {
	case math.IsInf(f, 1):
		return "Inf"
	case math.IsInf(f, -1):
		return "-Inf"
	default:
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
}

// sqlite3 runs queries of so many columns each and returns the rows of each.
// The command line prints storage classes and hexadecimal digits only, so that
// nothing is lost.
func sqlite3(t *testing.T, path, encoding string, queries []string, columns []int) [][][]stored {
	t.Helper()
	const end = "end of rows"
	var script strings.Builder
	for i, sql := range queries {
		names, shown := make([]string, columns[i]), make([]string, columns[i])
		for n := range names {
			names[n] = "c" + strconv.Itoa(n)
			shown[n] = fmt.Sprintf("typeof(%[1]s) || ':' || CASE typeof(%[1]s) WHEN 'real' THEN hex(ieee754_to_blob(%[1]s)) WHEN 'null' THEN '' ELSE hex(%[1]s) END", names[n])
		}
		fmt.Fprintf(&script, "WITH q (%s) AS (%s) SELECT %s FROM q;\n.print %s\n", strings.Join(names, ", "), sql, strings.Join(shown, ", "), end)
	}
	cmd := exec.CommandContext(t.Context(), testdb.Tool(t, "sqlite3"), "-batch", "-bail", "-readonly", "-noheader", "-list", path)
	cmd.Stdin = strings.NewReader(script.String())
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("sqlite3: %v: %s", err, stderr.Bytes())
	}
	parts := strings.Split(stdout.String(), end+"\n")
	if len(parts) != len(queries)+1 || parts[len(queries)] != "" {
		t.Fatalf("sqlite3 answered %d of %d queries: %s", len(parts)-1, len(queries), stderr.Bytes())
	}
	out := make([][][]stored, len(queries))
	for i, part := range parts[:len(queries)] {
		for line := range strings.Lines(part) {
			var row []stored
			for field := range strings.SplitSeq(strings.TrimSuffix(line, "\n"), "|") {
				class, digits, _ := strings.Cut(field, ":")
				raw, err := hex.DecodeString(digits)
				if err != nil {
					t.Fatalf("sqlite3 printed %.100s: %v", field, err)
				}
				if class == "text" { // a text as a BLOB is in the encoding of the file
					raw = fromEncoding(encoding, raw)
				}
				row = append(row, stored{class, raw})
			}
			out[i] = append(out[i], row)
		}
	}
	return out
}

// fromEncoding returns the UTF-8 of a text in the encoding of a file.
func fromEncoding(encoding string, raw []byte) []byte {
	var order binary.ByteOrder
	switch encoding {
	case "UTF-16le":
		order = binary.LittleEndian
	case "UTF-16be":
		order = binary.BigEndian
	default:
		return raw
	}
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = order.Uint16(raw[2*i:])
	}
	return []byte(string(utf16.Decode(units)))
}
