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

// A stored is one value as sqlite3 prints it: its storage class, and its bytes
// unless it is NULL. For a REAL they are the bytes of the float in big-endian
// order, because the command line prints fewer digits than a float has. For a
// TEXT they are in UTF-8.
type stored struct {
	class string
	bytes []byte
}

// cell returns the cell that ktx must return for the value. The text of a REAL
// is "" here, because the test compares it as a float.
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

// shown returns the float as a JSON reader would read it.
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

// sqlite3 runs queries with the given numbers of columns and returns the rows
// of each. The command line prints only storage classes and hexadecimal digits,
// so nothing is lost.
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
				if class == "text" { // a TEXT cast to a BLOB is in the encoding of the file
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
