-- What began a bridge that its owner runs: a log of a transaction on its chain. One
-- begins one order only, so that nobody shows another's transfer as his own.
CREATE TABLE bridge_claims (
  proof TEXT PRIMARY KEY,
  order_id TEXT NOT NULL UNIQUE
);
