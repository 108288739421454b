package setup

import (
	_ "embed"
	"fmt"
	"strconv"
)

// SkillName is the name of the skill.
const SkillName = "ktx-analytics"

// skillBody is the same in every client's file.
//
//go:embed skill.md
var skillBody string

// skillTriggers tells an agent when to read the skill.
const skillTriggers = "Answer questions about data in SQL databases through the ktx MCP server. Use it whenever the user asks about " +
	"data, metrics, numbers, revenue, customers, orders, trends, a report, a table, a schema or a column, wants SQL written, run, " +
	"checked or repaired, or states a fact about the data."

// SkillText is the skill as the file SKILL.md.
func SkillText() []byte { return skillFile() }

// skillFile is the skill in the form that most clients share: SKILL.md.
func skillFile() []byte {
	return fmt.Appendf(nil, "---\nname: %s\ndescription: %s\n---\n\n%s", SkillName, strconv.Quote(skillTriggers), skillBody)
}

// cursorRule is the skill as a rule of Cursor, which its agent reads when the
// description fits.
func cursorRule() []byte {
	return fmt.Appendf(nil, "---\ndescription: %s\nalwaysApply: false\n---\n\n%s", strconv.Quote(skillTriggers), skillBody)
}

// opencodeCommand is the skill as a command of opencode.
func opencodeCommand() []byte {
	return fmt.Appendf(nil, "---\ndescription: %s\n---\n\n%s", strconv.Quote(skillTriggers), skillBody)
}
