package skills_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/research/skills"
	"github.com/ktxhq/ktx/research/skills/pgstore"
	"github.com/ktxhq/ktx/research/skills/skillstest"
)

// database returns the address of a new database with pgvector: that of the variable
// KTX_TEST_SKILLS_URL, or of a server of its own. It skips the test unless make
// test-skills has set one of the variables.
func database(t *testing.T) string {
	t.Helper()
	if address := os.Getenv("KTX_TEST_SKILLS_URL"); address != "" {
		return address
	}
	dir := os.Getenv("KTX_TEST_SKILLS")
	if dir == "" {
		t.Skip("KTX_TEST_SKILLS is not set; make test-skills sets it")
	}
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join(dir, "server.mjs"))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close() // ends it
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	port, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok {
		t.Fatalf("the server says %q: %v", line, err)
	}
	return "postgres://postgres:postgres@127.0.0.1:" + port + "/postgres?sslmode=disable"
}

// TestState runs the contract of the stores on PostgreSQL with pgvector. PGlite has one
// backend: it proves what the statements answer, and nothing about locks.
func TestState(t *testing.T) {
	address := database(t)
	skillstest.RunState(t, func(t *testing.T, tenant string) skills.State {
		t.Helper()
		s, err := pgstore.New(address, tenant)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		return s
	})
}
