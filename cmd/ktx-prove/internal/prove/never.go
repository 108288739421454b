package prove

import "maps"

// never are the cases that are not run on any engine, each with the reason.
var never = map[string]string{
	"KTX-PG-UNL-0007":   "makes a value of a gigabyte, which the server holds several times over",
	"KTX-LITE-ATT-0005": "writes a file under a name that cannot be known beforehand, so that it could not be removed",
}

// remote are the cases that are run only in a network that leads nowhere.
var remote = map[string]bool{"KTX-PG-FN-0008": true}

// Never returns the cases that are not run, each with the reason.
func Never() map[string]string {
	return maps.Clone(never)
}
