import { MINE, OF_MY_PAYMENT, OF_MY_SUBSCRIPTION, OWNER, type PersonalTable, unexported } from './personal-table.ts';

const BOOKS = 'the books stay: amounts, dates and numbers of payments';
const OPERATION = 'says how the service works, nothing about the person';

/** Account, money, purchases, subscriptions, offers and games of a person. */
export const ACCOUNT_TABLES: readonly PersonalTable[] = [
  {
    table: 'users',
    of: 'r.id = $user',
    exports:
      'id messenger_id auth_type username first_name last_name status language balance_kopeks referral_code referred_by_id email email_verified email_verified_at email_change_new google_id yandex_id discord_id vk_id cabinet_last_login vpnpanel_uuid lifetime_used_traffic_bytes promo_group_id referral_commission_percent restriction_topup restriction_subscription restriction_reason promo_offer_discount_percent promo_offer_discount_source promo_offer_discount_expires_at partner_status has_had_paid_subscription has_made_first_topup used_promocodes notification_settings created_at updated_at last_activity',
    withheld: {
      secret:
        'password_hash email_verification_token_hash password_reset_token_hash email_change_code_hash trojan_password vless_uuid ss_password',
      internal:
        'email_verification_expires password_reset_expires email_change_expires email_change_attempts sessions_ended_at last_vpnpanel_sync auto_promo_group_assigned auto_promo_group_threshold_kopeks last_pinned_message_id',
    },
    erasure: { by: 'account' },
  },

  // Signing in.
  {
    ...{ table: 'cabinet_refresh_tokens', of: MINE, exports: 'id device_info created_at last_used_at expires_at revoked_at' },
    withheld: { secret: 'token_hash family_id', internal: 'user_id rotated_at rotates imported_at proved_at has_second_factor' },
    erasure: OWNER,
  },
  {
    ...{ table: 'second_factors', of: MINE, exports: 'id kind name created_at confirmed_at last_used_at' },
    withheld: { secret: 'secret last_step credential_id public_key sign_count transports', internal: 'user_id' },
    erasure: OWNER,
  },
  {
    ...{ table: 'recovery_codes', of: MINE, exports: 'id created_at used_at' },
    ...{ withheld: { secret: 'code_hash', internal: 'user_id' }, erasure: OWNER },
  },
  {
    table: 'short_lived_entries',
    of: `(r.key = 'user_cart:' || $user::text OR r.value ->> 'userId' = $user::text)`,
    notExported: 'proofs, tokens and an order of minutes to hours',
    erasure: { by: 'delete', when: 'afterwards' },
  },
  {
    table: 'idempotency_keys',
    of: `r.actor = 'user:' || $user::text`,
    notExported: 'answers of the last day, made of other rows',
    erasure: { by: 'delete', when: 'afterwards' },
  },
  {
    table: 'account_merges',
    of: '(r.primary_user_id = $user OR r.secondary_user_id = $user)',
    exports: 'id primary_user_id secondary_user_id balance_moved_kopeks former_messenger_id former_emails created_at',
    withheld: { secret: 'token_hash', internal: 'retained_subscription_of moved abandoned_panel_uuid panel_state panel_error' },
    erasure: OWNER,
  },
  {
    ...{ table: 'user_roles', of: MINE, exports: 'id role_id assigned_at expires_at is_active' },
    ...{ withheld: { internal: 'user_id', ofOthers: 'assigned_by granted_through' }, erasure: OWNER },
  },

  // Money.
  {
    table: 'transactions',
    of: MINE,
    exports:
      'id type amount_kopeks description payment_method external_id is_completed completed_at created_at receipt_uuid receipt_created_at',
    withheld: { internal: 'user_id is_internal imported_at' },
    erasure: { by: 'clear', when: 'afterwards', set: { description: 'NULL' }, why: BOOKS },
  },
  {
    table: 'payments',
    of: MINE,
    exports:
      'id method order_id external_id amount_kopeks currency fee_kopeks description status outcome is_paid paid_at expires_at option purpose metadata transaction_id created_at updated_at',
    withheld: { secret: 'payment_url', internal: 'user_id callback_payload last_checked_at charge_id merchant_id imported_at' },
    erasure: {
      ...{ by: 'clear', when: 'afterwards', why: BOOKS },
      set: { description: 'NULL', metadata: `'{}'::jsonb`, callback_payload: 'NULL', payment_url: 'NULL' },
    },
  },
  {
    table: 'provider_callbacks',
    of: `(EXISTS (SELECT 1 FROM payments p WHERE p.user_id = $user AND (p.order_id = r.order_id OR (p.method = r.provider AND p.external_id = r.external_id))))`,
    notExported: 'what the provider sent, in its form; the payment says the same',
    erasure: {
      ...{ by: 'clear', when: 'afterwards', set: { body: `''`, headers: `'{}'::jsonb` } },
      why: 'the identity of the report stays, so that a repeat is not booked; deleted after 90 days',
    },
  },
  {
    table: 'payment_cases',
    of: MINE,
    exports: 'id kind method reference payment_id amount_kopeks currency status resolution transaction_id created_at resolved_at',
    withheld: { internal: 'user_id details charge_id notified_at', ofOthers: 'resolved_by comment' },
    erasure: { by: 'clear', when: 'before', set: { details: `'{}'::jsonb`, comment: 'NULL' }, why: BOOKS },
  },
  {
    table: 'payment_reversals',
    of: OF_MY_PAYMENT,
    exports:
      'id method payment_id kind reversal_id amount_kopeks debited_kopeks status reason transaction_id created_at finished_at',
    withheld: { internal: 'charge_id last_error attempts notified_at', ofOthers: 'requested_by' },
    erasure: { by: 'clear', when: 'afterwards', set: { reason: 'NULL', last_error: 'NULL' }, why: BOOKS },
  },
  {
    table: 'receipts',
    of: OF_MY_PAYMENT,
    exports: 'id payment_id name amount_kopeks operation_at state uuid issued_at cancelled_at created_at',
    withheld: { internal: 'sequence mark attempts next_attempt_at sent_at cancel_sent_at last_error updated_at' },
    erasure: {
      ...{ by: 'clear', when: 'afterwards', why: 'tax receipts stay, without the id of the payer' },
      // Of whichever messenger account the payer had then.
      set: { name: String.raw`regexp_replace(r.name, ' \(ID -?\d+\)( #[^#]*)$', '\1')` },
    },
  },
  {
    ...{ table: 'saved_payment_methods', of: MINE, key: 'id' },
    exports:
      'id provider method_type card_first6 card_last4 card_type expiry_month expiry_year title is_active created_at updated_at',
    withheld: { secret: 'provider_method_id', internal: 'user_id' },
    erasure: OWNER,
  },
  {
    ...{ table: 'recurrent_charges', of: OF_MY_SUBSCRIPTION, exports: 'id charge_date status created_at finished_at' },
    ...{ withheld: { internal: 'subscription_id' }, erasure: OWNER },
  },
  {
    ...{ table: 'recurrent_attempts', of: OF_MY_PAYMENT, exports: 'id charge_id payment_id status reason created_at' },
    ...{ withheld: { internal: 'saved_method_id' }, erasure: OWNER },
  },
  {
    table: 'withdrawal_requests',
    of: MINE,
    exports: 'id amount_kopeks status payment_details processed_at created_at transaction_id payout_transaction_id',
    withheld: {
      internal: 'user_id risk_score risk_analysis first_approved_at reserve_transaction_id release_transaction_id',
      ofOthers: 'processed_by first_approved_by first_comment admin_comment',
    },
    erasure: {
      ...{ by: 'clear', when: 'afterwards', why: BOOKS },
      set: { payment_details: 'NULL', risk_analysis: 'NULL', first_comment: 'NULL', admin_comment: 'NULL' },
      unless: "r.status = 'approved'",
    },
  },
  {
    table: 'approvals',
    of: MINE,
    exports: 'id kind status payment_id amount_kopeks created_at expires_at decided_at',
    withheld: {
      internal: 'user_id is_shown reserve_transaction_id release_transaction_id',
      ofOthers: 'description requested_by requester_id decided_by reason',
    },
    erasure: {
      ...{ by: 'clear', when: 'afterwards', why: BOOKS },
      set: { description: 'NULL', reason: `CASE WHEN r.status = 'refused' THEN '' END` },
    },
  },
  {
    table: 'ledger_accounts',
    of: MINE,
    notExported: 'the wallet; its movements are in transactions',
    erasure: { by: 'kept', why: BOOKS },
  },
  {
    table: 'referral_debts',
    of: MINE,
    key: 'user_id',
    exports: 'kopeks updated_at',
    withheld: { internal: 'user_id' },
    erasure: { by: 'kept', why: BOOKS },
  },
  {
    table: 'referral_earnings',
    of: MINE,
    exports: 'id referral_id amount_kopeks reason referral_transaction_id campaign_id created_at',
    withheld: { internal: 'user_id imported_at' },
    erasure: { by: 'kept', why: BOOKS },
  },
  {
    ...{ table: 'low_balance_notices', of: MINE, key: 'user_id', exports: 'entry_id created_at' },
    ...{ withheld: { internal: 'user_id' }, erasure: OWNER },
  },

  // Purchases and subscriptions.
  {
    table: 'guest_purchases',
    of: '(r.buyer_user_id = $user OR r.user_id = $user)',
    exports:
      'id source contact_type is_gift gift_message tariff_id period_days amount_kopeks currency payment_method payment_id transaction_id status language promo_offer_percent promo_offer_source refund_transaction_id receipt_uuid created_at paid_at delivered_at',
    withheld: {
      secret: 'token code recipient_token subscription_url subscription_crypto_link cabinet_password auto_login_token',
      internal:
        'landing_id account_created recipient_warning retry_count activation_requested_at is_activation_signed granted_at next_attempt_at last_error updated_at reserves_offer imported_at buyer_user_id user_id',
      ofOthers: 'contact_value gift_recipient_type gift_recipient_value',
    },
    erasure: {
      ...{ by: 'clear', when: 'afterwards', why: 'what was sold stays; a gift that waits is claimed by its code' },
      set: {
        contact_value: `CASE WHEN r.buyer_user_id = $user OR NOT r.is_gift THEN 'deleted' ELSE r.contact_value END`,
        gift_recipient_value: `CASE WHEN r.user_id = $user AND r.gift_recipient_value IS NOT NULL THEN 'deleted' ELSE r.gift_recipient_value END`,
        ...{ gift_message: 'NULL', cabinet_password: 'NULL', auto_login_token: 'NULL', last_error: 'NULL' },
        subscription_url: 'CASE WHEN r.user_id = $user THEN NULL ELSE r.subscription_url END',
        subscription_crypto_link: 'CASE WHEN r.user_id = $user THEN NULL ELSE r.subscription_crypto_link END',
      },
    },
  },
  {
    table: 'subscriptions',
    of: MINE,
    exports:
      'id status disabled_reason is_trial start_date end_date traffic_limit_gb traffic_used_gb purchased_traffic_gb traffic_reset_at device_limit connected_squads autopay_enabled autopay_days_before tariff_id is_daily_paused last_daily_charge_at modem_enabled created_at updated_at',
    withheld: {
      secret: 'subscription_url subscription_crypto_link vpnpanel_short_uuid',
      internal:
        'user_id last_webhook_update_at provision_state provision_version provision_synced_version provision_error provision_attempts provision_requested_at provisioned_at provision_lease_until provision_reset_traffic provision_reset_devices cancel_ended_autopay cancel_paused_daily',
    },
    erasure: OWNER,
  },
  {
    ...{ table: 'traffic_purchases', of: OF_MY_SUBSCRIPTION, exports: 'id traffic_gb expires_at created_at' },
    ...{ withheld: { internal: 'subscription_id' }, erasure: OWNER },
  },
  {
    ...{ table: 'subscription_servers', of: OF_MY_SUBSCRIPTION, exports: 'id server_squad_id paid_price_kopeks connected_at' },
    ...{ withheld: { internal: 'subscription_id' }, erasure: OWNER },
  },
  {
    ...{ table: 'subscription_temporary_access', of: OF_MY_SUBSCRIPTION },
    exports: 'id offer_id squad_uuid expires_at is_active created_at deactivated_at',
    ...{ withheld: { internal: 'subscription_id was_already_connected' }, erasure: OWNER },
  },
  {
    table: 'subscription_conversions',
    of: MINE,
    exports: 'id converted_at trial_duration_days payment_method first_payment_amount_kopeks first_paid_period_days',
    withheld: { internal: 'user_id' },
    erasure: { by: 'kept', why: 'of the first payment; has no texts' },
  },
  {
    table: 'subscription_events',
    of: MINE,
    exports: 'id event_type subscription_id transaction_id amount_kopeks currency message occurred_at extra created_at',
    ...{ withheld: { internal: 'user_id' }, erasure: OWNER },
  },
  {
    ...{ table: 'sent_notifications', of: MINE, exports: 'id subscription_id notification_type created_at' },
    ...{ withheld: { internal: 'user_id discriminator' }, erasure: OWNER },
  },
  ...['paid_trials', 'trial_origins', 'squad_migration_items'].map((table) =>
    unexported(table, OF_MY_SUBSCRIPTION, OPERATION, OWNER),
  ),

  // Offers, games and partners.
  {
    ...{ table: 'user_promo_groups', of: MINE, key: 'promo_group_id', exports: 'promo_group_id assigned_at' },
    ...{ withheld: { internal: 'user_id', ofOthers: 'assigned_by' }, erasure: OWNER },
  },
  { table: 'promocode_uses', of: MINE, exports: 'id promocode_id used_at', withheld: { internal: 'user_id' }, erasure: OWNER },
  {
    table: 'promocode_activations',
    of: MINE,
    exports: 'id code activated_at',
    withheld: { internal: 'user_id' },
    erasure: OWNER,
  },
  {
    table: 'discount_offers',
    of: MINE,
    exports:
      'id subscription_id notification_type discount_percent bonus_amount_kopeks expires_at claimed_at is_active effect_type extra_data created_at updated_at',
    ...{ withheld: { internal: 'user_id' }, erasure: OWNER },
  },
  {
    ...{ table: 'promo_offer_logs', of: MINE, exports: 'id offer_id action source percent effect_type details created_at' },
    withheld: { internal: 'user_id' },
    erasure: { by: 'clear', when: 'before', set: { details: `'{}'::jsonb` }, why: 'counts uses of offers, without the person' },
  },
  {
    table: 'promo_offer_broadcasts',
    of: 'r.named_user_id = $user',
    notExported: 'an offer of an administrator; what the person got is in discount_offers',
    erasure: { by: 'reference' },
  },
  {
    table: 'poll_responses',
    of: MINE,
    exports: 'id poll_id sent_at started_at completed_at reward_given reward_amount_kopeks reward_transaction_id',
    withheld: { internal: 'user_id send_id delivery_state claimed_at imported_at' },
    erasure: { by: 'reference' },
  },
  {
    table: 'poll_answers',
    of: 'r.response_id IN (SELECT p.id FROM poll_responses p WHERE p.user_id = $user)',
    exports: 'id response_id question_id option_id created_at',
    erasure: { by: 'reference' },
  },
  {
    table: 'wheel_spins',
    of: MINE,
    exports:
      'id payment_type payment_amount payment_value_kopeks prize_type prize_value prize_value_kopeks prize_display_name debit_transaction_id prize_transaction_id payment_id is_applied applied_at created_at',
    withheld: { internal: 'user_id prize_id generated_promocode_id external_charge_id imported_at' },
    erasure: OWNER,
  },
  {
    ...{ table: 'contest_attempts', of: MINE, exports: 'id round_id answer is_winner prize_transaction_id created_at' },
    ...{ withheld: { internal: 'user_id' }, erasure: OWNER },
  },
  {
    ...{ table: 'referral_contest_events', of: 'r.referrer_id = $user' },
    exports: 'id contest_id referral_id event_type amount_kopeks occurred_at',
    ...{ withheld: { internal: 'referrer_id is_listed' }, erasure: OWNER },
  },
  {
    table: 'partner_applications',
    of: MINE,
    exports:
      'id company_name website_url messenger_channel description expected_monthly_referrals desired_commission_percent status approved_commission_percent processed_at created_at updated_at',
    ...{ withheld: { internal: 'user_id', ofOthers: 'admin_comment processed_by' }, erasure: OWNER },
  },
  {
    table: 'advertising_campaigns',
    of: 'r.partner_user_id = $user',
    exports: 'id name start_parameter is_active created_at',
    withheld: {
      internal:
        'bonus_type balance_bonus_kopeks subscription_duration_days subscription_traffic_gb subscription_device_limit subscription_squads tariff_id tariff_duration_days partner_user_id updated_at',
      ofOthers: 'created_by',
    },
    erasure: { by: 'reference' },
  },
  {
    table: 'advertising_campaign_registrations',
    of: MINE,
    exports:
      'id campaign_id bonus_type balance_bonus_kopeks subscription_duration_days tariff_id tariff_duration_days created_at',
    withheld: {
      internal:
        'user_id deposits_kopeks spent_kopeks payments conversions had_paid is_trial is_active_trial first_payment_at first_payment_kopeks referrals',
    },
    erasure: { by: 'kept', why: 'counts what a campaign brought; has no texts' },
  },
  {
    ...{ table: 'button_click_logs', of: MINE, exports: 'id button_id callback_data button_type button_text clicked_at' },
    ...{ withheld: { internal: 'user_id' }, erasure: { by: 'reference' } },
  },
];
