// Package network makes the errors for a connection to a server that broke, or
// that could not be made. Their messages never name the server's address. It also
// tells which addresses are of this machine.
package network

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/pool"
	"github.com/ktxhq/ktx/sqlguard"
)

// Faults is what a backend knows about the errors of its connections.
type Faults struct {
	// OtherHost says what the operator must do when the server's certificate is
	// for another host name. Authority says the same for a certificate that no
	// trusted authority signed.
	OtherHost, Authority string
	// Own returns the reason and the hint for every other error that a second
	// try meets again. Both are empty for an error that a second try may avoid.
	Own func(err error) (reason, hint string)
	// Told are the errors whose own text says what broke.
	Told []error
}

// Lost returns the error for a connection that broke during a statement. When
// err is an error of the server, which has the type E, said turns it into the
// error that is returned; database_error then becomes connection_lost.
func Lost[E error](f *Faults, err error, said func(E) *execution.Error) *execution.Error {
	if e, ok := errors.AsType[E](err); ok {
		out := said(e)
		if out.Code == sqlguard.CodeDatabaseError {
			out.Code, out.Retryable = sqlguard.CodeConnectionLost, true
		}
		return out
	}
	return execution.NewError(sqlguard.CodeConnectionLost, "the connection to the server broke: "+f.Reason(err), err)
}

// Untrusted returns the error for a statement whose answer cannot be trusted. The
// backend closes its connection. The error does not say that the statement had
// no effect, because the statement may have committed.
func Untrusted(what string, cause error) *execution.Error {
	out := execution.NewError(sqlguard.CodeDatabaseError, what+"; the connection was closed and the answer is not used", cause)
	out.Retryable = false
	return out
}

// Unconnected returns the error for a connection that could not be made, or whose
// caller no longer waits. err names the host, and is kept for logs only.
func (f *Faults) Unconnected(ctx context.Context, err error) *execution.Error {
	reason := context.Cause(ctx)
	if end, ok := ctx.Deadline(); ok && reason == nil && !time.Now().Before(end) {
		reason = context.DeadlineExceeded // the network's timer fired before the context's
	}
	switch {
	case reason == nil:
	case errors.Is(reason, context.DeadlineExceeded):
		return execution.NoConnection("the caller's deadline passed while connecting", err)
	case errors.Is(reason, pool.ErrClosing), errors.Is(reason, pool.ErrNoConnection):
		return pool.Ended(reason, err, 0)
	default:
		return execution.NewError(sqlguard.CodeCancelled, "the caller cancelled while connecting", err)
	}
	out := execution.NewError(sqlguard.CodeConnectionLost, "cannot connect to the server: "+f.Reason(err), err)
	if _, hint := f.lasting(err); hint != "" {
		out.Retryable, out.Hint = false, hint
	}
	if NoDescriptors(err) {
		out.Hint = "try again when fewer calls run; the operator can raise the limit of open files (ulimit -n)"
	}
	return out
}

// Reason returns the reason why a connection broke.
func (f *Faults) Reason(err error) string {
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		if e.IsNotFound {
			return "its host name is not known"
		}
		return "its host name could not be looked up"
	}
	if reason, _ := f.lasting(err); reason != "" {
		return reason
	}
	if NoDescriptors(err) {
		return "this process has no file descriptor left for it"
	}
	timeout, isNet := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "it refuses connections"
	case errors.Is(err, syscall.ENOENT):
		return "its socket is not there"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), isNet && timeout.Timeout():
		return "it did not answer in time"
	}
	for _, told := range f.Told {
		if errors.Is(err, told) {
			return err.Error()
		}
	}
	return "it closed the connection"
}

// NoDescriptors reports whether an error is due to this process or this machine
// having no file descriptor left.
func NoDescriptors(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// lasting returns the reason and the hint for an error that a second try meets
// again.
func (f *Faults) lasting(err error) (reason, hint string) {
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "its certificate is for another host name", f.OtherHost
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "its certificate is not of an authority that is trusted here, or not valid now", f.Authority
	}
	return f.Own(err)
}
