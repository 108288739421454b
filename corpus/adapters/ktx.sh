#!/bin/sh
# Starts ktx with a configuration that names the database and nothing else:
# ktx.sh KTX
set -eu
cat >ktx.yaml <<END
connections:
  shop:
    driver: postgres
    url: env:DATABASE_URL
END
exec "$1" mcp stdio --project-dir .
