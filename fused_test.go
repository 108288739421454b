package ktx_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// fused finds the place in the source of an instruction of arm64 that multiplies, adds,
// and rounds once.
var fused = regexp.MustCompile(`\(([^() ]*\.go:\d+)\)\s+FN?M(?:ADD|SUB)[SD]\s`)

// TestFused: equal artifacts give equal answers on every processor. Some processors have
// an instruction for a product and a sum that rounds once instead of twice, so scores
// would differ in their last bits, and ties would be decided otherwise. The compiler may
// use it for x*y + z, but not for float64(x*y) + z.
func TestFused(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("compiles many packages for another processor")
	}
	places := func(args ...string) map[string]bool {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "go", append([]string{"build", "-gcflags=-S"}, args...)...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=arm64")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go build %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		found := map[string]bool{}
		for _, f := range fused.FindAllStringSubmatch(string(out), -1) {
			found[f[1]] = true
		}
		return found
	}
	known := filepath.Join(t.TempDir(), "known.go")
	if err := os.WriteFile(known, []byte("package known\n\nfunc Fused(x, y, z float64) float64 { return x*y + z }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if len(places(known)) != 1 {
		t.Error("the compiler does not fuse x*y + z, or lists it in another form, so this test sees nothing")
	}
	for place := range places("./research/...", "./tools/glove", "./tools/wordnet") {
		t.Errorf("%s: a product is added without being rounded, so the result depends on the processor; write float64(x*y) + z, or float32", place)
	}
}
