package oracle_test

import (
	"bytes"
	"crypto/rand"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

// The client encodings for psql. To a client with SQL_ASCII the server sends
// its own encoding without conversion. The test uses that when the server's
// encoding is UTF-8, because psql's own handling of UTF-8 loses characters that
// psql considers invalid, such as U+10FFFF.
const (
	asItIs    = "SQL_ASCII"
	converted = "UTF8"
)

// psql runs queries, each on its own, and returns what psql prints for each,
// cell by cell. Zero bytes separate cells and rows. No text of the server
// contains a zero byte, so nothing is lost.
func psql(t *testing.T, url, encoding, zone string, queries []query) [][]cell {
	t.Helper()
	null, end := "null "+rand.Text(), "end "+rand.Text()
	var out [][]cell
	for len(queries) > 0 {
		args := []string{"-X", "-q", "-A", "-t", "-z", "-0", "-P", "null=" + null, "-v", "ON_ERROR_STOP=1", "-d", url}
		size, n := 0, 0
		for n < len(queries) && size < 500_000 { // the system bounds a command line
			args = append(args, "-c", queries[n].sql, "-c", `\echo `+end)
			size += len(queries[n].sql)
			n++
		}
		cmd := exec.CommandContext(t.Context(), testdb.Tool(t, "psql"), args...)
		cmd.Env = append(os.Environ(), "PGCLIENTENCODING="+encoding, "PGTZ="+zone, "PGDATESTYLE=ISO", "PGOPTIONS="+
			"-c intervalstyle=postgres -c bytea_output=hex -c extra_float_digits=1 -c standard_conforming_strings=on")
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("psql: %v: %s", err, stderr.Bytes())
		}
		parts := strings.Split(stdout.String(), end+"\n")
		if len(parts) != n+1 || parts[n] != "" {
			t.Fatalf("psql answered %d of %d queries: %s", len(parts)-1, n, stderr.Bytes())
		}
		for _, part := range parts[:n] {
			out = append(out, psqlCells(part, null))
		}
		queries = queries[n:]
	}
	return out
}

func psqlCells(printed, null string) []cell {
	if printed == "" {
		return nil // no rows
	}
	var cells []cell
	for text := range strings.SplitSeq(strings.TrimSuffix(printed, "\x00"), "\x00") {
		switch {
		case text == null:
			cells = append(cells, cell{})
		case !utf8.ValidString(text):
			cells = append(cells, cell{'s', execution.HexText([]byte(text))})
		default:
			cells = append(cells, cell{'s', text})
		}
	}
	return cells
}
