SELECT
  q.d0 AS `paid`,
  q.d1 AS `large`,
  q.a0 AS `any`,
  q.a1 AS `all_large`,
  q.a2 AS `known`,
  q.a0 = 1 AS `is_paid`,
  q.a3 AS `same`
FROM (
  SELECT
    t0.`paid` AS d0,
    t0.`amount` > 40 AS d1,
    MAX(CASE WHEN t0.`paid` THEN 1 WHEN NOT t0.`paid` THEN 0 END) AS a0,
    MIN(CASE WHEN t0.`amount` > 40 THEN 1 WHEN NOT (t0.`amount` > 40) THEN 0 END) AS a1,
    COUNT(t0.`quantity` > 1) AS a2,
    SUM(CASE WHEN t0.`paid` = (t0.`quantity` > 1) THEN 1 ELSE 0 END) AS a3
  FROM `orders` AS t0
  GROUP BY 1, 2
) AS q
WHERE (q.a0 = 1) OR (NOT (q.a1 <> 0))
ORDER BY q.d0 NULLS LAST, q.d1 NULLS LAST
