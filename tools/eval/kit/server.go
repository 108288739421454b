package kit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A server is a running ktx mcp stdio.
type server struct {
	session *mcp.ClientSession
	stderr  *bytes.Buffer
}

// startServer starts the MCP server of a project and connects to it.
func startServer(ctx context.Context, program, project string) (*server, error) {
	s := &server{stderr: &bytes.Buffer{}}
	cmd := exec.CommandContext(ctx, program, "mcp", "stdio", "--project-dir", project) // #nosec G204 -- the developer names the program
	cmd.Stderr = s.stderr
	client := mcp.NewClient(&mcp.Implementation{Name: "ktx-eval", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd, TerminateDuration: 10 * time.Second}, nil)
	if err != nil {
		return nil, fmt.Errorf("start %s mcp stdio: %w\n%s", program, err, s.stderr.Bytes())
	}
	s.session = session
	return s, nil
}

// close ends the server.
func (s *server) close() error {
	if err := s.session.Close(); err != nil {
		return fmt.Errorf("end the MCP server: %w", err)
	}
	return nil
}

// call calls a tool and reads its structured answer into the value. It returns the
// answer as the server wrote it.
func (s *server) call(ctx context.Context, tool string, arguments, into any) ([]byte, error) {
	result, err := s.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", tool, err)
	}
	if result.IsError {
		return nil, fmt.Errorf("call %s: %w", tool, errors.New(contentText(result)))
	}
	if result.StructuredContent == nil {
		return nil, fmt.Errorf("call %s: the answer has no structured content", tool)
	}
	answer, err := json.Marshal(result.StructuredContent)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(answer, into); err != nil {
		return nil, fmt.Errorf("read the answer of %s: %w", tool, err)
	}
	return append(answer, contentText(result)...), nil
}

// contentText returns the texts of a result.
func contentText(result *mcp.CallToolResult) string {
	var out bytes.Buffer
	for _, c := range result.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			out.WriteString(t.Text + "\n")
		}
	}
	return out.String()
}
