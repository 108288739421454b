package catalog

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The files of a scan.
const (
	tablesName     = "tables"
	connectionName = "connection.json"
	profileName    = "enrichment/relationship-profile.json"
	relationsName  = "enrichment/relationships.json"
)

// scan is what the files of one scan hold, before access rules.
type scan struct {
	report    reportFile
	names     []string     // of the table files, in order
	listed    atomic.Int64 // the time of their folder for which they are known to be all
	tables    []*tableInfo // of each name
	over      bool         // there are more than maxTables
	extras    [len(extraFiles)]*source
	faults    [len(extraFiles)]string // why the content of an extra file is not used
	head      ConnectionFile
	profile   *ProfileInfo
	relations []Relationship
	warnings  []Warning // about the files
}

// tableInfo is one table file.
type tableInfo struct {
	source *source
	table  *Table // nil when the file cannot be used
	fault  string // why not
}

// extraFiles are the files of a scan beside its tables and its report.
var extraFiles = [...]struct {
	name  string
	limit int64
}{{connectionName, maxSmallBytes}, {profileName, maxExtraBytes}, {relationsName, maxExtraBytes}}

const (
	extraConnection = iota
	extraProfile
	extraRelations
)

// tableNames returns the names of the table files of a scan.
func tableNames(dir *os.Root) (names []string, over bool, err error) {
	names, err = list(dir, tablesName, maxTables+1, func(name string) bool {
		return strings.HasSuffix(name, ".json") && !strings.HasPrefix(name, ".")
	})
	if len(names) > maxTables {
		return names[:maxTables], true, err
	}
	return names, false, err
}

// same reports whether the files in dir are still those of s.
func (s *scan) same(dir *os.Root, now time.Time) bool {
	for i, f := range extraFiles {
		if !s.extras[i].same(dir, f.name, f.limit, now) {
			return false
		}
	}
	if at := folderTime(dir, tablesName, now); at == 0 || at != s.listed.Load() {
		names, over, err := tableNames(dir)
		if err != nil || over != s.over || !slices.Equal(names, s.names) {
			return false
		}
		s.listed.Store(at)
	}
	if len(s.names) == 0 {
		return true
	}
	tables, err := openFolder(dir, tablesName)
	if err != nil {
		return false
	}
	defer tables.close()
	var changed atomic.Bool
	parallel(len(s.names), 512, func(i int) {
		if !changed.Load() && !tables.same(s.tables[i].source, s.names[i], now) {
			changed.Store(true)
		}
	})
	return !changed.Load()
}

// readScan reads a scan. It takes from before, which may be nil, what has not
// changed. decoded counts the table files that it read.
func readScan(dir *os.Root, report reportFile, before *scan, now time.Time) (s *scan, decoded int, err error) {
	s = &scan{report: report}
	if s.names, s.over, err = tableNames(dir); err != nil {
		return nil, 0, err
	}
	var contents [len(extraFiles)][]byte
	for i, f := range extraFiles {
		if before != nil && before.extras[i].same(dir, f.name, f.limit, now) {
			s.extras[i] = before.extras[i]
		} else {
			contents[i], s.extras[i] = read(dir, f.name, f.limit, now)
		}
	}
	kept := func(extra int) bool { return before != nil && s.extras[extra] == before.extras[extra] }
	for i := range extraFiles {
		if kept(i) {
			s.faults[i] = before.faults[i]
		}
	}
	// The tables have the samples of the profile, so a new profile needs the tables
	// as their files have them.
	tables := before
	if !kept(extraProfile) {
		tables = nil
	}
	fresh, err := s.readTables(dir, tables, now)
	if err != nil {
		return nil, 0, err
	}
	for _, f := range fresh {
		if f {
			decoded++
		}
	}
	if kept(extraConnection) {
		s.head = before.head
	} else {
		s.readHead(contents[extraConnection])
	}
	if kept(extraRelations) {
		s.relations = before.relations
	} else {
		s.readRelations(contents[extraRelations])
	}
	if kept(extraProfile) {
		s.profile = before.profile
		if decoded > 0 && s.profile != nil {
			contents[extraProfile], _ = read(dir, profileName, maxExtraBytes, now)
		}
	}
	if contents[extraProfile] != nil {
		s.readProfile(contents[extraProfile], fresh)
	}
	s.warn()
	return s, decoded, nil
}

// readTables reads the table files that before does not have. fresh says for each
// file whether it was read.
func (s *scan) readTables(dir *os.Root, before *scan, now time.Time) (fresh []bool, err error) {
	s.tables, fresh = make([]*tableInfo, len(s.names)), make([]bool, len(s.names))
	if len(s.names) == 0 {
		return fresh, nil
	}
	tables, err := openFolder(dir, tablesName)
	if err != nil {
		return nil, err
	}
	defer tables.close()
	parallel(len(s.names), 16, func(i int) {
		if before != nil {
			if j, known := slices.BinarySearch(before.names, s.names[i]); known && tables.same(before.tables[j].source, s.names[i], now) {
				s.tables[i] = before.tables[j]
				return
			}
		}
		fresh[i] = true
		s.tables[i] = readTableFile(tables.Root(), s.names[i], now)
	})
	// The limits of a whole scan apply in the order of the names, whatever the
	// order in which the files were read.
	var bytes, columns int64
	for i, t := range s.tables {
		if t.table == nil {
			continue
		}
		bytes += t.source.seen.Load().size
		columns += int64(len(t.table.Columns))
		if bytes > maxScanBytes || columns > maxColumns {
			s.tables[i], fresh[i] = &tableInfo{source: t.source, fault: "the tables before it reach the limit of a scan"}, false
		}
	}
	return fresh, nil
}

func readTableFile(dir *os.Root, name string, now time.Time) *tableInfo {
	content, src := read(dir, name, maxTableBytes, now)
	if src.problem != "" {
		return &tableInfo{source: src, fault: string(src.problem)}
	}
	t, err := readTable(content)
	if err != nil {
		return &tableInfo{source: src, fault: cut(err.Error(), 200)}
	}
	return &tableInfo{source: src, table: t}
}

// warn collects what is wrong with the files.
func (s *scan) warn() {
	add := func(w Warning) {
		if len(s.warnings) < maxWarnings {
			s.warnings = append(s.warnings, w)
		}
	}
	if s.over {
		add(warn("too_many_tables", tablesName, "only the first %d files are read", maxTables))
	}
	for i, f := range extraFiles {
		if p := s.extras[i].problem; p != "" && p != absent {
			add(warn("unreadable_file", f.name, "%s", p))
		}
		if s.faults[i] != "" {
			add(warn("unreadable_file", f.name, "%s", s.faults[i]))
		}
	}
	for i, t := range s.tables {
		if t.table == nil {
			add(warn("unreadable_table", tablesName+"/"+s.names[i], "%s", t.fault))
		}
	}
}

// parallel calls f for every number below n, on all processors, in pieces of size.
func parallel(n, size int, f func(int)) {
	workers := min(runtime.GOMAXPROCS(0), (n+size-1)/size)
	if workers <= 1 {
		for i := range n {
			f(i)
		}
		return
	}
	var next atomic.Int64
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for {
				end := int(next.Add(int64(size)))
				for i := end - size; i < min(end, n); i++ {
					f(i)
				}
				if end >= n {
					return
				}
			}
		})
	}
	wait.Wait()
}
