SELECT
  q.d0 AS `hour`,
  q.a0 AS `n`
FROM (
  SELECT
    CAST(DATE_FORMAT(t0.`created_at`, '%Y-%m-%d %H:00:00') AS DATETIME) AS d0,
    COUNT(*) AS a0
  FROM `orders` AS t0
  GROUP BY 1
) AS q
ORDER BY q.d0 IS NULL, q.d0
