// Package install tries every way to install ktx from the files of a release. Each
// starts in an empty place, has no network, and ends with the answer of sql_execution
// to an MCP client. Then ktx is removed, and nothing may be left but the project.
//
//	make test-install
//
// The package has tests only. scripts/test-install makes the release and the places,
// and runs the tests as root, because they use namespaces, chroot and dpkg. Without
// KTX_TEST_INSTALL the tests are skipped.
package install
