package research

import (
	"context"
	"errors"
	"fmt"

	"github.com/ktxhq/ktx/research/semantic/interchange"
)

// SLImport writes the sources of a semantic model of another tool to the semantic layer
// of a connection, and says what it left out. Format is dbt or osi. It never replaces a
// file. With dry, it writes nothing.
func (s *Service) SLImport(ctx context.Context, connectionID, format string, content []byte, dry bool) (*interchange.Result, error) {
	info, err := s.semanticConnection(ctx, connectionID)
	if err != nil {
		return nil, err
	}
	rules, err := s.semanticRules(ctx, info)
	if err != nil {
		return nil, err
	}
	found, err := s.semanticLayer(ctx, info)
	if err != nil {
		return nil, err
	}
	read := map[string]func([]byte, interchange.Options) (*interchange.Result, error){"dbt": interchange.FromDBT, "osi": interchange.FromOSI}[format]
	if read == nil {
		return nil, fmt.Errorf("import of %q: the format is not known", format)
	}
	out, err := read(content, interchange.Options{Load: found.With(rules.Judge), Has: found.Has, Dialect: info.Dialect})
	if err != nil || dry {
		return out, err
	}
	store := s.stores.Load().Semantic
	for i, f := range out.Files {
		if err := store.Add(info.ID, f.Name, f.Content); err != nil {
			all := len(out.Files)
			out.Files = out.Files[:i]
			return out, errors.Join(fmt.Errorf("after %d of %d files", i, all), err)
		}
	}
	return out, nil
}
