package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/ktxhq/ktx/sqlcheck/fix"
	"github.com/ktxhq/ktx/sqlcheck/report"
	"github.com/ktxhq/ktx/sqlguard"
)

// Checked is the check of one document.
type Checked struct {
	Findings []report.Finding
	// Statements are where the statements of an SQL file begin and end. They are
	// empty for files of other languages, in which no comment is offered.
	Statements []sqlguard.Span
	Edits      []fix.Edit // certain rewrites
}

// Server serves one editor.
type Server struct {
	Version string
	// Check checks the text of a file, which need not be what the file holds. Several
	// goroutines may call it. Its context ends when the text changes.
	Check func(ctx context.Context, path, text string) (Checked, error)
	// Today is the day from which a permission of 90 days counts.
	Today func() time.Time

	work     sync.WaitGroup // checks and answers
	mu       sync.Mutex     // guards what follows
	open     map[string]*opened
	running  map[jsonrpc2.ID]context.CancelFunc // questions that are not answered yet
	root     string                             // the folder of the editor's project
	begun    bool                               // the editor has said initialize
	shutdown bool
	ended    bool
}

// opened is a text of a document that the editor has open. A change makes another
// one, and ends the check of this one.
type opened struct {
	lines    lines
	version  *int
	language string
	end      context.CancelFunc
	done     chan struct{} // closed when checked is set
	checked  Checked
}

// ErrNoShutdown is the error of Serve when the editor ended without a shutdown.
var ErrNoShutdown = errors.New("the editor ended without a shutdown")

// Serve answers the messages on a stream until the editor says exit, the stream
// ends, or ctx does.
func (s *Server) Serve(ctx context.Context, stream io.ReadWriteCloser) error {
	s.open, s.running = map[string]*opened{}, map[jsonrpc2.ID]context.CancelFunc{}
	quit := make(chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	defer s.work.Wait()
	defer cancel()
	inTurn := jsonrpc2.HandlerWithError(func(ctx context.Context, conn *jsonrpc2.Conn, r *jsonrpc2.Request) (any, error) {
		if r.Method == "exit" {
			if !s.ended {
				s.ended = true
				close(quit)
			}
			return nil, nil
		}
		return s.handle(ctx, conn, r)
	}).SuppressErrClosed()
	conn := jsonrpc2.NewConn(ctx, jsonrpc2.NewBufferedStream(stream, jsonrpc2.VSCodeObjectCodec{}), handler{s, inTurn}, jsonrpc2.SetLogger(silent{}))
	select {
	case <-quit:
	case <-conn.DisconnectNotify():
	case <-ctx.Done():
	}
	_ = conn.Close() // the editor may have closed it
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.shutdown {
		return ErrNoShutdown
	}
	return nil
}

// handler handles the messages in their turn, but for questions about a document,
// which wait for its check while the next changes arrive.
type handler struct {
	s      *Server
	inTurn jsonrpc2.Handler
}

// Handle implements jsonrpc2.Handler.
func (h handler) Handle(ctx context.Context, conn *jsonrpc2.Conn, r *jsonrpc2.Request) {
	if r.Method == "textDocument/hover" || r.Method == "textDocument/codeAction" {
		ctx, end := context.WithCancel(ctx)
		h.s.mu.Lock()
		h.s.running[r.ID] = end
		h.s.mu.Unlock()
		h.s.work.Go(func() {
			h.inTurn.Handle(ctx, conn, r)
			h.s.cancel(r.ID)
		})
		return
	}
	h.inTurn.Handle(ctx, conn, r)
}

// cancel ends the work on a question, if it is not answered yet.
func (s *Server) cancel(id jsonrpc2.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if end := s.running[id]; end != nil {
		end()
		delete(s.running, id)
	}
}

// codeRequestCancelled is the protocol's code for a question that the editor took back.
const codeRequestCancelled = -32800

// answer returns the answer to a question, unless the editor took it back meanwhile.
func answer(ctx context.Context, result any) (any, error) {
	if ctx.Err() != nil {
		return nil, &jsonrpc2.Error{Code: codeRequestCancelled, Message: "the request was cancelled"}
	}
	return result, nil
}

// silent drops the library's log: standard error belongs to the command.
type silent struct{}

func (silent) Printf(string, ...any) {}

// codeServerNotInitialized is the protocol's code for a question before initialize.
const codeServerNotInitialized = -32002

// inOrder returns the error of a question that comes before initialize or behind
// shutdown.
func (s *Server) inOrder(r *jsonrpc2.Request) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case r.Notif:
	case s.shutdown:
		return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "the editor has said shutdown"}
	case s.begun && r.Method == "initialize":
		return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "the editor has said initialize before"}
	case !s.begun && r.Method != "initialize":
		return &jsonrpc2.Error{Code: codeServerNotInitialized, Message: "the editor has not said initialize"}
	}
	return nil
}

