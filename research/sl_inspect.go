package research

import (
	"context"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/research/semantic"
	"github.com/ktxhq/ktx/research/semantic/model"
)

// SLSourceInfo is a source in a list.
type SLSourceInfo struct {
	ConnectionID string `json:"connectionId"`
	Name         string `json:"name"`
	Origin       string `json:"origin"` // file, overlay or scan
	Valid        bool   `json:"valid"`
	Columns      int    `json:"columns"`
	Measures     int    `json:"measures"`
	Segments     int    `json:"segments"`
	File         string `json:"file"` // relative to semantic-layer/<connection>
	Description  string `json:"description"`
	// Joins are the sources that its joins lead to.
	Joins []string `json:"joins"`
}

// SLSources lists the sources of a connection, or of all connections of the caller.
func (s *Service) SLSources(ctx context.Context, connectionID string) ([]SLSourceInfo, error) {
	out := []SLSourceInfo{}
	err := s.eachModel(ctx, connectionID, func(info execution.ConnectionInfo, found *semantic.Snapshot) error {
		for _, source := range found.Model().Sources {
			if source.Denied {
				continue
			}
			origin := map[model.Form]string{model.Standalone: "file", model.Overlaid: "overlay", model.Manifest: "scan"}[source.Form]
			item := SLSourceInfo{
				ConnectionID: info.ID, Name: source.Name, Origin: origin, Valid: !source.Invalid,
				Measures: len(source.Measures), Segments: len(source.Segments), File: source.File, Description: source.Description, Joins: []string{},
			}
			for _, j := range source.Joins {
				if !j.Disabled && j.Target >= 0 && !found.Model().Sources[j.Target].Denied && !slices.Contains(item.Joins, j.To) {
					item.Joins = append(item.Joins, j.To)
				}
			}
			for _, c := range source.Columns {
				if c.Visibility != model.Hidden {
					item.Columns++
				}
			}
			out = append(out, item)
		}
		return nil
	})
	return out, err
}

// SLValidation says what is wrong with the files of the semantic layer.
type SLValidation struct {
	Valid    bool        `json:"valid"`
	Sources  int         `json:"sources"` // that were checked
	Problems []SLProblem `json:"problems"`
}

// SLProblem is something wrong in a file of a connection, or in its data.
type SLProblem struct {
	ConnectionID string `json:"connectionId"`
	model.Problem
}

// SLValidate checks the files of a connection, or of all connections of the caller. With
// a source, it reports the problems of that source alone.
func (s *Service) SLValidate(ctx context.Context, connectionID, source string) (SLValidation, error) {
	out := SLValidation{Problems: []SLProblem{}}
	known := false
	var last *model.Model
	err := s.eachModel(ctx, connectionID, func(info execution.ConnectionInfo, found *semantic.Snapshot) error {
		m := found.Model()
		last = m
		name := ""
		if source != "" {
			at, ok := m.Source(source)
			if !ok {
				return nil
			}
			name, known = m.Sources[at].Name, true
			out.Sources++
		} else {
			for _, s := range m.Sources {
				if !s.Denied {
					out.Sources++
				}
			}
		}
		for _, p := range m.Problems {
			if source == "" || p.Source == name {
				out.Problems = append(out.Problems, SLProblem{info.ID, p})
			}
		}
		return nil
	})
	if err == nil && source != "" && !known && last != nil {
		return out, unknownSource(last, source)
	}
	out.Valid = !slices.ContainsFunc(out.Problems, func(p SLProblem) bool { return !p.Warning })
	return out, err
}

// eachModel calls f with the model of the connection, or of each connection of the
// caller that has one.
func (s *Service) eachModel(ctx context.Context, connectionID string, f func(execution.ConnectionInfo, *semantic.Snapshot) error) error {
	scope, err := s.scope(ctx, connectionID)
	if err != nil {
		return err
	}
	for _, info := range scope {
		found, err := s.semanticLayer(ctx, info)
		if err != nil {
			return err
		}
		if len(found.Model().Sources) == 0 && len(found.Model().Problems) == 0 && connectionID == "" {
			continue
		}
		if err := f(info, found); err != nil {
			return err
		}
	}
	return nil
}

// SLCompiled is a request as SQL, which has not run.
type SLCompiled struct {
	ConnectionID string
	Dialect      string
	Compiled     *semantic.Compiled
}

// SLCompile compiles a request without running it. No database is asked.
func (s *Service) SLCompile(ctx context.Context, in SLQueryInput) (*SLCompiled, error) {
	info, err := s.semanticConnection(ctx, in.ConnectionID)
	if err != nil {
		return nil, err
	}
	compiled, err := s.compile(ctx, info, &in, in.limit())
	if err != nil {
		return nil, err
	}
	if err := s.sameTables(ctx, info, compiled); err != nil {
		return nil, err
	}
	return &SLCompiled{ConnectionID: info.ID, Dialect: info.Dialect, Compiled: compiled}, nil
}

// Explain returns the plan for people to read, in a few lines.
func (c *SLCompiled) Explain() string {
	return strings.TrimSuffix(c.Compiled.Explain(), "\n") + "\n"
}
