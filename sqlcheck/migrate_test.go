package sqlcheck_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/sqlcheck"
	"github.com/ktxhq/ktx/sqlcheck/migration"
	"github.com/ktxhq/ktx/sqlcheck/report"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestMigrations: the profile reports what a migration does, keeps what cannot be
// read, takes suppressions, and leaves other files to the guard.
func TestMigrations(t *testing.T) {
	t.Parallel()
	d, _ := dialects.Lookup("postgres")
	guard, err := sqlguard.New(d, sqlguard.DefaultPolicy(), nil)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "1.sql")
	const text = "SET lock_timeout = '5s';\nCREATE INDEX i ON t (a);\n" +
		"-- ktx:allow migration_breaks_programs until=2026-12-31 reason=\"nothing reads it\"\nALTER TABLE t DROP COLUMN old;\nALTER TABLE t ADD;\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, profile := range []bool{true, false} {
		c := sqlcheck.Checker{
			Choose:     func(string, string, sqlcheck.Known) (*sqlguard.Guard, *sqlguard.Finding) { return guard, nil },
			Migrations: func(string) (migration.Options, bool) { return migration.Options{}, profile },
			Today:      time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC),
		}
		files, err := c.Run(t.Context(), []sqlcheck.Input{{Path: path, Named: true}})
		if err != nil {
			t.Fatal(err)
		}
		var got []sqlguard.Code
		for _, f := range files[0].Findings {
			if f.Counts() {
				got = append(got, f.Code)
			}
		}
		want := []sqlguard.Code{migration.CodeIndexBlocksWrites, sqlguard.CodeParseError}
		if !profile {
			want = []sqlguard.Code{sqlguard.CodeSessionChange, sqlguard.CodeDDLStatement, sqlguard.CodeSuppressionUnused, sqlguard.CodeDDLStatement, sqlguard.CodeParseError}
		}
		if !slices.Equal(got, want) {
			t.Errorf("profile %t: %v, want %v", profile, got, want)
		}
	}
	if s := report.DefaultSeverity(migration.CodeBreaksPrograms); s != report.SeverityWarning {
		t.Error(s)
	}
}

