package report

import (
	"fmt"
	"strings"
	"sync"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/sqlcheck/migration"
	"github.com/ktxhq/ktx/sqlguard"
)

// Suppressible reports whether a comment in a file can suppress the findings of
// a code.
func Suppressible(info sqlguard.CodeInfo) bool {
	return info.Family == sqlguard.FamilyGuard || info.Family == migration.Family || info.Code == sqlguard.CodeDynamicSQLUnprovable
}

// maxHelpCases is the most cases of the corpus that a help lists.
const maxHelpCases = 12

// Help returns the documentation of a code, in Markdown: what it means and why,
// how to write the statement instead, how to suppress a finding, and the cases
// of the corpus. `ktx explain`, SARIF and docs/evidence/codes.md show this text.
func Help(info sqlguard.CodeInfo) string {
	text := info.Page
	switch {
	case Suppressible(info):
		text += fmt.Sprintf(permitting, info.Code)
	case info.Family == sqlguard.FamilyCheck:
		text += "\n## To permit it in a check\n\nFindings of this code cannot be permitted: mend what they say.\n"
	}
	if cases := Cases(info.Code); len(cases) > 0 {
		text += fmt.Sprintf("\n## Cases\n\n%d in the corpus (`ktx corpus show ID`): %s\n", len(cases), strings.Join(cases[:min(len(cases), maxHelpCases)], ", "))
	}
	return text
}

const permitting = `
## To permit it in a check

A comment in front of the statement, with a last day at most 180 days ahead:

` + "```" + `sql
-- ktx:allow %s until=YYYY-MM-DD reason="…"
` + "```" + `

It is for ` + "`ktx sql check`" + ` only. The gateway refuses the statement as before.
`

// Cases returns the ids of the corpus cases whose first code is code.
func Cases(code sqlguard.Code) []string {
	return append([]string{}, casesByCode()[string(code)]...)
}

// casesByCode are the ids of the cases by the first code of each.
var casesByCode = sync.OnceValue(func() map[string][]string {
	ids := map[string][]string{}
	for _, c := range corpus.Cases() {
		if len(c.Codes) > 0 {
			ids[c.Codes[0]] = append(ids[c.Codes[0]], c.ID)
		}
	}
	return ids
})

// plainHelp returns a help without Markdown.
func plainHelp(help string) string {
	var b strings.Builder
	code := false
	for line := range strings.Lines(help) {
		switch {
		case strings.HasPrefix(line, "```"):
			code = !code
			continue
		case code:
			b.WriteString("    " + line)
			continue
		}
		b.WriteString(plainMarks.Replace(strings.TrimLeft(line, "# ")))
	}
	return b.String()
}

var plainMarks = strings.NewReplacer("**", "", "`", "")
