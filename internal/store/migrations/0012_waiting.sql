-- Orders whose step or refund was put off may wait for their deposit to come home.
CREATE INDEX work_waiting ON work (order_id) WHERE tries > 0 AND kind IN ('price', 'run_step');
CREATE INDEX deposits_wanted ON deposits (order_id) WHERE swept_by = '' AND stage = 'final' AND NOT untold;
