#!/bin/sh
# Makes the user of ktx@.service. /etc/ktx is for the variables of the services, which
# hold secrets. No service is started: ktx@NAME serves the project /srv/ktx/NAME, and
# there is none yet.
set -e

if ! getent group ktx >/dev/null 2>&1; then
	if command -v groupadd >/dev/null 2>&1; then groupadd --system ktx; else addgroup -S ktx; fi
fi
if ! getent passwd ktx >/dev/null 2>&1; then
	if command -v useradd >/dev/null 2>&1; then
		useradd --system --gid ktx --home-dir /srv/ktx --no-create-home --shell /usr/sbin/nologin --comment "ktx SQL gateway" ktx
	else
		adduser -S -D -H -G ktx -h /srv/ktx -s /sbin/nologin -g "ktx SQL gateway" ktx
	fi
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
	# After an upgrade, running services go on with the new program.
	systemctl try-restart 'ktx@*.service' || true
fi
