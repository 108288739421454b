#!/bin/sh
# Starts DBHub with its tool restricted to reading, as its documentation says:
# dbhub-readonly.sh DBHUB
set -eu
umask 077
cat >dbhub.toml <<END
[[sources]]
id = "shop"
dsn = "$DATABASE_URL"

[[tools]]
name = "execute_sql"
source = "shop"
readonly = true
END
exec "$1" --transport stdio --config dbhub.toml
