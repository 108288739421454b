package research

import (
	"context"
	"errors"
	"fmt"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/research/semantic/draft"
	"github.com/ktxhq/ktx/research/semantic/model"
	"github.com/ktxhq/ktx/sqlguard"
)

// SLInit drafts measures for sources of a connection that a scan found and that have no
// file yet, or for those that are named. With dry, it writes nothing.
func (s *Service) SLInit(ctx context.Context, connectionID string, sources []string, dry bool) ([]draft.File, error) {
	info, err := s.semanticConnection(ctx, connectionID)
	if err != nil {
		return nil, err
	}
	found, err := s.semanticLayer(ctx, info)
	if err != nil {
		return nil, err
	}
	m := found.Model()
	if len(m.Sources) == 0 {
		return nil, &execution.Error{Code: sqlguard.CodeNotFound, Message: fmt.Sprintf("connection %s has no sources to draft measures for", info.ID), Hint: "run: ktx scan " + info.ID}
	}
	var named []int
	for _, name := range sources {
		at, ok := m.Source(name)
		if !ok {
			return nil, unknownSource(m, name)
		}
		if m.Sources[at].Form != model.Manifest {
			return nil, &execution.Error{Code: sqlguard.CodeInvalidArguments, Message: fmt.Sprintf("source %s has a file already: %s", m.Sources[at].Name, m.Sources[at].File), Hint: "edit the file"}
		}
		named = append(named, at)
	}
	files, err := draft.Files(m, named, found.Has)
	if err != nil {
		return nil, err
	}
	if dry {
		return files, nil
	}
	store := s.stores.Load().Semantic
	for i := range files {
		if err := store.Add(info.ID, files[i].Name, files[i].Content); err != nil {
			return files[:i], errors.Join(fmt.Errorf("after %d of %d files", i, len(files)), err)
		}
	}
	return files, nil
}
