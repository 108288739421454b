//go:build linux

package faults_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ktxhq/ktx/execution/audit"
)

// always is what must hold after every scenario, as the document states it.
var always = []string{
	"A call ends with its right answer, every row as computed apart from the server, or with an error of one of the codes in its row and no rows. It never hangs.",
	"When the fault is over, the same gateway answers again without a restart.",
	"No statement of the gateway runs on at the server, and after its end no session of it is left.",
	"The audit log verifies, and every statement that was allowed has exactly one outcome on record, unless its row says otherwise.",
	"Goroutines and file descriptors are as many as before.",
}

// recorded verifies a log and pairs decisions with outcomes. At most unfinished
// decisions may have no outcome. It returns how many have none.
func (s *stand) recorded(dir string, unfinished int) int {
	s.Helper()
	report, err := audit.Verify(s.Context(), dir)
	if err != nil {
		s.Errorf("verify the log: %v", err)
		return 0
	}
	if !report.OK {
		s.Errorf("the log is not whole: %+v", report.Problems)
	}
	open, twice := s.decisions(dir)
	if twice > 0 {
		s.Errorf("%d statements have more than one outcome", twice)
	}
	if open > unfinished {
		s.Errorf("%d statements that were allowed have no outcome, want at most %d", open, unfinished)
	}
	return open
}

// tellsOfDamage checks a log from which events were removed. The log itself
// must say that events are missing, and verify must report it. Otherwise the
// scenario fails.
func (s *stand) tellsOfDamage(dir string) {
	s.Helper()
	report, err := audit.Verify(s.Context(), dir)
	if err != nil {
		s.Errorf("verify the log: %v", err)
		return
	}
	if report.OK || len(report.Problems) == 0 {
		s.Error("verify finds nothing in a log from which events were taken")
	}
	if s.counted(dir, audit.LogRecovered) == 0 {
		s.Error("the log does not say that events are missing")
	}
}

// decisions counts the allowed statements in a log that have no outcome, and
// those that have more than one.
func (s *stand) decisions(dir string) (open, twice int) {
	s.Helper()
	outcomes := map[string]int{}
	for _, e := range s.events(dir) {
		switch e.Type { //nolint:exhaustive // all other events are not about statements
		case audit.QueryDecision:
			if e.Decision.Verdict == audit.VerdictAllow {
				outcomes[e.QueryID] += 0
			}
		case audit.QueryFinished, audit.QueryCancelled:
			outcomes[e.QueryID]++
		}
	}
	for _, n := range outcomes {
		switch {
		case n == 0:
			open++
		case n > 1:
			twice++
		}
	}
	return open, twice
}

// events reads a log. The log may still be written to.
func (s *stand) events(dir string) []audit.Event {
	s.Helper()
	r, err := audit.OpenReader(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		s.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // it has only read
	var all []audit.Event
	for rec, err := range r.All(s.Context()) {
		if err != nil {
			s.Fatal(err)
		}
		all = append(all, rec.Event)
	}
	return all
}

// counted returns how many events of a type a log has.
func (s *stand) counted(dir string, kind audit.Type) int {
	s.Helper()
	n := 0
	for _, e := range s.events(dir) {
		if e.Type == kind {
			n++
		}
	}
	return n
}

// warmUp starts everything that outlives a scenario, so that it does not count
// as a leak.
func warmUp(t *testing.T) {
	t.Helper()
	for _, mariadb := range []bool{false, true} {
		s := &stand{T: t, scenario: &scenario{mariadb: mariadb}}
		s.database()
		s.open(settings{})
		s.right(one("warm"))
		s.close()
	}
}

// stock is the state before a scenario. Nothing more may exist after it.
type stock struct {
	goroutines  goleak.Option
	descriptors []string
}

func takeStock(t *testing.T) stock {
	t.Helper()
	return stock{goleak.IgnoreCurrent(), descriptors(t)}
}

// proxyGoroutines belong to the proxy, and outlive it. Its links end late. A
// link that a toxic has closed before everything was read never ends.
var proxyGoroutines = []goleak.Option{
	goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2.(*ToxicLink).read"),
	goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2.(*ToxicLink).write"),
	goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2/toxics.(*ToxicStub).Run"),
}

// compare fails the test for resources that exist now and did not exist before.
// It reports whether there are none. Resources that are about to be released
// have time for that.
func (b stock) compare(t *testing.T, name string) (clean bool) {
	t.Helper()
	options := append([]goleak.Option{b.goroutines}, proxyGoroutines...)
	var left []string
	var err error
	for end := time.Now().Add(hang); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		err, left = goleak.Find(options...), descriptors(t)
		if err == nil && len(left) <= len(b.descriptors) {
			return true
		}
	}
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if len(left) > len(b.descriptors) {
		t.Errorf("%s: %d file descriptors, %d before: %v", name, len(left), len(b.descriptors), left)
	}
	return false
}

// descriptors lists the open files of this process, or nothing if the system
// cannot list them.
func descriptors(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		target, err := os.Readlink(filepath.Join("/proc/self/fd", e.Name()))
		if err == nil && !strings.HasPrefix(target, "/proc/") { // leaves out the directory that is being read
			out = append(out, fmt.Sprintf("%s→%s", e.Name(), target))
		}
	}
	slices.Sort(out)
	return out
}
