package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
)

// Problem is the body of every answer that reports an error.
type Problem struct {
	Code    string `json:"error"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// refuse answers with a problem.
func refuse(w http.ResponseWriter, status int, p Problem) { respond(w, status, p) }

// respond answers with JSON.
func respond(w http.ResponseWriter, status int, v any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil { // the server answers with no value that cannot be encoded
		status, b = http.StatusInternalServerError, bytes.Buffer{}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // the client may have left
}
