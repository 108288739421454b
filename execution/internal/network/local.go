package network

import (
	"net"
	"strings"
)

// Local reports whether host is this machine: localhost or a loopback address.
func Local(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
