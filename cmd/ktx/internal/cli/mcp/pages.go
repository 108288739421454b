package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/corpus/report"
	"github.com/ktxhq/ktx/corpus/run"
	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/index"
	"github.com/ktxhq/ktx/httpapi"
	"github.com/ktxhq/ktx/httpapi/pages"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/sqlguard"
)

// addPages adds the pages and the REST API to the configuration of a server. The
// function that it returns ends what they need.
func addPages(ctx context.Context, a *console.App, open *wiring.OpenProject, c *httpapi.Config) (stop func() error, err error) {
	dir := open.Project.Config.Audit.Dir(open.Project.Dir)
	x, err := index.OpenAnywhere(ctx, dir, filepath.Join(open.Project.Dir, filepath.FromSlash(index.DefaultPath)))
	if err != nil {
		return nil, console.Failed("%w", err)
	}
	p := pages.New(pages.Config{
		Index: x, LogDir: dir, Version: a.Version, Logger: a.Logger(), Tools: &tools{a, open.Service}, Codes: research.Codes(),
		Connections: func(ctx context.Context) []pages.Connection { return connectionsOf(ctx, open) },
		Artifacts:   artifacts{open.Service},
		Trust:       func(ctx context.Context, server string) map[string]pages.Trust { return trusts(ctx, open, server) },
		Review:      func(ctx context.Context) (*audit.Reviewer, error) { return reviewer(ctx, open.Project.Dir) },
		Judge:       &judge{&checker{door: open}}, Corpus: sync.OnceValues(func() (*pages.Corpus, error) { return answeredCorpus(ctx, a.Version) }),
	})
	c.Routes, c.LoginPage, c.ProblemPage = p.Routes(), p.Login, p.Problem
	ctx, cancel := context.WithCancel(ctx)
	var wait sync.WaitGroup
	wait.Go(func() {
		x.Run(ctx, func(err error) {
			said := "the audit index cannot follow the log"
			if _, remade := errors.AsType[*index.RemadeError](err); remade {
				said = "the audit index was damaged"
			} else if _, moved := errors.AsType[*index.MovedError](err); moved {
				said = "the audit index is elsewhere"
			}
			a.Logger().WarnContext(ctx, said, "error", err)
		})
	})
	return func() error {
		cancel()
		wait.Wait()
		return x.Close()
	}, nil
}

// tools are the tools of the MCP server, for pages and the REST API.
type tools struct {
	app     *console.App
	service *research.Service
}

// Tools implements pages.Tools.
func (t *tools) Tools() []pages.Tool {
	infos, err := t.service.Tools()
	if err != nil { // the server could not have started
		t.app.Logger().Error("the tools cannot be listed", "error", err)
	}
	list := make([]pages.Tool, len(infos))
	for i, info := range infos {
		list[i] = pages.Tool(info)
	}
	return list
}

// Call implements pages.Tools. The audit log names REST as the client.
func (t *tools) Call(ctx context.Context, name string, arguments json.RawMessage, progress func(float64, string)) (json.RawMessage, *pages.ToolError) {
	actor, _ := audit.ActorFrom(ctx)
	actor.Client.Name = cmp.Or(actor.Client.Name, "rest")
	answer, failed := t.service.Call(audit.WithActor(ctx, actor), name, arguments, progress)
	if failed == nil {
		return answer, nil
	}
	data, err := json.Marshal(failed)
	if err != nil { // it is made of texts and numbers
		data = json.RawMessage(`{"code":"internal_error","message":"the error cannot be shown","retryable":false}`)
	}
	return nil, &pages.ToolError{
		Code: failed.Code, Message: failed.Message, Hint: failed.Hint, Retryable: failed.Retryable, RetryAfterMs: failed.RetryAfterMs, Verdict: failed.Verdict, JSON: data,
	}
}

