// Command everything serves the SDK's own fixture for the conformance suite of
// MCP from the front desk that ktx serves from: the checks of [httpapi], its
// sessions and the handlers of [streamable].
//
//	everything -http 127.0.0.1:8000
//
// The fixture is no part of this repository. The test in tools/conformance takes
// it from the SDK that go.mod names and builds it into this command; without it
// the command ends with an error.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ktxhq/ktx/cmd/ktx/internal/streamable"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/httpapi"
	"github.com/ktxhq/ktx/sqlguard"
)

// The two functions by which the fixture serves HTTP.
type (
	newHandler func(server func(*http.Request) *mcp.Server, _ *mcp.StreamableHTTPOptions) http.Handler
	listen     func(addr string, handler http.Handler) error
)

// fixture is the fixture's own main, which is handed ours in place of the
// functions of the SDK and of net/http.
var fixture func(newHandler, listen)

func main() {
	log.SetFlags(0)
	log.SetPrefix("everything: ")
	if fixture == nil {
		log.Fatal("built without the fixture: run make conformance")
	}
	fixture(newDesk, func(addr string, handler http.Handler) error {
		if err := serve(addr, handler); err != nil {
			return err
		}
		os.Exit(0) // the fixture takes every return for an error
		return nil
	})
}

// newDesk puts the fixture behind the checks, with the token of KTX_MCP_TOKEN
// where it is set.
func newDesk(server func(*http.Request) *mcp.Server, _ *mcp.StreamableHTTPOptions) http.Handler {
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	handlers := streamable.New(server(nil), logger, nil)
	c := httpapi.Config{
		Host: "127.0.0.1", Sessions: handlers.Sessions, Stateless: handlers.Stateless, Checker: noSQL{}, Log: &audittest.Log{}, Logger: logger,
		Metrics: httpapi.NewMetrics(func() []httpapi.Queue { return nil }, func() audit.Health { return audit.Health{} }),
	}
	if token := os.Getenv("KTX_MCP_TOKEN"); token != "" {
		c.Tokens = []httpapi.Token{{Principal: "token", Sum: httpapi.Sum(token)}}
	}
	desk, err := httpapi.New(c)
	if err != nil {
		log.Fatal(err)
	}
	return desk
}

// serve serves until the process is told to end.
func serve(addr string, handler http.Handler) error {
	desk, ok := handler.(*httpapi.Server)
	if !ok {
		return fmt.Errorf("the fixture serves %T", handler)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	log.Printf("serving http://%s/mcp", l.Addr())
	return desk.Serve(ctx, l)
}

// noSQL answers /v1/check, for which the fixture has no connection.
type noSQL struct{}

// Check implements httpapi.Checker.
func (noSQL) Check(context.Context, httpapi.CheckRequest) (sqlguard.Verdict, error) {
	return sqlguard.Verdict{}, errors.New("the fixture has no connection")
}
