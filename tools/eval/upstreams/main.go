// Command upstreams measures how well tool_search finds tools of other MCP servers, on
// public sets that are not in this repository:
//
//	go run ./tools/eval/upstreams -data DIR [-half chosen|held|all] [-json]
//
// DIR holds any of
//
//	livemcpbench/tools.json and all_annotations.json   of icip-cas/LiveMCPBench
//	mcpproxy/corpus_v1.tools.json and retrieval_golden_v1.json   of smart-mcp-proxy/mcpproxy-go
//	metatool/plugin_des.json and all_clean_data.csv   of HowieHwong/MetaTool
//
// The tools are put where ktx keeps the lists of tools of servers, and are searched for
// as tool_search does. No server is started.
package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ktxhq/ktx/research/upstream"
)

func main() {
	data := flag.String("data", "", "folder of the data sets")
	half := flag.String("half", "all", "questions to ask: chosen, held or all")
	asJSON := flag.Bool("json", false, "print the figures as JSON")
	missed := flag.Bool("missed", false, "print what was missed of the half that weights are chosen on")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *data, *half, *asJSON, *missed); err != nil {
		fmt.Fprintln(os.Stderr, "upstreams:", err)
		os.Exit(1)
	}
}

// A figure is the recall of one kind of question.
type figure struct {
	Set      string  `json:"set"`
	Half     string  `json:"half"`
	Queries  int     `json:"queries"`
	Tools    int     `json:"tools"`
	At       int     `json:"at"`
	Recall   float64 `json:"recall"`
	Required float64 `json:"required"`
}

// A question has the names of the tools that answer it. A name may have a server before
// it: server:tool.
type question struct {
	text string
	want []string
}

// A set is tools, by server, and questions.
type set struct {
	name      string
	servers   []upstream.Server
	tools     map[string][]json.RawMessage
	questions []question
	at        map[int]float64 // what is required, by the number of first results
}

func run(ctx context.Context, out io.Writer, data, half string, asJSON, missed bool) error {
	if data == "" {
		return errors.New("-data names the folder of the data sets")
	}
	if !slices.Contains([]string{"chosen", "held", "all"}, half) {
		return fmt.Errorf("-half %s: expected chosen, held or all", half)
	}
	var figures []figure
	for _, read := range []func(string) ([]set, error){liveMCPBench, mcpProxy, metaTool} {
		sets, err := read(data)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		for _, s := range sets {
			more, err := s.measure(ctx, out, half, missed)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			figures = append(figures, more...)
		}
	}
	if len(figures) == 0 {
		return fmt.Errorf("%s holds none of the data sets", data)
	}
	if asJSON {
		return json.NewEncoder(out).Encode(figures)
	}
	_, _ = fmt.Fprintln(out, "| set | half | questions | tools | recall | required |\n|---|---|---|---|---|---|")
	for _, f := range figures {
		_, _ = fmt.Fprintf(out, "| %s @%d | %s | %d | %d | %.3f | %.3f |\n", f.Set, f.At, f.Half, f.Queries, f.Tools, f.Recall, f.Required)
	}
	return nil
}

// halfOf says which half a question is in. Weights are chosen on one of them.
func halfOf(text string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(text))
	if h.Sum32()%2 == 0 {
		return "chosen"
	}
	return "held"
}

