refused: unsupported_in_dialect: MySQL has no aggregate median
