-- An integrator's orders by when they last changed. An index over orders themselves
-- would have to be moved by every change of an order, and with it every other index of
-- that row on PostgreSQL. Events are only ever added, so one entry is added for each;
-- those that are not their order's newest are passed over by whoever reads.
-- Of the events before this one, only the newest of every order are needed.
ALTER TABLE order_events ADD COLUMN integrator TEXT NOT NULL DEFAULT '';
UPDATE order_events SET integrator = (SELECT o.integrator FROM orders o WHERE o.id = order_events.order_id)
WHERE seq IN (SELECT seq FROM orders WHERE integrator <> '');
CREATE INDEX order_events_updated ON order_events (integrator, at, order_id, seq) WHERE integrator <> '';
