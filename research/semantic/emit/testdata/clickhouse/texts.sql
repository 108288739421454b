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
    MAXOrNull(lengthUTF8(t0."name")) AS a0,
    MAXOrNull(lowerUTF8(substringUTF8(t0."name", 2, 3))) AS a1,
    MAXOrNull(substringUTF8(t0."name", 3)) AS a2,
    MAXOrNull(t0."name" || '!') AS a3,
    MAXOrNull(CONCAT(COALESCE(t0."name", ''), '-', COALESCE(CAST(t0."region_id" AS Nullable(String)), ''))) AS a4,
    MAXOrNull(CONCAT(COALESCE(t0."name", ''), COALESCE(CASE WHEN t0."active" THEN 'true' WHEN NOT t0."active" THEN 'false' END, ''))) AS a5,
    MAXOrNull(TRIM(t0."name")) AS a6,
    MAXOrNull(upperUTF8(COALESCE(t0."name", 'none'))) AS a7,
    MAXOrNull(NULLIF(t0."name", 'Ann')) AS a8,
    MAXOrNull(CAST(t0."id" AS Nullable(String))) AS a9,
    SUMOrNull(CAST(substringUTF8('12.5x', 1, 4) AS Nullable(Float64))) AS a10
  FROM "Customers" AS t0
  GROUP BY 1
) AS q
ORDER BY q.d0 NULLS LAST
