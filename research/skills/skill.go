package skills

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The limits of a skill. Those of files and sizes are the ones that every host of the
// extension io.modelcontextprotocol/skills accepts.
const (
	MaxFiles = 512      // of a skill
	MaxBytes = 16 << 20 // of all files of a skill
	MaxText  = 512 << 10
	maxHead  = 16 << 10
	maxDepth = 8 // folders below that of the skill
	maxPath  = 255

	maxName          = 64
	maxDescription   = 1024 // characters
	maxCompatibility = 500  // characters
	maxItem          = 200  // characters of a value of metadata that ktx reads
	maxTags          = 20
)

// Main is the file that every skill has.
const Main = "SKILL.md"

// A Skill is one skill of the catalogue. It does not change.
type Skill struct {
	Name          string
	Description   string
	License       string
	Compatibility string
	Category      string
	Author        string
	ForkedFrom    string // the name of another skill
	Tags          []string
	// AllowedTools is what the skill says that it needs. ktx shows it and never acts
	// on it.
	AllowedTools []string
	// Frontmatter is the head of SKILL.md as JSON, with everything the author wrote.
	Frontmatter json.RawMessage
	// Path is the file SKILL.md as people know it, such as skills/review/SKILL.md.
	Path string
	// Files are all files, sorted by path, SKILL.md among them.
	Files []File
	// Text is the hash of what is embedded of the skill; see [Skill.Document].
	Text string

	draft bool
}

// A File is a file of a skill.
type File struct {
	Path   string // relative to the skill, with slashes
	Digest string // sha256: and 64 hexadecimal digits
	Size   int64
}

// File returns a file of the skill.
func (s *Skill) File(path string) (File, bool) {
	for _, f := range s.Files {
		if f.Path == path {
			return f, true
		}
	}
	return File{}, false
}

// Digest is that of SKILL.md.
func (s *Skill) Digest() string {
	f, _ := s.File(Main)
	return f.Digest
}

// A Problem is a rule that a skill breaks.
type Problem struct {
	Path    string `json:"path"` // of the file, or of the folder
	Line    int    `json:"line"` // from 1; 1 for a problem of the whole file
	Rule    Rule   `json:"rule"`
	Level   Level  `json:"level"`
	Message string `json:"message"`
}

// String is the problem as one line.
func (p Problem) String() string {
	return fmt.Sprintf("%s:%d: %s: %s (%s)", p.Path, p.Line, p.Level, p.Message, p.Rule)
}

// Level says how bad a [Problem] is.
type Level string

// The levels.
const (
	LevelError   Level = "error"   // the skill is not published
	LevelWarning Level = "warning" // the skill is published
)

// Rule names what a [Problem] is about.
type Rule string

// The rules.
const (
	RuleFolder        Rule = "folder"        // the folder of the skills or of a skill cannot be read
	RuleFile          Rule = "file"          // SKILL.md is missing, too large, or not text
	RuleLink          Rule = "link"          // a symbolic link leaves the skill
	RuleFileName      Rule = "file-name"     // a file name that no URI or terminal can show
	RuleLimits        Rule = "limits"        // too many files, too many bytes, too deep
	RuleHead          Rule = "head"          // the head is missing or is not YAML
	RuleKey           Rule = "key"           // a key that is given twice or not known
	RuleName          Rule = "name"          // of the skill
	RuleDescription   Rule = "description"   // of the skill
	RuleLicense       Rule = "license"       // of the skill
	RuleCompatibility Rule = "compatibility" // of the skill
	RuleMetadata      Rule = "metadata"      // of the skill
	RuleAllowedTools  Rule = "allowed-tools" // of the skill
	RuleHidden        Rule = "hidden"        // another skill has the name
	RuleArchive       Rule = "archive"       // an archive is not unpacked
	RuleBody          Rule = "body"          // there are no instructions
)

// validName reports whether a text may be the name of a skill, and otherwise says why
// not.
func validName(name string) (reason string) {
	switch {
	case name == "":
		return "it is empty"
	case len(name) > maxName:
		return fmt.Sprintf("it has %d characters; at most %d are allowed", len([]rune(name)), maxName)
	case strings.HasPrefix(name, "-") || strings.HasSuffix(name, "-"):
		return "it begins or ends with a hyphen"
	case strings.Contains(name, "--"):
		return "it has two hyphens in a row"
	}
	for i := range len(name) {
		if c := name[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return "only lower-case letters a to z, digits and hyphens are allowed"
		}
	}
	return ""
}

// ValidName reports whether a text may be the name of a skill: 1 to 64 lower-case
// letters, digits and single hyphens between them.
func ValidName(name string) bool { return validName(name) == "" }
