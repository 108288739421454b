SELECT
  q.d0 AS `hour`,
  q.a0 AS `n`
FROM (
  SELECT
    DATETIME_TRUNC(CAST(t0.`created_at` AS DATETIME), HOUR) AS d0,
    COUNT(*) AS a0
  FROM `orders` AS t0
  GROUP BY 1
) AS q
ORDER BY q.d0 NULLS LAST
