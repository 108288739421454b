SELECT
  q.d0 AS [kind],
  q.d1 AS [region],
  q.d2 AS [year],
  q.a0 AS [net],
  q.a1 AS [rows],
  q.a2 AS [known],
  q.a3 AS [first],
  q.a4 AS [any]
FROM (
  SELECT
    g.d0,
    t2.[name] AS d1,
    g.d2,
    SUM(k.a0) AS a0,
    SUM(k.a1) AS a1,
    SUM(k.a2) AS a2,
    MIN(k.a3) AS a3,
    MAX(k.a4) AS a4
  FROM (
    SELECT
      t0.[customer_id] AS k0,
      SUM(CASE WHEN (t0.[paid] = 1) OR (t0.[quantity] > 2) THEN t0.[amount] - t0.[quantity] END) AS a0,
      COUNT_BIG(*) AS a1,
      COUNT_BIG(CASE WHEN t0.[amount] > 0 THEN t0.[paid] END) AS a2,
      MIN(t0.[created_at]) AS a3,
      MAX(CASE WHEN t0.[paid] = 1 THEN 1 WHEN NOT (t0.[paid] = 1) THEN 0 END) AS a4
    FROM [orders] AS t0
    WHERE (t0.[status] <> N'cancelled')
      AND (t0.[quantity] >= 1)
    GROUP BY t0.[customer_id]
  ) AS k
  LEFT JOIN [Customers] AS t1 ON k.k0 = t1.[id]
  LEFT JOIN [regions] AS t2 ON t1.[region_id] = t2.[id]
  CROSS APPLY (SELECT CASE WHEN t1.[active] = 1 THEN N'active' ELSE N'other' END AS d0, DATEFROMPARTS(YEAR(t1.[signup]), 1, 1) AS d2) AS g
  GROUP BY g.d0, t2.[name], g.d2
) AS q
WHERE q.a1 > 0
ORDER BY CASE WHEN q.a0 IS NULL THEN 1 ELSE 0 END, q.a0 DESC, CASE WHEN q.d0 IS NULL THEN 1 ELSE 0 END, q.d0, CASE WHEN q.d1 IS NULL THEN 1 ELSE 0 END, q.d1, CASE WHEN q.d2 IS NULL THEN 1 ELSE 0 END, q.d2
