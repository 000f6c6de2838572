-- Deposit addresses by the index of their key. Indices are taken in blocks, and an
-- address is written here before anybody is given it.
CREATE TABLE wallet_next (
  chain TEXT NOT NULL PRIMARY KEY,
  next BIGINT NOT NULL
);
CREATE TABLE wallet_addresses (
  chain TEXT NOT NULL,
  idx BIGINT NOT NULL,
  address TEXT NOT NULL,
  PRIMARY KEY (chain, idx),
  UNIQUE (chain, address)
);

-- swept_by is the transfer that brings a deposit home, from when it is wished. What is
-- free to be swept is found largest first: the length of a decimal number and then its
-- text sort as the number does. A transfer that did not bring it home leaves it to wait
-- until sweep_after.
ALTER TABLE deposits ADD COLUMN swept_by TEXT NOT NULL DEFAULT '';
ALTER TABLE deposits ADD COLUMN sweep_after BIGINT NOT NULL DEFAULT 0;
CREATE INDEX deposits_unswept ON deposits (chain, asset, LENGTH(amount), amount, id) WHERE swept_by = '' AND stage = 'final' AND NOT untold;

-- sweep is the asset that a transfer brings home; empty for all other transfers.
ALTER TABLE transfers ADD COLUMN sweep TEXT NOT NULL DEFAULT '';

-- What an audit looks at: addresses on which something may lie, and transfers that ended
-- and whose order has not heard of it.
CREATE INDEX deposits_lying ON deposits (chain, address, asset) WHERE swept_by = '' AND height >= 0;
ALTER TABLE work ADD COLUMN transfer TEXT NOT NULL DEFAULT '';
