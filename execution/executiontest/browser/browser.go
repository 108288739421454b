// Package browser lets tests look at pages with a headless Chromium.
package browser

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Browser is a headless browser that a test controls with the DevTools protocol over
// a pair of pipes. No port is opened.
type Browser struct {
	t       *testing.T
	origins []string // what pages may ask
	in      io.Writer
	out     *bufio.Reader
	session string
	last    int
	watch   *time.Timer // ends a browser with which a test gets no further
	// faults are problems of the pages: errors and warnings of the console,
	// violations of their policy, exceptions, dialogs, requests.
	faults []string
}

// Program returns the path of the browser: the one that KTX_TEST_CHROMIUM names, or
// Chromium or Chrome. It is blank when there is none.
func Program() string {
	names := []string{"chromium", "chromium-browser", "google-chrome-stable", "google-chrome"}
	if named := os.Getenv("KTX_TEST_CHROMIUM"); named != "" {
		names = []string{named}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// findChromium returns the path of the browser. With CI set, a missing browser
// is an error.
func findChromium(t *testing.T) string {
	t.Helper()
	if path := Program(); path != "" {
		return path
	}
	if os.Getenv("CI") != "" {
		t.Fatal("no Chromium: scripts/test-deps installs it")
	}
	t.Skip("no Chromium: scripts/test-deps installs it, KTX_TEST_CHROMIUM names another program")
	return ""
}

// Start starts a browser with one empty page. It ends with the test. Its pages are files,
// or come from one of the origins; every other request is a fault of the page.
func Start(t *testing.T, origins ...string) *Browser {
	t.Helper()
	program := findChromium(t)
	home := t.TempDir()
	scratch, err := os.MkdirTemp("", "ktx-browser-") //nolint:usetesting // t.TempDir has a longer name, and a socket's has about 100 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(scratch) }) // the browser leaves its socket behind
	fromTest, toBrowser, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	fromBrowser, toTest, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(
		t.Context(), program, "--headless=new", "--remote-debugging-pipe", "--user-data-dir="+filepath.Join(home, "profile"),
		"--no-sandbox", // root cannot have a sandbox; the pages are written by this test
		"--no-first-run", "--no-default-browser-check", "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions", "--disable-sync",
		"--disable-background-networking", "--disable-component-update", "--disable-breakpad", "--mute-audio", "--hide-scrollbars",
		"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", // no name is resolved
		"about:blank",
	)
	cmd.Env = append(os.Environ(), "HOME="+home, "TMPDIR="+scratch, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home, "DBUS_SESSION_BUS_ADDRESS=unix:path=/dev/null", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/dev/null")
	cmd.ExtraFiles = []*os.File{fromTest, toTest} // file descriptors 3 and 4
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = fromTest.Close()
	_ = toTest.Close()
	c := &Browser{t: t, origins: origins, in: toBrowser, out: bufio.NewReaderSize(fromBrowser, 1<<20)}
	c.watch = time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() {
		c.watch.Stop()
		_ = c.send("Browser.close", nil)
		_ = toBrowser.Close()
		_, _ = io.Copy(io.Discard, fromBrowser)
		_ = cmd.Wait()
		_ = fromBrowser.Close()
		if t.Failed() {
			t.Logf("the browser said:\n%s", complaints.String())
		}
	})

	var targets struct {
		TargetInfos []struct{ TargetID, Type string }
	}
	c.Call("Target.getTargets", nil, &targets)
	id := ""
	for _, target := range targets.TargetInfos {
		if target.Type == "page" {
			id = target.TargetID
		}
	}
	if id == "" {
		var made struct{ TargetID string }
		c.Call("Target.createTarget", Object{"url": "about:blank"}, &made)
		id = made.TargetID
	}
	var attached struct{ SessionID string }
	c.Call("Target.attachToTarget", Object{"targetId": id, "flatten": true}, &attached)
	c.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		c.Call(domain+".enable", nil, nil)
	}
	return c
}

// patience is how long one step may take: to load a page, to reach a condition, to run
// axe-core. If the browser hangs, only this test fails; a slow one may take long.
const patience = 5 * time.Minute

// Object is the parameters of a command.
type Object map[string]any

func (c *Browser) send(method string, params Object) error {
	c.last++
	message, err := json.Marshal(Object{"id": c.last, "method": method, "params": params, "sessionId": c.session})
	if err != nil {
		return err
	}
	if c.session == "" || strings.HasPrefix(method, "Browser.") {
		message, err = json.Marshal(Object{"id": c.last, "method": method, "params": params})
		if err != nil {
			return err
		}
	}
	_, err = c.in.Write(append(message, 0))
	return err
}

// message is an answer or an event of the browser.
type message struct {
	ID     int
	Method string
	Result json.RawMessage
	Params json.RawMessage
	Error  *struct{ Message string }
}

func (c *Browser) receive() (message, error) {
	var m message
	text, err := c.out.ReadBytes(0)
	if err != nil {
		return m, fmt.Errorf("the browser ended: %w", err)
	}
	if err := json.Unmarshal(bytes.TrimRight(text, "\x00"), &m); err != nil {
		return m, err
	}
	c.note(m)
	return m, nil
}

// note records what a page must not do.
func (c *Browser) note(m message) {
	var p struct {
		Entry            struct{ Level, Text, URL string }
		Type             string
		ExceptionDetails json.RawMessage
		Request          struct{ URL string }
		Message          string
	}
	_ = json.Unmarshal(m.Params, &p)
	switch m.Method {
	case "Log.entryAdded":
		if p.Entry.Level == "error" || p.Entry.Level == "warning" {
			c.faults = append(c.faults, p.Entry.Level+": "+p.Entry.Text+" "+p.Entry.URL)
		}
	case "Runtime.consoleAPICalled":
		c.faults = append(c.faults, "console."+p.Type)
	case "Runtime.exceptionThrown":
		c.faults = append(c.faults, "exception: "+string(p.ExceptionDetails))
	case "Page.javascriptDialogOpening":
		c.faults = append(c.faults, "dialog: "+p.Message)
		_ = c.send("Page.handleJavaScriptDialog", Object{"accept": true})
	case "Network.requestWillBeSent":
		known := slices.ContainsFunc(c.origins, func(origin string) bool { return strings.HasPrefix(p.Request.URL, origin+"/") })
		if !known && !strings.HasPrefix(p.Request.URL, "file:") && !strings.HasPrefix(p.Request.URL, "about:") && !strings.HasPrefix(p.Request.URL, "data:") {
			c.faults = append(c.faults, "request: "+p.Request.URL)
		}
	}
}

// Call waits for the answer to a command.
func (c *Browser) Call(method string, params Object, result any) {
	c.t.Helper()
	if err := c.try(method, params, result); err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
}

func (c *Browser) try(method string, params Object, result any) error {
	if params == nil {
		params = Object{}
	}
	if err := c.send(method, params); err != nil {
		return err
	}
	for id := c.last; ; {
		m, err := c.receive()
		switch {
		case err != nil:
			return err
		case m.ID != id:
		case m.Error != nil:
			return errors.New(m.Error.Message)
		case result != nil:
			return json.Unmarshal(m.Result, result)
		default:
			return nil
		}
	}
}

// Open loads a page and waits until it is complete.
func (c *Browser) Open(url string) {
	c.t.Helper()
	c.watch.Reset(patience)
	c.Call("Page.navigate", Object{"url": "about:blank"}, nil) // otherwise an address that differs in its fragment is not loaded
	var loaded struct{ ErrorText string }
	c.Call("Page.navigate", Object{"url": url}, &loaded)
	if loaded.ErrorText != "" {
		c.t.Fatalf("open %s: %s", url, loaded.ErrorText)
	}
	c.Until(`document.readyState === "complete" && location.href !== "about:blank"`)
}

// Until waits until a condition holds in the page, as long as the browser runs.
func (c *Browser) Until(condition string) {
	c.t.Helper()
	c.watch.Reset(patience)
	for {
		met, err := evaluate[bool](c, condition)
		switch {
		case err != nil && !strings.Contains(err.Error(), "navigated") && !strings.Contains(err.Error(), "context"): // then the next page answers
			c.t.Fatal(err)
		case met:
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Evaluate returns the value of an expression in the page.
func Evaluate[T any](c *Browser, expression string) (value T) {
	c.t.Helper()
	value, err := evaluate[T](c, expression)
	if err != nil {
		c.t.Fatal(err)
	}
	return value
}

func evaluate[T any](c *Browser, expression string) (value T, err error) {
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	if err := c.try("Runtime.evaluate", Object{"expression": expression, "returnByValue": true, "awaitPromise": true}, &answer); err != nil {
		return value, fmt.Errorf("%s: %w", expression, err)
	}
	if answer.ExceptionDetails != nil {
		return value, fmt.Errorf("%s: %s", expression, answer.ExceptionDetails)
	}
	if err := json.Unmarshal(answer.Result.Value, &value); err != nil {
		return value, fmt.Errorf("%s: %w: %s", expression, err, answer.Result.Value)
	}
	return value, nil
}

// Press presses and releases a key.
func (c *Browser) Press(key string, code int) {
	c.t.Helper()
	text := ""
	if key == "Enter" {
		text = "\r"
	}
	for _, kind := range []string{"keyDown", "keyUp"} {
		c.Call("Input.dispatchKeyEvent", Object{"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text}, nil)
	}
}

// Show sets the width of the window and the preferred colour scheme.
func (c *Browser) Show(width int, scheme string) {
	c.t.Helper()
	c.Call("Emulation.setDeviceMetricsOverride", Object{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
	c.Call("Emulation.setEmulatedMedia", Object{"features": []Object{{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}}}, nil)
}

// Scripts sets whether pages that are opened afterwards may run scripts.
func (c *Browser) Scripts(allowed bool) {
	c.t.Helper()
	c.Call("Emulation.setScriptExecutionDisabled", Object{"value": !allowed}, nil)
}

// Screenshot writes a picture if KTX_TEST_SCREENSHOTS names a directory.
func (c *Browser) Screenshot(name string) {
	c.t.Helper()
	dir := os.Getenv("KTX_TEST_SCREENSHOTS")
	if dir == "" {
		return
	}
	var shot struct{ Data []byte }
	c.Call("Page.captureScreenshot", Object{"format": "png"}, &shot)
	if err := os.WriteFile(filepath.Join(dir, name+".png"), shot.Data, 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// Harmless fails if a page had problems since the last call.
func (c *Browser) Harmless(what string) {
	c.t.Helper()
	for _, fault := range c.faults {
		c.t.Errorf("%s: %s", what, fault)
	}
	c.faults = nil
}

// Axe runs axe-core on the page that is open, and fails for every violation. KTX_TEST_AXE
// names its file (axe.min.js of the npm package axe-core). Without it, Axe does nothing, or
// fails with CI set.
func (c *Browser) Axe(what string) {
	c.t.Helper()
	file := os.Getenv("KTX_TEST_AXE")
	if file == "" {
		if os.Getenv("CI") != "" {
			c.t.Fatal("no axe-core: scripts/npm-tools axe installs it, KTX_TEST_AXE names its file")
		}
		return
	}
	script, err := os.ReadFile(file)
	if err != nil {
		c.t.Fatal(err)
	}
	Evaluate[bool](c, string(script)+";true")
	found := Evaluate[struct {
		Violations, Unsure []string
		Passes             int
	}](c, `axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }).then((r) => {
		const list = (items) => items.flatMap((i) => i.nodes.map((n) => i.id + ": " + i.help + ": " + n.target + " " + n.failureSummary));
		return { violations: list(r.violations), unsure: list(r.incomplete), passes: r.passes.length };
	})`)
	c.t.Logf("axe: %s: %d rules passed, %d violations, %d undecided", what, found.Passes, len(found.Violations), len(found.Unsure))
	for _, violation := range found.Violations {
		c.t.Errorf("axe: %s: %s", what, violation)
	}
	for _, unsure := range found.Unsure {
		c.t.Logf("axe cannot decide: %s", unsure)
	}
}
