-- Personal discounts that lower invoices (spec 10 M3). A discount is used once: by whoever pays first. The newest open invoice at a lowered
-- price reserves it, at most one of a buyer (guest_purchases_one_offer), so that its price holds to its end also when the discount ends by
-- time. The callers have locked the buyer.

-- Ends the reservation of a buyer's discount: it was used up, taken back or given up.
--- ends the reservation of a buyer's discount
CREATE OR REPLACE FUNCTION release_offer(p_user_id integer) RETURNS void LANGUAGE sql AS $$
  UPDATE guest_purchases g SET reserves_offer = false WHERE g.buyer_user_id = p_user_id AND g.reserves_offer
$$;

-- Reserves the discount for a new open invoice, instead of an earlier one of the same buyer.
--- reserves a discount for a new open invoice
CREATE OR REPLACE FUNCTION reserve_offer(p_purchase_id integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM release_offer(g.buyer_user_id) FROM guest_purchases g WHERE g.id = p_purchase_id AND g.promo_offer_percent IS NOT NULL;
  UPDATE guest_purchases g SET reserves_offer = true WHERE g.id = p_purchase_id AND g.promo_offer_percent IS NOT NULL;
END $$;

-- Uses up the discount that lowered the price of a purchase whose money has come: the one that it reserves, else the same one if its buyer
-- has it still. p_action is that of the log. Returns false when it is gone: it was used up for something else, ended, or was taken back.
--- uses up the discount that lowered an invoice
CREATE OR REPLACE FUNCTION use_offer(p_purchase_id integer, p_action text, p_details jsonb, p_now timestamptz) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  v_purchase guest_purchases;
  v_has boolean;
BEGIN
  SELECT g.* INTO v_purchase FROM guest_purchases g WHERE g.id = p_purchase_id;
  SELECT u.promo_offer_discount_percent = v_purchase.promo_offer_percent
      AND u.promo_offer_discount_source IS NOT DISTINCT FROM v_purchase.promo_offer_source
      AND (v_purchase.reserves_offer OR u.promo_offer_discount_expires_at IS NULL OR u.promo_offer_discount_expires_at > p_now)
  INTO v_has FROM users u WHERE u.id = v_purchase.buyer_user_id;
  IF v_has IS NULL OR NOT (v_has OR v_purchase.reserves_offer) THEN
    RETURN false;
  END IF;
  INSERT INTO promo_offer_logs (user_id, offer_id, action, source, percent, effect_type, details, created_at)
  SELECT v_purchase.buyer_user_id, o.id, p_action, v_purchase.promo_offer_source, v_purchase.promo_offer_percent, o.effect_type, p_details, p_now
  FROM (SELECT) AS one LEFT JOIN LATERAL (SELECT d.id, d.effect_type FROM discount_offers d WHERE d.user_id = v_purchase.buyer_user_id
    AND d.notification_type = v_purchase.promo_offer_source AND d.claimed_at IS NOT NULL ORDER BY d.claimed_at DESC, d.id DESC LIMIT 1) o ON true;
  IF v_has THEN
    UPDATE users u SET promo_offer_discount_percent = 0, promo_offer_discount_source = NULL, promo_offer_discount_expires_at = NULL,
      updated_at = p_now WHERE u.id = v_purchase.buyer_user_id;
  END IF;
  PERFORM release_offer(v_purchase.buyer_user_id);
  RETURN true;
END $$;

-- An invoice that is not open any more reserves nothing.
--- ends a reservation with the purchase
CREATE OR REPLACE FUNCTION end_offer_reservation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.reserves_offer := false;
  RETURN NEW;
END $$;

--- an invoice that is not open reserves no discount (spec 10 M3)
CREATE OR REPLACE TRIGGER guest_purchases_end_reservation BEFORE UPDATE OF status ON guest_purchases FOR EACH ROW
  WHEN (OLD.reserves_offer AND NEW.status <> 'pending') EXECUTE FUNCTION end_offer_reservation();

--- ends a reservation with the invoice
CREATE OR REPLACE FUNCTION end_offer_reservation_of_invoice() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE guest_purchases g SET reserves_offer = false WHERE g.payment_id = NEW.id AND g.reserves_offer;
  RETURN NULL;
END $$;

--- an invoice that failed, expired or was given back reserves no discount
CREATE OR REPLACE TRIGGER payments_end_reservation AFTER UPDATE OF outcome ON payments FOR EACH ROW
  WHEN (NEW.purpose = 'guest_purchase' AND OLD.outcome <> NEW.outcome AND NEW.outcome NOT IN ('pending', 'paid'))
  EXECUTE FUNCTION end_offer_reservation_of_invoice();
