-- What was sold of each pair, in millionths of a dollar, by the second in which the
-- orders were made. A pair has a ring of 64 rows: a second takes the place of the one 64
-- seconds before, so that nothing is to be removed.
CREATE TABLE flows (
  pair TEXT NOT NULL,
  slot BIGINT NOT NULL,
  second BIGINT NOT NULL,
  usd BIGINT NOT NULL,
  PRIMARY KEY (pair, slot)
);
