package cli_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// TestVersionCheck asks a server on this machine, which stands for GitHub and answers
// as its interface is documented. It cannot prove that GitHub still does.
func TestVersionCheck(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex // the server reads what the test sets
	asked := 0
	status, body := http.StatusOK, `{"tag_name": "v1.2.3", "html_url": "https://example.com/v1.2.3"}`
	stall := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked++
		code, text := status, body
		mu.Unlock()
		if r.URL.Path == "/stall" {
			<-stall
		}
		w.WriteHeader(code)
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(stall) })
	answer := func(code int, text string) {
		mu.Lock()
		defer mu.Unlock()
		status, body = code, text
	}
	program := "ktx"
	run := func(address string, args ...string) (string, int) {
		t.Helper()
		cmd := exec.CommandContext(context.WithoutCancel(t.Context()), program, append([]string{"version"}, args...)...)
		cmd.Env = append(os.Environ(), "KTX_RELEASES_URL="+address)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	check := func(want string, code int, address string, args ...string) {
		t.Helper()
		out, got := run(address, append([]string{"--check"}, args...)...)
		if got != code || !strings.Contains(out, want) {
			t.Errorf("exit code %d, want %d with %q:\n%s", got, code, want, out)
		}
	}
	out, code := run(server.URL)
	mu.Lock()
	times := asked
	mu.Unlock()
	if code != 0 || times != 0 {
		t.Fatalf("without --check it asked %d times: %d\n%s", times, code, out)
	}
	check("the latest release is 1.2.3; this ktx was not built from a release", 0, server.URL)
	check(`"newer": null`, 0, server.URL, "--json")
	program = "ktx-released" // 1.2.0
	check("ktx 1.2.3 is newer: https://example.com/v1.2.3", 1, server.URL)
	check(`"newer": true`, 1, server.URL, "--json")
	answer(http.StatusOK, `{"tag_name": "v1.2.0"}`)
	check("no release is newer; the latest is 1.2.0", 0, server.URL)
	answer(http.StatusOK, `{"tag_name": "v1.2.0-rc.1"}`)
	check("no release is newer", 0, server.URL)
	check("did not answer within 50ms", 3, server.URL+"/stall", "--timeout", "50ms")
	answer(http.StatusOK, `{"tag_name": "newest"}`)
	check("names no version", 3, server.URL)
	answer(http.StatusOK, "<html>")
	check("names no version", 3, server.URL)
	answer(http.StatusNotFound, "")
	check("knows of no release", 3, server.URL)
	answer(http.StatusForbidden, "")
	check("answers no more requests", 3, server.URL)
	answer(http.StatusBadGateway, "")
	check("502 Bad Gateway", 3, server.URL)
	check("expected an address with https://", 2, "http://example.com/")
	check("expected an address with https://", 2, "file:///etc/passwd")
	check("cannot be reached", 3, "http://127.0.0.1:1/")
	if out, code := run(server.URL, "--timeout", "1s"); code != 2 {
		t.Errorf("exit code %d\n%s", code, out)
	}
}
