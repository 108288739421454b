package upstream_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/upstream"
)

func get(t *testing.T, address string) (status int, text string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// TestTheBrowserReturns: only the request of the login that ktx has opened counts, and
// nothing of a request is shown.
func TestTheBrowserReturns(t *testing.T) {
	back, err := upstream.Listen(t.Context(), 0, false)
	if err != nil {
		t.Fatal(err)
	}
	defer upstream.Close(back)
	go func() {
		for _, wrong := range []string{"?code=evil", "?code=evil&state=other", "/more?code=evil&state=ours"} {
			if status, text := get(t, back.Address()+wrong+"&x=<script>"); status != http.StatusNotFound || strings.Contains(text, "script") || strings.Contains(text, "evil") {
				t.Errorf("%s: %d %s", wrong, status, text)
			}
		}
		if status, text := get(t, back.Address()+"?code=secret&state=ours"); status != http.StatusOK || strings.Contains(text, "secret") {
			t.Errorf("%d %s", status, text)
		}
	}()
	query, err := upstream.Wait(back, t.Context(), "ours")
	if err != nil || query.Get("code") != "secret" {
		t.Errorf("got %v, %v", query, err)
	}
	again, err := upstream.Listen(t.Context(), 0, false)
	if err != nil {
		t.Fatal(err)
	}
	defer upstream.Close(again)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := upstream.Wait(again, ctx, "ours"); !errors.Is(err, context.Canceled) {
		t.Errorf("the person gives up: %v", err)
	}
}

func TestPasted(t *testing.T) {
	in := strings.NewReader("\n  http://127.0.0.1:8976/callback?code=c&state=ours  \nthe rest\n")
	query, err := upstream.Pasted(in, "ours")
	if rest, _ := io.ReadAll(in); err != nil || query.Get("code") != "c" || string(rest) != "the rest\n" {
		t.Errorf("got %v, %v, and %q is left", query, err, rest)
	}
	for text, want := range map[string]string{
		"":                     "not the address",
		"code":                 "not the address",
		"http://x/?code=c":     "another login",
		"http://x/?state=them": "another login",
	} {
		if _, err := upstream.Pasted(strings.NewReader(text), "ours"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v", text, err)
		}
	}
}
