//go:build linux

package faults_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/sqlguard"
)

// mounting runs the command with a small file system at a folder that no other
// process sees. If the test may not mount, the command runs as root in a
// namespace of its own.
func mounting(at string, bytes int) func(*exec.Cmd) {
	return func(cmd *exec.Cmd) {
		// After a change of the root directory, the root need not be a mount
		// point.
		const script = `{ ! mountpoint -q / || mount --make-rprivate /; } && mount -t tmpfs -o size="$2",mode=700 tmpfs "$1" && shift 2 && exec "$@"`
		cmd.Args = append([]string{"sh", "-c", script, "sh", at, fmt.Sprint(bytes)}, append([]string{cmd.Path}, cmd.Args[1:]...)...)
		cmd.Path = "/bin/sh"
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
		if os.Geteuid() != 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{
				Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
				UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
				GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
			}
		}
	}
}

// canMount fails or skips the scenario if the test cannot mount a small file
// system.
func (s *stand) canMount() {
	s.Helper()
	cmd := exec.CommandContext(s.Context(), "true")
	mounting(s.TempDir(), 64<<10)(cmd)
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
	case os.Getenv("CI") != "" || full():
		s.Fatalf("no way to a small file system: %v: %s", err, out)
	default:
		s.Skipf("no way to a small file system (an error where CI is set): %v: %s", err, out)
	}
}

// disk is a small file system that only the command sees. The test holds it
// open, so that it outlives the command.
type disk struct {
	s    *stand
	held *os.File
}

// seenBy opens a folder as another process sees it.
func (s *stand) seenBy(c *command, folder string) *disk {
	s.Helper()
	held, err := os.Open(fmt.Sprintf("/proc/%d/root%s", c.cmd.Process.Pid, folder))
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = held.Close() })
	return &disk{s, held}
}

func (d *disk) path(elements ...string) string {
	return filepath.Join(append([]string{fmt.Sprintf("/proc/self/fd/%d", d.held.Fd())}, elements...)...)
}

// fill writes until no byte is free.
func (d *disk) fill() {
	d.s.Helper()
	f, err := os.Create(d.path("ballast"))
	if err != nil {
		d.s.Fatal(err)
	}
	for size := 4096; size > 0; size /= 2 {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		d.s.Fatal(err)
	}
	if err := f.Close(); err != nil && !errors.Is(err, syscall.ENOSPC) {
		d.s.Fatal(err)
	}
}

// free releases the space again.
func (d *disk) free() {
	d.s.Helper()
	if err := os.Remove(d.path("ballast")); err != nil {
		d.s.Fatal(err)
	}
}

// untilRefused asks until the log refuses events. It returns the tags of the
// refused questions.
func (c *command) untilRefused(refusals int) (tags []string) {
	c.s.Helper()
	for i := 0; len(tags) < refusals; i++ {
		tag := fmt.Sprintf("full%d", i)
		if c.ask(one(tag)) == sqlguard.CodeAuditUnavailable {
			tags = append(tags, tag)
		}
		if i > 2000 {
			c.s.Fatal("the log refuses nothing")
		}
	}
	return tags
}

// fullDisk fills the file system of the log while the command runs, and then
// empties it.
func (s *stand) fullDisk(config string) string {
	s.Helper()
	s.canMount()
	s.database()
	s.server.Admin(s, "ALTER ROLE "+s.role+" SET log_statement = 'all'")
	dir := s.project(config)
	state := filepath.Join(dir, ".ktx")
	if err := os.Mkdir(state, 0o700); err != nil {
		s.Fatal(err)
	}
	c := s.serve(dir, mounting(state, 256<<10))
	disk := s.seenBy(c, state)
	s.logDir = disk.path("audit")
	c.right(one("first"))
	q := napping("under_way", 1)
	before := s.ended()
	under := c.call(q.sql)
	s.begun(before)
	disk.fill()
	if code := c.judged(q, c.answer(under)); code != "" {
		s.Errorf("a statement that already ran ended as %s", code)
	}
	refused := c.untilRefused(5)
	disk.free()
	c.right(one("again"))
	c.bye()
	if log := s.server.Log(); log != "" { // a server of the user's own shows no log
		if !strings.Contains(log, "again-") {
			s.Error("the server does not log the statements that it runs")
		}
		for _, tag := range refused {
			if strings.Contains(log, "'"+tag+"-'") {
				s.Errorf("the server ran %s, which was refused", tag)
			}
		}
	}
	s.recorded(s.logDir, 1) // the statement that was running
	lost := int64(0)
	for _, e := range s.events(s.logDir) {
		if e.Type == audit.LogGap {
			lost += e.Log.Lost
		}
	}
	if lost < 5 {
		s.Errorf("the log reports %d lost events, want at least the 5 refused", lost)
	}
	return "5 of 5 refused, none of them ran"
}

