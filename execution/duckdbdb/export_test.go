package duckdbdb

// Processes returns the numbers of the processes that wait for a statement.
func (d *DB) Processes() []int {
	var pids []int
	for l := d.pool.Idle(); l != nil; l = d.pool.Idle() {
		pids = append(pids, l.Conn.cmd.Process.Pid)
		defer d.pool.Release(l)
	}
	return pids
}
