package executiontest

import (
	"os"
	"testing"
	"time"
)

// Patience is how long a test waits for a state that is sure to come. It is far
// longer than anything takes, so that a busy machine fails no test.
const Patience = 2 * time.Minute

// fullVariable asks for every case of the tests that otherwise try a sample.
const fullVariable = "KTX_TEST_FULL"

// Full reports whether tests try every case instead of a sample.
func Full() bool { return os.Getenv(fullVariable) != "" }

// endingsVariable asks for the time that the product promises for the end of a
// call. Without it, a call only has to end.
const endingsVariable = "KTX_TEST_CANCELLATIONS"

// endWithin is how long a statement may go on after it was told to end.
func endWithin() time.Duration {
	if os.Getenv(endingsVariable) != "" {
		return 2 * time.Second
	}
	return Patience
}

// Eventually waits until holds returns true, and fails the test when that takes
// longer than [Patience]. what names the state.
func Eventually(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	for end := time.Now().Add(Patience); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			tb.Fatalf("not within %v: %s", Patience, what)
		}
	}
}

// idle waits until no statement of the backend runs at the server, where that
// can be seen. After an answer, the backend may still reset its session.
func (s *suite) idle(t *testing.T, db Database) {
	t.Helper()
	Eventually(t, "no statement runs at the server", func() bool {
		n, _ := db.Running(t)
		return n == 0
	})
}
