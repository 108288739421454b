SELECT
  q.d0 AS [id],
  q.a0 AS [year],
  q.a1 AS [quarter],
  q.a2 AS [month],
  q.a3 AS [week],
  q.a4 AS [day],
  q.a5 AS [dow],
  q.a6 AS [doy],
  q.a7 AS [hour],
  q.a8 AS [minute],
  q.a9 AS [second],
  q.a10 AS [hour of date],
  q.a11 AS [dow of date],
  q.a12 AS [week of date]
FROM (
  SELECT
    t0.[id] AS d0,
    MAX(YEAR(t0.[created_at])) AS a0,
    MAX(DATEPART(quarter, t0.[created_at])) AS a1,
    MAX(MONTH(t0.[created_at])) AS a2,
    MAX(DATEPART(iso_week, t0.[created_at])) AS a3,
    MAX(DAY(t0.[created_at])) AS a4,
    MAX(((DATEDIFF(day, CAST('0001-01-01' AS date), t0.[created_at]) + 1) % 7)) AS a5,
    MAX(DATEPART(dayofyear, t0.[created_at])) AS a6,
    MAX(DATEPART(hour, CAST(t0.[created_at] AS datetime2))) AS a7,
    MAX(DATEPART(minute, CAST(t0.[created_at] AS datetime2))) AS a8,
    MAX(DATEPART(second, CAST(t0.[created_at] AS datetime2))) AS a9,
    MAX(DATEPART(hour, CAST(t0.[order_date] AS datetime2))) AS a10,
    MAX(((DATEDIFF(day, CAST('0001-01-01' AS date), t0.[order_date]) + 1) % 7)) AS a11,
    MAX(DATEPART(iso_week, t0.[order_date])) AS a12
  FROM [orders] AS t0
  GROUP BY t0.[id]
) AS q
ORDER BY CASE WHEN q.d0 IS NULL THEN 1 ELSE 0 END, q.d0
