-- The administrator's list of users: sorted by figures and searched by name or e-mail among a million users within 50 ms.

-- DropIndex
DROP INDEX "users_referred_by_id_idx";

-- CreateTable
CREATE TABLE "user_figures" (
    "user_id" INTEGER NOT NULL,
    "status" VARCHAR(20) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "balance_kopeks" BIGINT NOT NULL,
    "total_spent_kopeks" BIGINT NOT NULL DEFAULT 0,
    "purchase_count" INTEGER NOT NULL DEFAULT 0,
    "last_activity" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "user_figures_pkey" PRIMARY KEY ("user_id")
);

-- CreateTable
CREATE TABLE "user_traffic" (
    "user_id" INTEGER NOT NULL,
    "status" VARCHAR(20) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "traffic_used_gb" DOUBLE PRECISION NOT NULL DEFAULT 0,

    CONSTRAINT "user_traffic_pkey" PRIMARY KEY ("user_id")
);

-- CreateIndex
CREATE INDEX "user_figures_status_balance_kopeks_created_at_user_id_idx" ON "user_figures"("status", "balance_kopeks" DESC, "created_at" DESC, "user_id" DESC);

-- CreateIndex
CREATE INDEX "user_figures_status_total_spent_kopeks_created_at_user_id_idx" ON "user_figures"("status", "total_spent_kopeks" DESC, "created_at" DESC, "user_id" DESC);

-- CreateIndex
CREATE INDEX "user_figures_status_purchase_count_created_at_user_id_idx" ON "user_figures"("status", "purchase_count" DESC, "created_at" DESC, "user_id" DESC);

-- CreateIndex
CREATE INDEX "user_figures_status_last_activity_created_at_user_id_idx" ON "user_figures"("status", "last_activity" DESC, "created_at" DESC, "user_id" DESC);

-- CreateIndex
CREATE INDEX "user_traffic_status_traffic_used_gb_created_at_user_id_idx" ON "user_traffic"("status", "traffic_used_gb" DESC, "created_at" DESC, "user_id" DESC);

-- CreateIndex
CREATE INDEX "users_referred_by_id_created_at_id_idx" ON "users"("referred_by_id", "created_at" DESC, "id" DESC);

-- AddForeignKey
ALTER TABLE "user_figures" ADD CONSTRAINT "user_figures_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "user_traffic" ADD CONSTRAINT "user_traffic_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Windows of names and of the e-mail; the index of migration 0010 looks through referral codes as well, which all begin alike.
CREATE INDEX users_admin_search ON users USING gin
  (search_windows(user_search_text(username::text, first_name::text, last_name::text, ''::text)), search_windows(lower(email::text)))
  WITH (fastupdate = off);

-- Counts anew, e.g. after triggers were switched off for a bulk load; writers of users wait meanwhile.
CREATE FUNCTION recount_user_figures() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE users IN SHARE MODE;
  DELETE FROM user_figures;
  DELETE FROM user_traffic;
  INSERT INTO user_figures (user_id, status, created_at, balance_kopeks, total_spent_kopeks, purchase_count, last_activity)
  SELECT u.id, u.status, u.created_at, u.balance_kopeks, coalesce(p.spent, 0), coalesce(p.purchases, 0), coalesce(u.last_activity, 'epoch')
  FROM users u LEFT JOIN (
    SELECT user_id, sum(abs(amount_kopeks))::bigint AS spent, count(*)::int AS purchases FROM transactions
    WHERE type = 'subscription_payment' AND is_completed GROUP BY user_id) p ON p.user_id = u.id;
  INSERT INTO user_traffic (user_id, status, created_at, traffic_used_gb)
  SELECT u.id, u.status, u.created_at, coalesce(s.traffic_used_gb, 0) FROM users u LEFT JOIN subscriptions s ON s.user_id = u.id;
END $$;

