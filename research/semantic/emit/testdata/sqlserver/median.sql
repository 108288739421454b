refused: unsupported_in_dialect: SQL Server has no aggregate median
