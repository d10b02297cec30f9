-- One user as the Web API shows one, as JSON: the columns of VIEW_COLUMNS in src/domain/users/account/view-repo.ts under their names in the
-- database; null when there is no such user. For functions that answer with the user whom they have just changed: a statement that calls
-- such a function could not see the change itself. tests/domain/users/balance-statement.test.ts compares the columns with VIEW_COLUMNS.
--
-- PL/pgSQL, because its statements are planned once a session and those of an SQL function once a call.
--- one user as the Web API shows one
CREATE OR REPLACE FUNCTION user_view(p_user_id integer) RETURNS json LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT row_to_json(v) FROM (
    SELECT u.id, u.messenger_id, u.username, u.first_name, u.last_name, u.status, u.language, u.balance_kopeks, u.referral_code,
      u.referred_by_id, u.has_had_paid_subscription, u.has_made_first_topup, u.created_at, u.updated_at, u.last_activity,
      g.id AS group_id, g.name AS group_name, g.server_discount_percent, g.traffic_discount_percent, g.device_discount_percent,
      g.apply_discounts_to_addons,
      s.id AS subscription_id, s.status AS subscription_status, s.is_trial, s.start_date, s.end_date, s.traffic_limit_gb,
      s.traffic_used_gb, s.device_limit, s.autopay_enabled, s.autopay_days_before, s.subscription_url, s.subscription_crypto_link,
      s.connected_squads
    FROM users u LEFT JOIN promo_groups g ON g.id = u.promo_group_id LEFT JOIN subscriptions s ON s.user_id = u.id
    WHERE u.id = p_user_id) v);
END $$;
