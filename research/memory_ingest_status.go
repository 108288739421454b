package research

import (
	"context"
	"errors"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/research/memory"
	"github.com/ktxhq/ktx/sqlguard"
)

// MemoryIngestStatusInput is the input of memory_ingest_status.
type MemoryIngestStatusInput struct {
	RunID string `json:"runId"`
}

// MemoryIngestStatus is the answer of memory_ingest_status.
type MemoryIngestStatus struct {
	RunID          string          `json:"runId"`
	Status         memory.Status   `json:"status"`
	Stage          memory.Stage    `json:"stage"`
	Done           bool            `json:"done"`
	Captured       memory.Captured `json:"captured"`
	Error          *string         `json:"error"`
	CommitHash     *string         `json:"commitHash"`
	SignalDetected bool            `json:"signalDetected"`
	Signals        memory.Signals  `json:"signals"`
}

// MemoryIngestStatus returns what became of a run of [Service.MemoryIngest]. A run
// for a connection that the caller may not use is not found.
func (s *Service) MemoryIngestStatus(ctx context.Context, in MemoryIngestStatusInput) (MemoryIngestStatus, error) {
	run, err := s.stores.Load().Memory.Run(in.RunID)
	if err == nil && run.ConnectionID != "" {
		if _, unknown := s.gateway.Connection(ctx, run.ConnectionID); unknown != nil {
			err = memory.ErrNoRun
		}
	}
	if errors.Is(err, memory.ErrNoRun) {
		return MemoryIngestStatus{}, &execution.Error{
			Code: sqlguard.CodeNotFound, Message: "no run has this id", Retryable: true, Hint: "use the runId that memory_ingest returned",
		}
	}
	if err != nil {
		return MemoryIngestStatus{}, err
	}
	return MemoryIngestStatus{
		RunID: run.RunID, Status: run.Status, Stage: run.Stage, Done: run.Done, Captured: run.Captured, Error: run.Error,
		CommitHash: run.CommitHash, SignalDetected: run.SignalDetected, Signals: run.Signals,
	}, nil
}
