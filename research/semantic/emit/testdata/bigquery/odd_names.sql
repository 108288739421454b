refused: unsupported_in_dialect: the name "a\"b`c]d" has a character that no name of BigQuery has
