SELECT
  q.d0 AS "name",
  q.a0 AS "length",
  q.a1 AS "part",
  q.a2 AS "rest",
  q.a3 AS "loud",
  q.a4 AS "joined",
  q.a5 AS "with flag",
  q.a6 AS "trimmed",
  q.a7 AS "upper",
  q.a8 AS "not ann",
  q.a9 AS "id text",
  q.a10 AS "parsed"
FROM (
  SELECT
    t0."name" AS d0,
    MAX(LENGTH(t0."name")) AS a0,
    MAX(LOWER(SUBSTRING(t0."name", 2, 3))) AS a1,
    MAX(SUBSTRING(t0."name", 3)) AS a2,
    MAX(t0."name" || '!') AS a3,
    MAX(CONCAT(t0."name", '-', CAST(t0."region_id" AS VARCHAR))) AS a4,
    MAX(CONCAT(t0."name", CASE WHEN t0."active" THEN 'true' WHEN NOT t0."active" THEN 'false' END)) AS a5,
    MAX(TRIM(t0."name")) AS a6,
    MAX(UPPER(COALESCE(t0."name", 'none'))) AS a7,
    MAX(NULLIF(t0."name", 'Ann')) AS a8,
    MAX(CAST(t0."id" AS VARCHAR)) AS a9,
    FSUM(CAST(SUBSTRING('12.5x', 1, 4) AS DOUBLE)) AS a10
  FROM "Customers" AS t0
  GROUP BY 1
) AS q
ORDER BY q.d0 NULLS LAST
