package httpapi_test

import (
	"testing"
	"time"

	"github.com/ktxhq/ktx/httpapi"
)

// TestALoginLastsTwelveHours begins logins until the oldest ends.
func TestALoginLastsTwelveHours(t *testing.T) {
	logins, begun := httpapi.NewLogins(), time.Unix(1_000_000, 0)
	cookie := logins.Begin(httpapi.Sum("root"), begun)
	if len(cookie) < 26 {
		t.Errorf("a cookie of %d letters", len(cookie))
	}
	for after, want := range map[time.Duration]bool{0: true, 12*time.Hour - time.Second: true} {
		if sum, ok := logins.Token(cookie, begun.Add(after)); ok != want || sum != httpapi.Sum("root") {
			t.Errorf("after %s: %t", after, ok)
		}
	}
	if _, ok := logins.Token(cookie+"x", begun); ok {
		t.Error("another cookie is a login")
	}
	if _, ok := logins.Token(cookie, begun.Add(12*time.Hour+time.Second)); ok {
		t.Error("the login lasts longer than twelve hours")
	}
	first := logins.Begin(httpapi.Sum("root"), begun)
	for i := range 1000 {
		logins.Begin(httpapi.Sum("root"), begun.Add(time.Duration(i+1)*time.Second))
	}
	if _, ok := logins.Token(first, begun.Add(time.Hour)); ok {
		t.Error("more than a thousand logins are open")
	}
}
