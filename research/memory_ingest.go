package research

import (
	"context"
	"errors"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/research/memory"
	"github.com/ktxhq/ktx/research/semantic"
	"github.com/ktxhq/ktx/sqlguard"
)

// MemoryIngestInput is the input of memory_ingest.
type MemoryIngestInput struct {
	Content      string `json:"content"`
	ConnectionID string `json:"connectionId"`
}

// MemoryIngest is the answer of memory_ingest.
type MemoryIngest struct {
	RunID string `json:"runId"`
}

// MemoryIngest remembers a text as a page of the wiki. It returns when the run has
// ended; [Service.MemoryIngestStatus] says how. A text that is refused is an error
// with the code invalid_arguments.
func (s *Service) MemoryIngest(ctx context.Context, in MemoryIngestInput) (MemoryIngest, error) {
	r := memory.Request{Content: in.Content, ConnectionID: in.ConnectionID, Source: "mcp"}
	if in.ConnectionID != "" {
		if _, err := s.gateway.Connection(ctx, in.ConnectionID); err != nil {
			return MemoryIngest{}, err
		}
		sources, err := s.sourceNames(ctx, in.ConnectionID)
		if err != nil {
			return MemoryIngest{}, err
		}
		r.Sources = sources
		if hasSemantic(s) {
			r.Semantic = definitions{s}
		}
	}
	actor, _ := audit.ActorFrom(ctx)
	r.Client = actor.Client.Name
	if actor.Client.Transport == "cli" {
		r.Source = "cli"
	}
	id, err := s.stores.Load().Memory.Ingest(ctx, r)
	if invalid, ok := errors.AsType[*memory.InvalidError](err); ok {
		return MemoryIngest{}, &execution.Error{Code: sqlguard.CodeInvalidArguments, Message: invalid.Error(), Retryable: true}
	}
	if errors.Is(err, memory.ErrBusy) {
		return MemoryIngest{}, &execution.Error{Code: sqlguard.CodeBusy, Message: err.Error(), Retryable: true}
	}
	if errors.Is(err, context.Canceled) {
		return MemoryIngest{}, execution.NewError(sqlguard.CodeCancelled, "the call was cancelled before the text was taken", err)
	}
	if err != nil {
		return MemoryIngest{}, err
	}
	return MemoryIngest{RunID: id}, nil
}

// definitions writes the definitions of a text to the semantic layer.
type definitions struct{ service *Service }

// Write implements [memory.Semantic].
func (d definitions) Write(ctx context.Context, connectionID string, form memory.Form) (source string, paths []string, err error) {
	info, err := d.service.gateway.Connection(ctx, connectionID)
	if err != nil {
		return "", nil, err
	}
	rules, err := d.service.semanticRules(ctx, info)
	if err != nil {
		return "", nil, err
	}
	source, file, err := d.service.stores.Load().Semantic.Define(ctx, connectionID, rules, semantic.Definition{YAML: form.YAML, Name: form.Name, Expr: form.Expr})
	if err != nil {
		return "", nil, err
	}
	if file != "" {
		paths = []string{file}
	}
	return connectionID + "/" + source, paths, nil
}