func (s *set) measure(ctx context.Context, out io.Writer, half string, missed bool) ([]figure, error) {
	m, closing, err := s.manager()
	if err != nil {
		return nil, err
	}
	defer closing()
	depth := slices.Max(slices.Collect(maps.Keys(s.at)))
	sums := map[int]float64{}
	asked := 0
	for _, q := range s.questions {
		if half != "all" && halfOf(q.text) != half {
			continue
		}
		asked++
		found, err := m.Search(ctx, upstream.Query{Texts: []string{q.text}, Limit: depth})
		if err != nil {
			return nil, err
		}
		for at := range s.at {
			hits := 0
			for _, want := range q.want {
				if slices.ContainsFunc(found.Results[:min(at, len(found.Results))], func(f upstream.Found) bool {
					return want == f.Tool || want == f.Server+":"+f.Tool
				}) {
					hits++
				} else if missed && halfOf(q.text) == "chosen" {
					_, _ = fmt.Fprintf(out, "missed @%d %s: %q\n", at, want, q.text)
				}
			}
			sums[at] += float64(hits) / float64(len(q.want))
		}
	}
	tools := 0
	for _, list := range s.tools {
		tools += len(list)
	}
	var figures []figure
	for _, at := range slices.Sorted(maps.Keys(s.at)) {
		figures = append(figures, figure{s.name, half, asked, tools, at, sums[at] / float64(max(asked, 1)), s.at[at]})
	}
	return figures, nil
}

// manager returns a manager that knows the tools as if it had listed them before.
func (s *set) manager() (_ *upstream.Manager, closing func(), err error) {
	dir, err := os.MkdirTemp("", "ktx-eval-")
	if err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	type kept struct {
		Identity string            `json:"identity"`
		Listed   time.Time         `json:"listed"`
		Tools    []json.RawMessage `json:"tools"`
	}
	servers := map[string]kept{}
	for name, list := range s.tools {
		servers[name] = kept{Identity: "eval", Listed: time.Now(), Tools: list}
	}
	text, err := json.Marshal(map[string]any{"version": 1, "servers": servers})
	if err != nil {
		return nil, nil, err
	}
	state := filepath.Join(dir, ".ktx", "upstreams")
	if err := os.MkdirAll(state, 0o700); err != nil {
		return nil, nil, err
	}
	if err := os.WriteFile(filepath.Join(state, "tools.json"), text, 0o600); err != nil {
		return nil, nil, err
	}
	slices.SortFunc(s.servers, func(a, b upstream.Server) int { return strings.Compare(a.Name, b.Name) })
	for i := range s.servers {
		s.servers[i].Identity, s.servers[i].Command = "eval", "/nonexistent"
	}
	m := upstream.New(upstream.Options{Root: root, Logger: slog.New(slog.DiscardHandler)})
	yes := true
	err = m.Configure(upstream.Config{Servers: s.servers, Rules: []upstream.Rule{{Match: []string{"*"}, Enabled: &yes}}})
	return m, func() {
		m.Close()
		_ = root.Close()
		_ = os.RemoveAll(dir)
	}, err
}

func readJSON(v any, parts ...string) error {
	text, err := os.ReadFile(filepath.Join(parts...)) //nolint:gosec // who measures names the folder
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("read %s: %w", filepath.Join(parts...), err)
	}
	return nil
}

var (
	notInName = regexp.MustCompile(`[^a-zA-Z0-9._-]+`)
	numbered  = regexp.MustCompile(`(?m)^\s*\d+[.)]\s*(.*\S)\s*$`)
)

