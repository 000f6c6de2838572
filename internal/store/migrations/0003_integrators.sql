-- Who builds on the service, their keys, and what operators did about them.
-- The register is the first two tables. Every change of it takes the next version
-- in the transaction that makes it, so that whoever asks for what changed after a
-- version misses nothing.
CREATE TABLE integrators (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  status TEXT NOT NULL,
  version BIGINT NOT NULL,
  changed_in BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  doc TEXT NOT NULL
);
CREATE INDEX integrators_changed ON integrators (changed_in);

-- Of a key only its digest is kept. revoked_at is NULL while it is not revoked.
CREATE TABLE integrator_keys (
  id TEXT PRIMARY KEY,
  integrator TEXT NOT NULL REFERENCES integrators (id),
  kind TEXT NOT NULL,
  label TEXT NOT NULL,
  hint TEXT NOT NULL,
  digest TEXT NOT NULL UNIQUE,
  requests BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  revoked_at BIGINT,
  last_used_at BIGINT NOT NULL,
  changed_in BIGINT NOT NULL
);
CREATE INDEX integrator_keys_owner ON integrator_keys (integrator, created_at, id);
CREATE INDEX integrator_keys_changed ON integrator_keys (changed_in);

CREATE TABLE register_log (
  version BIGINT PRIMARY KEY,
  subject TEXT NOT NULL,
  at BIGINT NOT NULL
);

-- What operators did. Each row holds the sum of the row before and its own, and
-- operator_heads where the log ends, so that no row can be changed, put in or taken
-- out without being found.
CREATE TABLE operator_log (
  seq BIGINT PRIMARY KEY,
  at BIGINT NOT NULL,
  operator TEXT NOT NULL,
  action TEXT NOT NULL,
  target TEXT NOT NULL,
  was TEXT NOT NULL,
  became TEXT NOT NULL,
  prev TEXT NOT NULL,
  sum TEXT NOT NULL
);
CREATE TABLE operator_heads (
  id BIGINT PRIMARY KEY,
  seq BIGINT NOT NULL,
  sum TEXT NOT NULL
);
INSERT INTO operator_heads (id, seq, sum) VALUES (1, 0, '0000000000000000000000000000000000000000000000000000000000000000');

-- What no statement of this program does is refused to every other, too.
--sqlite CREATE TRIGGER integrator_keys_fixed BEFORE UPDATE OF id, integrator, kind, digest ON integrator_keys BEGIN SELECT RAISE(ABORT, 'a key keeps its kind, its owner and its digest'); END;
--sqlite CREATE TRIGGER integrator_keys_revoked BEFORE UPDATE OF revoked_at ON integrator_keys WHEN OLD.revoked_at IS NOT NULL BEGIN SELECT RAISE(ABORT, 'a key that was revoked stays revoked'); END;
--sqlite CREATE TRIGGER integrator_keys_kept BEFORE DELETE ON integrator_keys BEGIN SELECT RAISE(ABORT, 'a key is revoked and never removed'); END;
--sqlite CREATE TRIGGER operator_log_fixed BEFORE UPDATE ON operator_log BEGIN SELECT RAISE(ABORT, 'the log is only ever added to'); END;
--sqlite CREATE TRIGGER operator_log_kept BEFORE DELETE ON operator_log BEGIN SELECT RAISE(ABORT, 'the log is only ever added to'); END;
--postgres CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''%'', TG_ARGV[0]; END';
--postgres CREATE TRIGGER integrator_keys_fixed BEFORE UPDATE OF id, integrator, kind, digest ON integrator_keys FOR EACH ROW EXECUTE FUNCTION refuse_change('a key keeps its kind, its owner and its digest');
--postgres CREATE TRIGGER integrator_keys_revoked BEFORE UPDATE OF revoked_at ON integrator_keys FOR EACH ROW WHEN (OLD.revoked_at IS NOT NULL) EXECUTE FUNCTION refuse_change('a key that was revoked stays revoked');
--postgres CREATE TRIGGER integrator_keys_kept BEFORE DELETE ON integrator_keys FOR EACH ROW EXECUTE FUNCTION refuse_change('a key is revoked and never removed');
--postgres CREATE TRIGGER operator_log_fixed BEFORE UPDATE OR DELETE ON operator_log FOR EACH ROW EXECUTE FUNCTION refuse_change('the log is only ever added to');
