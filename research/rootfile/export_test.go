package rootfile

// CreateWith is [Create] over other functions of a file system.
var CreateWith = create
