-- Every event of an integrator's orders has its number in the log of that integrator:
-- from one, without a gap, in the order of commits. The number of the whole feed would
-- tell each of them how much all the others do.
-- Only events that say whose they are have one; see 0005.
ALTER TABLE order_events ADD COLUMN n BIGINT NOT NULL DEFAULT 0;
UPDATE order_events SET n = numbered.n FROM
  (SELECT seq, ROW_NUMBER() OVER (PARTITION BY integrator ORDER BY seq) AS n FROM order_events WHERE integrator <> '') AS numbered
WHERE numbered.seq = order_events.seq;
CREATE UNIQUE INDEX order_events_log ON order_events (integrator, n) WHERE integrator <> '';
