SELECT
  q.d0 AS [status],
  q.a0 AS [paid],
  q.a1 AS [open],
  q.a2 AS [few],
  q.a3 AS [mean],
  q.a4 AS [first day]
FROM (
  SELECT
    t0.[status] AS d0,
    SUM(CASE WHEN t0.[paid] = 1 THEN t0.[amount] END) AS a0,
    COUNT_BIG(CASE WHEN NOT (t0.[paid] = 1) THEN 1 END) AS a1,
    COUNT_BIG(DISTINCT CASE WHEN t0.[quantity] BETWEEN 1 AND 3 THEN t0.[customer_id] END) AS a2,
    AVG(CAST(CASE WHEN t0.[status] IN (N'new', N'shipped') THEN t0.[quantity] END AS float)) AS a3,
    MIN(CASE WHEN t0.[amount] IS NOT NULL THEN t0.[order_date] END) AS a4
  FROM [orders] AS t0
  GROUP BY t0.[status]
) AS q
ORDER BY CASE WHEN q.d0 IS NULL THEN 1 ELSE 0 END, q.d0
