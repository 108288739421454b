package research_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/pgdb"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/research/catalog/catalogtest"
	"github.com/ktxhq/ktx/research/dictionary"
	"github.com/ktxhq/ktx/research/scan"
	"github.com/ktxhq/ktx/research/upstream/upstreamtest"
	"github.com/ktxhq/ktx/sqlguard"
)

func TestMain(m *testing.M) {
	upstreamtest.Run()
	testdb.Main(m)
}

// nasty are tables and columns whose names need care, as statements that SQLite and
// PostgreSQL take.
var nasty = []string{
	`CREATE TABLE "order" ("group" INTEGER PRIMARY KEY, "select" NUMERIC, "from" DATE, "Order Total" NUMERIC, "desc" TEXT)`,
	`INSERT INTO "order" VALUES (1, 10, '2024-01-05', 1.5, 'a'), (2, 20, '2024-02-05', 2.5, 'b')`,
	`CREATE TABLE "say ""hi""" ("a""b" INTEGER PRIMARY KEY, "it's" NUMERIC, "back` + "`" + `tick amount" NUMERIC, "[total]" NUMERIC, "semi;colon price" NUMERIC, "dash--amount" NUMERIC, "x/*y*/ amount" NUMERIC)`,
	`INSERT INTO "say ""hi""" VALUES (1, 1, 2, 3, 4, 5, 6)`,
	`CREATE TABLE "Größe Ωmega 表" ("Schlüssel" INTEGER PRIMARY KEY, "Umsatz €" NUMERIC, "金額 amount" NUMERIC, "order_ref" INTEGER REFERENCES "order" ("group"))`,
	`INSERT INTO "Größe Ωmega 表" VALUES (1, 7, 8, 1), (2, 9, 10, 2), (3, 11, 12, NULL)`,
	`CREATE TABLE "MixedCase" ("Id" INTEGER PRIMARY KEY, "TotalAmount" NUMERIC, "unitPrice" NUMERIC, "UPPER_COUNT" INTEGER)`,
	`INSERT INTO "MixedCase" VALUES (1, 5, 6, 7)`,
	`CREATE TABLE "with.dot" ("id.x" INTEGER PRIMARY KEY, "amount.net" NUMERIC)`,
	`INSERT INTO "with.dot" VALUES (1, 5)`,
	`CREATE TABLE "of  two words" ("the id" INTEGER PRIMARY KEY, "an  amount" NUMERIC, "%amount" NUMERIC, "a?amount" NUMERIC, ":amount" NUMERIC, "$1 amount" NUMERIC)`,
	`INSERT INTO "of  two words" VALUES (1, 5, 1, 2, 3, 4)`,
	`CREATE TABLE "count" ("count" INTEGER PRIMARY KEY, "sum" NUMERIC, "amount" NUMERIC, "total_amount" NUMERIC, "count_count" NUMERIC)`,
	`INSERT INTO "count" VALUES (1, 5, 6, 7, 8)`,
	`CREATE TABLE "1st" ("1" INTEGER PRIMARY KEY, "2024 amount" NUMERIC, "null" NUMERIC, "true" NUMERIC, "yes" NUMERIC, "~" NUMERIC, "- amount" NUMERIC, "{amount}" NUMERIC, "amount: x" NUMERIC, "# amount" NUMERIC)`,
	`INSERT INTO "1st" VALUES (1, 5, 1, 1, 1, 1, 1, 1, 1, 1)`,
	`CREATE TABLE "no rows" (id INTEGER, amount NUMERIC)`,
}

