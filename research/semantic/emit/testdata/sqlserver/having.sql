SELECT
  q.d0 AS [status],
  q.a0 AS [revenue]
FROM (
  SELECT
    t0.[status] AS d0,
    SUM(t0.[amount]) AS a0,
    COUNT_BIG(*) AS a1
  FROM [orders] AS t0
  GROUP BY t0.[status]
) AS q
WHERE (q.a0 > 10)
  AND ((q.a1 >= 1) AND (NOT (q.a0 IS NULL)))
ORDER BY CASE WHEN q.a0 IS NULL THEN 1 ELSE 0 END, q.a0 DESC, CASE WHEN q.d0 IS NULL THEN 1 ELSE 0 END, q.d0
