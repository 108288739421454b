package skills

import "context"

// Embedder makes vectors of texts.
type Embedder interface {
	// Model names what makes the vectors.
	Model() Model
	// Documents returns the vectors of texts that are searched, in their order.
	Documents(ctx context.Context, texts []string) ([][]float32, error)
	// Query returns the vector of a question. It does not wait longer than some seconds,
	// and not at all while the server is known not to answer.
	Query(ctx context.Context, text string) ([]float32, error)
}

// BatchSize is how many texts are embedded at once.
const BatchSize = 16
