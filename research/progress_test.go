package research_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit/audittest"
	"github.com/ktxhq/ktx/research"
)

// TestAStatementDoesNotWaitForItsClient: a client that asks for progress and does
// not read it delays no statement. Later it gets every message, in order.
func TestAStatementDoesNotWaitForItsClient(t *testing.T) {
	conn := sqliteConnection(t, "a")
	conn.Concurrency = 1
	log := &audittest.Log{}
	gateway, err := execution.NewGateway(t.Context(), log, conn)
	if err != nil {
		t.Fatal(err)
	}
	server, err := research.New(gateway, slog.New(slog.DiscardHandler), storesOf(t)).Server("1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	inRead, in := io.Pipe()
	out, outWrite := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Run(context.WithoutCancel(t.Context()), &mcp.IOTransport{Reader: inRead, Writer: outWrite})
	}()
	t.Cleanup(func() {
		_, _ = in.Close(), out.Close()
		<-ended
		if err := gateway.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	send := func(format string, args ...any) {
		t.Helper()
		if _, err := fmt.Fprintf(in, format+"\n", args...); err != nil {
			t.Fatal(err)
		}
	}
	lines := bufio.NewReader(out)
	next := func() string {
		t.Helper()
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return line
	}
	send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	next()
	send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	const calls = 3
	for i := range calls {
		send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"sql_execution","arguments":{"connectionId":"a","sql":"SELECT 1"},"_meta":{"progressToken":"p%[1]d"}}}`, 10+i)
	}
	for end := time.Now().Add(patience); len(log.Events("query.finished")) < calls; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d of %d statements have ended", len(log.Events("query.finished")), calls)
		}
	}
	seen := map[string]string{}
	for range 4 * calls {
		line := next()
		for i := range calls {
			for part, short := range map[string]string{
				fmt.Sprintf(`"progressToken":"p%d"`, 10+i): "stage", fmt.Sprintf(`"id":%d,`, 10+i): "answer",
			} {
				if strings.Contains(line, part) {
					seen[fmt.Sprint(i)] += short + " "
				}
			}
		}
	}
	for i := range calls {
		if got := seen[fmt.Sprint(i)]; got != "stage stage stage answer " {
			t.Errorf("call %d got %s", i, got)
		}
	}
}