func (s *Server) handle(ctx context.Context, conn *jsonrpc2.Conn, r *jsonrpc2.Request) (any, error) {
	var p struct {
		Document document `json:"textDocument"`
		Changes  []change `json:"contentChanges"`
		Position position `json:"position"`
		Range    span     `json:"range"`
		Context  struct {
			Only []string `json:"only"`
		} `json:"context"`
		ID      jsonrpc2.ID `json:"id"`
		Root    string      `json:"rootUri"`
		Folders []struct {
			URI string `json:"uri"`
		} `json:"workspaceFolders"`
	}
	if r.Params != nil {
		if err := json.Unmarshal(*r.Params, &p); err != nil {
			return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: err.Error()}
		}
	}
	if err := s.inOrder(r); err != nil {
		return nil, err
	}
	switch r.Method {
	case "initialize":
		if len(p.Folders) > 0 {
			p.Root = p.Folders[0].URI
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.root, _ = pathOf(p.Root)
		s.begun = true
		return map[string]any{
			"serverInfo": map[string]string{"name": "ktx", "version": s.Version},
			"capabilities": map[string]any{
				"positionEncoding":   "utf-16",
				"textDocumentSync":   map[string]any{"openClose": true, "change": 2, "save": map[string]bool{"includeText": false}},
				"hoverProvider":      true,
				"codeActionProvider": map[string]any{"codeActionKinds": []string{quickFix, fixAll}},
			},
		}, nil
	case "shutdown":
		s.mu.Lock()
		defer s.mu.Unlock()
		s.shutdown = true
		return nil, nil
	case "textDocument/didOpen":
		s.check(ctx, conn, p.Document, p.Document.Text)
		return nil, nil
	case "textDocument/didChange":
		if d := s.document(p.Document.URI); d != nil && len(p.Changes) > 0 {
			p.Document.Language = d.language
			s.check(ctx, conn, p.Document, changed(d.lines, p.Changes))
		}
		return nil, nil
	case "textDocument/didSave", "workspace/didChangeWatchedFiles", "workspace/didChangeConfiguration": // ktx.yaml may have changed
		s.checkAll(ctx, conn)
		return nil, nil
	case "textDocument/didClose":
		s.mu.Lock()
		defer s.mu.Unlock()
		if d := s.open[p.Document.URI]; d != nil {
			d.end()
		}
		delete(s.open, p.Document.URI)
		return nil, conn.Notify(ctx, "textDocument/publishDiagnostics", published{URI: p.Document.URI, Diagnostics: []diagnostic{}})
	case "textDocument/hover":
		return answer(ctx, s.hover(ctx, p.Document.URI, p.Position))
	case "textDocument/codeAction":
		return answer(ctx, s.actions(ctx, p.Document.URI, p.Range, p.Context.Only))
	case "$/cancelRequest":
		s.cancel(p.ID)
		return nil, nil
	}
	if r.Notif {
		return nil, nil
	}
	return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: r.Method + " is not offered"}
}

// check begins the check of a document's text, and publishes the diagnostics at its
// end unless the text has changed by then. A document that is neither a file nor an
// unsaved text of SQL has none.
func (s *Server) check(ctx context.Context, conn *jsonrpc2.Conn, d document, text string) {
	ctx, end := context.WithCancel(ctx)
	entry := &opened{lines: newLines(text), version: d.Version, language: d.Language, end: end, done: make(chan struct{})}
	s.mu.Lock()
	if before := s.open[d.URI]; before != nil {
		before.end()
	}
	s.open[d.URI] = entry
	s.mu.Unlock()
	s.work.Go(func() {
		defer end()
		defer close(entry.done)
		out := published{URI: d.URI, Version: d.Version, Diagnostics: []diagnostic{}}
		if path, ok := s.path(d); ok {
			checked, err := s.Check(ctx, path, text)
			if err != nil {
				checked = Checked{Findings: []report.Finding{{Finding: sqlguard.Finding{Code: sqlguard.CodeNotChecked, Message: err.Error()}, Severity: report.SeverityError}}}
			}
			entry.checked = checked
			for i := range checked.Findings {
				if checked.Findings[i].Counts() {
					out.Diagnostics = append(out.Diagnostics, entry.diagnostic(&checked.Findings[i]))
				}
			}
		}
		s.mu.Lock() // so that a later text is not published before this one
		defer s.mu.Unlock()
		if s.open[d.URI] == entry {
			_ = conn.Notify(ctx, "textDocument/publishDiagnostics", out) // the editor may be gone
		}
	})
}

// checkAll checks every open document again.
func (s *Server) checkAll(ctx context.Context, conn *jsonrpc2.Conn) {
	s.mu.Lock()
	all := maps.Clone(s.open)
	s.mu.Unlock()
	for uri, d := range all {
		s.check(ctx, conn, document{URI: uri, Version: d.version, Language: d.language}, d.lines.text)
	}
}

