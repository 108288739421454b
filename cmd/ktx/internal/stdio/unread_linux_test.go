package stdio_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"golang.org/x/sys/unix"

	"github.com/ktxhq/ktx/cmd/ktx/internal/stdio"
)

// TestAnswersWaitForTheReader: over a pipe and over a socket, an answer is not there before
// the client has read the progress notification, and then comes without a further message.
func TestAnswersWaitForTheReader(t *testing.T) {
	t.Parallel()
	ends := map[string]func() (r, w *os.File, err error){
		"pipe": os.Pipe,
		"socket": func() (r, w *os.File, err error) {
			pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return nil, nil, err
			}
			return os.NewFile(uintptr(pair[0]), "reader"), os.NewFile(uintptr(pair[1]), "writer"), nil
		},
	}
	for name, open := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			apart := false
			for tries := 0; !apart && tries < 100; tries++ { // an answer waits two seconds at most, which a busy machine may pass
				apart = comesApart(t, open)
			}
			if !apart {
				t.Error("the answer came together with the notification")
			}
		})
	}
}

// comesApart reports whether a client that reads after a while gets the notification alone.
func comesApart(t *testing.T, open func() (r, w *os.File, err error)) bool {
	t.Helper()
	r, w, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	defer func() { _ = w.Close() }()
	conn, err := stdio.New(strings.NewReader(""), w).Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	written := make(chan error, 1)
	go func() {
		id, _ := jsonrpc.MakeID(1.0)
		err := conn.Write(t.Context(), &jsonrpc.Request{Method: "notifications/progress", Params: json.RawMessage(`{"progressToken":1,"progress":1}`)})
		if err == nil {
			err = conn.Write(t.Context(), &jsonrpc.Response{ID: id, Result: json.RawMessage(`{}`)})
		}
		written <- err
	}()
	time.Sleep(10 * time.Millisecond) // longer than an answer waits for a reader of which nothing is known
	buf := make([]byte, 4096)
	n, err := r.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	first := string(buf[:n])
	if strings.Contains(first, `"result"`) {
		if err := <-written; err != nil {
			t.Error(err)
		}
		return false
	}
	if n, err = r.Read(buf); err != nil {
		t.Fatal(err)
	}
	if err := <-written; err != nil || !strings.Contains(string(buf[:n]), `"result"`) {
		t.Errorf("after %q came %q, %v", first, buf[:n], err)
	}
	return true
}
