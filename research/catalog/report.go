package catalog

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// reportName is the file that makes a folder a scan.
const reportName = "scan-report.json"

// reportFile is the report of one folder of scans.
type reportFile struct {
	syncID string // the name of the folder
	source *source
	read   bool // the report can be read
	report Report
	when   time.Time
}

// scansOf returns the folder with the scans of a connection, inside the project.
func scansOf(connectionID string) string {
	return "raw-sources/" + connectionID + "/live-database"
}

// listReports reads the reports of all scans in a folder, ordered by the folder's
// name. It reads a report again only if it is not that of before.
func listReports(dir *os.Root, before []reportFile, now time.Time) ([]reportFile, error) {
	names, err := list(dir, ".", maxScans, func(name string) bool { return !strings.HasPrefix(name, ".") })
	if err != nil {
		return nil, err
	}
	out := make([]reportFile, 0, len(names))
	for _, name := range names {
		file := name + "/" + reportName
		i, known := slices.BinarySearchFunc(before, name, func(r reportFile, name string) int { return strings.Compare(r.syncID, name) })
		if known && before[i].source.same(dir, file, maxSmallBytes, now) {
			out = append(out, before[i])
			continue
		}
		content, src := read(dir, file, maxSmallBytes, now)
		r := reportFile{syncID: name, source: src}
		if src.problem == "" && json.Unmarshal(content, &r.report) == nil {
			r.read = true
			// A report without a time is older than all others.
			r.when, _ = time.Parse(time.RFC3339, r.report.CreatedAt)
		}
		out = append(out, r)
	}
	return out, nil
}

// sameReports reports whether a and b hold the same files.
func sameReports(a, b []reportFile) bool {
	return slices.EqualFunc(a, b, func(x, y reportFile) bool { return x.syncID == y.syncID && x.source == y.source })
}

// latest returns the scan that counts, or nil.
func latest(all []reportFile) *reportFile {
	var best *reportFile
	for i := range all {
		r := &all[i]
		if r.read && (best == nil || cmp.Or(r.when.Compare(best.when), compareNatural(r.syncID, best.syncID)) > 0) {
			best = r
		}
	}
	return best
}

// list returns the names in a folder that keep keeps, in order, and at most limit
// of them. A folder that is not there has none.
func list(dir *os.Root, name string, limit int, keep func(string) bool) ([]string, error) {
	f, err := dir.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var names []string
	for {
		part, err := f.Readdirnames(4096)
		for _, name := range part {
			if keep(name) {
				names = append(names, name)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(names)
	return names[:min(len(names), limit)], nil
}