// document returns an open document, which may not be checked yet, or nil.
func (s *Server) document(uri string) *opened {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[uri]
}

// checkedDocument waits for the check of a document as it is, and returns it, or nil
// when it is not open.
func (s *Server) checkedDocument(ctx context.Context, uri string) *opened {
	for {
		d := s.document(uri)
		if d == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-d.done:
		}
		if s.document(uri) == d {
			return d
		}
	}
}

func (d *opened) diagnostic(f *report.Finding) diagnostic {
	message := f.Message
	if f.Hint != "" {
		message += "\n" + f.Hint
	}
	severity := map[report.Severity]int{report.SeverityError: 1, report.SeverityWarning: 2, report.SeverityNote: 3}[f.Severity]
	return diagnostic{Range: d.lines.span(f.Span), Severity: severity, Code: string(f.Code), Source: "ktx", Message: message}
}

// extensions are those of unsaved texts of SQL, by the editor's name of the language.
var extensions = map[string]string{"sql": ".sql", "pgsql": ".pgsql", "postgres": ".pgsql", "sqlite": ".sqlite"}

// path returns the path of a document. A text that was never saved is checked as a
// file in the folder of the editor's project, or in the current folder.
func (s *Server) path(d document) (string, bool) {
	extension := extensions[d.Language]
	if !strings.HasPrefix(d.URI, "untitled:") || extension == "" {
		return pathOf(d.URI)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return filepath.Join(s.root, "untitled"+extension), true
}

// pathOf returns the path of a file: URI.
func pathOf(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return "", false
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/")
	}
	return filepath.FromSlash(path), true
}

// hover returns the explanation of the findings at a position.
func (s *Server) hover(ctx context.Context, uri string, at position) any {
	d := s.checkedDocument(ctx, uri)
	if d == nil {
		return nil
	}
	offset := d.lines.offset(at)
	var pages []string
	var where *span
	for i := range d.checked.Findings {
		f := &d.checked.Findings[i]
		if !f.Counts() || offset < f.Span.Start || offset > f.Span.End {
			continue
		}
		if info, ok := report.LookupCode(f.Code); ok {
			if page := report.Help(info); !slices.Contains(pages, page) {
				pages = append(pages, page)
			}
			if where == nil {
				r := d.lines.span(f.Span)
				where = &r
			}
		}
	}
	if len(pages) == 0 {
		return nil
	}
	return map[string]any{"contents": map[string]string{"kind": "markdown", "value": strings.Join(pages, "\n\n---\n\n")}, "range": where}
}

// actions returns what can be done about the findings in a range.
func (s *Server) actions(ctx context.Context, uri string, where span, only []string) []codeAction {
	list := []codeAction{}
	d := s.checkedDocument(ctx, uri)
	if d == nil {
		return list
	}
	wanted := func(kind string) bool {
		return len(only) == 0 || slices.ContainsFunc(only, func(k string) bool { return kind == k || strings.HasPrefix(kind, k+".") })
	}
	from, to := d.lines.offset(where.Start), d.lines.offset(where.End)
	edit := func(edits ...textEdit) workspaceEdit { return workspaceEdit{map[string][]textEdit{uri: edits}} }
	var all []textEdit
	for _, e := range d.checked.Edits {
		change := textEdit{d.lines.span(e.Span), e.New}
		all = append(all, change)
		if wanted(quickFix) && from <= e.Span.End && to >= e.Span.Start {
			list = append(list, codeAction{Title: "ktx: " + e.Title, Kind: quickFix, IsPreferred: true, Edit: edit(change)})
		}
	}
	if len(all) > 0 && wanted(fixAll) {
		list = append(list, codeAction{Title: "ktx: make all certain rewrites", Kind: fixAll, Edit: edit(all...)})
	}
	if !wanted(quickFix) {
		return list
	}
	until := s.Today().AddDate(0, 0, 90).Format(time.DateOnly)
	for i := range d.checked.Findings {
		f := &d.checked.Findings[i]
		info, known := report.LookupCode(f.Code)
		if !f.Counts() || from > f.Span.End || to < f.Span.Start || !known || !report.Suppressible(info) {
			continue
		}
		at := slices.IndexFunc(d.checked.Statements, func(s sqlguard.Span) bool { return s.Start <= f.Span.Start && f.Span.Start <= s.End })
		if at < 0 {
			continue
		}
		list = append(list, codeAction{
			Title: fmt.Sprintf("ktx: permit %s until %s; write the reason", f.Code, until), Kind: quickFix, Diagnostics: []diagnostic{d.diagnostic(f)},
			Edit: edit(d.lines.permit(d.checked.Statements[at].Start, fmt.Sprintf("ktx:allow %s until=%s reason=\"\"", f.Code, until))),
		})
	}
	return list
}
