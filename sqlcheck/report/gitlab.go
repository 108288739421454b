package report

import "io"

// GitLab's code quality report is a list of issues, each with a unique
// fingerprint (GitLab documentation, Code Quality, "Code Quality report
// format").
type (
	gitLabIssue struct {
		Description string         `json:"description"`
		CheckName   string         `json:"check_name"`
		Fingerprint string         `json:"fingerprint"`
		Severity    string         `json:"severity"`
		Location    gitLabLocation `json:"location"`
	}
	gitLabLocation struct {
		Path      string          `json:"path"`
		Positions gitLabPositions `json:"positions"`
	}
	gitLabPositions struct {
		Begin gitLabPosition `json:"begin"`
		End   gitLabPosition `json:"end"`
	}
	gitLabPosition struct {
		Line   int `json:"line"`
		Column int `json:"column"`
	}
)

func writeGitLab(w io.Writer, c *Check) error {
	issues := []gitLabIssue{}
	for i := range c.Files {
		file := &c.Files[i]
		names := identities(file)
		for j := range file.Findings {
			f := &file.Findings[j]
			if !c.All && !f.Counts() {
				continue
			}
			issues = append(issues, gitLabIssue{
				Description: printable(f.advice()), CheckName: string(f.Code), Fingerprint: names[j],
				Severity: map[Severity]string{SeverityError: "critical", SeverityWarning: "minor", SeverityNote: "info"}[f.Severity],
				Location: gitLabLocation{file.Path, gitLabPositions{gitLabPosition{f.Line, f.Column}, gitLabPosition{f.EndLine, f.EndColumn}}},
			})
		}
	}
	e := encoder(w)
	e.SetIndent("", "  ")
	return e.Encode(issues) //nolint:wrapcheck // Write says what it did
}
