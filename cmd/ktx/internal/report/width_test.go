package report_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/cmd/ktx/internal/report"
	"github.com/ktxhq/ktx/sqlguard"
)

func TestWidth(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"": 0, "abc": 3, "é": 1, "e\u0301": 1, "日本": 4, "ｱ": 1, "Ａ": 2, "한": 2, "😀": 2, "⌚": 2, "—": 1, "𠀀": 2, "a\u200db": 2, "Ω": 1, "　": 2,
	} {
		if got := report.Width(text); got != want {
			t.Errorf("%q takes %d columns, want %d", text, got, want)
		}
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	text, err := report.JSON([]report.File{{
		Path: "a.sql", Dialect: "sqlite", Findings: []sqlguard.Finding{},
		Statements: []report.Statement{{Span: sqlguard.Span{Start: 1, End: 2}, Verdict: sqlguard.Verdict{Dialect: "sqlite", Findings: []sqlguard.Finding{{Message: "<&>"}}}}},
	}}, report.Summary{Files: 1, Statements: 1, Refused: 1})
	if err != nil || !strings.Contains(string(text), `"<&>"`) || !strings.HasSuffix(string(text), "}\n") {
		t.Errorf("%s, %v", text, err)
	}
	var doc struct {
		Schema  string
		Summary map[string]int
		Files   []struct {
			Statements []struct {
				Span    sqlguard.Span
				Dialect string
			}
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil || doc.Schema != "ktx-check/1" || doc.Summary["refused"] != 1 || doc.Files[0].Statements[0].Span.End != 2 || doc.Files[0].Statements[0].Dialect != "sqlite" {
		t.Errorf("%+v, %v", doc, err)
	}
}
