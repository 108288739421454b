refused: unsupported_in_dialect: SQLite has no aggregate median
