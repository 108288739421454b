package daemon

import (
	"fmt"
	"net"
)

// NotifyVariable is the environment variable with the socket on which a service
// manager receives the states of a service.
const NotifyVariable = "NOTIFY_SOCKET"

// The states that [Notify] sends.
const (
	StateReady    = "READY=1"
	StateStopping = "STOPPING=1"
)

// Notify sends the state of this process to the service manager at socket, as
// sd_notify(3) defines it. It does nothing when socket is empty.
func Notify(socket, state string) error {
	if socket == "" {
		return nil
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"}) // a leading @ is an abstract address
	if err != nil {
		return fmt.Errorf("notify the service manager: %w", err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.Write([]byte(state)); err != nil {
		return fmt.Errorf("notify the service manager: %w", err)
	}
	return nil
}
