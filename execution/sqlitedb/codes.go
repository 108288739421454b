package sqlitedb

import (
	"fmt"

	"github.com/ncruces/go-sqlite3"
)

// codeName returns the name of a result code, such as SQLITE_READONLY_ROLLBACK
// (https://sqlite.org/rescode.html). For an extended code that is not listed it
// returns the name of the primary code.
func codeName(code sqlite3.ExtendedErrorCode) string {
	if name, ok := extendedNames[code]; ok {
		return "SQLITE_" + name
	}
	if name, ok := primaryNames[code.Code()]; ok {
		return "SQLITE_" + name
	}
	return fmt.Sprintf("SQLITE_%d", code)
}

var primaryNames = map[sqlite3.ErrorCode]string{
	sqlite3.ERROR:      "ERROR",
	sqlite3.INTERNAL:   "INTERNAL",
	sqlite3.PERM:       "PERM",
	sqlite3.ABORT:      "ABORT",
	sqlite3.BUSY:       "BUSY",
	sqlite3.LOCKED:     "LOCKED",
	sqlite3.NOMEM:      "NOMEM",
	sqlite3.READONLY:   "READONLY",
	sqlite3.INTERRUPT:  "INTERRUPT",
	sqlite3.IOERR:      "IOERR",
	sqlite3.CORRUPT:    "CORRUPT",
	sqlite3.NOTFOUND:   "NOTFOUND",
	sqlite3.FULL:       "FULL",
	sqlite3.CANTOPEN:   "CANTOPEN",
	sqlite3.PROTOCOL:   "PROTOCOL",
	sqlite3.EMPTY:      "EMPTY",
	sqlite3.SCHEMA:     "SCHEMA",
	sqlite3.TOOBIG:     "TOOBIG",
	sqlite3.CONSTRAINT: "CONSTRAINT",
	sqlite3.MISMATCH:   "MISMATCH",
	sqlite3.MISUSE:     "MISUSE",
	sqlite3.NOLFS:      "NOLFS",
	sqlite3.AUTH:       "AUTH",
	sqlite3.FORMAT:     "FORMAT",
	sqlite3.RANGE:      "RANGE",
	sqlite3.NOTADB:     "NOTADB",
	sqlite3.NOTICE:     "NOTICE",
	sqlite3.WARNING:    "WARNING",
}

var extendedNames = map[sqlite3.ExtendedErrorCode]string{
	sqlite3.ERROR_MISSING_COLLSEQ: "ERROR_MISSING_COLLSEQ",
	sqlite3.ERROR_RETRY:           "ERROR_RETRY",
	sqlite3.ERROR_SNAPSHOT:        "ERROR_SNAPSHOT",
	sqlite3.ABORT_ROLLBACK:        "ABORT_ROLLBACK",
	sqlite3.BUSY_RECOVERY:         "BUSY_RECOVERY",
	sqlite3.BUSY_SNAPSHOT:         "BUSY_SNAPSHOT",
	sqlite3.BUSY_TIMEOUT:          "BUSY_TIMEOUT",
	sqlite3.LOCKED_SHAREDCACHE:    "LOCKED_SHAREDCACHE",
	sqlite3.LOCKED_VTAB:           "LOCKED_VTAB",
	sqlite3.READONLY_RECOVERY:     "READONLY_RECOVERY",
	sqlite3.READONLY_CANTLOCK:     "READONLY_CANTLOCK",
	sqlite3.READONLY_ROLLBACK:     "READONLY_ROLLBACK",
	sqlite3.READONLY_DBMOVED:      "READONLY_DBMOVED",
	sqlite3.READONLY_CANTINIT:     "READONLY_CANTINIT",
	sqlite3.READONLY_DIRECTORY:    "READONLY_DIRECTORY",
	sqlite3.CANTOPEN_NOTEMPDIR:    "CANTOPEN_NOTEMPDIR",
	sqlite3.CANTOPEN_ISDIR:        "CANTOPEN_ISDIR",
	sqlite3.CANTOPEN_FULLPATH:     "CANTOPEN_FULLPATH",
	sqlite3.CANTOPEN_SYMLINK:      "CANTOPEN_SYMLINK",
	sqlite3.CORRUPT_VTAB:          "CORRUPT_VTAB",
	sqlite3.CORRUPT_SEQUENCE:      "CORRUPT_SEQUENCE",
	sqlite3.CORRUPT_INDEX:         "CORRUPT_INDEX",
	sqlite3.IOERR_READ:            "IOERR_READ",
	sqlite3.IOERR_SHORT_READ:      "IOERR_SHORT_READ",
	sqlite3.IOERR_WRITE:           "IOERR_WRITE",
	sqlite3.IOERR_FSTAT:           "IOERR_FSTAT",
	sqlite3.IOERR_UNLOCK:          "IOERR_UNLOCK",
	sqlite3.IOERR_RDLOCK:          "IOERR_RDLOCK",
	sqlite3.IOERR_NOMEM:           "IOERR_NOMEM",
	sqlite3.IOERR_ACCESS:          "IOERR_ACCESS",
	sqlite3.IOERR_LOCK:            "IOERR_LOCK",
	sqlite3.IOERR_SHMOPEN:         "IOERR_SHMOPEN",
	sqlite3.IOERR_SHMSIZE:         "IOERR_SHMSIZE",
	sqlite3.IOERR_SHMLOCK:         "IOERR_SHMLOCK",
	sqlite3.IOERR_SHMMAP:          "IOERR_SHMMAP",
	sqlite3.IOERR_SEEK:            "IOERR_SEEK",
	sqlite3.IOERR_GETTEMPPATH:     "IOERR_GETTEMPPATH",
	sqlite3.IOERR_DATA:            "IOERR_DATA",
	sqlite3.IOERR_CORRUPTFS:       "IOERR_CORRUPTFS",
	sqlite3.AUTH_USER:             "AUTH_USER",
}