// connectionsOf returns the connections that the actor of ctx may use, with what is known
// of their state.
func connectionsOf(ctx context.Context, open *wiring.OpenProject) []pages.Connection {
	loads := map[string]execution.Load{}
	for _, l := range open.Gateway.Loads() {
		loads[l.ConnectionID] = l
	}
	var list []pages.Connection
	for _, info := range open.Gateway.Connections(ctx) {
		c := pages.Connection{
			ID: info.ID, Name: info.Name, Engine: info.Engine, Dialect: info.Dialect, Runs: info.Runs,
			Running: loads[info.ID].Running, Waiting: loads[info.ID].Waiting,
		}
		if last, ok := wiring.LastProbe(open.Project, info.ID); ok {
			c.Probed, c.Role, c.Findings = last.At.UTC(), last.Role, last.Warnings
		}
		c.CatalogFailure, c.Catalog = info.Catalog.Failure, info.Catalog.Loaded.UTC()
		if _, scanned, err := open.Service.ScannedTables(ctx, info.ID); err == nil && scanned != "" {
			c.Scanned, _ = time.Parse(time.RFC3339, scanned)
		}
		list = append(list, c)
	}
	return list
}

// artifacts are what the project knows of its data, for the pages.
type artifacts struct{ service *research.Service }

// Tables implements pages.Artifacts.
func (a artifacts) Tables(ctx context.Context, connection string) ([]pages.Table, string, error) {
	found, scanned, err := a.service.ScannedTables(ctx, connection)
	list := make([]pages.Table, len(found))
	for i, t := range found {
		list[i] = pages.Table(t)
	}
	return list, scanned, err
}

// Profile implements pages.Artifacts.
func (a artifacts) Profile(ctx context.Context, connection, table string) ([]pages.ColumnProfile, error) {
	found, err := a.service.Profile(ctx, connection, table)
	list := make([]pages.ColumnProfile, len(found))
	for i, c := range found {
		list[i] = pages.ColumnProfile(c)
	}
	return list, err
}

// Sources implements pages.Artifacts.
func (a artifacts) Sources(ctx context.Context) ([]pages.Source, error) {
	found, err := a.service.SLSources(ctx, "")
	list := make([]pages.Source, len(found))
	for i, s := range found {
		list[i] = pages.Source{Connection: s.ConnectionID, Name: s.Name, Origin: s.Origin, Description: s.Description, Valid: s.Valid, Columns: s.Columns, Measures: s.Measures, Joins: s.Joins}
	}
	return list, err
}

// WikiPages implements pages.Artifacts.
func (a artifacts) WikiPages() ([]pages.WikiPage, error) {
	found, err := a.service.WikiPages()
	list := make([]pages.WikiPage, len(found))
	for i, p := range found {
		list[i] = pages.WikiPage(p)
	}
	return list, err
}

// Find implements pages.Artifacts.
func (a artifacts) Find(ctx context.Context, query, connection string, after, most int) (pages.Found, error) {
	found, err := a.service.DiscoverData(ctx, research.DiscoverDataInput{Query: query, ConnectionID: connection, Limit: after + most + 1})
	out := pages.Found{Notes: found.Notes}
	for i := range found.Refs[min(after, len(found.Refs)):] {
		r := &found.Refs[after+i]
		if i == most {
			out.More = true
			break
		}
		h := pages.Hit{Kind: string(r.Kind), ID: r.ID, Score: r.Score, MatchedOn: r.MatchedOn, Connection: r.ConnectionID}
		switch {
		case r.Summary != nil && *r.Summary != "":
			h.About = *r.Summary
		case r.Snippet != nil:
			h.About = *r.Snippet
		}
		if r.TableRef != nil && (r.Kind == research.KindTable || r.Kind == research.KindColumn) {
			h.Table = research.DisplayTable(*r.TableRef)
		}
		out.Hits = append(out.Hits, h)
	}
	return out, err //nolint:wrapcheck // the error says what was done
}

// Skills implements pages.Artifacts.
func (a artifacts) Skills(ctx context.Context, query string, after, most int) (pages.Skills, error) {
	found, err := a.service.SearchSkills(ctx, research.SearchSkillsInput{Query: query, Limit: after + most})
	out := pages.Skills{More: found.Omitted}
	if query != "" {
		out.Notes = found.Notes
	}
	for _, s := range found.Skills[min(after, len(found.Skills)):] {
		one := pages.Skill{Name: s.Name, Description: s.Description, Uses: s.Uses}
		for _, text := range []struct {
			to   *string
			from *string
		}{{&one.Category, s.Category}, {&one.Rating, s.Rating}, {&one.Tier, (*string)(s.Tier)}} {
			if text.from != nil {
				*text.to = *text.from
			}
		}
		out.Skills = append(out.Skills, one)
	}
	return out, err //nolint:wrapcheck // the error says what was done
}

