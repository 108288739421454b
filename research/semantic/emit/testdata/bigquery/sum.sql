SELECT
  q.a0 AS `revenue`
FROM (
  SELECT
    SUM(t0.`amount`) AS a0
  FROM `orders` AS t0
) AS q
