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
    COUNT(CASE WHEN t0."name" LIKE '%nn%' THEN 1 END) AS a0,
    COUNT(CASE WHEN t0."name" LIKE 'a\_%' THEN 1 END) AS a1,
    COUNT(CASE WHEN t0."name" NOT LIKE '%|%' THEN 1 END) AS a2,
    COUNT(CASE WHEN t0."name" LIKE '[b]*?%' THEN 1 END) AS a3,
    COUNT(CASE WHEN t0."name" LIKE t0."name" THEN 1 END) AS a4,
    COUNT(CASE WHEN t0."name" LIKE 'a\b|_' THEN 1 END) AS a5,
    COUNT(CASE WHEN t0."name" = 'a\b|c' THEN 1 END) AS a6,
    COUNT(CASE WHEN t0."name" LIKE 'o''%' THEN 1 END) AS a7
  FROM "Customers" AS t0
) AS q
