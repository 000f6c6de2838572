-- What the door needs of orders: whose they are, and what was counted of them.

ALTER TABLE orders ADD COLUMN session TEXT NOT NULL DEFAULT '';
ALTER TABLE orders ADD COLUMN key TEXT NOT NULL DEFAULT '';
ALTER TABLE orders ADD COLUMN reference TEXT NOT NULL DEFAULT '';
CREATE INDEX orders_session ON orders (session, created_at, id);
CREATE INDEX orders_integrator ON orders (integrator, created_at, id) WHERE integrator <> '';

-- Unfinished orders by whom they count against. An ending takes them out; what is
-- older than a window is passed over.
CREATE TABLE open_orders (
  subject TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  order_id TEXT NOT NULL,
  PRIMARY KEY (subject, created_at, order_id)
);

-- Requests that may make one order only.
CREATE TABLE requests (
  scope TEXT NOT NULL,
  key TEXT NOT NULL,
  body TEXT NOT NULL,
  order_id TEXT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (scope, key)
);
CREATE INDEX requests_at ON requests (at);

-- Sums that are kept beside the facts, in the transaction of the fact.
CREATE TABLE tallies (
  subject TEXT NOT NULL,
  name TEXT NOT NULL,
  bucket BIGINT NOT NULL,
  n BIGINT NOT NULL,
  PRIMARY KEY (subject, bucket, name)
);

-- End users of an integrator, as keyed digests, with the day they were last seen.
CREATE TABLE clients (
  integrator TEXT NOT NULL,
  digest TEXT NOT NULL,
  day BIGINT NOT NULL,
  PRIMARY KEY (integrator, digest)
);
