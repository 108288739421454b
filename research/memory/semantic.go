package memory

import (
	"context"
	"fmt"
	"strings"
)

// Semantic writes definitions to the semantic layer.
type Semantic interface {
	// Write writes a form as an overlay of the source that it is about, after it has
	// validated the whole of it. It returns the source, as connection/source, and
	// the files that it wrote, relative to the project. If the form cannot be
	// written, the error says why, and nothing has changed.
	Write(ctx context.Context, connectionID string, form Form) (source string, paths []string, err error)
}

// A Form is an exact definition in a text: a block of YAML, or a name and an
// expression.
type Form struct {
	YAML string // a block that defines measures or segments, or ""
	Name string // of a measure that is defined as Name = Expr
	Expr string
	Line int // in the text, from 1
}

// The limits of forms.
const (
	maxForms    = 20   // of a text
	maxFormLine = 1000 // bytes of a line name = expression
)

var (
	yamlForm = lazily(`(?m)^\s*-?\s*(measures|segments)\s*:`)
	equation = lazily(`^\s*(?:[-*]\s+)?[` + "`" + `*]*([\p{L}][\p{L}\p{N}_ -]{0,60}?)[` + "`" + `*]*\s*:?=\s*[` + "`" + `]?([^=` + "`" + `]{3,500})[` + "`" + `]?\s*\.?$`)
	applied  = lazily(`(?i)\b(sum|count|avg|min|max|median|count_distinct)\s*\(`)
)

// Forms returns the exact definitions in a text, in order.
func Forms(content string) []Form {
	var out []Form
	var block []string
	start, language := 0, ""
	flush := func() {
		if text := strings.Join(block, "\n"); (language == "yaml" || language == "yml") && yamlForm().MatchString(text) {
			out = append(out, Form{YAML: text + "\n", Line: start})
		}
		block, start, language = nil, 0, ""
	}
	for _, l := range textLines(content) {
		switch {
		case len(out) == maxForms:
			return out
		case l.fence || !l.code && start > 0:
			flush()
		case l.code:
			if start == 0 {
				start, language = l.number, l.language
			}
			block = append(block, l.text)
		}
		if l.code || len(l.text) > maxFormLine {
			continue
		}
		if m := equation().FindStringSubmatch(l.text); m != nil && applied().MatchString(m[2]) {
			out = append(out, Form{Name: strings.TrimSpace(m[1]), Expr: strings.TrimSpace(m[2]), Line: l.number})
		}
	}
	flush()
	return out
}

// define writes the exact definitions of a text to the semantic layer.
func (s *Store) define(ctx context.Context, run *Run, state *state, r Request) error {
	forms := Forms(r.Content)
	switch {
	case len(forms) == 0:
		if run.Signals.SL {
			run.note("semantic layer: nothing is written, because the text has no exact definition (a block of YAML with measures or segments, or name = expression)")
		}
		return nil
	case r.ConnectionID == "":
		run.note("semantic layer: nothing is written, because no connection was named")
		return nil
	case r.Semantic == nil:
		run.note("semantic layer: nothing is written, because there is none")
		return nil
	}
	for _, form := range forms {
		source, paths, err := r.Semantic.Write(ctx, r.ConnectionID, form)
		if err != nil {
			run.note(fmt.Sprintf("semantic layer: line %d is not written: %v", form.Line, err))
			continue
		}
		if err := s.wrote(state, paths...); err != nil {
			return err
		}
		run.Captured.SL = appendNew(run.Captured.SL, source)
		run.Captured.Xrefs = appendNew(run.Captured.Xrefs, source)
	}
	return nil
}
