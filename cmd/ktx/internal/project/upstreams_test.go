package project_test

import (
	"slices"
	"testing"

	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
)

// TestUpstreamsOfATokens: a token that is limited to connections reaches no other server
// unless it says so.
func TestUpstreamsOfATokens(t *testing.T) {
	for _, tt := range []struct {
		connections, upstreams, want []string
		all                          bool
	}{
		{all: true},
		{connections: []string{"shop"}, want: []string{}},
		{connections: []string{"shop"}, upstreams: []string{"files"}, want: []string{"files"}},
		{connections: []string{"shop"}, upstreams: []string{"*"}, all: true},
		{upstreams: []string{"files"}, want: []string{"files"}},
		{upstreams: []string{}, want: []string{}},
	} {
		got := project.Token{Connections: tt.connections, Upstreams: tt.upstreams}.UpstreamNames()
		if (got == nil) != tt.all || !slices.Equal(got, tt.want) {
			t.Errorf("%+v: got %#v", tt, got)
		}
	}
}
