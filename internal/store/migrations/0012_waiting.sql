-- Work that was put off says why; the treasury looks for what waits for money to come home.
CREATE INDEX work_put_off ON work (why) WHERE why <> '';
