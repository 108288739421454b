SELECT
  q.d0 AS [kind],
  q.d1 AS [region],
  q.d2 AS [year],
  q.a0 AS [net],
  q.a1 AS [rows],
  q.a2 AS [known],
  q.a3 AS [first],
  q.a4 AS [any],
  q.a5 AS [orders]
FROM (
  SELECT
    g.d0,
    t2.[name] AS d1,
    g.d2,
    SUM(CASE WHEN (t0.[paid] = 1) OR (t0.[quantity] > 2) THEN t0.[amount] - t0.[quantity] END) AS a0,
    COUNT_BIG(*) AS a1,
    COUNT_BIG(CASE WHEN t0.[amount] > 0 THEN t0.[paid] END) AS a2,
    MIN(t0.[created_at]) AS a3,
    MAX(CASE WHEN t0.[paid] = 1 THEN 1 WHEN NOT (t0.[paid] = 1) THEN 0 END) AS a4,
    COUNT_BIG(DISTINCT t0.[id]) AS a5
  FROM [orders] AS t0
  LEFT JOIN [Customers] AS t1 ON t0.[customer_id] = t1.[id]
  LEFT JOIN [regions] AS t2 ON t1.[region_id] = t2.[id]
  CROSS APPLY (SELECT CASE WHEN t1.[active] = 1 THEN N'active' ELSE N'other' END AS d0, DATEFROMPARTS(YEAR(t1.[signup]), 1, 1) AS d2) AS g
  WHERE (t0.[status] <> N'cancelled')
    AND (t0.[quantity] >= 1)
  GROUP BY g.d0, t2.[name], g.d2
) AS q
WHERE q.a1 > 0
ORDER BY CASE WHEN q.a0 IS NULL THEN 1 ELSE 0 END, q.a0 DESC, CASE WHEN q.d0 IS NULL THEN 1 ELSE 0 END, q.d0, CASE WHEN q.d1 IS NULL THEN 1 ELSE 0 END, q.d1, CASE WHEN q.d2 IS NULL THEN 1 ELSE 0 END, q.d2
