package upstream

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/research/upstream"
)

func loginCommand(a *console.App) *cobra.Command {
	var (
		noBrowser, paste bool
		port             int
	)
	c := &cobra.Command{
		Use:   "login SERVER",
		Short: "Log in to a server that asks for it (OAuth)",
		Long: `Log in to a server that is reached by HTTP and asks for a login (OAuth 2.1,
authorization code with PKCE). The page of the server's provider opens in a browser;
its address is printed too. Then the browser returns to an address of this machine.

The tokens are kept in .ktx/upstreams/logins.json, which only you can read. ktx sends
them to this server only, refreshes them, and shows them to nobody. A server that
runs takes the login with its next connection.

If the browser runs on another machine, give --paste: log in there, and paste the
address that the browser cannot open.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: complete(a, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			if port < 0 || port > 65535 {
				return console.Usage("--port %d: expected 1 to 65535", port)
			}
			return with(cmd, a, func(ctx context.Context, open *wiring.OpenProject) error {
				if s, ok := open.Project.Config.Upstreams.Servers[args[0]]; ok && port == 0 {
					port = s.OAuth.RedirectPort
				}
				browser := openBrowser
				if noBrowser || paste || a.JSON {
					browser = func(context.Context, string) {}
				}
				back, err := listen(ctx, port, paste)
				if err != nil {
					return err
				}
				defer back.close()
				err = open.Upstream.Login(ctx, args[0], upstream.LoginOptions{Redirect: back.address, Ask: func(ctx context.Context, address, state string) (url.Values, error) {
					a.Errorf("Open this address in a browser, and log in:\n\n  %s\n\n", console.EscapeControls(address))
					if paste {
						a.Errorf("Then paste the address at which the browser ends, which begins with %s\n", back.address)
						return pasted(a.In, state)
					}
					browser(ctx, address)
					return back.wait(ctx, state)
				}})
				if err != nil {
					return err
				}
				tools, _, hidden, err := open.Upstream.List(ctx, args[0], "", true)
				if err != nil {
					return err
				}
				if a.JSON {
					a.PrintJSON(console.NewDocument("ktx-upstream-login/1").With("server", args[0]).With("loggedIn", true))
					return nil
				}
				a.Printf("logged in to %s: %s, %d of them not enabled\n", args[0], console.Count(len(tools), "tool"), hidden)
				return nil
			})
		},
	}
	c.Flags().BoolVar(&noBrowser, "no-browser", false, "only print the address of the page")
	c.Flags().BoolVar(&paste, "paste", false, "read the address at which the browser ends from standard input")
	c.Flags().IntVar(&port, "port", 0, "port to which the browser returns; default oauth.redirectPort of ktx.yaml, or a free one")
	return c
}

func logoutCommand(a *console.App) *cobra.Command {
	return &cobra.Command{
		Use:   "logout SERVER",
		Short: "Forget the login to a server",
		Long: `Remove the tokens of a server from .ktx/upstreams/logins.json. The server's provider
is not told: to end the permission there too, use its own page.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: complete(a, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			return with(cmd, a, func(_ context.Context, open *wiring.OpenProject) error {
				was, err := open.Upstream.Logout(args[0])
				switch {
				case err != nil:
					return console.Failed("%w", err)
				case a.JSON:
					a.PrintJSON(console.NewDocument("ktx-upstream-login/1").With("server", args[0]).With("loggedIn", false))
				case was:
					a.Printf("logged out of %s\n", console.EscapeControls(args[0]))
				default:
					a.Printf("there was no login to %s\n", console.EscapeControls(args[0]))
				}
				return nil
			})
		},
	}
}

// loginTime is how long a person may take to log in.
const loginTime = 10 * time.Minute

// callback is the address of this machine to which the browser of a person returns.
type callback struct {
	address  string
	listener net.Listener
}

// listen opens the address. With paste, nobody listens: the browser is elsewhere.
func listen(ctx context.Context, port int, paste bool) (*callback, error) {
	b := &callback{}
	host := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	if !paste || port == 0 {
		var err error
		if b.listener, err = new(net.ListenConfig).Listen(ctx, "tcp", host); err != nil {
			return nil, console.Failed("port %d of this machine cannot be used; choose another with --port, or give --paste", port)
		}
		host = b.listener.Addr().String()
	}
	b.address = "http://" + host + "/callback"
	if paste {
		b.close()
	}
	return b, nil
}

func (b *callback) close() {
	if b.listener != nil {
		_ = b.listener.Close()
	}
}

// donePage is what a person sees last. It shows nothing of the request.
const donePage = `<!doctype html><meta charset="utf-8"><title>ktx</title><p>%s`

// wait returns the query with which the browser returns. A request with another state is
// not from the page that ktx has opened.
func (b *callback) wait(ctx context.Context, state string) (url.Values, error) {
	ctx, cancel := context.WithTimeout(ctx, loginTime)
	defer cancel()
	came := make(chan url.Values, 1)
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Content-Security-Policy", "default-src 'none'")
		if r.Method != http.MethodGet || r.URL.Path != "/callback" || query.Get("state") != state {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, strings.Replace(donePage, "%s", "This is not the login that ktx waits for.", 1))
			return
		}
		text := "ktx has what it needs. You can close this page."
		if query.Get("error") != "" {
			text = "The login was refused. ktx says more in the terminal."
		}
		_, _ = io.WriteString(w, strings.Replace(donePage, "%s", text, 1))
		select {
		case came <- query:
		default:
		}
	})}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(b.listener)
	}()
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = server.Shutdown(end) // the page is still on its way
		_ = server.Close()
		<-served
	}()
	select {
	case query := <-came:
		return query, nil
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, console.Failed("nobody logged in within %s", loginTime)
		}
		return nil, ctx.Err()
	}
}

// maxPasted bounds the address that a person pastes, in bytes.
const maxPasted = 64 << 10

// pasted reads the address at which the browser ended.
func pasted(in io.Reader, state string) (url.Values, error) {
	var line strings.Builder
	for b := make([]byte, 1); line.Len() < maxPasted; {
		n, err := in.Read(b)
		if n == 1 && b[0] != '\n' {
			line.WriteByte(b[0])
			continue
		}
		if n == 1 && strings.TrimSpace(line.String()) != "" || err != nil {
			break
		}
	}
	u, err := url.Parse(strings.TrimSpace(line.String()))
	if err != nil || u.RawQuery == "" {
		return nil, console.Usage("that is not the address at which the browser ended: it has code= and state= in it")
	}
	query := u.Query()
	if query.Get("state") != state {
		return nil, console.Usage("that address belongs to another login; start again")
	}
	return query, nil
}

// openBrowser opens a page, if this machine has a browser. The address is printed too, so
// a failure does not matter.
func openBrowser(ctx context.Context, address string) {
	name, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return
	}
	c := exec.CommandContext(context.WithoutCancel(ctx), path, args...) //nolint:gosec // the SDK takes addresses with http and https only
	if c.Start() == nil {
		go func() { _ = c.Wait() }()
	}
}
