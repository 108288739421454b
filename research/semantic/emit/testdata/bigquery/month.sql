SELECT
  q.d0 AS `month`,
  q.a0 AS `n`
FROM (
  SELECT
    DATE_TRUNC(CAST(t0.`created_at` AS DATE), MONTH) AS d0,
    COUNT(*) AS a0
  FROM `orders` AS t0
  GROUP BY 1
) AS q
ORDER BY q.d0 NULLS LAST
