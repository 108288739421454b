package research

import "context"

// ConnectionListInput is the input of connection_list, which has no arguments.
type ConnectionListInput struct{}

// ConnectionList is the answer of connection_list.
type ConnectionList struct {
	Connections []ConnectionEntry `json:"connections"`
}

// ConnectionEntry is one configured connection.
type ConnectionEntry struct {
	ID             string `json:"id"`
	Name           string `json:"name"`
	ConnectionType string `json:"connectionType"`        // POSTGRESQL, SQLITE, …
	Description    string `json:"description,omitempty"` // from the configuration
}

// ConnectionList lists the connections that the caller may use, sorted by id.
func (s *Service) ConnectionList(ctx context.Context, _ ConnectionListInput) (ConnectionList, error) {
	out := ConnectionList{Connections: []ConnectionEntry{}}
	for _, c := range s.gateway.Connections(ctx) {
		out.Connections = append(out.Connections, ConnectionEntry{ID: c.ID, Name: c.Name, ConnectionType: c.Engine, Description: c.Description})
	}
	return out, nil
}
