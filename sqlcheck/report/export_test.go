package report

// Indented is for tests.
var Indented = indented
