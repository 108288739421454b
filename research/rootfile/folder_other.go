//go:build !linux

package rootfile

func (f *Folder) lstat(name string) (Info, error) { return f.walk(name) }
