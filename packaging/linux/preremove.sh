#!/bin/sh
# Stops the services before the program goes. An upgrade keeps them running: dpkg says
# "upgrade", rpm counts the packages that are left.
set -e

case "${1:-remove}" in
remove | 0) ;;
*) exit 0 ;;
esac
if [ -d /run/systemd/system ]; then
	for unit in $(systemctl list-units --all --plain --no-legend 'ktx@*.service' | cut -d ' ' -f 1); do
		systemctl disable --now "$unit" || true
	done
fi
