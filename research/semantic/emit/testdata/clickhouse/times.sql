SELECT
  q.a0 AS "midnight",
  q.a1 AS "after",
  q.a2 AS "in 2024",
  q.a3 AS "before",
  q.a4 AS "some",
  q.a5 AS "december",
  q.a6 AS "same day",
  q.a7 AS "old",
  q.a8 AS "first",
  q.a9 AS "last",
  q.a10 AS "future",
  q.a11 AS "future days"
FROM (
  SELECT
    CAST(COUNT(CASE WHEN CAST(t0."created_at" AS Nullable(DateTime64(6))) = toDateTime64('2024-12-30 00:00:00', 6) THEN 1 END) AS Int64) AS a0,
    CAST(COUNT(CASE WHEN CAST(t0."created_at" AS Nullable(DateTime64(6))) > toDateTime64('2024-12-29 23:59:00', 6) THEN 1 END) AS Int64) AS a1,
    CAST(COUNT(CASE WHEN CAST(t0."order_date" AS Nullable(DateTime64(6))) BETWEEN toDateTime64('2024-01-01 00:00:00', 6) AND toDateTime64('2024-12-31 00:00:00', 6) THEN 1 END) AS Int64) AS a2,
    CAST(COUNT(CASE WHEN CAST(t0."created_at" AS Nullable(DateTime64(6))) < CAST(t0."order_date" AS Nullable(DateTime64(6))) THEN 1 END) AS Int64) AS a3,
    CAST(COUNT(CASE WHEN (CAST(t0."created_at" AS Nullable(DateTime64(6))) = toDateTime64('2024-02-29 12:30:00', 6)) OR (CAST(t0."created_at" AS Nullable(DateTime64(6))) = toDateTime64('2024-12-30 00:00:00', 6)) THEN 1 END) AS Int64) AS a4,
    CAST(COUNT(CASE WHEN addDays(toDate32(t0."created_at"), 1 - toDayOfMonth(t0."created_at")) = toDate32('2024-12-01') THEN 1 END) AS Int64) AS a5,
    CAST(COUNT(CASE WHEN CAST(toDate32(CAST(t0."created_at" AS Nullable(DateTime64(6)))) AS Nullable(DateTime64(6))) = CAST(t0."order_date" AS Nullable(DateTime64(6))) THEN 1 END) AS Int64) AS a6,
    CAST(COUNT(CASE WHEN CAST(COALESCE(t0."created_at", toDateTime64('2000-01-01 00:00:00', 0)) AS Nullable(DateTime64(6))) <= toDateTime64('2024-01-01 00:00:00', 6) THEN 1 END) AS Int64) AS a7,
    MINOrNull(t0."created_at") AS a8,
    MAXOrNull(t0."order_date") AS a9,
    CAST(COUNT(CASE WHEN CAST(t0."created_at" AS Nullable(DateTime64(6))) > CAST(now() AS Nullable(DateTime64(6))) THEN 1 END) AS Int64) AS a10,
    CAST(COUNT(CASE WHEN CAST(t0."order_date" AS Nullable(DateTime64(6))) > CAST(today() AS Nullable(DateTime64(6))) THEN 1 END) AS Int64) AS a11
  FROM "orders" AS t0
) AS q
WHERE CAST(q.a8 AS Nullable(DateTime64(6))) < toDateTime64('2030-01-01 00:00:00', 6)
