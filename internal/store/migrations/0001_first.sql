-- One schema for SQLite and PostgreSQL. A key that is a BIGINT alone is SQLite's own
-- row number there, and lines
-- that begin with the name of an engine are for it alone.
-- Time is microseconds UTC, amounts are decimal text, bytes are hex text,
-- a height below zero is no block.

-- An order is its newest event: order_events.after is what became of it, and
-- order_events.terms what it was made with, written once and again after a requote.
-- So a move writes one long row that is never written again, and a short one here.
-- due_at is when somebody looks whether alarm_at has come; it is never later, but
-- for the one who is looking, and mostly left alone when alarm_at moves on.
CREATE TABLE orders (
  id TEXT PRIMARY KEY,
  version BIGINT NOT NULL,
  state TEXT NOT NULL,
  fee_status TEXT NOT NULL,
  seq BIGINT NOT NULL,
  terms_seq BIGINT NOT NULL,
  alarm_at BIGINT,
  due_at BIGINT,
  integrator TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
--postgres ALTER TABLE orders SET (fillfactor = 50);
CREATE INDEX orders_due ON orders (due_at, id) WHERE due_at IS NOT NULL;

-- What happened to an order is also the feed: one row, so they cannot disagree.
-- UNIQUE (order_id, key) applies a fact once.
CREATE TABLE order_events (
  seq BIGINT PRIMARY KEY,
  order_id TEXT NOT NULL,
  key TEXT NOT NULL,
  version BIGINT NOT NULL,
  at BIGINT NOT NULL,
  name TEXT NOT NULL,
  from_state TEXT NOT NULL,
  to_state TEXT NOT NULL,
  doc TEXT NOT NULL,
  after TEXT NOT NULL,
  terms TEXT,
  UNIQUE (order_id, key)
);

-- Whoever writes anything locks this table on PostgreSQL. It holds nothing.
CREATE TABLE writers (
  id BIGINT PRIMARY KEY
);

-- The books. Postings are only ever added.
CREATE TABLE postings (
  seq BIGINT PRIMARY KEY,
  order_id TEXT NOT NULL,
  debit TEXT NOT NULL,
  credit TEXT NOT NULL,
  asset TEXT NOT NULL,
  amount TEXT NOT NULL,
  at BIGINT NOT NULL
);

CREATE TABLE balances (
  account TEXT NOT NULL,
  asset TEXT NOT NULL,
  debits TEXT NOT NULL,
  credits TEXT NOT NULL,
  reserved TEXT NOT NULL,
  PRIMARY KEY (account, asset)
);

CREATE TABLE reservations (
  name TEXT PRIMARY KEY,
  account TEXT NOT NULL,
  asset TEXT NOT NULL,
  amount TEXT NOT NULL
);

CREATE TABLE work (
  id TEXT PRIMARY KEY,
  order_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  due_at BIGINT NOT NULL,
  leased_until BIGINT NOT NULL,
  tries BIGINT NOT NULL,
  why TEXT NOT NULL,
  doc TEXT NOT NULL
);
CREATE INDEX work_due ON work (due_at, id);

CREATE TABLE queue (
  id TEXT PRIMARY KEY,
  order_id TEXT NOT NULL,
  why TEXT NOT NULL,
  at BIGINT NOT NULL
);
CREATE INDEX queue_at ON queue (at, id);

CREATE TABLE addresses (
  chain TEXT NOT NULL,
  address TEXT NOT NULL,
  family TEXT NOT NULL,
  order_id TEXT NOT NULL UNIQUE,
  seq BIGINT NOT NULL,
  PRIMARY KEY (chain, address)
);
CREATE UNIQUE INDEX addresses_seq ON addresses (chain, seq);

CREATE TABLE deposits (
  id TEXT PRIMARY KEY,
  chain TEXT NOT NULL,
  address TEXT NOT NULL,
  family TEXT NOT NULL,
  order_id TEXT NOT NULL,
  asset TEXT NOT NULL,
  amount TEXT NOT NULL,
  tx TEXT NOT NULL,
  height BIGINT NOT NULL,
  hash TEXT NOT NULL,
  parent TEXT NOT NULL,
  block_time BIGINT NOT NULL,
  sighting BIGINT NOT NULL,
  stage TEXT NOT NULL,
  told_sighting BIGINT NOT NULL,
  told_stage TEXT NOT NULL,
  untold BOOLEAN NOT NULL,
  first_seen BIGINT NOT NULL
);
CREATE INDEX deposits_untold ON deposits (chain, first_seen, id) WHERE untold;
CREATE INDEX deposits_seen ON deposits (chain, height, id) WHERE stage = 'seen';
CREATE INDEX deposits_height ON deposits (chain, height);

CREATE TABLE tracks (
  chain TEXT PRIMARY KEY,
  final BIGINT NOT NULL,
  synced_at BIGINT NOT NULL
);

CREATE TABLE blocks (
  chain TEXT NOT NULL,
  height BIGINT NOT NULL,
  hash TEXT NOT NULL,
  parent TEXT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (chain, height)
);

CREATE TABLE transfers (
  id TEXT PRIMARY KEY,
  chain TEXT NOT NULL,
  account TEXT NOT NULL,
  order_id TEXT NOT NULL,
  open BOOLEAN NOT NULL,
  vigil BOOLEAN NOT NULL,
  landed_height BIGINT NOT NULL,
  fate TEXT NOT NULL,
  tx TEXT NOT NULL,
  wished_at BIGINT NOT NULL,
  doc TEXT NOT NULL,
  result TEXT NOT NULL
);
CREATE INDEX transfers_live ON transfers (chain, account, wished_at, id) WHERE open OR vigil;
CREATE INDEX transfers_landed ON transfers (chain, landed_height) WHERE landed_height >= 0;

CREATE TABLE attempts (
  transfer TEXT NOT NULL REFERENCES transfers (id),
  n BIGINT NOT NULL,
  chain TEXT NOT NULL,
  tx TEXT NOT NULL,
  raw TEXT NOT NULL,
  slots TEXT NOT NULL,
  cancel BOOLEAN NOT NULL,
  dead BOOLEAN NOT NULL,
  fee TEXT NOT NULL,
  expires TEXT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (transfer, n),
  UNIQUE (chain, tx)
);

-- A slot belongs to one transfer for ever.
CREATE TABLE slots (
  chain TEXT NOT NULL,
  slot TEXT NOT NULL,
  transfer TEXT NOT NULL REFERENCES transfers (id),
  account TEXT NOT NULL,
  spent BOOLEAN NOT NULL,
  PRIMARY KEY (chain, slot)
);
CREATE INDEX slots_transfer ON slots (transfer);

CREATE TABLE halts (
  chain TEXT PRIMARY KEY,
  why TEXT NOT NULL,
  at BIGINT NOT NULL
);

CREATE TABLE outflows (
  chain TEXT NOT NULL,
  minute BIGINT NOT NULL,
  usd BIGINT NOT NULL,
  PRIMARY KEY (chain, minute)
);
