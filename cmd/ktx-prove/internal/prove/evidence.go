package prove

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/corpus"
)

// evidence converts a report to evidence of the corpus.
func evidence(r Report, engine, version, date string) []corpus.Evidence {
	var list []corpus.Evidence
	for _, o := range r.Observations {
		list = append(list, corpus.Evidence{
			Engine: engine, Version: version, Role: o.Attempt.Role, Tx: o.Attempt.Tx(),
			Outcome: o.Outcome.Text(), Probe: o.Outcome.Probe(), Date: date,
		})
	}
	return list
}

// major returns the part of a version that evidence is kept for. Evidence of a
// newer patch release replaces that of an older one.
func major(engine, version string) string {
	parts := strings.SplitN(version, ".", 3)
	if engine != "postgresql" && len(parts) > 1 {
		return parts[0] + "." + parts[1]
	}
	return parts[0]
}

// merge returns old with the evidence for the same engine and major version
// replaced by fresh, folded.
func merge(old, fresh []corpus.Evidence) []corpus.Evidence {
	all := slices.DeleteFunc(slices.Clone(old), func(e corpus.Evidence) bool {
		return slices.ContainsFunc(fresh, func(f corpus.Evidence) bool {
			return f.Engine == e.Engine && major(f.Engine, f.Version) == major(e.Engine, e.Version)
		})
	})
	return fold(append(all, fresh...))
}

// together separates the names of roles, or of transactions, with the same
// observation.
const together = ", "

// fold joins observations that differ only in role or transaction to one entry.
// Four attempts with the same result become one line. An entry applies to each
// of its roles in each of its transactions.
func fold(list []corpus.Evidence) []corpus.Evidence {
	var folded []corpus.Evidence
	// First join the transactions of a role, then the roles with the same
	// transactions.
	for i, names := range []func(*corpus.Evidence) *string{
		func(e *corpus.Evidence) *string { return &e.Tx },
		func(e *corpus.Evidence) *string { return &e.Role },
	} {
		if i > 0 {
			list = folded
		}
		folded = nil
		for _, e := range list {
			at := slices.IndexFunc(folded, func(f corpus.Evidence) bool {
				*names(&f) = *names(&e)
				return f == e
			})
			if at < 0 {
				folded = append(folded, e)
				continue
			}
			for name := range strings.SplitSeq(*names(&e), together) {
				if into := names(&folded[at]); !slices.Contains(strings.Split(*into, together), name) {
					*into += together + name
				}
			}
		}
	}
	return folded
}

// writeEvidence rewrites a class file with the evidence of the cases in fresh.
// It changes no other byte.
func writeEvidence(file classFile, fresh map[string][]corpus.Evidence) error {
	doc, err := os.ReadFile(file.path)
	if err != nil {
		return fmt.Errorf("read the class file: %w", err)
	}
	changed, err := insertEvidence(doc, fresh)
	if err != nil {
		return fmt.Errorf("%s: %w", file.path, err)
	}
	if bytes.Equal(doc, changed) {
		return nil
	}
	next, err := os.CreateTemp(filepath.Dir(file.path), ".evidence-*")
	if err != nil {
		return fmt.Errorf("write the class file: %w", err)
	}
	defer func() { _ = os.Remove(next.Name()) }() // fails after the rename
	_, err = next.Write(changed)
	if closeErr := next.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Chmod(next.Name(), 0o644) //nolint:gosec // as every file of the checkout
	}
	if err == nil {
		err = os.Rename(next.Name(), file.path)
	}
	if err != nil {
		return fmt.Errorf("write the class file: %w", err)
	}
	return nil
}

// insertEvidence does what writeEvidence does, on text. It compares its result
// with doc, and fails if anything except evidence differs.
func insertEvidence(doc []byte, fresh map[string][]corpus.Evidence) ([]byte, error) {
	before, err := decodeClassFile("", doc)
	if err != nil {
		return nil, err
	}
	lines := strings.SplitAfter(string(doc), "\n")
	var out strings.Builder
	for i := 0; i < len(lines); {
		end := i + 1
		id, starts := caseID(lines[i])
		for starts && end < len(lines) && inCase(lines[end]) {
			end++
		}
		at := slices.IndexFunc(before, func(c corpus.Case) bool { return c.ID == id })
		if !starts || at < 0 || len(fresh[id]) == 0 {
			out.WriteString(strings.Join(lines[i:end], ""))
		} else {
			out.WriteString(withEvidence(lines[i:end], merge(before[at].Evidence, fresh[id])))
		}
		i = end
	}
	result := []byte(out.String())
	after, err := decodeClassFile("", result)
	if err != nil {
		return nil, fmt.Errorf("the text with evidence cannot be read: %w", err)
	}
	if len(after) != len(before) {
		return nil, fmt.Errorf("the text with evidence has %d cases instead of %d", len(after), len(before))
	}
	for i, c := range before {
		if len(fresh[c.ID]) > 0 {
			c.Evidence = merge(c.Evidence, fresh[c.ID])
		}
		if !reflect.DeepEqual(c, after[i]) {
			return nil, fmt.Errorf("%s would not be what it was", c.ID)
		}
	}
	return result, nil
}

// caseID returns the ID if line is the first line of a case.
func caseID(line string) (string, bool) {
	id, ok := strings.CutPrefix(line, "  - id: ")
	return strings.TrimSpace(id), ok
}

// inCase reports whether a line belongs to the case above it. An empty line
// does, because it may be part of a text.
func inCase(line string) bool {
	return strings.HasPrefix(line, "    ") || line == "\n" || line == "\r\n"
}

// withEvidence returns the lines of one case with its evidence replaced by
// list. New evidence is put before the benign twin.
func withEvidence(lines []string, list []corpus.Evidence) string {
	var text strings.Builder
	text.WriteString("    evidence:\n")
	for _, e := range list {
		text.WriteString("      - " + flow(e) + "\n")
	}
	from := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "    evidence:") })
	to := from + 1
	if from >= 0 {
		for to < len(lines) && strings.HasPrefix(lines[to], "     ") {
			to++
		}
	} else {
		from = slices.IndexFunc(lines, func(l string) bool {
			return strings.HasPrefix(l, "    benign_twin:") || strings.HasPrefix(l, "    since:")
		})
		if from < 0 { // after the last field and before the blank lines
			from = len(lines)
			for from > 1 && strings.TrimSpace(lines[from-1]) == "" {
				from--
			}
		}
		to = from
	}
	return strings.Join(lines[:from], "") + text.String() + strings.Join(lines[to:], "")
}

// flow returns an observation as one line of YAML, with every value in quotes.
func flow(e corpus.Evidence) string {
	var fields []string
	for _, f := range []struct{ name, value string }{
		{"engine", e.Engine},
		{"version", e.Version},
		{"role", e.Role},
		{"tx", e.Tx},
		{"outcome", e.Outcome},
		{"probe", e.Probe},
		{"date", e.Date},
		{"source", e.Source},
		{"ref", e.Ref},
	} {
		if f.value == "" {
			continue
		}
		quoted, err := json.Marshal(f.value) // A string can always be encoded.
		if err != nil {
			continue
		}
		fields = append(fields, f.name+": "+string(quoted))
	}
	return "{" + strings.Join(fields, ", ") + "}"
}
