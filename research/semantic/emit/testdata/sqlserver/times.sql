SELECT
  q.a0 AS [midnight],
  q.a1 AS [after],
  q.a2 AS [in 2024],
  q.a3 AS [before],
  q.a4 AS [some],
  q.a5 AS [december],
  q.a6 AS [same day],
  q.a7 AS [old],
  q.a8 AS [first],
  q.a9 AS [last],
  q.a10 AS [future],
  q.a11 AS [future days]
FROM (
  SELECT
    COUNT_BIG(CASE WHEN t0.[created_at] = CAST('2024-12-30' AS date) THEN 1 END) AS a0,
    COUNT_BIG(CASE WHEN t0.[created_at] > CAST('2024-12-29T23:59:00' AS datetime2) THEN 1 END) AS a1,
    COUNT_BIG(CASE WHEN t0.[order_date] BETWEEN CAST('2024-01-01' AS date) AND CAST('2024-12-31' AS date) THEN 1 END) AS a2,
    COUNT_BIG(CASE WHEN t0.[created_at] < t0.[order_date] THEN 1 END) AS a3,
    COUNT_BIG(CASE WHEN t0.[created_at] IN (CAST('2024-02-29T12:30:00' AS datetime2), CAST('2024-12-30' AS date)) THEN 1 END) AS a4,
    COUNT_BIG(CASE WHEN DATEFROMPARTS(YEAR(t0.[created_at]), MONTH(t0.[created_at]), 1) = CAST('2024-12-01' AS date) THEN 1 END) AS a5,
    COUNT_BIG(CASE WHEN CAST(CAST(t0.[created_at] AS datetime2) AS date) = t0.[order_date] THEN 1 END) AS a6,
    COUNT_BIG(CASE WHEN COALESCE(t0.[created_at], CAST('2000-01-01T00:00:00' AS datetime2)) <= CAST('2024-01-01' AS date) THEN 1 END) AS a7,
    MIN(t0.[created_at]) AS a8,
    MAX(t0.[order_date]) AS a9,
    COUNT_BIG(CASE WHEN t0.[created_at] > CURRENT_TIMESTAMP THEN 1 END) AS a10,
    COUNT_BIG(CASE WHEN t0.[order_date] > CAST(CURRENT_TIMESTAMP AS date) THEN 1 END) AS a11
  FROM [orders] AS t0
) AS q
WHERE q.a8 < CAST('2030-01-01' AS date)
