SELECT
  q.d0 AS [status],
  q.a0 AS [revenue]
FROM (
  SELECT
    t0.[status] AS d0,
    SUM(t0.[amount]) AS a0
  FROM [orders] AS t0
  GROUP BY t0.[status]
) AS q
ORDER BY CASE WHEN q.d0 IS NULL THEN 1 ELSE 0 END, q.d0
