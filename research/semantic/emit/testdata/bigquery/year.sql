SELECT
  q.d0 AS `year`,
  q.d1 AS `other_year`,
  q.a0 AS `n`
FROM (
  SELECT
    DATE_TRUNC(CAST(t0.`created_at` AS DATE), YEAR) AS d0,
    DATE_TRUNC(CAST(t0.`order_date` AS DATE), YEAR) AS d1,
    COUNT(*) AS a0
  FROM `orders` AS t0
  GROUP BY 1, 2
) AS q
ORDER BY q.d0 NULLS LAST, q.d1 NULLS LAST
