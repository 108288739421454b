package research

import (
	"log/slog"

	"github.com/ktxhq/ktx/execution"
)

// Service holds what the tools need. It is safe for concurrent use.
type Service struct {
	gateway *execution.Gateway
	logger  *slog.Logger
}

// New returns the service over gateway. The logger gets faults of handlers.
func New(gateway *execution.Gateway, logger *slog.Logger) *Service {
	return &Service{gateway: gateway, logger: logger}
}
