-- Sort keys of the administrator's list of users: one row of user_stats and one of user_traffic for each user, maintained in the transaction
-- of the change. user_traffic is a separate table, because it changes under the lock of the subscription and not of the user.

-- Recounts everything, for example after a bulk load without triggers. Writers of users wait until it ends.
--- recounts `user_stats` and `user_traffic`
CREATE OR REPLACE FUNCTION recount_user_stats() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE users IN SHARE MODE;
  DELETE FROM user_stats;
  DELETE FROM user_traffic;
  INSERT INTO user_stats (user_id, status, created_at, balance_kopeks, total_spent_kopeks, purchase_count, last_activity)
  SELECT u.id, listed_status(u.status, u.id, u.referral_code), u.created_at, u.balance_kopeks, coalesce(p.spent, 0), coalesce(p.purchases, 0), coalesce(u.last_activity, 'epoch')
  FROM users u LEFT JOIN (
    SELECT user_id, sum(abs(amount_kopeks))::bigint AS spent, count(*)::int AS purchases FROM transactions
    WHERE type = 'subscription_payment' AND is_completed GROUP BY user_id) p ON p.user_id = u.id;
  INSERT INTO user_traffic (user_id, status, created_at, traffic_used_gb)
  SELECT u.id, listed_status(u.status, u.id, u.referral_code), u.created_at, coalesce(s.traffic_used_gb, 0) FROM users u LEFT JOIN subscriptions s ON s.user_id = u.id;
END $$;

--- adds the rows of new users
CREATE OR REPLACE FUNCTION insert_user_stats() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO user_stats (user_id, status, created_at, balance_kopeks, last_activity)
  SELECT id, listed_status(status, id, referral_code), created_at, balance_kopeks, coalesce(last_activity, 'epoch') FROM new_users;
  INSERT INTO user_traffic (user_id, status, created_at) SELECT id, listed_status(status, id, referral_code), created_at FROM new_users;
  RETURN NULL;
END $$;

--- copies changed columns of users
CREATE OR REPLACE FUNCTION update_user_stats() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  v_status text := listed_status(NEW.status, NEW.id, NEW.referral_code);
BEGIN
  UPDATE user_stats SET status = v_status, created_at = NEW.created_at, balance_kopeks = NEW.balance_kopeks,
    last_activity = coalesce(NEW.last_activity, 'epoch') WHERE user_id = NEW.id;
  IF OLD.status <> NEW.status OR OLD.referral_code <> NEW.referral_code OR OLD.created_at <> NEW.created_at THEN
    UPDATE user_traffic SET status = v_status, created_at = NEW.created_at WHERE user_id = NEW.id;
  END IF;
  RETURN NULL;
END $$;

--- copies the used traffic
CREATE OR REPLACE FUNCTION update_user_traffic() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' AND (TG_OP = 'DELETE' OR OLD.user_id <> NEW.user_id) THEN
    UPDATE user_traffic SET traffic_used_gb = 0 WHERE user_id = OLD.user_id;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    UPDATE user_traffic SET traffic_used_gb = NEW.traffic_used_gb WHERE user_id = NEW.user_id;
  END IF;
  RETURN NULL;
END $$;

--- adds and subtracts purchases
CREATE OR REPLACE FUNCTION update_user_purchases() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' AND OLD.type = 'subscription_payment' AND OLD.is_completed THEN
    UPDATE user_stats SET total_spent_kopeks = total_spent_kopeks - abs(OLD.amount_kopeks), purchase_count = purchase_count - 1
    WHERE user_id = OLD.user_id;
  END IF;
  IF NEW.type = 'subscription_payment' AND NEW.is_completed THEN
    UPDATE user_stats SET total_spent_kopeks = total_spent_kopeks + abs(NEW.amount_kopeks), purchase_count = purchase_count + 1
    WHERE user_id = NEW.user_id;
  END IF;
  RETURN NULL;
END $$;

--- keeps `user_stats` and `user_traffic`
CREATE OR REPLACE TRIGGER users_list_stats_insert AFTER INSERT ON users REFERENCING NEW TABLE AS new_users
  FOR EACH STATEMENT EXECUTE FUNCTION insert_user_stats();
--- keeps `user_stats` and `user_traffic`
CREATE OR REPLACE TRIGGER users_list_stats_change AFTER UPDATE OF status, referral_code, created_at, balance_kopeks, last_activity ON users
  FOR EACH ROW WHEN (OLD.status <> NEW.status OR OLD.referral_code <> NEW.referral_code OR OLD.created_at <> NEW.created_at OR OLD.balance_kopeks <> NEW.balance_kopeks
    OR OLD.last_activity IS DISTINCT FROM NEW.last_activity) EXECUTE FUNCTION update_user_stats();
--- keeps `user_traffic`
CREATE OR REPLACE TRIGGER subscriptions_traffic_insert AFTER INSERT ON subscriptions FOR EACH ROW
  WHEN (NEW.traffic_used_gb <> 0) EXECUTE FUNCTION update_user_traffic();
--- keeps `user_traffic`
CREATE OR REPLACE TRIGGER subscriptions_traffic_change AFTER UPDATE OF traffic_used_gb, user_id ON subscriptions FOR EACH ROW
  WHEN (OLD.traffic_used_gb <> NEW.traffic_used_gb OR OLD.user_id <> NEW.user_id) EXECUTE FUNCTION update_user_traffic();
--- keeps `user_traffic`
CREATE OR REPLACE TRIGGER subscriptions_traffic_delete AFTER DELETE ON subscriptions FOR EACH ROW
  WHEN (OLD.traffic_used_gb <> 0) EXECUTE FUNCTION update_user_traffic();
--- keeps `user_stats`
CREATE OR REPLACE TRIGGER transactions_purchases_insert AFTER INSERT ON transactions FOR EACH ROW
  WHEN (NEW.type = 'subscription_payment' AND NEW.is_completed) EXECUTE FUNCTION update_user_purchases();
--- keeps `user_stats`
CREATE OR REPLACE TRIGGER transactions_purchases_change AFTER UPDATE OF is_completed, type, amount_kopeks, user_id ON transactions
  FOR EACH ROW WHEN (OLD.is_completed <> NEW.is_completed OR OLD.type <> NEW.type OR OLD.amount_kopeks <> NEW.amount_kopeks
    OR OLD.user_id <> NEW.user_id) EXECUTE FUNCTION update_user_purchases();

-- Accounts that were erased before lists left them out (spec 10 U8).
DO $$
BEGIN
  IF EXISTS (SELECT 1 FROM users u JOIN user_stats s ON s.user_id = u.id WHERE u.referral_code = 'erased:' || u.id AND s.status <> 'erased') THEN
    PERFORM recount_users(), recount_user_days(), recount_user_stats();
  END IF;
END $$;
