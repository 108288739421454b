// Package lsp shows the findings of a check in an editor, over the Language Server
// Protocol: diagnostics as somebody types, the explanation of a code on hover, and
// code actions that permit a finding or make a certain rewrite.
//
//	s := lsp.Server{Check: check, Version: version}
//	err := s.Serve(ctx, stream)
//
// It reads what the editor sends and nothing else: it opens no file, and it writes
// none, because the editor makes the edits. It offers no formatting.
package lsp
