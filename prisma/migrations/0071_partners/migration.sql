-- Partners and the figures of the referral programme among a million users within 50 ms; requests for withdrawals (spec 03 section 6).

-- DropIndex
DROP INDEX "referral_earnings_campaign_id_created_at_idx";

-- DropIndex
DROP INDEX "referral_earnings_created_at_idx";

-- DropIndex
DROP INDEX "referral_earnings_user_id_referral_id_reason_idx";

-- AlterTable
-- A commission may have a fraction. What is no percentage never counted (spec 04 section 1.1): it becomes the service-wide one.
ALTER TABLE "users" ALTER COLUMN "referral_commission_percent" SET DATA TYPE DECIMAL(5,2)
  USING CASE WHEN "referral_commission_percent" BETWEEN 0 AND 100 THEN "referral_commission_percent" END;

-- CreateTable
CREATE TABLE "referrer_figures" (
    "user_id" INTEGER NOT NULL,
    "referrals" INTEGER NOT NULL DEFAULT 0,
    "paid_referrals" INTEGER NOT NULL DEFAULT 0,
    "earned_kopeks" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "referrer_figures_pkey" PRIMARY KEY ("user_id")
);

-- CreateTable
CREATE TABLE "referrer_days" (
    "user_id" INTEGER NOT NULL,
    "day" DATE NOT NULL,
    "referrals" INTEGER NOT NULL DEFAULT 0,
    "earned_kopeks" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "referrer_days_pkey" PRIMARY KEY ("user_id","day")
);