// lines returns the items of a numbered list.
func lines(text string) []string {
	var out []string
	for _, m := range numbered.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

// liveMCPBench reads tasks, whose tools are to be found with the question, and the steps
// of the tasks that have one tool for each step.
func liveMCPBench(data string) ([]set, error) {
	var servers []struct {
		Name, Description string
		Tools             map[string]struct{ Tools []json.RawMessage }
	}
	if err := readJSON(&servers, data, "livemcpbench", "tools.json"); err != nil {
		return nil, err
	}
	var tasks []struct {
		Question string
		About    struct{ Steps, Tools string } `json:"Annotator Metadata"`
	}
	if err := readJSON(&tasks, data, "livemcpbench", "all_annotations.json"); err != nil {
		return nil, err
	}
	whole := set{name: "LiveMCPBench tasks", tools: map[string][]json.RawMessage{}, at: map[int]float64{10: .44}}
	known := map[string]bool{}
	for _, s := range servers {
		for key, of := range s.Tools {
			name := strings.Trim(notInName.ReplaceAllString(key, "-"), "-._")
			if !upstream.ValidName(name) || whole.tools[name] != nil {
				name = fmt.Sprintf("server-%d", len(whole.tools))
			}
			whole.servers = append(whole.servers, upstream.Server{Name: name, Description: s.Description})
			whole.tools[name] = of.Tools
			for _, t := range of.Tools {
				var head struct{ Name string }
				if json.Unmarshal(t, &head) == nil {
					known[head.Name] = true
				}
			}
		}
	}
	steps := set{name: "LiveMCPBench steps", servers: slices.Clone(whole.servers), tools: whole.tools, at: map[int]float64{5: .68}}
	for _, t := range tasks {
		tools, texts := lines(t.About.Tools), lines(t.About.Steps)
		var want []string
		for i, tool := range tools {
			if !known[tool] {
				continue
			}
			want = append(want, tool)
			if len(tools) == len(texts) {
				steps.questions = append(steps.questions, question{texts[i], []string{tool}})
			}
		}
		if len(want) > 0 {
			whole.questions = append(whole.questions, question{t.Question, want})
		}
	}
	return []set{whole, steps}, nil
}

func mcpProxy(data string) ([]set, error) {
	var corpus struct {
		Tools []map[string]json.RawMessage
	}
	if err := readJSON(&corpus, data, "mcpproxy", "corpus_v1.tools.json"); err != nil {
		return nil, err
	}
	var golden struct {
		Queries []struct {
			Query  string
			Labels []struct {
				ToolID    string `json:"tool_id"`
				Relevance int
			}
		}
	}
	if err := readJSON(&golden, data, "mcpproxy", "retrieval_golden_v1.json"); err != nil {
		return nil, err
	}
	s := set{name: "mcpproxy-go", tools: map[string][]json.RawMessage{}, at: map[int]float64{5: .745, 10: .84}}
	for _, t := range corpus.Tools {
		text := func(keys ...string) string {
			for _, key := range keys {
				var v string
				if json.Unmarshal(t[key], &v) == nil && v != "" {
					return v
				}
			}
			return ""
		}
		server, name := text("server", "server_name"), text("tool", "name", "tool_name")
		tool := map[string]any{"name": strings.TrimPrefix(name, server+":"), "description": text("description"), "inputSchema": map[string]any{}}
		for _, key := range []string{"schema", "inputSchema", "input_schema", "params_json"} {
			if t[key] != nil && t[key][0] == '{' {
				tool["inputSchema"] = t[key]
			}
		}
		raw, err := json.Marshal(tool)
		if err != nil {
			return nil, err
		}
		if s.tools[server] == nil {
			s.servers = append(s.servers, upstream.Server{Name: server})
		}
		s.tools[server] = append(s.tools[server], raw)
	}
	for _, q := range golden.Queries {
		var want []string
		for _, l := range q.Labels {
			if l.Relevance > 0 {
				want = append(want, l.ToolID)
			}
		}
		if len(want) > 0 {
			s.questions = append(s.questions, question{q.Query, want})
		}
	}
	return []set{s}, nil
}

func metaTool(data string) ([]set, error) {
	var about map[string]string
	if err := readJSON(&about, data, "metatool", "plugin_des.json"); err != nil {
		return nil, err
	}
	f, err := os.Open(filepath.Join(data, "metatool", "all_clean_data.csv")) //nolint:gosec // who measures names the folder
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, err
	}
	s := set{name: "MetaTool", servers: []upstream.Server{{Name: "plugins"}}, tools: map[string][]json.RawMessage{}, at: map[int]float64{5: .60}}
	for _, name := range slices.Sorted(maps.Keys(about)) {
		raw, err := json.Marshal(map[string]any{"name": name, "description": about[name], "inputSchema": map[string]any{}})
		if err != nil {
			return nil, err
		}
		s.tools["plugins"] = append(s.tools["plugins"], raw)
	}
	for _, row := range rows[1:] {
		if len(row) == 2 && about[row[1]] != "" {
			s.questions = append(s.questions, question{row[0], []string{row[1]}})
		}
	}
	return []set{s}, nil
}
