package research

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
)

// registry lists the tools, one row each, in the order in which tools/list
// sends them. A row has the name of the tool, which is also the name of its
// file in schemas, its handler, and the condition under which it is listed.
// ADDING.md says how to add a tool.
func registry() []*tool {
	return []*tool{
		{name: "connection_list", handler: plain((*Service).ConnectionList), listed: always},
		{name: "discover_data", handler: plain((*Service).DiscoverData), listed: hasCatalog, aliases: discoverAliases},
		{name: "wiki_search", handler: typed((*Service).handleWikiSearch), listed: hasWiki},
		{name: "wiki_read", handler: typed((*Service).handleWikiRead), listed: hasWiki},
		{name: "entity_details", handler: plain((*Service).EntityDetails), listed: hasCatalog, aliases: entityAliases},
		{name: "dictionary_search", handler: typed((*Service).handleDictionarySearch), listed: hasDictionary},
		{name: "sl_read_source", handler: plain((*Service).SLReadSource), listed: hasSemantic},
		{name: "sl_query", handler: typed((*Service).handleSLQuery), listed: hasSemantic, aliases: slQueryAliases},
		{name: "sql_execution", handler: typed((*Service).handleSQLExecution), listed: always},
		{name: "memory_ingest", handler: plain((*Service).MemoryIngest), listed: hasMemory},
		{name: "memory_ingest_status", handler: plain((*Service).MemoryIngestStatus), listed: hasMemory},
		{name: "server_list", handler: plain((*Service).ServerList), listed: hasUpstreams},
		{name: "tool_search", handler: plain((*Service).ToolSearch), listed: hasUpstreams, aliases: searchAliases},
		{name: "tool_list", handler: plain((*Service).ToolList), listed: hasUpstreams},
		{name: "tool_details", handler: plain((*Service).ToolDetails), listed: hasUpstreams},
		{name: "tool_call", handler: typed((*Service).handleToolCall), listed: hasUpstreams, aliases: callAliases, verbatim: true},
		{name: "tool_call_write", handler: typed((*Service).handleToolCallWrite), listed: hasUpstreamWrites, aliases: callAliases, verbatim: true},
		{name: "search_skills", handler: typed((*Service).handleSearchSkills), listed: hasSkills},
		{name: "recommend_skills", handler: typed((*Service).handleRecommendSkills), listed: hasSkills},
		{name: "describe_skill", handler: typed((*Service).handleDescribeSkill), listed: hasSkills},
		{name: "guide_skill", handler: typed((*Service).handleGuideSkill), listed: hasSkills},
	}
}

// A condition reports whether the tool is listed for a service. A tool that is
// not listed cannot be called. A tool whose store is optional has a condition
// that reports whether the service has the store.
type condition func(*Service) bool

func always(*Service) bool { return true }

// A handler reads the arguments of a call, runs the tool, and returns its
// answer as JSON. It may be called concurrently.
type handler func(*Service, context.Context, *toolCall) (json.RawMessage, error)

// plain makes a handler of a tool that needs nothing from the call except its
// arguments: no progress, no notes, no statement.
func plain[In, Out any](method func(*Service, context.Context, In) (Out, error)) handler {
	return typed(func(s *Service, ctx context.Context, _ *toolCall, in In) (Out, error) {
		return method(s, ctx, in)
	})
}

// typed makes a handler of a tool that reports progress, adds notes or runs a
// statement, all of which it does through the call. The arguments are decoded
// by the input schema of the tool. The answer is encoded by [encoding/json],
// unless it is an appender.
func typed[In, Out any](run func(*Service, context.Context, *toolCall, In) (Out, error)) handler {
	return func(s *Service, ctx context.Context, c *toolCall) (json.RawMessage, error) {
		var in In
		if err := c.decode(&in); err != nil {
			return nil, s.nameConnections(ctx, err)
		}
		out, err := run(s, ctx, c, in)
		if err != nil {
			return nil, err
		}
		if a, ok := any(out).(appender); ok {
			return a.AppendJSON(nil), nil
		}
		return compactJSON(out)
	}
}

// An appender is an answer that writes its own JSON, such as rows with values
// as the server wrote them.
type appender interface {
	AppendJSON(b []byte) []byte
}

// compactJSON encodes v without escaping <, > and &.
func compactJSON(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// A tool is one row of the registry, with what load reads from its schema file.
type tool struct {
	name    string
	handler handler
	listed  condition
	// aliases rewrites shapes of arguments that models write into those of the
	// schema, before the arguments are checked. It may be nil.
	aliases func(arguments map[string]any)
	// verbatim says that the answer is a whole result, of another server.
	verbatim bool

	title, description string
	input, output      json.RawMessage
	wire               json.RawMessage // the tool as tools/list sends it
	schema             *schema         // of the input
}

//go:embed schemas/*.json
var schemas embed.FS

// tools returns the tools that are listed for s, in the order of the registry.
func (s *Service) tools() ([]*tool, error) {
	var list []*tool
	for _, t := range registry() {
		if !t.listed(s) {
			continue
		}
		if err := t.load(); err != nil {
			return nil, fmt.Errorf("tool %s: %w", t.name, err)
		}
		list = append(list, t)
	}
	return list, nil
}

// load reads the schema file of the tool, which has the tool as MCP advertises
// it. The bytes on the wire are those of the file without white space.
func (t *tool) load() error {
	text, err := schemas.ReadFile("schemas/" + t.name + ".json")
	if err != nil {
		return fmt.Errorf("read schema: %w", err)
	}
	var wire bytes.Buffer
	if err := json.Compact(&wire, text); err != nil {
		return fmt.Errorf("read schema: %w", err)
	}
	t.wire = wire.Bytes()
	var head struct {
		Name, Title, Description  string
		InputSchema, OutputSchema json.RawMessage
	}
	if err := json.Unmarshal(t.wire, &head); err != nil {
		return fmt.Errorf("read schema: %w", err)
	}
	if head.Name != t.name {
		return fmt.Errorf("the schema is of %q", head.Name)
	}
	t.title, t.description, t.input, t.output = head.Title, head.Description, head.InputSchema, head.OutputSchema
	t.schema = new(schema)
	if err := json.Unmarshal(t.input, t.schema); err != nil {
		return fmt.Errorf("read input schema: %w", err)
	}
	return nil
}

// toolsArray returns the tools member of tools/list, byte for byte.
func toolsArray(list []*tool) json.RawMessage {
	b := []byte{'['}
	for i, t := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, t.wire...)
	}
	return append(b, ']')
}
