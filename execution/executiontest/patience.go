package executiontest

import (
	"os"
	"testing"
	"time"
)

// Patience is how long a test waits for a state that must come. It is far
// longer than any of them takes, so that no test fails on a busy machine.
const Patience = 2 * time.Minute

// fullVariable makes tests try every case instead of a sample.
const fullVariable = "KTX_TEST_FULL"

// Full reports whether tests try every case instead of a sample.
func Full() bool { return os.Getenv(fullVariable) != "" }

// endingsVariable makes the tests check that each call ends within the time
// that the product promises. When it is not set, a call only has to end.
const endingsVariable = "KTX_TEST_CANCELLATIONS"

// endWithin is how long a statement may run after it was told to end.
func endWithin() time.Duration {
	if os.Getenv(endingsVariable) != "" {
		return 2 * time.Second
	}
	return Patience
}

// Eventually waits until holds returns true. It fails the test if that takes
// longer than [Patience]. The failure message contains what.
func Eventually(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	for end := time.Now().Add(Patience); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			tb.Fatalf("not within %v: %s", Patience, what)
		}
	}
}

// idle waits until the server runs no statement of the backend, if the engine
// can tell. The backend may still reset its session after an answer.
func (s *suite) idle(t *testing.T, db Database) {
	t.Helper()
	Eventually(t, "no statement runs at the server", func() bool {
		n, _ := db.Running(t)
		return n == 0
	})
}
