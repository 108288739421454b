package audit

// OpenWith is Open with another way to flush.
var OpenWith = open
