package daemon

import (
	"fmt"
	"net"
)

// NotifyVariable names the socket on which a service manager waits for the
// states of a service.
const NotifyVariable = "NOTIFY_SOCKET"

// The states that [Notify] tells.
const (
	StateReady    = "READY=1"
	StateStopping = "STOPPING=1"
)

// Notify tells the service manager at socket the state of this process, as
// sd_notify(3) defines it. Without a socket there is none to tell.
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
