-- What decides how a top-up is spent (src/domain/subscriptions/spend-topup.ts), besides the rows of open_sale(): {paid_recently, is_stopped, cart}.
-- paid_recently: the user paid for a subscription, or for something of it, after p_paid_since. is_stopped: the subscription is
-- disabled, and neither an administrator nor the integration, the panel, the channel rule or the reconciliation did it: these record their
-- reason (spec 05 section 13), and a payment does not enable it. Without one it was stopped for insufficient funds, here or in the service
-- from which it was imported (spec 10 X2). cart: the saved order with the key p_cart_key, or null. VOLATILE, so that it sees what was committed before the locks of the
-- statement that calls it were taken.
--- what decides how a top-up is spent: a recent payment, a stopped daily subscription, the saved order
CREATE OR REPLACE FUNCTION topup_facts(p_user_id integer, p_cart_key text, p_paid_since timestamptz, p_now timestamptz)
RETURNS jsonb LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN jsonb_build_object(
    'paid_recently', EXISTS (SELECT 1 FROM transactions t WHERE t.user_id = p_user_id AND t.created_at > p_paid_since
      AND t.type = 'subscription_payment' AND t.is_completed),
    'is_stopped', EXISTS (SELECT 1 FROM subscriptions s
      WHERE s.user_id = p_user_id AND s.status = 'disabled' AND s.disabled_reason IS NULL),
    'cart', (SELECT e.value FROM short_lived_entries e WHERE e.key = p_cart_key AND e.expires_at > p_now));
END $$;
