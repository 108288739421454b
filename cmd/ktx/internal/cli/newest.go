package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
)

const (
	// releasesURL is where ktx version --check asks for the latest release.
	releasesURL = "https://api.github.com/repos/ktxhq/ktx/releases/latest"
	// releasesVariable names another address, such as that of a mirror.
	releasesVariable = "KTX_RELEASES_URL"
	// maxRelease bounds the answer, in bytes.
	maxRelease = 1 << 20
)

// newest is the latest release.
type newest struct {
	Version string `json:"version"` // without the v of its tag
	Page    string `json:"page"`
	// Newer reports whether it is newer than this program. It is nil for a program
	// that was not built from a release.
	Newer *bool `json:"newer"`
}

// latestRelease asks for the latest release, within a time limit. Nothing else of ktx
// asks anybody for releases.
func latestRelease(ctx context.Context, a *console.App, limit time.Duration) (newest, error) {
	address := releasesURL
	if other, _ := a.Lookup(releasesVariable); strings.TrimSpace(other) != "" {
		address = strings.TrimSpace(other)
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) {
		return newest{}, console.Usage("%s: expected an address with https://", releasesVariable)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	failed := func(format string, args ...any) error {
		return console.Failed("the latest release is not known: "+format, args...)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return newest{}, failed("%w", err)
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "ktx")
	answer, err := http.DefaultClient.Do(r)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return newest{}, failed("%s did not answer within %s", u.Host, limit)
	case err != nil:
		return newest{}, failed("%s cannot be reached: %w", u.Host, errors.Unwrap(err))
	}
	defer func() { _ = answer.Body.Close() }()
	switch answer.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return newest{}, failed("%s knows of no release", u.Host)
	case http.StatusForbidden, http.StatusTooManyRequests:
		return newest{}, failed("%s answers no more requests from this address at present; ask again in an hour", u.Host)
	default:
		return newest{}, failed("%s answered with %s", u.Host, answer.Status)
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxRelease))
	if err != nil {
		return newest{}, failed("the answer of %s ended early: %w", u.Host, err)
	}
	var release struct {
		Tag  string `json:"tag_name"`
		Page string `json:"html_url"`
	}
	if err := json.Unmarshal(text, &release); err != nil || !semver.IsValid(release.Tag) {
		return newest{}, failed("the answer of %s names no version", u.Host)
	}
	out := newest{Version: strings.TrimPrefix(release.Tag, "v"), Page: release.Page}
	if own := "v" + strings.TrimPrefix(a.Version, "v"); semver.IsValid(own) {
		newer := semver.Compare(release.Tag, own) > 0
		out.Newer = &newer
	}
	return out, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// String says what the release means for this program.
func (n newest) String() string {
	switch {
	case n.Newer == nil:
		return fmt.Sprintf("the latest release is %s; this ktx was not built from a release", n.Version)
	case *n.Newer:
		return fmt.Sprintf("ktx %s is newer: %s", n.Version, n.Page)
	default:
		return fmt.Sprintf("no release is newer; the latest is %s", n.Version)
	}
}

// finding returns the exit code for a newer release.
func (n *newest) finding() error {
	if n != nil && n.Newer != nil && *n.Newer {
		return &console.ExitError{Code: console.ExitFindings}
	}
	return nil
}
