module github.com/ktxhq/ktx/dialects/sqlserver/testdata/teesql

go 1.26

require github.com/sqlc-dev/teesql v1.1.0
