SELECT
  q.d0 AS `year`,
  q.d1 AS `other year`,
  q.a0 AS `n`
FROM (
  SELECT
    CAST(DATE_FORMAT(t0.`created_at`, '%Y-01-01') AS DATE) AS d0,
    CAST(DATE_FORMAT(t0.`order_date`, '%Y-01-01') AS DATE) AS d1,
    COUNT(*) AS a0
  FROM `orders` AS t0
  GROUP BY 1, 2
) AS q
ORDER BY q.d0 IS NULL, q.d0, q.d1 IS NULL, q.d1
