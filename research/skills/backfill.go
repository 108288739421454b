package skills

import (
	"context"
	"fmt"
)

// Backfill is what a back-fill finds and does.
type Backfill struct {
	Model   Model
	Skills  int // published
	Missing int // without a vector of the model before
	Made    int
}

// NoEmbedderError says that no embedding server is configured.
type NoEmbedderError struct{}

// Error says what to configure.
func (*NoEmbedderError) Error() string {
	return "no embedding server is configured; add to ktx.yaml: embeddings: {provider: ollama}"
}

// Backfill makes the vectors that published skills lack. Each batch is kept before the
// next is made, so that a back-fill that ends early goes on where it was. Vectors of
// another model, and of texts that have changed, are never used. begin is called once
// with the number of missing vectors, and done after each batch. With dry it makes
// nothing.
func (s *Store) Backfill(ctx context.Context, dry bool, begin, done func(n int)) (Backfill, error) {
	if s.embedder == nil {
		return Backfill{}, &NoEmbedderError{}
	}
	out := Backfill{Model: s.embedder.Model()}
	snapshot, err := s.catalog.Snapshot()
	if err != nil {
		return out, err
	}
	out.Skills = len(snapshot.skills)
	texts := make([]string, len(snapshot.skills))
	for i, k := range snapshot.skills {
		texts[i] = k.Text
	}
	missing, err := s.state.Missing(ctx, out.Model, texts)
	if err != nil {
		return out, fmt.Errorf("read the vectors: %w", err)
	}
	out.Missing = len(missing)
	if dry {
		return out, nil
	}
	begin(len(missing))
	for len(missing) > 0 {
		n := min(BatchSize, len(missing))
		made, err := s.embed(ctx, snapshot, out.Model, missing[:n])
		if out.Made += made; err != nil {
			return out, err
		}
		done(out.Made)
		missing = missing[n:]
	}
	if err := s.state.Publish(ctx, out.Model, texts); err != nil {
		return out, fmt.Errorf("keep which skills are published: %w", err)
	}
	return out, nil
}

// embed makes and keeps the vectors of some texts, and returns how many.
func (s *Store) embed(ctx context.Context, snapshot *Snapshot, model Model, texts []string) (int, error) {
	var vectors []Vector
	var documents []string
	for _, hash := range texts {
		document, err := snapshot.Document(snapshot.Text(hash))
		if err != nil {
			continue // it has just changed, and the next back-fill sees it
		}
		vectors, documents = append(vectors, Vector{Text: hash}), append(documents, document)
	}
	if len(documents) == 0 {
		return 0, nil
	}
	made, err := s.embedder.Documents(ctx, documents)
	if err != nil {
		return 0, err
	}
	for i := range vectors {
		vectors[i].Values = made[i]
	}
	if err := s.state.Put(ctx, model, vectors); err != nil {
		return 0, fmt.Errorf("keep the vectors: %w", err)
	}
	return len(vectors), nil
}
