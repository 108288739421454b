refused: unsupported_in_dialect: BigQuery has no aggregate median
