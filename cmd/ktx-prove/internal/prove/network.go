package prove

import (
	"fmt"
	"net"
	"slices"
	"sync"
	"time"
)

// documentNetworks are the blocks of addresses that are reserved for documents (RFC 5737).
// Cases name them, and port 9 of this machine, for servers that are not there.
var documentNetworks = []string{"192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"}

// servicePorts are the ports at which the addresses of documents answer.
var servicePorts = []string{"22", "80", "443", "1433", "3306", "5432", "6379", "8123", "9000", "27017"}

// network sees which addresses the statements connect to, in a network that only this
// program has. In the network of the machine it sees nothing, and own is false.
type network struct {
	own bool

	mu  sync.Mutex
	met []string
}

// alone is the network of this program.
var alone network

// listen answers at the addresses, and ends each connection at once.
func (n *network) listen() error {
	addresses := []string{"127.0.0.1:9", "127.0.0.1:9018", "127.0.0.1:9019"} // the last two are the bridges of ClickHouse
	for _, block := range documentNetworks {
		host, _, err := net.ParseCIDR(block)
		if err != nil {
			return fmt.Errorf("listen: %w", err)
		}
		host[len(host)-1] = 1
		for _, port := range servicePorts {
			addresses = append(addresses, net.JoinHostPort(host.String(), port))
		}
	}
	n.own = true
	for _, address := range addresses {
		if err := n.answer(address); err != nil {
			return err
		}
	}
	return nil
}

// answer answers at one more address, if the program has a network of its own.
func (n *network) answer(address string) error {
	if !n.own {
		return nil
	}
	l, err := net.Listen("tcp", address) //nolint:noctx // until the program ends
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			n.mu.Lock()
			n.met = append(n.met, "connection to "+address)
			n.mu.Unlock()
			_ = conn.Close() // The client learns that nobody is there.
		}
	}()
	return nil
}

// take returns what was connected to since the last call.
func (n *network) take() []string {
	if n.own {
		time.Sleep(20 * time.Millisecond) // a connection that was made is accepted by then
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	met := n.met
	n.met = nil
	slices.Sort(met)
	return slices.Compact(met)
}
