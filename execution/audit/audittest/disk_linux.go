package audittest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// SmallDisk mounts a file system of the given size and returns its directory.
// Without the right to mount, it runs the test again as root of a separate name
// space, and returns false.
func SmallDisk(t *testing.T, bytes int) (dir string, mounted bool) {
	t.Helper()
	dir = t.TempDir()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", bytes))
	if err == nil {
		t.Cleanup(func() {
			if err := syscall.Unmount(dir, 0); err != nil {
				t.Errorf("unmount: %v", err)
			}
		})
		return dir, true
	}
	const inside = "KTX_AUDIT_TEST_NAMESPACE"
	if os.Getenv(inside) != "" {
		t.Fatalf("mount inside the name space: %v", err)
	}
	exe, exeErr := os.Executable()
	if exeErr != nil {
		t.Fatal(exeErr)
	}
	cmd := exec.CommandContext(t.Context(), exe, "-test.run", "^"+t.Name()+"$", "-test.v") //nolint:gosec // this test itself
	cmd.Env = append(os.Environ(), inside+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	out, runErr := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case runErr == nil:
		t.Logf("in a name space:\n%s", out)
	case errors.As(runErr, &exit):
		t.Errorf("in a name space: %v\n%s", runErr, out)
	case os.Getenv("CI") != "":
		t.Fatalf("no way to a small file system: mount: %v; name space: %v", err, runErr)
	default:
		t.Skipf("no way to a small file system (an error where CI is set): mount: %v; name space: %v", err, runErr)
	}
	return "", false
}
