SELECT
  q.a0 AS "plain",
  q.a1 AS "backslash",
  q.a2 AS "no bar",
  q.a3 AS "marks",
  q.a4 AS "itself",
  q.a5 AS "both",
  q.a6 AS "equal",
  q.a7 AS "quote"
FROM (
  SELECT
    CAST(COUNT(CASE WHEN t0."name" LIKE '%nn%' THEN 1 END) AS Int64) AS a0,
    CAST(COUNT(CASE WHEN t0."name" LIKE 'a\\\\_%' THEN 1 END) AS Int64) AS a1,
    CAST(COUNT(CASE WHEN t0."name" NOT LIKE '%|%' THEN 1 END) AS Int64) AS a2,
    CAST(COUNT(CASE WHEN t0."name" LIKE '[b]*?%' THEN 1 END) AS Int64) AS a3,
    CAST(COUNT(CASE WHEN t0."name" LIKE REPLACE(t0."name", '\\', '\\\\') THEN 1 END) AS Int64) AS a4,
    CAST(COUNT(CASE WHEN t0."name" LIKE 'a\\\\b|_' THEN 1 END) AS Int64) AS a5,
    CAST(COUNT(CASE WHEN t0."name" = 'a\\b|c' THEN 1 END) AS Int64) AS a6,
    CAST(COUNT(CASE WHEN t0."name" LIKE 'o''%' THEN 1 END) AS Int64) AS a7
  FROM "Customers" AS t0
) AS q
