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

// New returns a service that runs statements through gateway. The logger gets
// panics of tools.
func New(gateway *execution.Gateway, logger *slog.Logger) *Service {
	return &Service{gateway: gateway, logger: logger}
}
