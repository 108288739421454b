SELECT
  q.d0 AS `status`,
  q.a0 AS `paid`,
  q.a1 AS `open`,
  q.a2 AS `few`,
  q.a3 AS `mean`,
  q.a4 AS `first_day`
FROM (
  SELECT
    t0.`status` AS d0,
    SUM(CASE WHEN t0.`paid` THEN t0.`amount` END) AS a0,
    COUNT(CASE WHEN NOT t0.`paid` THEN 1 END) AS a1,
    COUNT(DISTINCT CASE WHEN t0.`quantity` BETWEEN 1 AND 3 THEN t0.`customer_id` END) AS a2,
    AVG(CASE WHEN t0.`status` IN ('new', 'shipped') THEN t0.`quantity` END) AS a3,
    MIN(CASE WHEN t0.`amount` IS NOT NULL THEN t0.`order_date` END) AS a4
  FROM `orders` AS t0
  GROUP BY 1
) AS q
ORDER BY q.d0 NULLS LAST
