package streamable_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ktxhq/ktx/httpapi"
)

// TestUnreadAnswers: the answers of 6 clients that do not read take no more memory
// than answers may take, and all clients are answered when they read.
func TestUnreadAnswers(t *testing.T) {
	const clients, room = 6, 60 << 20 // room for two answers
	d := newDesk(t, func(c *httpapi.Config) { c.AnswerMemory = room })
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	idle := heap()
	long := strings.ReplaceAll(modernWait, `"wait"`, `"long"`)
	conns := make([]*net.TCPConn, clients)
	for i := range conns {
		address, err := net.ResolveTCPAddr("tcp", strings.TrimSuffix(strings.TrimPrefix(d.url, "http://"), "/mcp"))
		if err != nil {
			t.Fatal(err)
		}
		if conns[i], err = net.DialTCP("tcp", nil, address); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conns[i].Close() }()
		r := d.request(t.Context(), t, "POST", "", long, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "long")
		if err := r.Write(conns[i]); err != nil {
			t.Fatal(err)
		}
	}
	// What the system's buffers take is not the server's memory.
	until(t, "answers that wait for their clients", func() bool { return d.taken(t) >= 2*5*longAnswer })
	for range 5 {
		if taken, now := d.taken(t), heap(); taken > room || now > idle+room+room/4 {
			t.Fatalf("%d MiB set aside, %d MiB in use, %d MiB when idle", taken>>20, now>>20, idle>>20)
		}
	}
	var whole atomic.Int64
	var reading sync.WaitGroup
	for _, conn := range conns {
		reading.Go(func() {
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Error(err)
				return
			}
			text, err := io.ReadAll(res.Body)
			_ = res.Body.Close()
			switch {
			case err != nil:
				t.Error(err)
			case len(text) > 2*longAnswer:
				whole.Add(1)
			case !strings.Contains(string(text), `"busy"`): // on a machine that is slow to read
				t.Errorf("answered %.200s", text)
			}
			_ = conn.Close()
		})
	}
	reading.Wait()
	t.Logf("%d of %d whole", whole.Load(), clients)
	if whole.Load() < 2 {
		t.Errorf("%d whole answers", whole.Load())
	}
	until(t, "no memory is set aside", func() bool { return d.taken(t) == 0 })
}