// TestMigrationsInPrograms: the profile judges the SQL in migrations of Alembic, Django,
// TypeORM and Knex too, and says when calls without SQL change the schema.
func TestMigrationsInPrograms(t *testing.T) {
	t.Parallel()
	const limit = "SET lock_timeout = '5s'"
	for _, c := range []struct {
		name, text  string
		transaction bool
		want        []sqlguard.Code
	}{
		{"alembic.py", "from alembic import op\n\ndef upgrade():\n    op.execute(\"" + limit + "\")\n    op.execute(\"CREATE TABLE n (a int)\")\n    op.execute(\"CREATE INDEX i ON n (a)\")\n    op.execute(\"CREATE INDEX j ON t (a)\")\n\ndef downgrade():\n    op.execute(\"ALTER TABLE t DROP COLUMN a\")\n", false, []sqlguard.Code{migration.CodeIndexBlocksWrites}},
		{"alembic2.py", "from alembic import op\n\ndef upgrade():\n    op.execute(\"" + limit + "\")\n    op.execute(\"ALTER TABLE t DROP COLUMN a\")\n\ndef downgrade():\n    pass\n", false, []sqlguard.Code{migration.CodeBreaksPrograms}},
		{"alembic3.py", "from alembic import op\n\ndef upgrade():\n    op.execute(\"CREATE INDEX CONCURRENTLY i ON t (a)\")\n", true, []sqlguard.Code{migration.CodeInTransaction}},
		{"alembic4.py", "from alembic import op\n\ndef upgrade():\n    with op.get_context().autocommit_block():\n        op.execute(\"CREATE INDEX CONCURRENTLY i ON t (a)\")\n", true, nil},
		{"alembic5.py", "from alembic import op\n\ndef upgrade():\n    op.drop_column(\"t\", \"a\")\n    op.drop_column(\"t\", \"b\")\n", false, []sqlguard.Code{migration.CodeNotJudged}},
		{"django.py", "from django.db import migrations\n\nclass Migration(migrations.Migration):\n    operations = [\n        migrations.RunSQL(\"" + limit + "\"),\n        migrations.RunSQL(\"CREATE INDEX i ON t (a)\", reverse_sql=\"DROP TABLE t\"),\n    ]\n", false, []sqlguard.Code{migration.CodeIndexBlocksWrites}},
		{"django2.py", "from django.db import migrations\n\nclass Migration(migrations.Migration):\n    operations = [\n        migrations.RemoveField(\"t\", \"a\"),\n    ]\n", false, []sqlguard.Code{migration.CodeNotJudged}},
		{"typeorm.ts", "export class A implements MigrationInterface {\n  public async up(queryRunner: QueryRunner): Promise<void> {\n    await queryRunner.query(`" + limit + "`);\n    await queryRunner.query(`ALTER TABLE t ALTER a TYPE bigint`);\n  }\n  public async down(queryRunner: QueryRunner): Promise<void> {\n    await queryRunner.query(`ALTER TABLE t DROP COLUMN a`);\n  }\n}\n", false, []sqlguard.Code{migration.CodeRewritesTable}},
		{"knex.js", "exports.up = async (knex) => {\n  await knex.raw(`" + limit + "`);\n  await knex.raw('CREATE INDEX i ON t (a)');\n};\nexports.down = async (knex) => {\n  await knex.raw('ALTER TABLE t DROP COLUMN a');\n};\n", false, []sqlguard.Code{migration.CodeIndexBlocksWrites}},
		{"both.py", "from alembic import op\n\ndef upgrade():\n    op.add_column(\"t\", x)\n    op.execute(\"" + limit + "\")\n    op.execute(\"CREATE INDEX i ON t (a)\")\n", false, []sqlguard.Code{migration.CodeNotJudged, migration.CodeIndexBlocksWrites}},
		{"knex2.js", "exports.up = (knex) => knex.schema.alterTable('t', (t) => t.dropColumn('a'));\n", false, []sqlguard.Code{migration.CodeNotJudged}},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		checker := sqlcheck.Checker{
			Choose:     with(t, "postgres"),
			Migrations: func(string) (migration.Options, bool) { return migration.Options{Transaction: c.transaction}, true },
		}
		files, err := checker.Run(t.Context(), []sqlcheck.Input{{Path: path, Named: true}})
		if err != nil {
			t.Fatal(err)
		}
		var got []sqlguard.Code
		for _, f := range files[0].Findings {
			got = append(got, f.Code)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestLiquibaseComments: formatted SQL of Liquibase has comments that MySQL would not take
// for comments.
func TestLiquibaseComments(t *testing.T) {
	t.Parallel()
	const text = "--liquibase formatted sql\n\n--changeset a:1\nSELECT 1;\n--rollback DROP TABLE t;\n"
	for text, want := range map[string]int{text: 0, strings.TrimPrefix(text, "--liquibase formatted sql\n"): 2} {
		path := filepath.Join(t.TempDir(), "1.sql")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c := sqlcheck.Checker{Choose: with(t, "mysql")}
		files, err := c.Run(t.Context(), []sqlcheck.Input{{Path: path, Named: true}})
		if err != nil {
			t.Fatal(err)
		}
		if len(files[0].Findings) != want {
			t.Errorf("%q: %v", text, files[0].Findings)
		}
	}
}

// TestMigrationTools: goose, sql-migrate and dbmate run a file in a transaction unless it
// says no, and the second half takes the first one back.
func TestMigrationTools(t *testing.T) {
	t.Parallel()
	d, _ := dialects.Lookup("postgres")
	guard, err := sqlguard.New(d, sqlguard.DefaultPolicy(), nil)
	if err != nil {
		t.Fatal(err)
	}
	const limit, index, column = "SET lock_timeout = '5s';\n", "CREATE INDEX CONCURRENTLY i ON t (a);\n", "ALTER TABLE t DROP COLUMN a;\n"
	for _, c := range []struct {
		text        string
		transaction bool
		want        []sqlguard.Code
	}{
		{index, false, nil},
		{index, true, []sqlguard.Code{migration.CodeInTransaction}},
		{"-- +goose Up\n" + index, false, []sqlguard.Code{migration.CodeInTransaction}},
		{"-- +goose NO TRANSACTION\n-- +goose Up\n" + index, false, nil},
		{"-- +migrate Up\n" + index, false, []sqlguard.Code{migration.CodeInTransaction}},
		{"-- +migrate Up notransaction\n" + index, false, nil},
		{"-- migrate:up\n" + index, false, []sqlguard.Code{migration.CodeInTransaction}},
		{"-- migrate:up transaction:false\n" + index, false, nil},
		{"-- atlas:txmode none\n\n" + index, true, nil},
		{"-- +goose Up\n" + limit + column, false, []sqlguard.Code{migration.CodeBreaksPrograms}},
		{"-- +goose Up\n" + limit + "ALTER TABLE t ADD COLUMN a int;\n-- +goose Down\n" + column, false, nil},
		{"-- migrate:up\n" + limit + "ALTER TABLE t ADD COLUMN a int;\n-- migrate:down\nALTER TABLE u DROP COLUMN a;\n", false, nil},
		{"-- +goose Up\n" + limit + "-- +goose Down\nTRUNCATE t;\n", false, []sqlguard.Code{migration.CodeDataLoss}},
	} {
		path := filepath.Join(t.TempDir(), "1.sql")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		checker := sqlcheck.Checker{
			Choose:     func(string, string, sqlcheck.Known) (*sqlguard.Guard, *sqlguard.Finding) { return guard, nil },
			Migrations: func(string) (migration.Options, bool) { return migration.Options{Transaction: c.transaction}, true },
		}
		files, err := checker.Run(t.Context(), []sqlcheck.Input{{Path: path, Named: true}})
		if err != nil {
			t.Fatal(err)
		}
		var got []sqlguard.Code
		for _, f := range files[0].Findings {
			got = append(got, f.Code)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.text, got, c.want)
		}
	}
}
