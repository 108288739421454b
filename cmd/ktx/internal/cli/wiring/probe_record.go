package wiring

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/ktxhq/ktx/cmd/ktx/internal/atomicfile"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/execution"
)

// ProbeRecord is what the last probe of a connection found. It is kept in the
// project's state, so that ktx status can show it without connecting.
type ProbeRecord struct {
	At       time.Time `json:"at"`
	Settings string    `json:"settings"` // a hash of the configuration at that time, without secrets
	Server   string    `json:"server"`
	Role     string    `json:"role,omitempty"`
	Warnings []string  `json:"warnings"`
}

// rewriteAfter is the age from which a record is written again although only its
// time would change.
const rewriteAfter = time.Hour

// maxProbeRecord bounds the length of a record, in bytes.
const maxProbeRecord = 1 << 20

// RememberProbe writes what a probe found to the project's state. It ignores
// errors, because the record only informs and nothing depends on it.
func RememberProbe(p *project.Project, id string, report execution.ProbeReport) {
	s := ProbeRecord{At: time.Now().UTC().Truncate(time.Second), Settings: settingsHash(p, id), Server: report.Server, Role: report.Role, Warnings: []string{}}
	for _, f := range report.Findings {
		if f.Level == execution.ProbeWarning {
			s.Warnings = append(s.Warnings, f.Message)
		}
	}
	if old, ok := LastProbe(p, id); ok && s.At.Sub(old.At) < rewriteAfter && !s.At.Before(old.At) {
		old.At = s.At
		if before, after := s.encode(), old.encode(); bytes.Equal(before, after) {
			return
		}
	}
	path := probeRecordFile(p, id)
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	_ = atomicfile.Write(path, 0o600, func(w io.Writer) error {
		_, err := w.Write(s.encode())
		return err
	})
}

func (s ProbeRecord) encode() []byte {
	text, err := json.Marshal(s)
	if err != nil { // no field of it can fail
		return nil
	}
	return append(text, '\n')
}

// LastProbe returns what the last probe of a connection found. It reports false
// when there was no probe since the configuration of the connection changed.
func LastProbe(p *project.Project, id string) (ProbeRecord, bool) {
	var s ProbeRecord
	info, err := os.Stat(probeRecordFile(p, id))
	if err != nil || info.Size() > maxProbeRecord {
		return s, false
	}
	text, err := os.ReadFile(probeRecordFile(p, id))
	if err != nil || json.Unmarshal(text, &s) != nil || s.Settings != settingsHash(p, id) {
		return s, false
	}
	return s, true
}

// probeRecordFile is the record's file. The id is checked: letters, digits, - and _.
func probeRecordFile(p *project.Project, id string) string {
	return filepath.Join(p.Dir, ".ktx", "probes", id+".json")
}

func settingsHash(p *project.Project, id string) string {
	sum := sha256.Sum256(describeConnection(p.Config.Connections[id]))
	return hex.EncodeToString(sum[:])
}
