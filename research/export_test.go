package research

// Schema and the functions below are the validation of arguments.
type Schema = schema

// DecodeArguments decodes the arguments of a call.
var DecodeArguments = decodeArguments

// OnlyTexts reports whether arguments need no validation.
func (s *schema) OnlyTexts(raw []byte) bool { return s.onlyTexts(raw) }