// scannedBy scans a connection into the project in dir.
func scannedBy(t *testing.T, gateway *execution.Gateway, dir, driver string) {
	t.Helper()
	info, err := gateway.Connection(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	readable, err := gateway.Readable(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	root := catalogtest.Open(t, dir)
	if _, err := scan.Run(t.Context(), scan.Options{
		Gateway: gateway, Connection: info, Driver: driver, Root: root, Readable: readable, Now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), RunID: "one",
		OpenValues: func(syncID string) (scan.Values, error) { return dictionary.NewWriter(root, "a", syncID) },
	}); err != nil {
		t.Fatal(err)
	}
}

// TestSLInitOfNastyNames: of a schema whose names need care, the scan, the drafts and
// each drafted measure are right.
func TestSLInitOfNastyNames(t *testing.T) {
	t.Parallel()
	onSQLite := databaseOf(t, "a", strings.Join(nasty, ";\n"))
	onSQLite.Policy = sqlguard.DefaultPolicy()
	onSQLite.Policy.SearchPath = []string{"main"}
	onPostgres := execution.Connection{
		ID: "a", Name: "a", Engine: "POSTGRES", Dialect: postgres.Dialect{}, Policy: sqlguard.DefaultPolicy(),
		Open: func(ctx context.Context, guard sqlguard.ID) (execution.Backend, error) {
			url := testdb.Postgres(t).NewDatabase(t, append([]string{`CREATE SCHEMA "My Schema"`, `CREATE TABLE "My Schema"."order" ("Id" bigint PRIMARY KEY, "user" numeric(10,2))`, `INSERT INTO "My Schema"."order" VALUES (1, 2.5)`}, nasty...)...)
			return pgdb.Open(ctx, pgdb.Config{URL: execution.NewSecret(url), MaxConnections: 2, Session: postgres.Dialect{}.Session()}, guard)
		},
	}
	for _, c := range []struct {
		driver string
		conn   execution.Connection
	}{{"sqlite", onSQLite}, {"postgres", onPostgres}} {
		t.Run(c.driver, func(t *testing.T) {
			t.Parallel()
			if c.driver == "postgres" {
				testdb.Postgres(t) // skips a short test here, and not while the connection opens
			}
			c.conn.Limits = execution.Limits{Rows: 1_000_000, Bytes: 256 << 20}
			dir := t.TempDir()
			gateway := gatewayTo(t, c.conn)
			scannedBy(t, gateway, dir, c.driver)
			s := research.New(gateway, slog.New(slog.DiscardHandler), storesIn(t, dir))
			clean := func(when string) {
				t.Helper()
				v, err := s.SLValidate(t.Context(), "a", "")
				if err != nil || !v.Valid || len(v.Problems) > 0 || v.Sources < 9 {
					t.Errorf("%s: %s %v", when, jsonOf(t, v), err)
				}
			}
			clean("after the scan")
			planned, err := s.SLInit(t.Context(), "a", nil, true)
			if err != nil {
				t.Fatal(err)
			}
			clean("after a dry run")
			files, err := s.SLInit(t.Context(), "a", nil, false)
			if err != nil || len(files) < 9 || jsonOf(t, files) != jsonOf(t, planned) {
				t.Fatalf("%s, planned were %s: %v", jsonOf(t, files), jsonOf(t, planned), err)
			}
			clean("after the drafts")
			if again, err := s.SLInit(t.Context(), "a", nil, false); err != nil || len(again) != 0 {
				t.Errorf("a second time drafts %s %v", jsonOf(t, again), err)
			}
			ask := callerOf(t, s, analyst("ana", "a"))
			fields, err := s.SLFields(t.Context(), "a", research.KindMeasure)
			if err != nil {
				t.Fatal(err)
			}
			drafted := 0
			for _, f := range files {
				drafted += len(f.Measures)
			}
			if drafted != len(fields) || drafted < 25 {
				t.Errorf("%d measures are drafted, %d are in the model: %q", drafted, len(fields), fields)
			}
			for _, field := range fields {
				arguments, err := json.Marshal(map[string]any{"measures": []string{field}, "include": []string{"sql"}})
				if err != nil {
					t.Fatal(err)
				}
				if got := ask.answer("sl_query", string(arguments)); !strings.HasPrefix(got, "error false: ") || !strings.Contains(got, `"totalRows":1`) {
					t.Errorf("%s: %s", field, got)
				}
			}
			dimensions, err := s.SLFields(t.Context(), "a", research.KindDimension)
			if err != nil || len(dimensions) < 35 {
				t.Errorf("%q %v", dimensions, err)
			}
			for _, field := range dimensions {
				arguments, err := json.Marshal(map[string]any{"dimensions": []string{field}, "include": []string{"sql"}})
				if err != nil {
					t.Fatal(err)
				}
				if got := ask.answer("sl_query", string(arguments)); !strings.HasPrefix(got, "error false: ") {
					t.Errorf("%s: %s", field, got)
				}
			}
		})
	}
}
