package prove_test

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/cmd/ktx-prove/internal/prove"
)

// TestClient gives psql the command that writes a file, and one that runs a program.
func TestClient(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	if _, err := exec.LookPath("psql"); err != nil {
		t.Skip("needs psql")
	}
	t.Setenv("KTX_PROVE_SHARED", "1")
	var out, errs bytes.Buffer
	code := prove.Main([]string{"--corpus", corpusDir(t), "--dialect", "postgres", "--client", "--case", "KTX-PG-CLI-0001,KTX-PG-CLI-0002,KTX-PG-DML-0001"}, &out, &errs)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	for _, want := range []string{`"probe":"changed: file orders.csv"`, `"engine":"psql"`, `"id":"KTX-PG-DML-0001","dialect":"postgres","expect":"reject","skipped":"is no command of a client"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is missing in\n%s", want, &out)
		}
	}
	if strings.Contains(out.String(), `"outcome":"failed`) {
		t.Errorf("a command failed:\n%s", &out)
	}
}
