SELECT
  q.d0 AS "id",
  q.a0 AS "plus month",
  q.a1 AS "minus quarter",
  q.a2 AS "plus year",
  q.a3 AS "minus weeks",
  q.a4 AS "plus minutes",
  q.a5 AS "date plus hours",
  q.a6 AS "date minus month",
  q.a7 AS "next day",
  q.a8 AS "later"
FROM (
  SELECT
    t0."id" AS d0,
    MAXOrNull(CAST(t0."created_at" AS Nullable(DateTime64(6))) + INTERVAL 1 MONTH) AS a0,
    MAXOrNull(CAST(t0."created_at" AS Nullable(DateTime64(6))) - INTERVAL 3 MONTH) AS a1,
    MAXOrNull(CAST(t0."created_at" AS Nullable(DateTime64(6))) + INTERVAL 1 YEAR) AS a2,
    MAXOrNull(CAST(t0."created_at" AS Nullable(DateTime64(6))) - INTERVAL 14 DAY) AS a3,
    MAXOrNull(CAST(t0."created_at" AS Nullable(DateTime64(6))) + INTERVAL 90 MINUTE) AS a4,
    MAXOrNull(CAST(t0."order_date" AS Nullable(DateTime64(6))) + INTERVAL 36 HOUR) AS a5,
    MAXOrNull(CAST(t0."order_date" AS Nullable(DateTime64(6))) - INTERVAL 1 MONTH) AS a6,
    MAXOrNull(CAST(t0."order_date" AS Nullable(DateTime64(6))) + INTERVAL 1 DAY) AS a7,
    CAST(COUNT(CASE WHEN CAST(t0."created_at" AS Nullable(DateTime64(6))) >= CAST(toDate32('2024-02-29') + INTERVAL 1 YEAR AS Nullable(DateTime64(6))) THEN 1 END) AS Int64) AS a8
  FROM "orders" AS t0
  GROUP BY 1
) AS q
ORDER BY q.d0 NULLS LAST
