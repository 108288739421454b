SELECT
  q.d0 AS [id],
  q.a0 AS [plus month],
  q.a1 AS [minus quarter],
  q.a2 AS [plus year],
  q.a3 AS [minus weeks],
  q.a4 AS [plus minutes],
  q.a5 AS [date plus hours],
  q.a6 AS [date minus month],
  q.a7 AS [next day],
  q.a8 AS [later]
FROM (
  SELECT
    t0.[id] AS d0,
    MAX(DATEADD(month, 1, t0.[created_at])) AS a0,
    MAX(DATEADD(month, -3, t0.[created_at])) AS a1,
    MAX(DATEADD(year, 1, t0.[created_at])) AS a2,
    MAX(DATEADD(day, -14, t0.[created_at])) AS a3,
    MAX(DATEADD(minute, 90, CAST(t0.[created_at] AS datetime2))) AS a4,
    MAX(DATEADD(hour, 36, CAST(t0.[order_date] AS datetime2))) AS a5,
    MAX(DATEADD(month, -1, t0.[order_date])) AS a6,
    MAX(DATEADD(day, 1, t0.[order_date])) AS a7,
    COUNT_BIG(CASE WHEN t0.[created_at] >= DATEADD(year, 1, CAST('2024-02-29' AS date)) THEN 1 END) AS a8
  FROM [orders] AS t0
  GROUP BY t0.[id]
) AS q
ORDER BY CASE WHEN q.d0 IS NULL THEN 1 ELSE 0 END, q.d0
