package research

import (
	"context"

	"github.com/ktxhq/ktx/research/upstream"
)

// ServerListInput is the input of server_list.
type ServerListInput struct{}

// ServerList is the answer of server_list.
type ServerList struct {
	Servers []upstream.ServerInfo `json:"servers"`
}

// ServerList returns the other MCP servers, by name. It connects to none.
func (s *Service) ServerList(ctx context.Context, _ ServerListInput) (ServerList, error) {
	return ServerList{Servers: s.stores.Load().Upstream.Servers(ctx)}, nil
}
