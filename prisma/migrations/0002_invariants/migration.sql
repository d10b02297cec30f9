-- Rules that must hold whatever code runs (spec 00, Consistency and Ledger; spec 04 section 18).

ALTER TABLE users
  ADD CONSTRAINT users_balance_not_negative CHECK (balance_kopeks >= 0),
  ADD CONSTRAINT users_status_known CHECK (status IN ('active', 'blocked', 'deleted')),
  ADD CONSTRAINT users_email_lower_case CHECK (email = lower(email)),
  ADD CONSTRAINT users_promo_offer_percent CHECK (promo_offer_discount_percent BETWEEN 0 AND 100),
  ADD CONSTRAINT users_not_own_referrer CHECK (referred_by_id <> id);

ALTER TABLE promo_groups
  ADD CONSTRAINT promo_groups_percents CHECK (
    server_discount_percent BETWEEN 0 AND 100 AND traffic_discount_percent BETWEEN 0 AND 100
    AND device_discount_percent BETWEEN 0 AND 100);
CREATE UNIQUE INDEX promo_groups_one_default ON promo_groups (is_default) WHERE is_default;

ALTER TABLE tariffs
  ADD CONSTRAINT tariffs_bounds CHECK (
    traffic_limit_gb >= 0 AND device_limit >= 1 AND daily_price_kopeks >= 0 AND price_per_day_kopeks >= 0
    AND traffic_price_per_gb_kopeks >= 0 AND (device_price_kopeks IS NULL OR device_price_kopeks >= 0));
CREATE UNIQUE INDEX tariffs_one_trial ON tariffs (is_trial_available) WHERE is_trial_available;

ALTER TABLE subscriptions
  ADD CONSTRAINT subscriptions_status_known CHECK (status IN ('trial', 'active', 'expired', 'disabled', 'limited', 'pending')),
  ADD CONSTRAINT subscriptions_provision_state_known CHECK (provision_state IN ('pending', 'synced', 'failed')),
  ADD CONSTRAINT subscriptions_limits CHECK (traffic_limit_gb >= 0 AND device_limit >= 0 AND purchased_traffic_gb >= 0);

ALTER TABLE traffic_purchases ADD CONSTRAINT traffic_purchases_positive CHECK (traffic_gb > 0);
ALTER TABLE server_squads ADD CONSTRAINT server_squads_bounds CHECK (price_kopeks >= 0 AND current_users >= 0);

ALTER TABLE payments
  ADD CONSTRAINT payments_amount_positive CHECK (amount_kopeks > 0),
  ADD CONSTRAINT payments_outcome_known CHECK (outcome IN ('pending', 'paid', 'failed', 'expired', 'amount_mismatch', 'refunded')),
  -- Paid and credited are one fact for top-ups (spec 03 H4, H5).
  ADD CONSTRAINT payments_topup_paid_is_credited CHECK (purpose <> 'balance_topup' OR is_paid = (transaction_id IS NOT NULL));

ALTER TABLE transactions
  ADD CONSTRAINT transactions_type_known CHECK (type IN
    ('deposit', 'withdrawal', 'subscription_payment', 'refund', 'referral_reward', 'poll_reward', 'gift_payment'));

ALTER TABLE webhook_deliveries
  ADD CONSTRAINT webhook_deliveries_status_known CHECK (status IN ('pending', 'success', 'failed'));

ALTER TABLE cabinet_refresh_tokens ADD CONSTRAINT refresh_tokens_life CHECK (expires_at > created_at);

-- Every installation has a default promo group (spec 01 section 2.2).
INSERT INTO promo_groups (name, is_default) VALUES ('Default', true);
