package research

import (
	"context"
	"encoding/json"
)

// ConnectionList is the answer of connection_list.
type ConnectionList struct {
	Connections []ConnectionEntry `json:"connections"`
}

// ConnectionEntry is one configured connection.
type ConnectionEntry struct {
	ID             string `json:"id"`
	Name           string `json:"name"`
	ConnectionType string `json:"connectionType"` // POSTGRESQL, SQLITE, …
}

// ConnectionList lists the configured connections by id.
func (s *Service) ConnectionList(ctx context.Context) ConnectionList {
	out := ConnectionList{Connections: []ConnectionEntry{}}
	for _, c := range s.gateway.Connections(ctx) {
		out.Connections = append(out.Connections, ConnectionEntry{ID: c.ID, Name: c.Name, ConnectionType: c.Engine})
	}
	return out
}

func (s *Service) handleConnectionList(ctx context.Context, c *toolCall) (json.RawMessage, error) {
	if err := c.decode(&struct{}{}); err != nil {
		return nil, err
	}
	return compactJSON(s.ConnectionList(ctx))
}
