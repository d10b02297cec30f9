-- Run once, instead of migration.sql, on a database that holds the 26 migrations of replaces.json: brings it to the same schema. The rows
-- stay; prisma/sql creates the functions and triggers again, under their present names.

DROP FUNCTION
  add_campaign_day, add_referral_figures, add_user_day, add_user_tally, ask_for_group_assignment, emit_event, fill_visitor_figures,
  fold_campaign_tallies, fold_squad_tallies, follow_changed_payments, follow_emptied_referrals, follow_referral_earnings,
  follow_referrals, follow_user_figures, follow_user_purchases, follow_user_traffic, follow_visitor_flag, follow_visitor_payment,
  follow_visitor_row, forget_campaign_tallies, forget_disabled_reason, is_real_payment, ledger_account_id, ledger_check,
  move_transaction_count, move_transactions, post_transaction, recount_campaigns, recount_referrals, recount_squads, recount_user_days,
  recount_user_figures, recount_users, recount_visitor, refuse_audit_change, refuse_changing_owner, refuse_direct_money,
  refuse_referral_cycle, refuse_rewriting_history, search_query, seed_promo_offer_templates, squads_used, start_user_figures,
  tally_campaign_days, tally_campaign_visitor, tally_moved_user, tally_moved_user_day, tally_squads, tally_user_days, tally_users,
  utc_day, visitor_figures
  CASCADE;

ALTER TABLE account_merges RENAME COLUMN kept_subscription_of TO retained_subscription_of;
ALTER TABLE poll_sends RENAME COLUMN made_up_to TO processed_up_to;
ALTER TABLE promo_offer_broadcasts RENAME COLUMN made_up_to TO processed_up_to;
ALTER TABLE promo_offer_broadcasts RENAME COLUMN wants_messages TO sends_messages;

-- Tables with new names, and with them their indexes, constraints and sequences.
DO $$
DECLARE
  v_table record;
  v_part record;
BEGIN
  FOR v_table IN SELECT * FROM (VALUES
    ('user_figures', 'user_stats'), ('user_tallies', 'user_counters'), ('user_day_tallies', 'user_day_counters'),
    ('campaign_tallies', 'campaign_counters'), ('campaign_day_tallies', 'campaign_day_counters'), ('squad_tallies', 'squad_counters'),
    ('referrer_figures', 'referrer_stats'), ('referral_tallies', 'referral_day_counters')) AS t (old_name, new_name)
  LOOP
    EXECUTE format('ALTER TABLE %I RENAME TO %I', v_table.old_name, v_table.new_name);
    FOR v_part IN
      SELECT 'INDEX' AS kind, relname AS name FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
        WHERE indrelid = v_table.new_name::regclass
      UNION ALL SELECT 'SEQUENCE', v_table.old_name || '_id_seq' WHERE to_regclass(v_table.old_name || '_id_seq') IS NOT NULL
    LOOP
      EXECUTE format('ALTER %s %I RENAME TO %I', v_part.kind, v_part.name, replace(v_part.name, v_table.old_name, v_table.new_name));
    END LOOP;
    FOR v_part IN SELECT conname AS name FROM pg_constraint WHERE conrelid = v_table.new_name::regclass AND contype IN ('f', 'n')
    LOOP
      EXECUTE format('ALTER TABLE %I RENAME CONSTRAINT %I TO %I', v_table.new_name, v_part.name,
        replace(v_part.name, v_table.old_name, v_table.new_name));
    END LOOP;
  END LOOP;
  -- From version 18 on, PostgreSQL gives NOT NULL constraints names, and those of renamed columns stay.
  FOR v_part IN SELECT conrelid::regclass AS table_name, conname AS name FROM pg_constraint
    WHERE contype = 'n' AND conname IN
      ('poll_sends_made_up_to_not_null', 'promo_offer_broadcasts_made_up_to_not_null', 'promo_offer_broadcasts_wants_messages_not_null')
  LOOP
    EXECUTE format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', v_part.table_name, v_part.name,
      replace(replace(v_part.name, 'made_up_to', 'processed_up_to'), 'wants_messages', 'sends_messages'));
  END LOOP;
END $$;

-- Answers stored for repeated requests: their fields had the names of the wire, and their moments were texts.
CREATE FUNCTION pg_temp.domain_value(p_value jsonb, p_renames boolean) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
  IF jsonb_typeof(p_value) = 'object' THEN
    RETURN (SELECT coalesce(jsonb_object_agg(CASE WHEN p_renames THEN (
        SELECT string_agg(CASE WHEN place = 1 THEN part ELSE upper(left(part, 1)) || substr(part, 2) END, '' ORDER BY place)
        FROM unnest(string_to_array(field.key, '_')) WITH ORDINALITY AS parts (part, place)
      ) ELSE field.key END, pg_temp.domain_value(field.value, p_renames)), '{}') FROM jsonb_each(p_value) AS field);
  ELSIF jsonb_typeof(p_value) = 'array' THEN
    RETURN (SELECT coalesce(jsonb_agg(pg_temp.domain_value(item.value, p_renames) ORDER BY item.place), '[]')
      FROM jsonb_array_elements(p_value) WITH ORDINALITY AS item (value, place));
  ELSIF jsonb_typeof(p_value) = 'string' AND p_value #>> '{}' ~ '^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$' THEN
    RETURN jsonb_build_object('$date', p_value);
  END IF;
  RETURN p_value;
END $$;

UPDATE idempotency_keys SET response = pg_temp.domain_value(response::jsonb, operation LIKE 'subscription.%')::json
  WHERE response IS NOT NULL AND (operation LIKE 'subscription.%' OR operation = 'users.adjust-balance');
UPDATE idempotency_keys SET response = json_build_object('value', json_build_object(
    'oldBalanceKopeks', response->'value'->'oldKopeks', 'newBalanceKopeks', response->'value'->'newKopeks'))
  WHERE response IS NOT NULL AND operation = 'admin.users.change-balance';
