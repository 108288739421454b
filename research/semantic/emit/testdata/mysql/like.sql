SELECT
  q.a0 AS `plain`,
  q.a1 AS `backslash`,
  q.a2 AS `no bar`,
  q.a3 AS `marks`,
  q.a4 AS `itself`,
  q.a5 AS `both`,
  q.a6 AS `equal`,
  q.a7 AS `quote`
FROM (
  SELECT
    COUNT(CASE WHEN t0.`name` LIKE '%nn%' THEN 1 END) AS a0,
    COUNT(CASE WHEN t0.`name` LIKE _utf8mb4 X'615C5F25' ESCAPE '|' THEN 1 END) AS a1,
    COUNT(CASE WHEN t0.`name` NOT LIKE '%|%' THEN 1 END) AS a2,
    COUNT(CASE WHEN t0.`name` LIKE '[b]*?%' THEN 1 END) AS a3,
    COUNT(CASE WHEN t0.`name` LIKE REPLACE(t0.`name`, '|', '||') ESCAPE '|' THEN 1 END) AS a4,
    COUNT(CASE WHEN t0.`name` LIKE _utf8mb4 X'615C627C7C5F' ESCAPE '|' THEN 1 END) AS a5,
    COUNT(CASE WHEN t0.`name` = _utf8mb4 X'615C627C63' THEN 1 END) AS a6,
    COUNT(CASE WHEN t0.`name` LIKE 'o''%' THEN 1 END) AS a7
  FROM `Customers` AS t0
) AS q
