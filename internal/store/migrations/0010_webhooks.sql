-- Where integrators want to be told of their orders. cursor is the last number of the
-- integrator's log that was taken up; what was taken up is in webhook_deliveries.
-- Secrets are sealed. off says why nothing is sent any more; one that was removed stays
-- until its deliveries are gone, which are removed in parts.
-- not_before is when what is taken up may be sent first: after a replay nothing may
-- overtake what is still on its way.
CREATE TABLE webhook_endpoints (
  id TEXT PRIMARY KEY,
  integrator TEXT NOT NULL,
  url TEXT NOT NULL,
  events TEXT NOT NULL,
  description TEXT NOT NULL,
  cursor BIGINT NOT NULL,
  not_before BIGINT NOT NULL,
  secret TEXT NOT NULL,
  old_secret TEXT NOT NULL,
  old_until BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  off TEXT NOT NULL,
  failing_since BIGINT NOT NULL,
  last_status BIGINT NOT NULL,
  last_why TEXT NOT NULL
);
CREATE INDEX webhook_endpoints_owner ON webhook_endpoints (integrator, created_at, id);
CREATE INDEX webhook_endpoints_off ON webhook_endpoints (off, id);

-- What was taken up for an endpoint, by its number in the log. Of the events of one
-- order the first that is not ended is due and the others wait for it, so that they
-- arrive in order. due_at is when it is sent next; whoever sends it moves that to the
-- end of its lease. ended_at is zero until it was delivered or given up.
CREATE TABLE webhook_deliveries (
  endpoint TEXT NOT NULL,
  n BIGINT NOT NULL,
  order_id TEXT NOT NULL,
  event TEXT NOT NULL,
  state TEXT NOT NULL,
  due_at BIGINT NOT NULL,
  leased_until BIGINT NOT NULL,
  tries BIGINT NOT NULL,
  taken_at BIGINT NOT NULL,
  first_at BIGINT NOT NULL,
  ended_at BIGINT NOT NULL,
  status BIGINT NOT NULL,
  why TEXT NOT NULL,
  PRIMARY KEY (endpoint, n)
);
--postgres ALTER TABLE webhook_deliveries SET (fillfactor = 70);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint, due_at, n) WHERE state = 'due';
CREATE INDEX webhook_deliveries_open ON webhook_deliveries (endpoint, order_id, n) WHERE ended_at = 0;
CREATE INDEX webhook_deliveries_ended ON webhook_deliveries (ended_at) WHERE ended_at > 0;