// trusts returns why the tools of another server may be called or not.
func trusts(ctx context.Context, open *wiring.OpenProject, server string) map[string]pages.Trust {
	list := map[string]pages.Trust{}
	if open.Upstream != nil {
		for name, t := range open.Upstream.Trusts(ctx, server) {
			list[name] = pages.Trust(t)
		}
	}
	return list
}

// judge judges for the pages, by the policies that /v1/check uses.
type judge struct{ checker *checker }

// Connection implements pages.Judge.
func (j *judge) Connection(ctx context.Context, id, sql string) (report.Reading, error) {
	info, err := j.checker.door.Gateway.Connection(ctx, id)
	if err != nil {
		return report.Reading{}, err
	}
	return j.read(ctx, info.Dialect, httpapi.CheckRequest{ConnectionID: id, SQL: sql})
}

// Dialect implements pages.Judge.
func (j *judge) Dialect(ctx context.Context, name, sql string) (report.Reading, error) {
	return j.read(ctx, name, httpapi.CheckRequest{Dialect: name, SQL: sql})
}

// Dialects implements pages.Judge.
func (*judge) Dialects() (names []string) {
	for _, d := range dialects.All() {
		names = append(names, d.Name())
	}
	return names
}

func (j *judge) read(ctx context.Context, dialect string, req httpapi.CheckRequest) (report.Reading, error) {
	v, err := j.checker.Check(ctx, req)
	if err != nil {
		return report.Reading{}, err
	}
	d, ok := dialects.Lookup(dialect)
	if !ok {
		return report.Reading{Verdict: v}, nil
	}
	return report.ReadAs(d, v, req.SQL), nil
}

// reviewer judges statements of the log by the ktx.yaml that is on the disk now. The actor
// of ctx gets no verdict on a connection that it may not use.
func reviewer(ctx context.Context, dir string) (*audit.Reviewer, error) {
	p, err := wiring.ReadProject(dir)
	if err != nil {
		return nil, err //nolint:wrapcheck // the error names the file
	}
	guards := wiring.LogGuards(p)
	actor, _ := audit.ActorFrom(ctx)
	return audit.NewReviewer(func(decision audit.Event) (func(string) (sqlguard.Verdict, error), error) {
		if actor.Connections != nil && !slices.Contains(actor.Connections, decision.Connection.ID) {
			return nil, nil
		}
		return guards(decision)
	}), nil
}

// answeredCorpus puts the corpus to the guard of this build.
func answeredCorpus(ctx context.Context, version string) (*pages.Corpus, error) {
	var guard *run.Builtin
	var err error
	cases := corpus.Cases()
	c := &pages.Corpus{Cases: make(map[string]*corpus.Case, len(cases)), Results: make([]run.Result, 0, len(cases))}
	for i := range cases {
		c.Cases[cases[i].ID] = &cases[i]
	}
	// A guard keeps its verdicts, so that each part of the cases has a guard of its own. The
	// last one keeps those of the cases that are read.
	for part := range slices.Chunk(cases, 500) {
		if guard, err = run.NewBuiltin(version, dialects.All()); err != nil {
			return nil, err //nolint:wrapcheck // the error says what was done
		}
		results, err := run.Run(ctx, guard, part, nil)
		if err != nil {
			return nil, err //nolint:wrapcheck // the error says what was done
		}
		c.Results = append(c.Results, results...)
	}
	c.Book, err = report.NewBook(report.Report{
		Source: map[string]any{"version": corpus.Version()}, Guard: guard.Describe(), Cases: cases, Results: c.Results, Address: pages.CaseAddress,
		Read: func(one corpus.Case) (report.Reading, bool) {
			g := guard.Of(one.Dialect)
			if g == nil {
				return report.Reading{}, false
			}
			return report.Read(g, one.SQL), true
		},
	})
	return c, err
}
