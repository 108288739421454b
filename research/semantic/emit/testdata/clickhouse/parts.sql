SELECT
  q.d0 AS "id",
  q.a0 AS "year",
  q.a1 AS "quarter",
  q.a2 AS "month",
  q.a3 AS "week",
  q.a4 AS "day",
  q.a5 AS "dow",
  q.a6 AS "doy",
  q.a7 AS "hour",
  q.a8 AS "minute",
  q.a9 AS "second",
  q.a10 AS "hour of date",
  q.a11 AS "dow of date",
  q.a12 AS "week of date"
FROM (
  SELECT
    t0."id" AS d0,
    MAXOrNull(toYear(t0."created_at")) AS a0,
    MAXOrNull(toQuarter(t0."created_at")) AS a1,
    MAXOrNull(toMonth(t0."created_at")) AS a2,
    MAXOrNull(toISOWeek(t0."created_at")) AS a3,
    MAXOrNull(toDayOfMonth(t0."created_at")) AS a4,
    MAXOrNull((toDayOfWeek(t0."created_at") % 7)) AS a5,
    MAXOrNull(toDayOfYear(t0."created_at")) AS a6,
    MAXOrNull(toHour(CAST(t0."created_at" AS Nullable(DateTime64(6))))) AS a7,
    MAXOrNull(toMinute(CAST(t0."created_at" AS Nullable(DateTime64(6))))) AS a8,
    MAXOrNull(toSecond(CAST(t0."created_at" AS Nullable(DateTime64(6))))) AS a9,
    MAXOrNull(toHour(CAST(t0."order_date" AS Nullable(DateTime64(6))))) AS a10,
    MAXOrNull((toDayOfWeek(t0."order_date") % 7)) AS a11,
    MAXOrNull(toISOWeek(t0."order_date")) AS a12
  FROM "orders" AS t0
  GROUP BY 1
) AS q
ORDER BY q.d0 NULLS LAST
