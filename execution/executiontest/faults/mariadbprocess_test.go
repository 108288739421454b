//go:build linux

package faults_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// limited gives the project's statements a time limit of 3 s.
func (s *stand) limited(dir string) {
	s.Helper()
	path := filepath.Join(dir, "ktx.yaml")
	text := strings.Replace(string(s.read(path)), "timeout: 5m", "timeout: 3s", 1)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
}

var mariadbProcess = append(onMariaDB(only(process, "client closes its end", "client dies", "client dies in the middle of an answer", "SIGTERM lets statements end", "SIGTERM ends what takes too long")...), onMariaDB(scenario{
	name:   "SIGKILL",
	does:   "The process is killed while one statement sleeps, one computes and one sends rows, each with a limit of 3 s; then another process is started.",
	passes: "The server, which does not look after its clients, ends the first two at their limit and the third when it cannot send; the log verifies and shows them without an outcome; the next process goes on with the log.",
	run: func(s *stand) string {
		s.database()
		dir := s.project()
		s.limited(dir)
		c := s.serve(dir)
		c.right(one("first"))
		c.call(s.text(endless()))
		c.call(s.text(counting()))
		c.call(s.text(question{mariadb: "SELECT REPEAT('x', 10000), " + napMark + "(0.1) FROM numbers"}))
		s.eventually("the statements run", func() bool { return s.running() == 3 })
		c.signal(syscall.SIGKILL)
		c.ends(-1)
		s.gone()
		if open := s.recorded(s.logDir, 3); open != 3 {
			s.Errorf("%d statements without an outcome, want 3", open)
		}
		next := s.serve(dir)
		next.right(one("next"))
		next.bye()
		s.recorded(s.logDir, 3)
		return "3 statements ended by the server"
	},
})...)