var auditLog = []scenario{
	{
		name:   "full disk",
		does:   "The log's file system, of 256 KiB, is filled while a statement runs; calls follow; space is given back.",
		codes:  []sqlguard.Code{sqlguard.CodeAuditUnavailable},
		passes: "The statement that ran is answered. Calls end as `audit_unavailable` and their statements never reach the server, as its own log shows. When there is space calls are right without a restart, and the log tells how many events it lost.",
		run:    func(s *stand) string { return s.fullDisk("") },
	},
	{
		name:   "full disk, flushed always",
		does:   "The same with `audit.sync: always`.",
		codes:  []sqlguard.Code{sqlguard.CodeAuditUnavailable},
		passes: "The same.",
		full:   true,
		run:    func(s *stand) string { return s.fullDisk("audit: {sync: always}") },
	},
	{
		name:   "full disk, told to go on",
		does:   "The file system is filled under `audit.onFailure: degrade`; 5 calls follow; space is given back.",
		passes: "The calls are right; the log tells of a gap of at least their 10 events.",
		run: func(s *stand) string {
			s.canMount()
			s.database()
			dir := s.project("audit: {onFailure: degrade}")
			state := filepath.Join(dir, ".ktx")
			if err := os.Mkdir(state, 0o700); err != nil {
				s.Fatal(err)
			}
			c := s.serve(dir, mounting(state, 256<<10))
			disk := s.seenBy(c, state)
			c.right(one("first"))
			disk.fill()
			for i := range 5 {
				c.right(one(fmt.Sprint("full", i)))
			}
			disk.free()
			c.right(one("again"))
			c.bye()
			s.recorded(disk.path("audit"), 1)
			lost := int64(0)
			for _, e := range s.events(disk.path("audit")) {
				lost += e.Log.Lost
			}
			if lost < 8 { // the rest of the last page may hold an event or two
				s.Errorf("the log reports %d lost events", lost)
			}
			return ""
		},
	},
	{
		name:   "folder removed",
		does:   "The log's folder is removed under a running gateway.",
		codes:  []sqlguard.Code{sqlguard.CodeAuditUnavailable},
		passes: "Calls are right or refused, and right again at once; the new log says that events are missing, and verify does not pass it.",
		run: func(s *stand) string {
			s.damaged = true
			s.database()
			s.open(settings{})
			s.crowd(2, 3)
			if err := os.RemoveAll(s.logDir); err != nil {
				s.Fatal(err)
			}
			s.crowd(2, 3)
			s.recovers()
			return ""
		},
	},
	{
		name:   "segment replaced",
		does:   "The file that is appended to is replaced by a copy without its last 3 events.",
		codes:  []sqlguard.Code{sqlguard.CodeAuditUnavailable},
		passes: "The same.",
		run: func(s *stand) string {
			s.damaged = true
			s.database()
			s.open(settings{})
			s.crowd(2, 3)
			path := filepath.Join(s.logDir, s.log.Health().Segment)
			text, err := os.ReadFile(path)
			if err != nil {
				s.Fatal(err)
			}
			lines := strings.SplitAfter(string(text), "\n")
			if err := os.WriteFile(path+".new", []byte(strings.Join(lines[:len(lines)-4], "")), 0o600); err != nil {
				s.Fatal(err)
			}
			if err := os.Rename(path+".new", path); err != nil {
				s.Fatal(err)
			}
			s.crowd(2, 3)
			s.recovers()
			return ""
		},
	},
	{
		name:   "segment cut in place",
		does:   "The last 200 bytes of the file that is appended to are cut off.",
		codes:  []sqlguard.Code{sqlguard.CodeAuditUnavailable},
		passes: "The same.",
		run: func(s *stand) string {
			s.damaged = true
			s.database()
			s.open(settings{})
			s.crowd(2, 3)
			path := filepath.Join(s.logDir, s.log.Health().Segment)
			info, err := os.Stat(path)
			if err != nil {
				s.Fatal(err)
			}
			if err := os.Truncate(path, info.Size()-200); err != nil {
				s.Fatal(err)
			}
			s.crowd(2, 3)
			s.recovers()
			return ""
		},
	},
	{
		name:   "folder made read-only",
		does:   "The command, as a user without privileges and with segments of 4 KiB, loses the right to make files in the log's folder, and gets it back.",
		codes:  []sqlguard.Code{sqlguard.CodeAuditUnavailable},
		passes: "Calls end as `audit_unavailable` once a new segment is due, and are right when the right is back; the log verifies.",
		run: func(s *stand) string {
			s.database()
			dir, plain := s.unprivileged("audit: {rotateBytes: 4096}")
			c := s.serve(dir, plain)
			c.right(one("first"))
			if err := os.Chmod(s.logDir, 0o500); err != nil {
				s.Fatal(err)
			}
			c.untilRefused(3)
			if err := os.Chmod(s.logDir, 0o700); err != nil {
				s.Fatal(err)
			}
			c.right(one("again"))
			c.bye()
			s.recorded(s.logDir, 1)
			return "3 of 3 refused"
		},
	},
	{
		name:   "lock never given back",
		does:   "Another process holds the log's lock; then it gives it back.",
		codes:  []sqlguard.Code{sqlguard.CodeAuditUnavailable},
		passes: "A call ends as `audit_unavailable` when the time to wait is over, and calls are right when the lock is free.",
		full:   true,
		run: func(s *stand) string {
			s.database()
			s.open(settings{})
			s.right(one("first"))
			lock, err := os.OpenFile(filepath.Join(s.logDir, "lock"), os.O_RDWR, 0)
			if err != nil {
				s.Fatal(err)
			}
			defer lock.Close() //nolint:errcheck // nothing is written
			if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
				s.Fatal(err)
			}
			s.wantCode(s.ask(s.Context(), one("held"), execution.Limits{}), sqlguard.CodeAuditUnavailable)
			if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_UN); err != nil {
				s.Fatal(err)
			}
			s.recovers()
			return ""
		},
	},
}

// unprivileged makes a project that belongs to a user that file modes restrict,
// and returns a change that makes the command run as that user.
func (s *stand) unprivileged(lines ...string) (dir string, change func(*exec.Cmd)) {
	s.Helper()
	if os.Geteuid() != 0 {
		return s.project(lines...), func(*exec.Cmd) {}
	}
	dir, err := os.MkdirTemp("", "ktx-faults-project-")
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = os.RemoveAll(dir) })
	s.writeProject(dir, lines...)
	s.logDir = filepath.Join(dir, filepath.FromSlash(audit.DefaultPath))
	uid, gid := s.serverAccount()
	s.giveTo(uid, gid, dir)
	return dir, func(cmd *exec.Cmd) {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
}

// alike gives the files in a folder to the folder's owner.
func (s *stand) alike(dir string) {
	s.Helper()
	uid, gid := s.owner(dir)
	s.giveTo(uid, gid, dir)
}

// giveTo gives a folder and the files in it to a user.
func (s *stand) giveTo(uid, gid int, dir string) {
	s.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, uid, gid)
	})
	if err != nil {
		s.Fatal(err)
	}
}
