SELECT
  q.d0 AS `kind`,
  q.d1 AS `active`
FROM (
  SELECT
    CASE WHEN t0.`active` THEN 'active' ELSE 'other' END AS d0,
    t0.`active` AS d1
  FROM `Customers` AS t0
  GROUP BY 1, 2
) AS q
ORDER BY q.d0 NULLS LAST, q.d1 NULLS LAST
