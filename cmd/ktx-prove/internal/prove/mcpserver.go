package prove

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpServer is a running MCP server and its tool that takes SQL.
type mcpServer struct {
	cmd      *exec.Cmd
	session  *mcp.ClientSession
	stderr   *lastBytes
	tool     string
	argument string // that takes the SQL
	with     map[string]any
	name     string
	version  string
}

// mcpCommand says how to start and call an MCP server.
type mcpCommand struct {
	words    []string
	env      []string // in addition to that of this program
	dir      string
	tool     string // or "", when it is to be recognised
	argument string // the name of its argument, if it is not recognised
	with     map[string]any
}

// startMCP starts the server, connects to it and finds its tool.
func startMCP(ctx context.Context, c mcpCommand) (_ *mcpServer, err error) {
	s := &mcpServer{stderr: &lastBytes{}, with: c.with}
	s.cmd = exec.Command(c.words[0], c.words[1:]...) //nolint:gosec,noctx // the user names it; stop ends it
	s.cmd.Dir = c.dir
	s.cmd.Env = append(os.Environ(), c.env...)
	s.cmd.Stderr = s.stderr
	s.cmd.WaitDelay = time.Second
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	client := mcp.NewClient(&mcp.Implementation{Name: "ktx-prove", Version: "1"}, nil)
	transport := &mcp.CommandTransport{Command: s.cmd, TerminateDuration: time.Second}
	s.session, err = client.Connect(ctx, transport, nil)
	if err != nil {
		s.stop()
		return nil, s.explain("start the MCP server", err)
	}
	if about := s.session.InitializeResult(); about != nil && about.ServerInfo != nil {
		s.name, s.version = about.ServerInfo.Name, about.ServerInfo.Version
	}
	var tools []*mcp.Tool
	for tool, err := range s.session.Tools(ctx, nil) {
		if err != nil {
			s.stop()
			return nil, s.explain("list the tools of the MCP server", err)
		}
		tools = append(tools, tool)
	}
	if s.tool, s.argument, err = findTool(tools, c); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// explain adds the last output of the server to an error.
func (s *mcpServer) explain(doing string, err error) error {
	if said := s.stderr.String(); said != "" {
		return fmt.Errorf("%s: %w\nits standard error ends with:\n%s", doing, err, said)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// stop ends the server and everything that it started.
func (s *mcpServer) stop() {
	if s.cmd.Process != nil {
		// The process group has the number of the server. The server is not
		// waited for before Close, so no other process can have that number.
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
	}
	if s.session != nil {
		_ = s.session.Close() // It was killed.
	}
}

// sqlNames are the names that servers give to the argument that takes SQL, the
// most reliable first.
var sqlNames = []string{"sql", "query", "statement", "sql_query", "sqlQuery", "sql_statement", "queryText", "sqlText"}

// findTool returns the tool that takes SQL and the name of its argument. Of several
// tools, it takes those with the most reliable name of the argument.
func findTool(tools []*mcp.Tool, c mcpCommand) (tool, argument string, err error) {
	type found struct{ tool, argument string }
	var all []found
	for _, t := range tools {
		if c.tool != "" && t.Name != c.tool {
			continue
		}
		schema := inputSchema(t)
		for _, name := range sqlNames {
			if c.argument != "" {
				name = c.argument
			}
			if schema.isText(name) && schema.covered(name, c.with) {
				all = append(all, found{t.Name, name})
				break
			}
		}
	}
	for _, name := range sqlNames {
		if best := slices.DeleteFunc(slices.Clone(all), func(f found) bool { return f.argument != name }); len(best) > 0 {
			all = best
			break
		}
	}
	if len(all) == 1 {
		return all[0].tool, all[0].argument, nil
	}
	why := "no tool takes SQL and nothing else that it must be given; name one with --tool, its argument with --argument, and what else it wants with --with"
	if len(all) > 1 {
		var names []string
		for _, f := range all {
			names = append(names, f.tool)
		}
		why = "several tools take SQL: " + strings.Join(names, ", ") + "; name one with --tool"
	}
	var list strings.Builder
	for _, t := range tools {
		fmt.Fprintf(&list, "\n  %s(%s)", t.Name, strings.Join(inputSchema(t).arguments(), ", "))
	}
	return "", "", fmt.Errorf("%s; the tools are:%s", why, list.String())
}

// toolSchema is the part of a tool's input schema that this package reads.
type toolSchema struct {
	Properties map[string]struct {
		Type any `json:"type"`
	} `json:"properties"`
	Required []string `json:"required"`
}

func inputSchema(t *mcp.Tool) (s toolSchema) {
	doc, err := json.Marshal(t.InputSchema)
	if err == nil {
		_ = json.Unmarshal(doc, &s) // A schema that cannot be parsed names no arguments.
	}
	return s
}

func (s toolSchema) isText(name string) bool {
	p, ok := s.Properties[name]
	return ok && (p.Type == nil || p.Type == "string")
}

// covered reports whether the SQL and with are all required arguments.
func (s toolSchema) covered(argument string, with map[string]any) bool {
	return !slices.ContainsFunc(s.Required, func(name string) bool {
		_, given := with[name]
		return name != argument && !given
	})
}

func (s toolSchema) arguments() []string {
	var list []string
	for name := range s.Properties {
		if !slices.Contains(s.Required, name) {
			name += "?"
		}
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// The faults of an MCP server.
const (
	faultCrash   = "crash"
	faultTimeout = "timeout"
)

// toolAnswer is the answer of the tool to one statement.
type toolAnswer struct {
	refused bool   // isError, or a protocol error
	text    string // the start of its text
	fault   string // why there was no answer
}

// ask calls the tool with a statement.
func (s *mcpServer) ask(ctx context.Context, limit time.Duration, sql string) (toolAnswer, error) {
	arguments := map[string]any{s.argument: sql}
	maps.Copy(arguments, s.with)
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	result, err := s.session.CallTool(limited, &mcp.CallToolParams{Name: s.tool, Arguments: arguments})
	if refusal, ok := errors.AsType[*jsonrpc.Error](err); ok && !errors.Is(err, mcp.ErrConnectionClosed) {
		return toolAnswer{refused: true, text: beginning(refusal.Message)}, nil
	}
	switch {
	case err == nil:
		var all strings.Builder
		for _, content := range result.Content {
			if t, ok := content.(*mcp.TextContent); ok {
				all.WriteString(t.Text)
			}
		}
		return toolAnswer{refused: result.IsError, text: beginning(all.String())}, nil
	case ctx.Err() != nil:
		return toolAnswer{}, ctx.Err()
	case limited.Err() != nil:
		return toolAnswer{fault: faultTimeout, text: "no answer in " + limit.String()}, nil
	default:
		return toolAnswer{fault: faultCrash, text: beginning(err.Error() + "; " + s.stderr.lastLine())}, nil
	}
}

// said is the most bytes of an answer that are kept.
const said = 300

// beginning returns the start of a text, on one line.
func beginning(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if len(text) > said {
		text = strings.ToValidUTF8(text[:said], "") + "…"
	}
	return text
}

// lastBytes keeps the last bytes that are written to it.
type lastBytes struct {
	mu   sync.Mutex
	kept []byte
}

// Write implements io.Writer.
func (l *lastBytes) Write(b []byte) (int, error) {
	const most = 4 << 10
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, b...)
	l.kept = l.kept[max(0, len(l.kept)-most):]
	return len(b), nil
}

// String returns the bytes that were kept.
func (l *lastBytes) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.TrimSpace(strings.ToValidUTF8(string(l.kept), "\uFFFD"))
}

func (l *lastBytes) lastLine() string {
	all := l.String()
	return all[strings.LastIndexByte(all, '\n')+1:]
}