-- CreateTable
CREATE TABLE "referral_tallies" (
    "id" BIGSERIAL NOT NULL,
    "day" DATE NOT NULL,
    "referrals" INTEGER NOT NULL,
    "paid_referrals" INTEGER NOT NULL,
    "earned_kopeks" BIGINT NOT NULL,

    CONSTRAINT "referral_tallies_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "withdrawal_requests" (
    "id" SERIAL NOT NULL,
    "user_id" INTEGER NOT NULL,
    "amount_kopeks" BIGINT NOT NULL,
    "status" VARCHAR(20) NOT NULL DEFAULT 'pending',
    "payment_details" TEXT,
    "risk_score" INTEGER NOT NULL DEFAULT 0,
    "risk_analysis" TEXT,
    "processed_by" INTEGER,
    "processed_at" TIMESTAMPTZ(3),
    "admin_comment" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "withdrawal_requests_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "referrer_figures_earned_kopeks_referrals_user_id_idx" ON "referrer_figures"("earned_kopeks" DESC, "referrals" DESC, "user_id");

-- CreateIndex
CREATE INDEX "referrer_days_day_user_id_referrals_earned_kopeks_idx" ON "referrer_days"("day", "user_id", "referrals", "earned_kopeks");

-- CreateIndex
CREATE INDEX "referral_tallies_day_idx" ON "referral_tallies"("day");

-- CreateIndex
CREATE INDEX "withdrawal_requests_user_id_created_at_id_idx" ON "withdrawal_requests"("user_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "withdrawal_requests_status_created_at_id_idx" ON "withdrawal_requests"("status", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "referral_earnings_user_id_referral_id_reason_amount_kopeks_idx" ON "referral_earnings"("user_id", "referral_id", "reason", "amount_kopeks");

-- CreateIndex
CREATE INDEX "referral_earnings_campaign_id_user_id_created_at_referral_i_idx" ON "referral_earnings"("campaign_id", "user_id", "created_at", "referral_id", "amount_kopeks");

-- CreateIndex
CREATE INDEX "referral_earnings_created_at_user_id_amount_kopeks_idx" ON "referral_earnings"("created_at", "user_id", "amount_kopeks");

-- AddForeignKey
ALTER TABLE "referrer_figures" ADD CONSTRAINT "referrer_figures_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "referrer_days" ADD CONSTRAINT "referrer_days_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "withdrawal_requests" ADD CONSTRAINT "withdrawal_requests_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "withdrawal_requests" ADD CONSTRAINT "withdrawal_requests_processed_by_fkey" FOREIGN KEY ("processed_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

ALTER TABLE withdrawal_requests
  ADD CONSTRAINT withdrawal_requests_status_known CHECK (status IN ('pending', 'approved', 'rejected', 'completed', 'cancelled')),
  ADD CONSTRAINT withdrawal_requests_amount CHECK (amount_kopeks > 0),
  ADD CONSTRAINT withdrawal_requests_risk CHECK (risk_score BETWEEN 0 AND 100);

ALTER TABLE users ADD CONSTRAINT users_commission_percent CHECK (referral_commission_percent BETWEEN 0 AND 100);

-- Nobody descends from himself (spec 04 section 16.4). Locking the two of a pair is not enough: A under B and C under D, then B under
-- C and D under A at once, share no user. Whoever closes a circle puts somebody under another who has referrals himself already, and
-- those changes go one after the other. The look-up is a statement of its own, so it sees what the one before has committed.
CREATE OR REPLACE FUNCTION refuse_referral_cycle() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM users WHERE referred_by_id = NEW.id) THEN
    PERFORM pg_advisory_xact_lock(hashtext('referral_cycle'));
  END IF;
  IF EXISTS (
    WITH RECURSIVE ancestors (id) AS (
      SELECT NEW.referred_by_id
      UNION
      SELECT u.referred_by_id FROM users u JOIN ancestors a ON u.id = a.id WHERE u.referred_by_id IS NOT NULL)
    SELECT 1 FROM ancestors WHERE id = NEW.id)
  THEN
    RAISE EXCEPTION 'user % would be among his own referrers', NEW.id USING ERRCODE = 'check_violation', CONSTRAINT = 'users_no_referral_cycle';
  END IF;
  RETURN NEW;
END $$;

-- Adds to what a referrer has; takes away with negative numbers. A referrer whose row is being deleted needs none.
CREATE FUNCTION add_referral_figures(p_user_id integer, p_moment timestamptz, p_referrals integer, p_paid integer, p_kopeks bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_day date := (p_moment AT TIME ZONE 'UTC')::date;
  v_id bigint;
BEGIN
  IF EXISTS (SELECT 1 FROM users WHERE id = p_user_id) THEN
    INSERT INTO referrer_figures AS f (user_id, referrals, paid_referrals, earned_kopeks) VALUES (p_user_id, p_referrals, p_paid, p_kopeks)
    ON CONFLICT (user_id) DO UPDATE SET referrals = f.referrals + EXCLUDED.referrals,
      paid_referrals = f.paid_referrals + EXCLUDED.paid_referrals, earned_kopeks = f.earned_kopeks + EXCLUDED.earned_kopeks;
    IF p_referrals <> 0 OR p_kopeks <> 0 THEN
      INSERT INTO referrer_days AS d (user_id, day, referrals, earned_kopeks) VALUES (p_user_id, v_day, p_referrals, p_kopeks)
      ON CONFLICT (user_id, day) DO UPDATE SET referrals = d.referrals + EXCLUDED.referrals,
        earned_kopeks = d.earned_kopeks + EXCLUDED.earned_kopeks;
    END IF;
  END IF;
  INSERT INTO referral_tallies (day, referrals, paid_referrals, earned_kopeks) VALUES (v_day, p_referrals, p_paid, p_kopeks)
  RETURNING id INTO v_id;
  -- Now and then a change folds what nobody holds into one row a day, and waits for nobody.
  IF v_id % 64 = 0 THEN
    WITH gone AS (
      DELETE FROM referral_tallies WHERE id IN (
        SELECT id FROM referral_tallies WHERE day IN (SELECT day FROM referral_tallies GROUP BY day HAVING count(*) > 4)
        FOR UPDATE SKIP LOCKED)
      RETURNING day, referrals, paid_referrals, earned_kopeks)
    INSERT INTO referral_tallies (day, referrals, paid_referrals, earned_kopeks)
    SELECT day, sum(referrals)::int, sum(paid_referrals)::int, sum(earned_kopeks)::bigint FROM gone GROUP BY day
    HAVING sum(referrals) <> 0 OR sum(paid_referrals) <> 0 OR sum(earned_kopeks) <> 0;
  END IF;
END $$;

-- Counts anew, e.g. after triggers were switched off for a bulk load; writers of users and earnings wait meanwhile.
CREATE FUNCTION recount_referrals() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE users, referral_earnings IN SHARE MODE;
  DELETE FROM referrer_figures;
  DELETE FROM referrer_days;
  DELETE FROM referral_tallies;
  INSERT INTO referrer_days (user_id, day, referrals, earned_kopeks)
  SELECT user_id, day, sum(referrals)::int, sum(kopeks)::bigint FROM (
    SELECT referred_by_id AS user_id, (created_at AT TIME ZONE 'UTC')::date AS day, count(*) AS referrals, 0 AS kopeks
    FROM users WHERE referred_by_id IS NOT NULL GROUP BY 1, 2
    UNION ALL
    SELECT user_id, (created_at AT TIME ZONE 'UTC')::date, 0, sum(amount_kopeks) FROM referral_earnings WHERE amount_kopeks <> 0 GROUP BY 1, 2) x
  GROUP BY 1, 2;
  INSERT INTO referrer_figures (user_id, referrals, paid_referrals, earned_kopeks)
  SELECT d.user_id, sum(d.referrals)::int, coalesce(max(p.paid), 0)::int, sum(d.earned_kopeks)::bigint FROM referrer_days d LEFT JOIN (
    SELECT referred_by_id, count(*) AS paid FROM users WHERE referred_by_id IS NOT NULL AND has_made_first_topup GROUP BY 1) p
    ON p.referred_by_id = d.user_id GROUP BY d.user_id;
  INSERT INTO referral_tallies (day, referrals, paid_referrals, earned_kopeks)
  SELECT coalesce(d.day, p.day), coalesce(d.referrals, 0), coalesce(p.paid, 0), coalesce(d.kopeks, 0)
  FROM (SELECT day, sum(referrals)::int AS referrals, sum(earned_kopeks)::bigint AS kopeks FROM referrer_days GROUP BY day) d
  FULL JOIN (SELECT (created_at AT TIME ZONE 'UTC')::date AS day, count(*)::int AS paid FROM users
    WHERE referred_by_id IS NOT NULL AND has_made_first_topup GROUP BY 1) p ON p.day = d.day;
END $$;

CREATE FUNCTION follow_referrals() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' AND OLD.referred_by_id IS NOT NULL THEN
    PERFORM add_referral_figures(OLD.referred_by_id, OLD.created_at, -1, -OLD.has_made_first_topup::int, 0);
  END IF;
  IF TG_OP <> 'DELETE' AND NEW.referred_by_id IS NOT NULL THEN
    PERFORM add_referral_figures(NEW.referred_by_id, NEW.created_at, 1, NEW.has_made_first_topup::int, 0);
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION follow_referral_earnings() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' AND OLD.amount_kopeks <> 0 THEN
    PERFORM add_referral_figures(OLD.user_id, OLD.created_at, 0, 0, -OLD.amount_kopeks);
  END IF;
  IF TG_OP <> 'DELETE' AND NEW.amount_kopeks <> 0 THEN
    PERFORM add_referral_figures(NEW.user_id, NEW.created_at, 0, 0, NEW.amount_kopeks);
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION follow_emptied_referrals() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM recount_referrals();
  RETURN NULL;
END $$;

CREATE TRIGGER users_referral_insert AFTER INSERT ON users FOR EACH ROW
  WHEN (NEW.referred_by_id IS NOT NULL) EXECUTE FUNCTION follow_referrals();
CREATE TRIGGER users_referral_change AFTER UPDATE OF referred_by_id, has_made_first_topup, created_at ON users FOR EACH ROW
  WHEN (OLD.referred_by_id IS DISTINCT FROM NEW.referred_by_id OR OLD.has_made_first_topup <> NEW.has_made_first_topup
    OR OLD.created_at <> NEW.created_at) EXECUTE FUNCTION follow_referrals();
CREATE TRIGGER users_referral_delete AFTER DELETE ON users FOR EACH ROW
  WHEN (OLD.referred_by_id IS NOT NULL) EXECUTE FUNCTION follow_referrals();
CREATE TRIGGER referral_earnings_figures AFTER INSERT OR DELETE ON referral_earnings
  FOR EACH ROW EXECUTE FUNCTION follow_referral_earnings();
CREATE TRIGGER referral_earnings_figures_change AFTER UPDATE OF user_id, amount_kopeks, created_at ON referral_earnings FOR EACH ROW
  WHEN (OLD.user_id <> NEW.user_id OR OLD.amount_kopeks <> NEW.amount_kopeks OR OLD.created_at <> NEW.created_at)
  EXECUTE FUNCTION follow_referral_earnings();
CREATE TRIGGER users_referral_truncate AFTER TRUNCATE ON users FOR EACH STATEMENT EXECUTE FUNCTION follow_emptied_referrals();
CREATE TRIGGER referral_earnings_truncate AFTER TRUNCATE ON referral_earnings FOR EACH STATEMENT EXECUTE FUNCTION follow_emptied_referrals();

SELECT recount_referrals();
