-- A recipient whose message was under way when its worker ended is unconfirmed and not sent it again (spec 10 O14).
ALTER TABLE "mass_send_recipients" ALTER COLUMN "state" SET DATA TYPE VARCHAR(12);

ALTER TABLE "mass_sends" ADD COLUMN     "unconfirmed" INTEGER NOT NULL DEFAULT 0;

ALTER TABLE mass_sends DROP CONSTRAINT mass_sends_counters,
  ADD CONSTRAINT mass_sends_counters
    CHECK (sent >= 0 AND failed >= 0 AND blocked >= 0 AND unconfirmed >= 0 AND sent + failed + blocked + unconfirmed <= total);