CREATE FUNCTION start_user_figures() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO user_figures (user_id, status, created_at, balance_kopeks, last_activity)
  SELECT id, status, created_at, balance_kopeks, coalesce(last_activity, 'epoch') FROM new_users;
  INSERT INTO user_traffic (user_id, status, created_at) SELECT id, status, created_at FROM new_users;
  RETURN NULL;
END $$;

CREATE FUNCTION follow_user_figures() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE user_figures SET status = NEW.status, created_at = NEW.created_at, balance_kopeks = NEW.balance_kopeks,
    last_activity = coalesce(NEW.last_activity, 'epoch') WHERE user_id = NEW.id;
  IF OLD.status <> NEW.status OR OLD.created_at <> NEW.created_at THEN
    UPDATE user_traffic SET status = NEW.status, created_at = NEW.created_at WHERE user_id = NEW.id;
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION follow_user_traffic() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' AND (TG_OP = 'DELETE' OR OLD.user_id <> NEW.user_id) THEN
    UPDATE user_traffic SET traffic_used_gb = 0 WHERE user_id = OLD.user_id;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    UPDATE user_traffic SET traffic_used_gb = NEW.traffic_used_gb WHERE user_id = NEW.user_id;
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION follow_user_purchases() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' AND OLD.type = 'subscription_payment' AND OLD.is_completed THEN
    UPDATE user_figures SET total_spent_kopeks = total_spent_kopeks - abs(OLD.amount_kopeks), purchase_count = purchase_count - 1
    WHERE user_id = OLD.user_id;
  END IF;
  IF NEW.type = 'subscription_payment' AND NEW.is_completed THEN
    UPDATE user_figures SET total_spent_kopeks = total_spent_kopeks + abs(NEW.amount_kopeks), purchase_count = purchase_count + 1
    WHERE user_id = NEW.user_id;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER users_figures_insert AFTER INSERT ON users REFERENCING NEW TABLE AS new_users
  FOR EACH STATEMENT EXECUTE FUNCTION start_user_figures();
CREATE TRIGGER users_figures_change AFTER UPDATE OF status, created_at, balance_kopeks, last_activity ON users FOR EACH ROW
  WHEN (OLD.status <> NEW.status OR OLD.created_at <> NEW.created_at OR OLD.balance_kopeks <> NEW.balance_kopeks
    OR OLD.last_activity IS DISTINCT FROM NEW.last_activity) EXECUTE FUNCTION follow_user_figures();
CREATE TRIGGER subscriptions_traffic_insert AFTER INSERT ON subscriptions FOR EACH ROW
  WHEN (NEW.traffic_used_gb <> 0) EXECUTE FUNCTION follow_user_traffic();
CREATE TRIGGER subscriptions_traffic_change AFTER UPDATE OF traffic_used_gb, user_id ON subscriptions FOR EACH ROW
  WHEN (OLD.traffic_used_gb <> NEW.traffic_used_gb OR OLD.user_id <> NEW.user_id) EXECUTE FUNCTION follow_user_traffic();
CREATE TRIGGER subscriptions_traffic_delete AFTER DELETE ON subscriptions FOR EACH ROW
  WHEN (OLD.traffic_used_gb <> 0) EXECUTE FUNCTION follow_user_traffic();
CREATE TRIGGER transactions_purchases_insert AFTER INSERT ON transactions FOR EACH ROW
  WHEN (NEW.type = 'subscription_payment' AND NEW.is_completed) EXECUTE FUNCTION follow_user_purchases();
CREATE TRIGGER transactions_purchases_change AFTER UPDATE OF is_completed, type, amount_kopeks, user_id ON transactions FOR EACH ROW
  WHEN (OLD.is_completed <> NEW.is_completed OR OLD.type <> NEW.type OR OLD.amount_kopeks <> NEW.amount_kopeks
    OR OLD.user_id <> NEW.user_id) EXECUTE FUNCTION follow_user_purchases();

SELECT recount_user_figures();
