#!/bin/sh
# Starts ktx with a configuration that names the database and nothing else:
# ktx.sh KTX DRIVER [FILE FOLDER]. SQLite has the database in a FILE; then ktx has
# its own files in FOLDER, so that none of them lies beside the database.
set -eu
folder=${4-.}
{
	echo "connections:"
	echo "  shop:"
	echo "    driver: $2"
	if [ "$2" = sqlite ]; then echo "    path: $3"; else echo "    url: env:DATABASE_URL"; fi
} >"$folder/ktx.yaml"
exec "$1" mcp stdio --project-dir "$folder"
