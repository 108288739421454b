// Package ollama makes vectors with a server of Ollama: POST /api/embed of
// https://github.com/ollama/ollama/blob/main/docs/api.md. It is the only part of the
// skills that uses the network, and only when ktx.yaml names it.
//
// A server that is dead, slow or wrong never makes a search fail: each question waits at
// most five seconds, and a breaker keeps the following ones from waiting at all.
package ollama
