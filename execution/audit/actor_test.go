package audit_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/execution/audit"
)

func TestActor(t *testing.T) {
	t.Parallel()
	if _, ok := audit.ActorFrom(t.Context()); ok {
		t.Error("a context without an actor has one")
	}
	want := audit.Actor{
		Principal: "analyst", Session: "s1",
		Client: audit.Client{Name: "cursor", Version: "1", Transport: "http", Address: "127.0.0.1:5"},
	}
	ctx := audit.WithActor(t.Context(), want)
	got, ok := audit.ActorFrom(ctx)
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Error(diff)
	}
	e := audit.Attribute(ctx, small("q"))
	if e.Principal != "analyst" || e.Client != want.Client || e.Session != "s1" {
		t.Errorf("got %+v", e)
	}
	own := audit.Event{Client: audit.Client{Transport: "cli"}, Session: "s2"}
	if e := audit.Attribute(ctx, own); e.Principal != "" || e.Client != own.Client || e.Session != "s2" {
		t.Errorf("an event with a client of its own became %+v", e)
	}
	if e := audit.Attribute(t.Context(), small("q")); e.Principal != "" {
		t.Errorf("got %+v", e)
	}
}

func TestActorTextIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 1000)
	a, _ := audit.ActorFrom(audit.WithActor(t.Context(), audit.Actor{
		Principal: long, Session: "x" + long, Client: audit.Client{Name: long, Version: long, Transport: long, Address: long},
	}))
	for _, s := range []string{a.Principal, a.Session, a.Client.Name, a.Client.Version, a.Client.Transport, a.Client.Address} {
		if len(s) < 255 || len(s) > 256 || !utf8.ValidString(s) {
			t.Errorf("%d bytes, valid %v", len(s), utf8.ValidString(s))
		}
	}
}
