SELECT
  q.d0 AS `kind`,
  q.d1 AS `region`,
  q.d2 AS `year`,
  q.a0 AS `net`,
  q.a1 AS `rows`,
  q.a2 AS `known`,
  q.a3 AS `first`,
  q.a4 AS `any`
FROM (
  SELECT
    CASE WHEN t1.`active` THEN 'active' ELSE 'other' END AS d0,
    t2.`name` AS d1,
    DATE_TRUNC(CAST(t1.`signup` AS DATE), YEAR) AS d2,
    SUM(k.a0) AS a0,
    SUM(k.a1) AS a1,
    SUM(k.a2) AS a2,
    MIN(k.a3) AS a3,
    MAX(k.a4) AS a4
  FROM (
    SELECT
      t0.`customer_id` AS k0,
      SUM(CASE WHEN t0.`paid` OR (t0.`quantity` > 2) THEN t0.`amount` - t0.`quantity` END) AS a0,
      COUNT(*) AS a1,
      COUNT(CASE WHEN t0.`amount` > 0 THEN t0.`paid` END) AS a2,
      MIN(t0.`created_at`) AS a3,
      MAX(CASE WHEN t0.`paid` THEN 1 WHEN NOT t0.`paid` THEN 0 END) AS a4
    FROM `orders` AS t0
    WHERE (t0.`status` <> 'cancelled')
      AND (t0.`quantity` >= 1)
    GROUP BY t0.`customer_id`
  ) AS k
  LEFT JOIN `Customers` AS t1 ON k.k0 = t1.`id`
  LEFT JOIN `regions` AS t2 ON t1.`region_id` = t2.`id`
  GROUP BY 1, 2, 3
) AS q
WHERE q.a1 > 0
ORDER BY q.a0 DESC NULLS LAST, q.d0 NULLS LAST, q.d1 NULLS LAST, q.d2 NULLS LAST
