package project

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/fresh"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/wiring"
	"github.com/ktxhq/ktx/cmd/ktx/internal/demo"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/sqlcheck/report"
	"github.com/ktxhq/ktx/sqlguard"
)

// DemoCommand returns the command ktx demo.
func DemoCommand(a *console.App) *cobra.Command {
	var duckDB bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "Show a search, an allowed query, a right number, refused attacks and the client snippet, on a built-in shop",
		Long: `Show ktx on a small shop database that is built in: what discover_data finds for a
question, the query that answers it, a number that a join gets wrong and sl_query gets
right, five attacks that are refused, and the audit log that recorded all of it. The command leaves no files behind and uses no network.

With --duckdb the shop is a folder of CSV files, which DuckDB reads.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if duckDB && !wiring.HasDuckDB {
				return wiring.NoDuckDB()
			}
			dir, remove, err := fresh.Demo(cmd.Context(), a, duckDB)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, remove()) }()
			p, err := wiring.ReadProject(dir)
			if err != nil {
				return err
			}
			result := demoResult{Schema: "ktx-demo/1", Refused: []sqlguard.Verdict{}}
			if result.Client, err = clientSnippet("/path/to/project"); err != nil {
				return err
			}
			if err := wiring.WithProject(cmd.Context(), a, p, "cli", func(ctx context.Context, open *wiring.OpenProject) error {
				return runDemo(ctx, a, open, demo.Attacks(duckDB), &result)
			}); err != nil {
				return err
			}
			rep, err := audit.Verify(cmd.Context(), p.Config.Audit.Dir(p.Dir))
			if err != nil {
				return err
			}
			if result.AuditEvents, result.AuditWhole = rep.Events, rep.OK; !rep.OK {
				return fmt.Errorf("the demo's audit log is not whole: %s: %w", rep.Problems[0], errDemo)
			}
			if a.JSON {
				a.PrintJSON(result)
			} else {
				a.Printf("%s\n  %d events, and the chain of their hashes is whole\n\n", a.Paint(a.Out, console.StyleBold, "The audit log recorded all of it"), rep.Events)
				a.Printf("%s\n%s\n\nMake a project of your own:  ktx init --demo\n", a.Paint(a.Out, console.StyleBold, "Give it to an MCP client"), result.Client)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&duckDB, "duckdb", false, "show it on CSV files, which DuckDB reads (only in builds with DuckDB)")
	return c
}

type demoResult struct {
	Schema      string             `json:"schema"`
	Discovered  demoSearch         `json:"discovered"`
	Allowed     demoQuery          `json:"allowed"`
	Facts       demoFacts          `json:"facts"`
	Refused     []sqlguard.Verdict `json:"refused"`
	AuditEvents int64              `json:"auditEvents"`
	AuditWhole  bool               `json:"auditWhole"`
	Client      string             `json:"client"`
	Elapsed     string             `json:"elapsed"`
}

// demoSearch is a call of discover_data with its answer.
type demoSearch struct {
	Query string                 `json:"query"`
	Refs  []research.DiscoverRef `json:"refs"`
}

// demoFacts is a question about two facts, answered by a join and by the semantic layer.
type demoFacts struct {
	Question string          `json:"question"`
	NaiveSQL string          `json:"naiveSql"`
	Naive    json.RawMessage `json:"naive"`
	Right    json.RawMessage `json:"right"`
	Plan     string          `json:"plan"`
}

type demoQuery struct {
	SQL  string `json:"sql"`
	Rows int    `json:"rows"`
}

func runDemo(ctx context.Context, a *console.App, open *wiring.OpenProject, attacks []demo.Query, result *demoResult) error {
	start := time.Now()
	service := open.Service
	if err := discoverDemo(ctx, a, service, result); err != nil {
		return err
	}
	out, err := service.SQLExecution(ctx, research.SQLExecutionInput{ConnectionID: "demo", SQL: demo.Allowed.SQL})
	if err != nil {
		return err
	}
	result.Allowed = demoQuery{demo.Allowed.SQL, len(out.Rows)}
	if !a.JSON {
		a.Printf("%s\n%s\n\n", a.Paint(a.Out, console.StyleBold, "Allowed: "+demo.Allowed.Question), demo.Allowed.SQL)
		a.Table(console.FormatPretty, out.Headers, console.Cells(out.Rows))
		a.Printf("\n")
	}
	if err := factsDemo(ctx, a, service, result); err != nil {
		return err
	}
	for _, attack := range attacks {
		_, err := service.SQLExecution(ctx, research.SQLExecutionInput{ConnectionID: "demo", SQL: attack.SQL})
		refused, ok := errors.AsType[*sqlguard.RejectedError](err)
		if !ok {
			return fmt.Errorf("the demo's attack %q was not refused: %w", attack.Question, errors.Join(err, errDemo))
		}
		result.Refused = append(result.Refused, refused.Verdict)
		if !a.JSON {
			a.Printf("%s\n", a.Paint(a.Out, console.StyleBold, "Refused: "+attack.Question))
			report.Human(a.Out, []report.Result{{Name: "sql", Text: attack.SQL, Findings: refused.Verdict.Findings}}, report.Style{Color: a.Colored(a.Out)})
			a.Printf("\n")
		}
	}
	result.Elapsed = time.Since(start).Round(time.Microsecond).String()
	return nil
}

// factsDemo answers a question that a join answers wrongly.
func factsDemo(ctx context.Context, a *console.App, service *research.Service, result *demoResult) error {
	naive, err := service.SQLExecution(ctx, research.SQLExecutionInput{ConnectionID: "demo", SQL: demo.Facts.Naive})
	if err != nil {
		return err
	}
	limit := len(naive.Rows)
	request := research.SLQueryInput{ConnectionID: "demo", OrderBy: []research.SLOrder{{Field: "revenue", Direction: "desc"}}, Limit: &limit}
	for _, m := range demo.Facts.Measures {
		request.Measures = append(request.Measures, research.SLMeasure{Expr: m})
	}
	for _, d := range demo.Facts.Dimensions {
		request.Dimensions = append(request.Dimensions, research.SLDimension{Field: d})
	}
	right, err := service.SLQuery(ctx, request)
	if err != nil {
		return err
	}
	compiled, err := service.SLCompile(ctx, request)
	if err != nil {
		return err
	}
	result.Facts = demoFacts{demo.Facts.Question, demo.Facts.Naive, naive.AppendJSON(nil), right.AppendJSON(nil), compiled.Explain()}
	if a.JSON {
		return nil
	}
	a.Printf("%s\n%s\n\n", a.Paint(a.Out, console.StyleBold, "Wrong by a join: "+demo.Facts.Question), demo.Facts.Naive)
	a.Table(console.FormatPretty, naive.Headers, console.Cells(naive.Rows))
	a.Printf("\n%s\n\n", a.Paint(a.Out, console.StyleBold, "Right by sl_query: an order counts once, and each of its items too"))
	a.Table(console.FormatPretty, right.Table.Headers, console.Cells(right.Table.Rows))
	a.Printf("\n%s\n", compiled.Explain())
	return nil
}

// demoRefs is how many results of discover_data the demo shows.
const demoRefs = 6

// discoverDemo asks discover_data the question that the allowed query answers.
func discoverDemo(ctx context.Context, a *console.App, service *research.Service, result *demoResult) error {
	found, err := service.DiscoverData(ctx, research.DiscoverDataInput{Query: demo.Allowed.Question, ConnectionID: "demo", Limit: demoRefs})
	if err != nil {
		return err
	}
	result.Discovered = demoSearch{demo.Allowed.Question, found.Refs}
	if a.JSON {
		return nil
	}
	a.Printf("%s\n", a.Paint(a.Out, console.StyleBold, "Found by discover_data: "+demo.Allowed.Question))
	rows := [][]console.Cell{}
	for _, r := range found.Refs {
		about := r.Summary
		if about == nil {
			about = r.Snippet
		}
		row := console.Texts(string(r.Kind), r.ID)
		if about == nil {
			row = append(row, console.Cell{Null: true})
		} else {
			row = append(row, console.Cell{Text: *about})
		}
		rows = append(rows, row)
	}
	a.Table(console.FormatPretty, []string{"kind", "id", "about"}, rows)
	a.Printf("\n")
	return nil
}

var errDemo = errors.New("this build is not safe to use")
