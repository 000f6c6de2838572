-- What anybody may see: points, and completed orders without whose they were. Both are
-- written in the transaction of the fact; sums beside them are kept as tallies are.

-- The ledger of points is only ever added to. An order earns with a version of it, and
-- loses again with a later one. account is an address or an integrator.
CREATE TABLE points_entries (
  order_id TEXT NOT NULL,
  version BIGINT NOT NULL,
  account TEXT NOT NULL,
  kind TEXT NOT NULL,
  season TEXT NOT NULL,
  points BIGINT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (order_id, version, account)
);

-- board is the season for an account that is ranked, and empty for one that is not.
CREATE TABLE points_accounts (
  account TEXT NOT NULL,
  season TEXT NOT NULL,
  board TEXT NOT NULL,
  points BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (account, season)
);
CREATE INDEX points_board ON points_accounts (board, points DESC, account) WHERE board <> '';

-- order_id is for whoever counts again, and is never published.
CREATE TABLE activity (
  order_id TEXT PRIMARY KEY,
  id TEXT NOT NULL,
  publish_at BIGINT NOT NULL,
  give TEXT NOT NULL,
  get TEXT NOT NULL,
  worth TEXT NOT NULL,
  took BIGINT NOT NULL,
  completed_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX activity_published ON activity (publish_at, id);

--sqlite CREATE TRIGGER points_entries_fixed BEFORE UPDATE ON points_entries BEGIN SELECT RAISE(ABORT, 'the ledger of points is only ever added to'); END;
--sqlite CREATE TRIGGER points_entries_kept BEFORE DELETE ON points_entries BEGIN SELECT RAISE(ABORT, 'the ledger of points is only ever added to'); END;
--postgres CREATE TRIGGER points_entries_fixed BEFORE UPDATE OR DELETE ON points_entries FOR EACH ROW EXECUTE FUNCTION refuse_change('the ledger of points is only ever added to');
