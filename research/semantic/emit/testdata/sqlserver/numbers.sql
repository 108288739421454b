SELECT
  q.d0 AS [id],
  ROUND(q.a0, 0) AS [r],
  ROUND(q.a0, 1) AS [r1],
  ROUND(CAST(q.a1 AS float) / 2, 0) AS [half],
  ROUND(CAST(-q.a1 AS float) / 2, 0) AS [minus half],
  FLOOR(q.a0) AS [f],
  CEILING(-q.a0) AS [c],
  ABS(-q.a0) AS [a],
  q.a2 AS [s],
  q.a3 AS [hundred],
  q.a4 AS [net],
  q.a5 AS [paid],
  q.a6 AS [some]
FROM (
  SELECT
    t0.[id] AS d0,
    SUM(t0.[amount]) AS a0,
    SUM(t0.[quantity]) AS a1,
    SUM((t0.[quantity] * 0.5) - (-1)) AS a2,
    SUM(1e2 * t0.[quantity]) AS a3,
    SUM(t0.[amount] - t0.[quantity]) AS a4,
    SUM(CASE WHEN t0.[paid] = 1 THEN 1 WHEN NOT (t0.[paid] = 1) THEN 0 END) AS a5,
    MAX(CASE WHEN CAST(t0.[quantity] AS bit) = 1 THEN 1 WHEN NOT (CAST(t0.[quantity] AS bit) = 1) THEN 0 END) AS a6
  FROM [orders] AS t0
  GROUP BY t0.[id]
) AS q
ORDER BY CASE WHEN q.d0 IS NULL THEN 1 ELSE 0 END, q.d0
