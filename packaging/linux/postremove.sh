#!/bin/sh
# Removes what the installation made: the user and, when it is purged, /etc/ktx. Debian
# tells purging from removing; elsewhere a removal is final. Projects in /srv/ktx belong
# to whoever made them and stay.
set -e

case "${1:-purge}" in
purge | 0) ;;
remove)
	[ ! -e /etc/debian_version ] || exit 0
	;;
*) exit 0 ;;
esac
rm -rf /etc/ktx
if getent passwd ktx >/dev/null 2>&1; then
	if command -v userdel >/dev/null 2>&1; then userdel ktx; else deluser ktx; fi
fi
if getent group ktx >/dev/null 2>&1; then
	if command -v groupdel >/dev/null 2>&1; then groupdel ktx; else delgroup ktx; fi
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
fi
