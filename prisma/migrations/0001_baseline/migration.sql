-- The whole schema: tables, keys, indexes, constraints and the reference rows that every installation has. Functions and triggers are in
-- prisma/sql and are applied after the migrations; only the functions that an index calls are here, because a change of one of them
-- needs its index rebuilt, which is a migration's task. docs/database.md describes tables, triggers, functions and counters.
--
-- The next change of the schema is a new migration (npm run db:diff -- --write NAME); this file never changes after a release.

-- Tables, as prisma/models declares them.

CREATE TABLE "web_api_tokens" (
    "id" SERIAL NOT NULL,
    "name" VARCHAR(255) NOT NULL,
    "token_hash" VARCHAR(128) NOT NULL,
    "token_prefix" VARCHAR(32) NOT NULL,
    "description" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "last_used_ip" VARCHAR(64),
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "created_by" VARCHAR(255),

    CONSTRAINT "web_api_tokens_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "admin_roles" (
    "id" SERIAL NOT NULL,
    "name" VARCHAR(100) NOT NULL,
    "description" TEXT,
    "level" INTEGER NOT NULL DEFAULT 0,
    "permissions" JSONB NOT NULL DEFAULT '[]',
    "color" VARCHAR(7),
    "icon" VARCHAR(50),
    "is_system" BOOLEAN NOT NULL DEFAULT false,
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "created_by" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "admin_roles_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "user_roles" (
    "id" SERIAL NOT NULL,
    "user_id" INTEGER NOT NULL,
    "role_id" INTEGER NOT NULL,
    "assigned_by" INTEGER,
    "assigned_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),
    "is_active" BOOLEAN NOT NULL DEFAULT true,

    CONSTRAINT "user_roles_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "access_policies" (
    "id" SERIAL NOT NULL,
    "name" VARCHAR(200) NOT NULL,
    "description" TEXT,
    "role_id" INTEGER,
    "priority" INTEGER NOT NULL DEFAULT 0,
    "effect" VARCHAR(10) NOT NULL,
    "conditions" JSONB NOT NULL DEFAULT '{}',
    "resource" VARCHAR(100) NOT NULL,
    "actions" JSONB NOT NULL DEFAULT '[]',
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "created_by" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "access_policies_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "admin_audit_log" (
    "id" BIGSERIAL NOT NULL,
    "user_id" INTEGER,
    "actor_name" VARCHAR(255),
    "action" VARCHAR(100) NOT NULL,
    "resource_type" VARCHAR(50),
    "resource_id" VARCHAR(100),
    "details" JSONB,
    "ip_address" VARCHAR(45),
    "user_agent" TEXT,
    "status" VARCHAR(20) NOT NULL,
    "request_method" VARCHAR(10),
    "request_path" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "admin_audit_log_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "advertising_campaigns" (
    "id" SERIAL NOT NULL,
    "name" VARCHAR(255) NOT NULL,
    "start_parameter" VARCHAR(64) NOT NULL,
    "bonus_type" VARCHAR(20) NOT NULL,
    "balance_bonus_kopeks" BIGINT NOT NULL DEFAULT 0,
    "subscription_duration_days" INTEGER,
    "subscription_traffic_gb" INTEGER,
    "subscription_device_limit" INTEGER,
    "subscription_squads" JSONB NOT NULL DEFAULT '[]',
    "tariff_id" INTEGER,
    "tariff_duration_days" INTEGER,
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "partner_user_id" INTEGER,
    "created_by" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "advertising_campaigns_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "advertising_campaign_registrations" (
    "id" SERIAL NOT NULL,
    "campaign_id" INTEGER NOT NULL,
    "user_id" INTEGER NOT NULL,
    "bonus_type" VARCHAR(20) NOT NULL,
    "balance_bonus_kopeks" BIGINT NOT NULL DEFAULT 0,
    "subscription_duration_days" INTEGER,
    "tariff_id" INTEGER,
    "tariff_duration_days" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deposits_kopeks" BIGINT NOT NULL DEFAULT 0,
    "spent_kopeks" BIGINT NOT NULL DEFAULT 0,
    "payments" INTEGER NOT NULL DEFAULT 0,
    "conversions" INTEGER NOT NULL DEFAULT 0,
    "had_paid" BOOLEAN NOT NULL DEFAULT false,
    "is_trial" BOOLEAN NOT NULL DEFAULT false,
    "is_active_trial" BOOLEAN NOT NULL DEFAULT false,
    "first_payment_at" TIMESTAMPTZ(3),
    "first_payment_kopeks" BIGINT,

    CONSTRAINT "advertising_campaign_registrations_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "campaign_counters" (
    "id" BIGSERIAL NOT NULL,
    "campaign_id" INTEGER NOT NULL,
    "registrations" INTEGER NOT NULL DEFAULT 0,
    "balance_issued_kopeks" BIGINT NOT NULL DEFAULT 0,
    "subscription_registrations" INTEGER NOT NULL DEFAULT 0,
    "tariff_registrations" INTEGER NOT NULL DEFAULT 0,
    "deposits_kopeks" BIGINT NOT NULL DEFAULT 0,
    "spent_kopeks" BIGINT NOT NULL DEFAULT 0,
    "payers" INTEGER NOT NULL DEFAULT 0,
    "had_paid" INTEGER NOT NULL DEFAULT 0,
    "conversions" INTEGER NOT NULL DEFAULT 0,
    "trials" INTEGER NOT NULL DEFAULT 0,
    "active_trials" INTEGER NOT NULL DEFAULT 0,
    "first_payments" INTEGER NOT NULL DEFAULT 0,
    "first_payments_kopeks" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "campaign_counters_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "campaign_day_counters" (
    "id" BIGSERIAL NOT NULL,
    "campaign_id" INTEGER NOT NULL,
    "day" DATE NOT NULL,
    "registrations" INTEGER NOT NULL DEFAULT 0,
    "deposits_kopeks" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "campaign_day_counters_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "promo_groups" (
    "id" SERIAL NOT NULL,
    "name" VARCHAR(255) NOT NULL,
    "priority" INTEGER NOT NULL DEFAULT 0,
    "is_default" BOOLEAN NOT NULL DEFAULT false,
    "server_discount_percent" INTEGER NOT NULL DEFAULT 0,
    "traffic_discount_percent" INTEGER NOT NULL DEFAULT 0,
    "device_discount_percent" INTEGER NOT NULL DEFAULT 0,
    "period_discounts" JSONB NOT NULL DEFAULT '{}',
    "auto_assign_total_spent_kopeks" BIGINT,
    "apply_discounts_to_addons" BOOLEAN NOT NULL DEFAULT true,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "promo_groups_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "user_promo_groups" (
    "user_id" INTEGER NOT NULL,
    "promo_group_id" INTEGER NOT NULL,
    "assigned_by" VARCHAR(50) NOT NULL DEFAULT 'system',
    "assigned_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "user_promo_groups_pkey" PRIMARY KEY ("user_id","promo_group_id")
);

CREATE TABLE "server_squads" (
    "id" SERIAL NOT NULL,
    "squad_uuid" VARCHAR(255) NOT NULL,
    "display_name" VARCHAR(255) NOT NULL,
    "original_name" VARCHAR(255),
    "country_code" VARCHAR(5),
    "is_available" BOOLEAN NOT NULL DEFAULT true,
    "is_trial_eligible" BOOLEAN NOT NULL DEFAULT false,
    "price_kopeks" INTEGER NOT NULL DEFAULT 0,
    "description" TEXT,
    "sort_order" INTEGER NOT NULL DEFAULT 0,
    "max_users" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "server_squads_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "squad_counters" (
    "id" BIGSERIAL NOT NULL,
    "squad_uuid" VARCHAR(255) NOT NULL,
    "users" INTEGER NOT NULL,

    CONSTRAINT "squad_counters_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "server_squad_promo_groups" (
    "server_squad_id" INTEGER NOT NULL,
    "promo_group_id" INTEGER NOT NULL,

    CONSTRAINT "server_squad_promo_groups_pkey" PRIMARY KEY ("server_squad_id","promo_group_id")
);

CREATE TABLE "tariffs" (
    "id" SERIAL NOT NULL,
    "name" VARCHAR(255) NOT NULL,
    "description" TEXT,
    "display_order" INTEGER NOT NULL DEFAULT 0,
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "tier_level" INTEGER NOT NULL DEFAULT 1,
    "traffic_limit_gb" INTEGER NOT NULL DEFAULT 100,
    "device_limit" INTEGER NOT NULL DEFAULT 1,
    "device_price_kopeks" INTEGER,
    "max_device_limit" INTEGER,
    "allowed_squads" JSONB NOT NULL DEFAULT '[]',
    "server_traffic_limits" JSONB NOT NULL DEFAULT '{}',
    "period_prices" JSONB NOT NULL DEFAULT '{}',
    "is_trial_available" BOOLEAN NOT NULL DEFAULT false,
    "allow_traffic_topup" BOOLEAN NOT NULL DEFAULT true,
    "traffic_topup_enabled" BOOLEAN NOT NULL DEFAULT false,
    "traffic_topup_packages" JSONB NOT NULL DEFAULT '{}',
    "max_topup_traffic_gb" INTEGER NOT NULL DEFAULT 0,
    "is_daily" BOOLEAN NOT NULL DEFAULT false,
    "daily_price_kopeks" INTEGER NOT NULL DEFAULT 0,
    "custom_days_enabled" BOOLEAN NOT NULL DEFAULT false,
    "price_per_day_kopeks" INTEGER NOT NULL DEFAULT 0,
    "min_days" INTEGER NOT NULL DEFAULT 1,
    "max_days" INTEGER NOT NULL DEFAULT 365,
    "custom_traffic_enabled" BOOLEAN NOT NULL DEFAULT false,
    "traffic_price_per_gb_kopeks" INTEGER NOT NULL DEFAULT 0,
    "min_traffic_gb" INTEGER NOT NULL DEFAULT 1,
    "max_traffic_gb" INTEGER NOT NULL DEFAULT 1000,
    "show_in_gift" BOOLEAN NOT NULL DEFAULT true,
    "traffic_reset_mode" VARCHAR(20),
    "external_squad_uuid" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "tariffs_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "tariff_promo_groups" (
    "tariff_id" INTEGER NOT NULL,
    "promo_group_id" INTEGER NOT NULL,

    CONSTRAINT "tariff_promo_groups_pkey" PRIMARY KEY ("tariff_id","promo_group_id")
);

CREATE TABLE "menu_layouts" (
    "name" VARCHAR(50) NOT NULL,
    "document" JSON NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "menu_layouts_pkey" PRIMARY KEY ("name")
);

CREATE TABLE "menu_layout_history" (
    "id" SERIAL NOT NULL,
    "layout_name" VARCHAR(50) NOT NULL DEFAULT 'chat',
    "document" JSON NOT NULL,
    "action" VARCHAR(30) NOT NULL,
    "changes_summary" TEXT NOT NULL DEFAULT '',
    "user_info" VARCHAR(255),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "menu_layout_history_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "button_click_logs" (
    "id" BIGSERIAL NOT NULL,
    "button_id" VARCHAR(100) NOT NULL,
    "user_id" INTEGER,
    "callback_data" VARCHAR(255),
    "button_type" VARCHAR(20),
    "button_text" VARCHAR(255),
    "clicked_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "button_click_logs_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "media_files" (
    "file_id" VARCHAR(255) NOT NULL,
    "media_type" VARCHAR(32) NOT NULL,
    "source" VARCHAR(20) NOT NULL,
    "uploaded_by" INTEGER,
    "file_name" VARCHAR(255),
    "mime_type" VARCHAR(100),
    "size_bytes" BIGINT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "media_files_pkey" PRIMARY KEY ("file_id")
);

CREATE TABLE "domain_events" (
    "id" BIGSERIAL NOT NULL,
    "type" VARCHAR(60) NOT NULL,
    "payload" JSONB NOT NULL,
    "audience" VARCHAR(10) NOT NULL,
    "user_id" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "domain_events_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "system_settings" (
    "key" VARCHAR(100) NOT NULL,
    "value" TEXT,
    "description" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "system_settings_pkey" PRIMARY KEY ("key")
);

CREATE TABLE "service_state" (
    "key" VARCHAR(100) NOT NULL,
    "value" JSONB NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "service_state_pkey" PRIMARY KEY ("key")
);

CREATE TABLE "polls" (
    "id" SERIAL NOT NULL,
    "title" VARCHAR(255) NOT NULL,
    "description" TEXT,
    "reward_enabled" BOOLEAN NOT NULL DEFAULT false,
    "reward_amount_kopeks" BIGINT NOT NULL DEFAULT 0,
    "created_by" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "polls_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "poll_questions" (
    "id" SERIAL NOT NULL,
    "poll_id" INTEGER NOT NULL,
    "text" TEXT NOT NULL,
    "sort_order" INTEGER NOT NULL,

    CONSTRAINT "poll_questions_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "poll_options" (
    "id" SERIAL NOT NULL,
    "question_id" INTEGER NOT NULL,
    "text" TEXT NOT NULL,
    "sort_order" INTEGER NOT NULL,

    CONSTRAINT "poll_options_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "poll_sends" (
    "id" SERIAL NOT NULL,
    "poll_id" INTEGER NOT NULL,
    "target" VARCHAR(100) NOT NULL,
    "total" INTEGER NOT NULL DEFAULT 0,
    "sent" INTEGER NOT NULL DEFAULT 0,
    "failed" INTEGER NOT NULL DEFAULT 0,
    "skipped" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(3),
    "processed_up_to" INTEGER NOT NULL DEFAULT 0,
    "audience_end" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "poll_sends_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "poll_responses" (
    "id" SERIAL NOT NULL,
    "poll_id" INTEGER NOT NULL,
    "user_id" INTEGER,
    "send_id" INTEGER,
    "delivery_state" VARCHAR(20) NOT NULL DEFAULT 'queued',
    "claimed_at" TIMESTAMPTZ(3),
    "sent_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "started_at" TIMESTAMPTZ(3),
    "completed_at" TIMESTAMPTZ(3),
    "reward_given" BOOLEAN NOT NULL DEFAULT false,
    "reward_amount_kopeks" BIGINT NOT NULL DEFAULT 0,
    "reward_transaction_id" INTEGER,

    CONSTRAINT "poll_responses_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "poll_answers" (
    "id" SERIAL NOT NULL,
    "response_id" INTEGER NOT NULL,
    "question_id" INTEGER NOT NULL,
    "option_id" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "poll_answers_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "wheel_configs" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "is_enabled" BOOLEAN NOT NULL DEFAULT false,
    "name" VARCHAR(255) NOT NULL DEFAULT 'Колесо удачи',
    "spin_cost_stars" INTEGER NOT NULL DEFAULT 10,
    "spin_cost_days" INTEGER NOT NULL DEFAULT 1,
    "spin_cost_stars_enabled" BOOLEAN NOT NULL DEFAULT true,
    "spin_cost_days_enabled" BOOLEAN NOT NULL DEFAULT true,
    "rtp_percent" INTEGER NOT NULL DEFAULT 80,
    "daily_spin_limit" INTEGER NOT NULL DEFAULT 5,
    "min_subscription_days_for_day_payment" INTEGER NOT NULL DEFAULT 3,
    "promo_prefix" VARCHAR(20) NOT NULL DEFAULT 'WHEEL',
    "promo_validity_days" INTEGER NOT NULL DEFAULT 7,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "wheel_configs_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "wheel_prizes" (
    "id" SERIAL NOT NULL,
    "config_id" INTEGER NOT NULL DEFAULT 1,
    "prize_type" VARCHAR(30) NOT NULL,
    "prize_value" BIGINT NOT NULL,
    "prize_value_kopeks" BIGINT NOT NULL,
    "display_name" VARCHAR(100) NOT NULL,
    "emoji" VARCHAR(50) NOT NULL DEFAULT '🎁',
    "color" VARCHAR(7) NOT NULL DEFAULT '#3B82F6',
    "sort_order" INTEGER NOT NULL DEFAULT 0,
    "manual_probability" DOUBLE PRECISION,
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "promo_balance_bonus_kopeks" BIGINT NOT NULL DEFAULT 0,
    "promo_subscription_days" INTEGER NOT NULL DEFAULT 0,
    "promo_traffic_gb" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "wheel_prizes_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "wheel_spins" (
    "id" SERIAL NOT NULL,
    "user_id" INTEGER NOT NULL,
    "prize_id" INTEGER,
    "payment_type" VARCHAR(30) NOT NULL,
    "payment_amount" INTEGER NOT NULL,
    "payment_value_kopeks" BIGINT NOT NULL,
    "prize_type" VARCHAR(30) NOT NULL,
    "prize_value" BIGINT NOT NULL,
    "prize_value_kopeks" BIGINT NOT NULL,
    "prize_display_name" VARCHAR(100) NOT NULL,
    "generated_promocode_id" INTEGER,
    "debit_transaction_id" INTEGER,
    "prize_transaction_id" INTEGER,
    "payment_id" INTEGER,
    "external_charge_id" VARCHAR(255),
    "is_applied" BOOLEAN NOT NULL DEFAULT false,
    "applied_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "wheel_spins_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "users" (
    "id" SERIAL NOT NULL,
    "messenger_id" BIGINT,
    "auth_type" VARCHAR(20) NOT NULL DEFAULT 'messenger',
    "username" VARCHAR(255),
    "first_name" VARCHAR(255),
    "last_name" VARCHAR(255),
    "status" VARCHAR(20) NOT NULL DEFAULT 'active',
    "language" VARCHAR(5) NOT NULL DEFAULT 'ru',
    "balance_kopeks" BIGINT NOT NULL DEFAULT 0,
    "referral_code" VARCHAR(20) NOT NULL,
    "referred_by_id" INTEGER,
    "email" VARCHAR(255),
    "email_verified" BOOLEAN NOT NULL DEFAULT false,
    "email_verified_at" TIMESTAMPTZ(3),
    "password_hash" VARCHAR(255),
    "email_verification_token_hash" VARCHAR(64),
    "email_verification_expires" TIMESTAMPTZ(3),
    "password_reset_token_hash" VARCHAR(64),
    "password_reset_expires" TIMESTAMPTZ(3),
    "email_change_new" VARCHAR(255),
    "email_change_code_hash" VARCHAR(64),
    "email_change_expires" TIMESTAMPTZ(3),
    "email_change_attempts" INTEGER NOT NULL DEFAULT 0,
    "google_id" VARCHAR(255),
    "yandex_id" VARCHAR(255),
    "discord_id" VARCHAR(255),
    "vk_id" BIGINT,
    "cabinet_last_login" TIMESTAMPTZ(3),
    "sessions_ended_at" TIMESTAMPTZ(3),
    "vpnpanel_uuid" UUID,
    "trojan_password" VARCHAR(255),
    "vless_uuid" VARCHAR(255),
    "ss_password" VARCHAR(255),
    "last_vpnpanel_sync" TIMESTAMPTZ(3),
    "lifetime_used_traffic_bytes" BIGINT NOT NULL DEFAULT 0,
    "promo_group_id" INTEGER,
    "referral_commission_percent" DECIMAL(5,2),
    "restriction_topup" BOOLEAN NOT NULL DEFAULT false,
    "restriction_subscription" BOOLEAN NOT NULL DEFAULT false,
    "restriction_reason" VARCHAR(500),
    "promo_offer_discount_percent" INTEGER NOT NULL DEFAULT 0,
    "promo_offer_discount_source" VARCHAR(100),
    "promo_offer_discount_expires_at" TIMESTAMPTZ(3),
    "partner_status" VARCHAR(20) NOT NULL DEFAULT 'none',
    "has_had_paid_subscription" BOOLEAN NOT NULL DEFAULT false,
    "has_made_first_topup" BOOLEAN NOT NULL DEFAULT false,
    "used_promocodes" INTEGER NOT NULL DEFAULT 0,
    "auto_promo_group_assigned" BOOLEAN NOT NULL DEFAULT false,
    "auto_promo_group_threshold_kopeks" BIGINT NOT NULL DEFAULT 0,
    "notification_settings" JSONB NOT NULL DEFAULT '{}',
    "last_pinned_message_id" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_activity" TIMESTAMPTZ(3) DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "users_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "user_counters" (
    "id" BIGSERIAL NOT NULL,
    "status" VARCHAR(20) NOT NULL,
    "promo_group_id" INTEGER,
    "users" INTEGER NOT NULL,

    CONSTRAINT "user_counters_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "user_day_counters" (
    "id" BIGSERIAL NOT NULL,
    "day" DATE NOT NULL,
    "status" VARCHAR(20) NOT NULL,
    "users" INTEGER NOT NULL,

    CONSTRAINT "user_day_counters_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "user_stats" (
    "user_id" INTEGER NOT NULL,
    "status" VARCHAR(20) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "balance_kopeks" BIGINT NOT NULL,
    "total_spent_kopeks" BIGINT NOT NULL DEFAULT 0,
    "purchase_count" INTEGER NOT NULL DEFAULT 0,
    "last_activity" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "user_stats_pkey" PRIMARY KEY ("user_id")
);

CREATE TABLE "user_traffic" (
    "user_id" INTEGER NOT NULL,
    "status" VARCHAR(20) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "traffic_used_gb" DOUBLE PRECISION NOT NULL DEFAULT 0,

    CONSTRAINT "user_traffic_pkey" PRIMARY KEY ("user_id")
);

CREATE TABLE "cabinet_refresh_tokens" (
    "id" SERIAL NOT NULL,
    "user_id" INTEGER NOT NULL,
    "token_hash" VARCHAR(64) NOT NULL,
    "family_id" UUID NOT NULL,
    "device_info" VARCHAR(500),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "rotated_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "cabinet_refresh_tokens_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "short_lived_entries" (
    "key" VARCHAR(200) NOT NULL,
    "value" JSONB NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "short_lived_entries_pkey" PRIMARY KEY ("key")
);

CREATE TABLE "rate_limit_windows" (
    "key" VARCHAR(200) NOT NULL,
    "window_start" TIMESTAMPTZ(3) NOT NULL,
    "hits" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "rate_limit_windows_pkey" PRIMARY KEY ("key","window_start")
);

CREATE TABLE "account_merges" (
    "id" SERIAL NOT NULL,
    "token_hash" VARCHAR(64) NOT NULL,
    "primary_user_id" INTEGER NOT NULL,
    "secondary_user_id" INTEGER NOT NULL,
    "retained_subscription_of" INTEGER,
    "balance_moved_kopeks" BIGINT NOT NULL DEFAULT 0,
    "moved" JSONB NOT NULL DEFAULT '{}',
    "abandoned_panel_uuid" UUID,
    "panel_state" VARCHAR(20) NOT NULL DEFAULT 'none',
    "panel_error" VARCHAR(500),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "account_merges_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "landing_pages" (
    "id" SERIAL NOT NULL,
    "slug" VARCHAR(100) NOT NULL,
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "title" JSONB NOT NULL DEFAULT '{}',
    "subtitle" JSONB,
    "footer_text" JSONB,
    "meta_title" JSONB,
    "meta_description" JSONB,
    "discount_badge_text" JSONB,
    "features" JSONB NOT NULL DEFAULT '[]',
    "allowed_tariff_ids" JSONB NOT NULL DEFAULT '[]',
    "allowed_periods" JSONB NOT NULL DEFAULT '{}',
    "payment_methods" JSONB NOT NULL DEFAULT '[]',
    "gift_enabled" BOOLEAN NOT NULL DEFAULT true,
    "custom_css" TEXT,
    "display_order" INTEGER NOT NULL DEFAULT 0,
    "discount_percent" INTEGER,
    "discount_overrides" JSONB,
    "discount_starts_at" TIMESTAMPTZ(3),
    "discount_ends_at" TIMESTAMPTZ(3),
    "background_config" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "landing_pages_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "guest_purchases" (
    "id" SERIAL NOT NULL,
    "token" VARCHAR(64) NOT NULL,
    "code" VARCHAR(12) NOT NULL,
    "landing_id" INTEGER,
    "source" VARCHAR(20) NOT NULL DEFAULT 'landing',
    "contact_type" VARCHAR(20) NOT NULL,
    "contact_value" VARCHAR(255) NOT NULL,
    "buyer_user_id" INTEGER,
    "is_gift" BOOLEAN NOT NULL DEFAULT false,
    "gift_recipient_type" VARCHAR(20),
    "gift_recipient_value" VARCHAR(255),
    "gift_message" TEXT,
    "tariff_id" INTEGER,
    "period_days" INTEGER NOT NULL,
    "amount_kopeks" BIGINT NOT NULL,
    "currency" VARCHAR(16) NOT NULL DEFAULT 'RUB',
    "payment_method" VARCHAR(50),
    "payment_id" INTEGER,
    "transaction_id" INTEGER,
    "status" VARCHAR(20) NOT NULL DEFAULT 'pending',
    "user_id" INTEGER,
    "account_created" BOOLEAN NOT NULL DEFAULT false,
    "subscription_url" TEXT,
    "subscription_crypto_link" TEXT,
    "cabinet_password" VARCHAR(255),
    "auto_login_token" TEXT,
    "recipient_warning" VARCHAR(50),
    "retry_count" INTEGER NOT NULL DEFAULT 0,
    "activation_requested_at" TIMESTAMPTZ(3),
    "is_activation_signed" BOOLEAN NOT NULL DEFAULT false,
    "granted_at" TIMESTAMPTZ(3),
    "next_attempt_at" TIMESTAMPTZ(3),
    "last_error" VARCHAR(500),
    "receipt_uuid" VARCHAR(255),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "paid_at" TIMESTAMPTZ(3),
    "delivered_at" TIMESTAMPTZ(3),

    CONSTRAINT "guest_purchases_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "ledger_accounts" (
    "id" SERIAL NOT NULL,
    "kind" VARCHAR(40) NOT NULL,
    "key" VARCHAR(80) NOT NULL,
    "user_id" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ledger_accounts_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "ledger_entries" (
    "id" BIGSERIAL NOT NULL,
    "transaction_id" INTEGER NOT NULL,
    "account_id" INTEGER NOT NULL,
    "kopeks" BIGINT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ledger_entries_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "transactions" (
    "id" SERIAL NOT NULL,
    "user_id" INTEGER NOT NULL,
    "type" VARCHAR(40) NOT NULL,
    "amount_kopeks" BIGINT NOT NULL,
    "description" TEXT,
    "payment_method" VARCHAR(40),
    "external_id" VARCHAR(255),
    "is_completed" BOOLEAN NOT NULL DEFAULT true,
    "is_internal" BOOLEAN NOT NULL DEFAULT false,
    "completed_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "receipt_uuid" VARCHAR(255),
    "receipt_created_at" TIMESTAMPTZ(3),

    CONSTRAINT "transactions_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "transaction_day_counts" (
    "day" DATE NOT NULL,
    "type" VARCHAR(40) NOT NULL,
    "payment_method" VARCHAR(40) NOT NULL,
    "is_completed" BOOLEAN NOT NULL,
    "total" BIGINT NOT NULL,

    CONSTRAINT "transaction_day_counts_pkey" PRIMARY KEY ("day","type","payment_method","is_completed")
);

CREATE TABLE "transaction_count_mark" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "through_id" INTEGER NOT NULL DEFAULT 0,
    "seen_id" INTEGER NOT NULL DEFAULT 0,
    "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "transaction_count_mark_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "idempotency_keys" (
    "actor" VARCHAR(64) NOT NULL,
    "key" VARCHAR(255) NOT NULL,
    "operation" VARCHAR(100) NOT NULL,
    "body_hash" VARCHAR(64) NOT NULL,
    "response" JSON,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("actor","key")
);

CREATE TABLE "outgoing_mails" (
    "id" SERIAL NOT NULL,
    "recipient" VARCHAR(255) NOT NULL,
    "subject" VARCHAR(500) NOT NULL,
    "html" TEXT,
    "text" TEXT,
    "template" VARCHAR(50) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "sent_at" TIMESTAMPTZ(3),
    "last_error" VARCHAR(500),

    CONSTRAINT "outgoing_mails_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "email_templates" (
    "id" SERIAL NOT NULL,
    "notification_type" VARCHAR(50) NOT NULL,
    "language" VARCHAR(5) NOT NULL,
    "subject" VARCHAR(500) NOT NULL,
    "body_html" TEXT NOT NULL,
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "email_templates_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "payments" (
    "id" SERIAL NOT NULL,
    "method" VARCHAR(40) NOT NULL,
    "user_id" INTEGER,
    "order_id" VARCHAR(64) NOT NULL,
    "external_id" VARCHAR(255),
    "amount_kopeks" BIGINT NOT NULL,
    "currency" VARCHAR(16) NOT NULL DEFAULT 'RUB',
    "description" TEXT,
    "status" VARCHAR(40) NOT NULL,
    "outcome" VARCHAR(20) NOT NULL DEFAULT 'pending',
    "is_paid" BOOLEAN NOT NULL DEFAULT false,
    "paid_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3),
    "payment_url" TEXT,
    "option" VARCHAR(40),
    "purpose" VARCHAR(40) NOT NULL DEFAULT 'balance_topup',
    "metadata" JSONB NOT NULL DEFAULT '{}',
    "callback_payload" JSONB,
    "transaction_id" INTEGER,
    "last_checked_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "payments_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "provider_callbacks" (
    "id" SERIAL NOT NULL,
    "provider" VARCHAR(40) NOT NULL,
    "event_key" VARCHAR(255) NOT NULL,
    "external_id" VARCHAR(255),
    "body" TEXT NOT NULL,
    "headers" JSONB NOT NULL DEFAULT '{}',
    "received_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "processed_at" TIMESTAMPTZ(3),
    "result" VARCHAR(100),
    "attempts" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "provider_callbacks_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "payment_method_configs" (
    "method_id" VARCHAR(40) NOT NULL,
    "sort_order" INTEGER NOT NULL DEFAULT 0,
    "is_enabled" BOOLEAN NOT NULL DEFAULT false,
    "display_name" VARCHAR(255),
    "sub_options" JSONB,
    "min_amount_kopeks" BIGINT,
    "max_amount_kopeks" BIGINT,
    "user_type_filter" VARCHAR(20) NOT NULL DEFAULT 'all',
    "first_topup_filter" VARCHAR(20) NOT NULL DEFAULT 'any',
    "promo_group_filter_mode" VARCHAR(20) NOT NULL DEFAULT 'all',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "payment_method_configs_pkey" PRIMARY KEY ("method_id")
);

CREATE TABLE "payment_method_promo_groups" (
    "method_id" VARCHAR(40) NOT NULL,
    "promo_group_id" INTEGER NOT NULL,

    CONSTRAINT "payment_method_promo_groups_pkey" PRIMARY KEY ("method_id","promo_group_id")
);

CREATE TABLE "saved_payment_methods" (
    "id" SERIAL NOT NULL,
    "user_id" INTEGER NOT NULL,
    "provider" VARCHAR(40) NOT NULL DEFAULT 'yookassa',
    "provider_method_id" VARCHAR(255) NOT NULL,
    "method_type" VARCHAR(40) NOT NULL DEFAULT 'bank_card',
    "card_first6" VARCHAR(6),
    "card_last4" VARCHAR(4),
    "card_type" VARCHAR(50),
    "expiry_month" VARCHAR(2),
    "expiry_year" VARCHAR(4),
    "title" VARCHAR(255),
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "saved_payment_methods_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "promocodes" (
    "id" SERIAL NOT NULL,
    "code" VARCHAR(50) NOT NULL,
    "type" VARCHAR(30) NOT NULL,
    "balance_bonus_kopeks" BIGINT NOT NULL DEFAULT 0,
    "subscription_days" INTEGER NOT NULL DEFAULT 0,
    "max_uses" INTEGER NOT NULL DEFAULT 1,
    "current_uses" INTEGER NOT NULL DEFAULT 0,
    "valid_from" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "valid_until" TIMESTAMPTZ(3),
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "first_purchase_only" BOOLEAN NOT NULL DEFAULT false,
    "promo_group_id" INTEGER,
    "created_by" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "promocodes_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "promocode_uses" (
    "id" SERIAL NOT NULL,
    "promocode_id" INTEGER NOT NULL,
    "user_id" INTEGER NOT NULL,
    "used_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "promocode_uses_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "promocode_activations" (
    "id" SERIAL NOT NULL,
    "user_id" INTEGER NOT NULL,
    "code" VARCHAR(50) NOT NULL,
    "activated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "promocode_activations_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "discount_offers" (
    "id" SERIAL NOT NULL,
    "user_id" INTEGER NOT NULL,
    "subscription_id" INTEGER,
    "notification_type" VARCHAR(50) NOT NULL,
    "discount_percent" INTEGER NOT NULL DEFAULT 0,
    "bonus_amount_kopeks" BIGINT NOT NULL DEFAULT 0,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "claimed_at" TIMESTAMPTZ(3),
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "effect_type" VARCHAR(50) NOT NULL DEFAULT 'percent_discount',
    "extra_data" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "discount_offers_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "promo_offer_templates" (
    "id" SERIAL NOT NULL,
    "offer_type" VARCHAR(50) NOT NULL,
    "name" VARCHAR(255) NOT NULL,
    "message_text" TEXT NOT NULL,
    "button_text" VARCHAR(255) NOT NULL,
    "valid_hours" INTEGER NOT NULL,
    "discount_percent" INTEGER NOT NULL DEFAULT 0,
    "bonus_amount_kopeks" BIGINT NOT NULL DEFAULT 0,
    "active_discount_hours" INTEGER,
    "test_duration_hours" INTEGER,
    "test_squad_uuids" JSONB NOT NULL DEFAULT '[]',
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "created_by" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "promo_offer_templates_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "promo_offer_logs" (
    "id" SERIAL NOT NULL,
    "user_id" INTEGER,
    "offer_id" INTEGER,
    "action" VARCHAR(50) NOT NULL,
    "source" VARCHAR(100),
    "percent" INTEGER,
    "effect_type" VARCHAR(50),
    "details" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "promo_offer_logs_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "subscription_temporary_access" (
    "id" SERIAL NOT NULL,
    "subscription_id" INTEGER NOT NULL,
    "offer_id" INTEGER NOT NULL,
    "squad_uuid" VARCHAR(255) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "was_already_connected" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deactivated_at" TIMESTAMPTZ(3),

    CONSTRAINT "subscription_temporary_access_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "promo_offer_broadcasts" (
    "id" SERIAL NOT NULL,
    "state" VARCHAR(20) NOT NULL DEFAULT 'making',
    "notification_type" VARCHAR(50) NOT NULL,
    "effect_type" VARCHAR(50) NOT NULL,
    "discount_percent" INTEGER NOT NULL,
    "bonus_amount_kopeks" BIGINT NOT NULL,
    "valid_hours" INTEGER NOT NULL,
    "extra_data" JSONB NOT NULL DEFAULT '{}',
    "subscription_id" INTEGER,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "target" VARCHAR(100),
    "named_user_id" INTEGER,
    "audience_end" INTEGER NOT NULL,
    "processed_up_to" INTEGER NOT NULL DEFAULT 0,
    "created_offers" INTEGER NOT NULL DEFAULT 0,
    "sends_messages" BOOLEAN NOT NULL DEFAULT false,
    "message_text" TEXT,
    "button_text" VARCHAR(255),
    "sent" INTEGER NOT NULL DEFAULT 0,
    "failed" INTEGER NOT NULL DEFAULT 0,
    "skipped" INTEGER NOT NULL DEFAULT 0,
    "created_by" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "promo_offer_broadcasts_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "promo_offer_deliveries" (
    "broadcast_id" INTEGER NOT NULL,
    "offer_id" INTEGER NOT NULL,
    "state" VARCHAR(20) NOT NULL,
    "claimed_at" TIMESTAMPTZ(3),
    "settled_at" TIMESTAMPTZ(3),

    CONSTRAINT "promo_offer_deliveries_pkey" PRIMARY KEY ("broadcast_id","offer_id")
);

CREATE TABLE "squad_migration_runs" (
    "id" SERIAL NOT NULL,
    "source_uuid" VARCHAR(255) NOT NULL,
    "target_uuid" VARCHAR(255) NOT NULL,
    "status" VARCHAR(20) NOT NULL DEFAULT 'running',
    "total" INTEGER NOT NULL DEFAULT 0,
    "updated" INTEGER NOT NULL DEFAULT 0,
    "panel_updated" INTEGER NOT NULL DEFAULT 0,
    "panel_failed" INTEGER NOT NULL DEFAULT 0,
    "source_removed" INTEGER NOT NULL DEFAULT 0,
    "target_added" INTEGER NOT NULL DEFAULT 0,
    "error" VARCHAR(50),
    "started_by" VARCHAR(255),
    "lease_until" TIMESTAMPTZ(3),
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "squad_migration_runs_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "squad_migration_items" (
    "run_id" INTEGER NOT NULL,
    "subscription_id" INTEGER NOT NULL,
    "state" VARCHAR(20) NOT NULL DEFAULT 'pending',
    "panel_updated" BOOLEAN NOT NULL DEFAULT false,
    "target_added" BOOLEAN NOT NULL DEFAULT false,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "error" VARCHAR(500),

    CONSTRAINT "squad_migration_items_pkey" PRIMARY KEY ("run_id","subscription_id")
);

CREATE TABLE "panel_sync_runs" (
    "id" SERIAL NOT NULL,
    "kind" VARCHAR(20) NOT NULL,
    "mode" VARCHAR(20),
    "reason" VARCHAR(20) NOT NULL DEFAULT 'manual',
    "status" VARCHAR(20) NOT NULL DEFAULT 'running',
    "cursor" JSONB NOT NULL DEFAULT '{}',
    "stats" JSONB NOT NULL DEFAULT '{}',
    "error" VARCHAR(500),
    "started_by" VARCHAR(255),
    "lease_until" TIMESTAMPTZ(3),
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "panel_sync_runs_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "panel_sync_users" (
    "run_id" INTEGER NOT NULL,
    "panel_uuid" UUID NOT NULL,
    "messenger_id" BIGINT,
    "email" VARCHAR(255),
    "status" VARCHAR(20) NOT NULL,
    "expire_at" TIMESTAMPTZ(3),
    "data" JSONB NOT NULL,
    "applied_at" TIMESTAMPTZ(3),

    CONSTRAINT "panel_sync_users_pkey" PRIMARY KEY ("run_id","panel_uuid")
);

CREATE TABLE "referral_earnings" (
    "id" SERIAL NOT NULL,
    "user_id" INTEGER NOT NULL,
    "referral_id" INTEGER NOT NULL,
    "amount_kopeks" BIGINT NOT NULL,
    "reason" VARCHAR(50) NOT NULL,
    "referral_transaction_id" INTEGER,
    "campaign_id" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "referral_earnings_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "partner_applications" (
    "id" SERIAL NOT NULL,
    "user_id" INTEGER NOT NULL,
    "company_name" VARCHAR(255),
    "website_url" VARCHAR(500),
    "messenger_channel" VARCHAR(255),
    "description" TEXT,
    "expected_monthly_referrals" INTEGER,
    "desired_commission_percent" INTEGER,
    "status" VARCHAR(20) NOT NULL DEFAULT 'pending',
    "admin_comment" TEXT,
    "approved_commission_percent" INTEGER,
    "processed_by" INTEGER,
    "processed_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "partner_applications_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "referrer_stats" (
    "user_id" INTEGER NOT NULL,
    "referrals" INTEGER NOT NULL DEFAULT 0,
    "paid_referrals" INTEGER NOT NULL DEFAULT 0,
    "earned_kopeks" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "referrer_stats_pkey" PRIMARY KEY ("user_id")
);

CREATE TABLE "referrer_days" (
    "user_id" INTEGER NOT NULL,
    "day" DATE NOT NULL,
    "referrals" INTEGER NOT NULL DEFAULT 0,
    "earned_kopeks" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "referrer_days_pkey" PRIMARY KEY ("user_id","day")
);

CREATE TABLE "referral_day_counters" (
    "id" BIGSERIAL NOT NULL,
    "day" DATE NOT NULL,
    "referrals" INTEGER NOT NULL,
    "paid_referrals" INTEGER NOT NULL,
    "earned_kopeks" BIGINT NOT NULL,

    CONSTRAINT "referral_day_counters_pkey" PRIMARY KEY ("id")
);

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

CREATE TABLE "blacklist_entries" (
    "messenger_id" BIGINT NOT NULL,
    "username" VARCHAR(255),
    "reason" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "blacklist_entries_pkey" PRIMARY KEY ("messenger_id")
);

CREATE TABLE "required_channels" (
    "id" SERIAL NOT NULL,
    "channel_id" VARCHAR(32) NOT NULL,
    "channel_link" VARCHAR(500),
    "title" VARCHAR(255),
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "sort_order" INTEGER NOT NULL DEFAULT 0,
    "disable_trial_on_leave" BOOLEAN NOT NULL DEFAULT true,
    "disable_paid_on_leave" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "required_channels_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "user_channel_subscriptions" (
    "messenger_id" BIGINT NOT NULL,
    "channel_id" VARCHAR(32) NOT NULL,
    "is_member" BOOLEAN NOT NULL,
    "checked_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "user_channel_subscriptions_pkey" PRIMARY KEY ("messenger_id","channel_id")
);

CREATE TABLE "disposable_email_domains" (
    "domain" VARCHAR(253) NOT NULL,

    CONSTRAINT "disposable_email_domains_pkey" PRIMARY KEY ("domain")
);

CREATE TABLE "subscriptions" (
    "id" SERIAL NOT NULL,
    "user_id" INTEGER NOT NULL,
    "status" VARCHAR(20) NOT NULL DEFAULT 'trial',
    "disabled_reason" VARCHAR(20),
    "is_trial" BOOLEAN NOT NULL DEFAULT true,
    "start_date" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "end_date" TIMESTAMPTZ(3) NOT NULL,
    "traffic_limit_gb" INTEGER NOT NULL DEFAULT 0,
    "traffic_used_gb" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "purchased_traffic_gb" INTEGER NOT NULL DEFAULT 0,
    "traffic_reset_at" TIMESTAMPTZ(3),
    "device_limit" INTEGER NOT NULL DEFAULT 1,
    "connected_squads" JSONB NOT NULL DEFAULT '[]',
    "autopay_enabled" BOOLEAN NOT NULL DEFAULT false,
    "autopay_days_before" INTEGER NOT NULL DEFAULT 3,
    "tariff_id" INTEGER,
    "is_daily_paused" BOOLEAN NOT NULL DEFAULT false,
    "last_daily_charge_at" TIMESTAMPTZ(3),
    "subscription_url" TEXT,
    "subscription_crypto_link" TEXT,
    "vpnpanel_short_uuid" VARCHAR(255),
    "last_webhook_update_at" TIMESTAMPTZ(3),
    "modem_enabled" BOOLEAN NOT NULL DEFAULT false,
    "provision_state" VARCHAR(20) NOT NULL DEFAULT 'pending',
    "provision_version" INTEGER NOT NULL DEFAULT 0,
    "provision_synced_version" INTEGER NOT NULL DEFAULT -1,
    "provision_error" VARCHAR(500),
    "provision_attempts" INTEGER NOT NULL DEFAULT 0,
    "provision_requested_at" TIMESTAMPTZ(3),
    "provisioned_at" TIMESTAMPTZ(3),
    "provision_lease_until" TIMESTAMPTZ(3),
    "provision_reset_traffic" BOOLEAN NOT NULL DEFAULT false,
    "provision_reset_devices" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "subscriptions_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "traffic_purchases" (
    "id" SERIAL NOT NULL,
    "subscription_id" INTEGER NOT NULL,
    "traffic_gb" INTEGER NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "traffic_purchases_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "subscription_servers" (
    "id" SERIAL NOT NULL,
    "subscription_id" INTEGER NOT NULL,
    "server_squad_id" INTEGER NOT NULL,
    "paid_price_kopeks" BIGINT NOT NULL DEFAULT 0,
    "connected_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "subscription_servers_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "subscription_conversions" (
    "id" SERIAL NOT NULL,
    "user_id" INTEGER NOT NULL,
    "converted_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "trial_duration_days" INTEGER,
    "payment_method" VARCHAR(40),
    "first_payment_amount_kopeks" BIGINT,
    "first_paid_period_days" INTEGER,

    CONSTRAINT "subscription_conversions_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "subscription_events" (
    "id" SERIAL NOT NULL,
    "event_type" VARCHAR(50) NOT NULL,
    "user_id" INTEGER NOT NULL,
    "subscription_id" INTEGER,
    "transaction_id" INTEGER,
    "amount_kopeks" BIGINT,
    "currency" VARCHAR(16),
    "message" TEXT,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL,
    "extra" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "subscription_events_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "sent_notifications" (
    "id" SERIAL NOT NULL,
    "user_id" INTEGER NOT NULL,
    "subscription_id" INTEGER NOT NULL,
    "notification_type" VARCHAR(50) NOT NULL,
    "discriminator" VARCHAR(50) NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "sent_notifications_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "tickets" (
    "id" SERIAL NOT NULL,
    "user_id" INTEGER NOT NULL,
    "title" VARCHAR(255) NOT NULL,
    "status" VARCHAR(20) NOT NULL DEFAULT 'open',
    "priority" VARCHAR(20) NOT NULL DEFAULT 'normal',
    "user_reply_block_permanent" BOOLEAN NOT NULL DEFAULT false,
    "user_reply_block_until" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "closed_at" TIMESTAMPTZ(3),
    "last_user_message_at" TIMESTAMPTZ(3),
    "last_sla_reminder_at" TIMESTAMPTZ(3),

    CONSTRAINT "tickets_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "ticket_messages" (
    "id" SERIAL NOT NULL,
    "ticket_id" INTEGER NOT NULL,
    "user_id" INTEGER NOT NULL,
    "admin_user_id" INTEGER,
    "message_text" TEXT NOT NULL,
    "is_from_admin" BOOLEAN NOT NULL DEFAULT false,
    "has_media" BOOLEAN NOT NULL DEFAULT false,
    "media_type" VARCHAR(32),
    "media_file_id" VARCHAR(255),
    "media_caption" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ticket_messages_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "ticket_notifications" (
    "id" SERIAL NOT NULL,
    "ticket_id" INTEGER NOT NULL,
    "user_id" INTEGER NOT NULL,
    "notification_type" VARCHAR(20) NOT NULL,
    "message" TEXT,
    "is_for_admin" BOOLEAN NOT NULL DEFAULT false,
    "is_read" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "read_at" TIMESTAMPTZ(3),

    CONSTRAINT "ticket_notifications_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "support_audit_logs" (
    "id" BIGSERIAL NOT NULL,
    "actor_user_id" INTEGER,
    "actor_messenger_id" BIGINT,
    "is_moderator" BOOLEAN NOT NULL DEFAULT false,
    "action" VARCHAR(50) NOT NULL,
    "ticket_id" INTEGER,
    "target_user_id" INTEGER,
    "details" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "support_audit_logs_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "webhooks" (
    "id" SERIAL NOT NULL,
    "name" VARCHAR(255) NOT NULL,
    "url" TEXT NOT NULL,
    "secret" VARCHAR(128),
    "event_type" VARCHAR(50) NOT NULL,
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "description" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_triggered_at" TIMESTAMPTZ(3),
    "failure_count" INTEGER NOT NULL DEFAULT 0,
    "success_count" INTEGER NOT NULL DEFAULT 0,
    "failing_since" TIMESTAMPTZ(3),

    CONSTRAINT "webhooks_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "webhook_deliveries" (
    "id" SERIAL NOT NULL,
    "webhook_id" INTEGER NOT NULL,
    "event_id" BIGINT,
    "event_type" VARCHAR(50) NOT NULL,
    "payload" JSONB NOT NULL,
    "response_status" INTEGER,
    "response_body" TEXT,
    "status" VARCHAR(20) NOT NULL DEFAULT 'pending',
    "error_message" TEXT,
    "attempt_number" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "delivered_at" TIMESTAMPTZ(3),
    "next_retry_at" TIMESTAMPTZ(3),
    "claimed_until" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_deliveries_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "webhook_attempts" (
    "id" SERIAL NOT NULL,
    "delivery_id" INTEGER NOT NULL,
    "attempt_number" INTEGER NOT NULL,
    "response_status" INTEGER,
    "response_body" TEXT,
    "error_message" TEXT,
    "duration_ms" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "webhook_attempts_pkey" PRIMARY KEY ("id")
);

-- Indexes that prisma/models declares.

CREATE UNIQUE INDEX "web_api_tokens_token_hash_key" ON "web_api_tokens"("token_hash");
CREATE INDEX "web_api_tokens_created_at_id_idx" ON "web_api_tokens"("created_at" DESC, "id" DESC);
CREATE UNIQUE INDEX "admin_roles_name_key" ON "admin_roles"("name");
CREATE INDEX "user_roles_role_id_idx" ON "user_roles"("role_id");
CREATE UNIQUE INDEX "user_roles_user_id_role_id_key" ON "user_roles"("user_id", "role_id");
CREATE INDEX "access_policies_is_active_priority_idx" ON "access_policies"("is_active", "priority" DESC);
CREATE INDEX "admin_audit_log_user_id_created_at_idx" ON "admin_audit_log"("user_id", "created_at");
CREATE INDEX "admin_audit_log_resource_type_resource_id_idx" ON "admin_audit_log"("resource_type", "resource_id");
CREATE INDEX "admin_audit_log_created_at_id_idx" ON "admin_audit_log"("created_at" DESC, "id" DESC);
CREATE INDEX "admin_audit_log_action_created_at_id_idx" ON "admin_audit_log"("action", "created_at" DESC, "id" DESC);
CREATE INDEX "admin_audit_log_resource_type_created_at_id_idx" ON "admin_audit_log"("resource_type", "created_at" DESC, "id" DESC);
CREATE INDEX "admin_audit_log_status_created_at_id_idx" ON "admin_audit_log"("status", "created_at" DESC, "id" DESC);
CREATE UNIQUE INDEX "advertising_campaigns_start_parameter_key" ON "advertising_campaigns"("start_parameter");
CREATE INDEX "advertising_campaigns_created_at_id_idx" ON "advertising_campaigns"("created_at" DESC, "id" DESC);
CREATE INDEX "advertising_campaigns_is_active_created_at_id_idx" ON "advertising_campaigns"("is_active", "created_at" DESC, "id" DESC);
CREATE INDEX "advertising_campaigns_partner_user_id_id_idx" ON "advertising_campaigns"("partner_user_id", "id");
CREATE UNIQUE INDEX "advertising_campaign_registrations_user_id_key" ON "advertising_campaign_registrations"("user_id");
CREATE INDEX "advertising_campaign_registrations_campaign_id_created_at_i_idx" ON "advertising_campaign_registrations"("campaign_id", "created_at" DESC, "id" DESC);
CREATE INDEX "campaign_counters_campaign_id_idx" ON "campaign_counters"("campaign_id");
CREATE INDEX "campaign_day_counters_campaign_id_day_idx" ON "campaign_day_counters"("campaign_id", "day");
CREATE UNIQUE INDEX "promo_groups_name_key" ON "promo_groups"("name");
CREATE INDEX "user_promo_groups_promo_group_id_idx" ON "user_promo_groups"("promo_group_id");
CREATE UNIQUE INDEX "server_squads_squad_uuid_key" ON "server_squads"("squad_uuid");
CREATE INDEX "server_squads_sort_order_display_name_id_idx" ON "server_squads"("sort_order", "display_name", "id");
CREATE INDEX "squad_counters_squad_uuid_idx" ON "squad_counters"("squad_uuid");
CREATE INDEX "server_squad_promo_groups_promo_group_id_idx" ON "server_squad_promo_groups"("promo_group_id");
CREATE INDEX "tariffs_display_order_id_idx" ON "tariffs"("display_order", "id");
CREATE INDEX "tariff_promo_groups_promo_group_id_idx" ON "tariff_promo_groups"("promo_group_id");
CREATE INDEX "menu_layout_history_layout_name_created_at_id_idx" ON "menu_layout_history"("layout_name", "created_at" DESC, "id" DESC);
CREATE INDEX "button_click_logs_clicked_at_button_type_idx" ON "button_click_logs"("clicked_at", "button_type");
CREATE INDEX "button_click_logs_button_id_clicked_at_user_id_idx" ON "button_click_logs"("button_id", "clicked_at", "user_id");
CREATE INDEX "button_click_logs_user_id_clicked_at_id_idx" ON "button_click_logs"("user_id", "clicked_at" DESC, "id" DESC);
CREATE INDEX "media_files_uploaded_by_idx" ON "media_files"("uploaded_by");
CREATE INDEX "domain_events_created_at_idx" ON "domain_events"("created_at");
CREATE INDEX "polls_created_at_id_idx" ON "polls"("created_at" DESC, "id" DESC);
CREATE UNIQUE INDEX "poll_questions_poll_id_sort_order_key" ON "poll_questions"("poll_id", "sort_order");
CREATE UNIQUE INDEX "poll_options_question_id_sort_order_key" ON "poll_options"("question_id", "sort_order");
CREATE UNIQUE INDEX "poll_options_id_question_id_key" ON "poll_options"("id", "question_id");
CREATE INDEX "poll_sends_poll_id_id_idx" ON "poll_sends"("poll_id", "id");
CREATE UNIQUE INDEX "poll_responses_reward_transaction_id_key" ON "poll_responses"("reward_transaction_id");
CREATE INDEX "poll_responses_poll_id_sent_at_id_idx" ON "poll_responses"("poll_id", "sent_at", "id");
CREATE INDEX "poll_responses_user_id_sent_at_id_idx" ON "poll_responses"("user_id", "sent_at" DESC, "id" DESC);
CREATE INDEX "poll_responses_send_id_delivery_state_id_idx" ON "poll_responses"("send_id", "delivery_state", "id");
CREATE UNIQUE INDEX "poll_responses_poll_id_user_id_key" ON "poll_responses"("poll_id", "user_id");
CREATE INDEX "poll_answers_question_id_option_id_idx" ON "poll_answers"("question_id", "option_id");
CREATE UNIQUE INDEX "poll_answers_response_id_question_id_key" ON "poll_answers"("response_id", "question_id");
CREATE INDEX "wheel_prizes_config_id_sort_order_id_idx" ON "wheel_prizes"("config_id", "sort_order", "id");
CREATE UNIQUE INDEX "wheel_spins_debit_transaction_id_key" ON "wheel_spins"("debit_transaction_id");
CREATE UNIQUE INDEX "wheel_spins_prize_transaction_id_key" ON "wheel_spins"("prize_transaction_id");
CREATE UNIQUE INDEX "wheel_spins_payment_id_key" ON "wheel_spins"("payment_id");
CREATE UNIQUE INDEX "wheel_spins_external_charge_id_key" ON "wheel_spins"("external_charge_id");
CREATE INDEX "wheel_spins_user_id_created_at_id_idx" ON "wheel_spins"("user_id", "created_at" DESC, "id" DESC);
CREATE INDEX "wheel_spins_created_at_id_idx" ON "wheel_spins"("created_at" DESC, "id" DESC);
CREATE INDEX "wheel_spins_prize_id_idx" ON "wheel_spins"("prize_id");
CREATE INDEX "wheel_spins_generated_promocode_id_idx" ON "wheel_spins"("generated_promocode_id");
CREATE UNIQUE INDEX "users_messenger_id_key" ON "users"("messenger_id");
CREATE UNIQUE INDEX "users_referral_code_key" ON "users"("referral_code");
CREATE UNIQUE INDEX "users_email_key" ON "users"("email");
CREATE UNIQUE INDEX "users_email_verification_token_hash_key" ON "users"("email_verification_token_hash");
CREATE UNIQUE INDEX "users_password_reset_token_hash_key" ON "users"("password_reset_token_hash");
CREATE UNIQUE INDEX "users_google_id_key" ON "users"("google_id");
CREATE UNIQUE INDEX "users_yandex_id_key" ON "users"("yandex_id");
CREATE UNIQUE INDEX "users_discord_id_key" ON "users"("discord_id");
CREATE UNIQUE INDEX "users_vk_id_key" ON "users"("vk_id");
CREATE UNIQUE INDEX "users_vpnpanel_uuid_key" ON "users"("vpnpanel_uuid");
CREATE INDEX "users_created_at_id_idx" ON "users"("created_at" DESC, "id" DESC);
CREATE INDEX "users_status_created_at_id_idx" ON "users"("status", "created_at" DESC, "id" DESC);
CREATE INDEX "users_promo_group_id_created_at_id_idx" ON "users"("promo_group_id", "created_at" DESC, "id" DESC);
CREATE INDEX "users_referred_by_id_created_at_id_idx" ON "users"("referred_by_id", "created_at" DESC, "id" DESC);
CREATE INDEX "user_day_counters_day_idx" ON "user_day_counters"("day");
CREATE INDEX "user_stats_status_balance_kopeks_created_at_user_id_idx" ON "user_stats"("status", "balance_kopeks" DESC, "created_at" DESC, "user_id" DESC);
CREATE INDEX "user_stats_status_total_spent_kopeks_created_at_user_id_idx" ON "user_stats"("status", "total_spent_kopeks" DESC, "created_at" DESC, "user_id" DESC);
CREATE INDEX "user_stats_status_purchase_count_created_at_user_id_idx" ON "user_stats"("status", "purchase_count" DESC, "created_at" DESC, "user_id" DESC);
CREATE INDEX "user_stats_status_last_activity_created_at_user_id_idx" ON "user_stats"("status", "last_activity" DESC, "created_at" DESC, "user_id" DESC);
CREATE INDEX "user_traffic_status_traffic_used_gb_created_at_user_id_idx" ON "user_traffic"("status", "traffic_used_gb" DESC, "created_at" DESC, "user_id" DESC);
CREATE UNIQUE INDEX "cabinet_refresh_tokens_token_hash_key" ON "cabinet_refresh_tokens"("token_hash");
CREATE INDEX "cabinet_refresh_tokens_user_id_idx" ON "cabinet_refresh_tokens"("user_id");
CREATE INDEX "cabinet_refresh_tokens_family_id_idx" ON "cabinet_refresh_tokens"("family_id");
CREATE INDEX "cabinet_refresh_tokens_expires_at_idx" ON "cabinet_refresh_tokens"("expires_at");
CREATE INDEX "short_lived_entries_expires_at_idx" ON "short_lived_entries"("expires_at");
CREATE INDEX "rate_limit_windows_window_start_idx" ON "rate_limit_windows"("window_start");
CREATE UNIQUE INDEX "account_merges_token_hash_key" ON "account_merges"("token_hash");
CREATE INDEX "account_merges_primary_user_id_idx" ON "account_merges"("primary_user_id");
CREATE INDEX "account_merges_secondary_user_id_idx" ON "account_merges"("secondary_user_id");
CREATE UNIQUE INDEX "landing_pages_slug_key" ON "landing_pages"("slug");
CREATE INDEX "landing_pages_display_order_id_idx" ON "landing_pages"("display_order", "id");
CREATE UNIQUE INDEX "guest_purchases_token_key" ON "guest_purchases"("token");
CREATE UNIQUE INDEX "guest_purchases_code_key" ON "guest_purchases"("code");
CREATE UNIQUE INDEX "guest_purchases_payment_id_key" ON "guest_purchases"("payment_id");
CREATE UNIQUE INDEX "guest_purchases_transaction_id_key" ON "guest_purchases"("transaction_id");
CREATE INDEX "guest_purchases_landing_id_created_at_id_idx" ON "guest_purchases"("landing_id", "created_at" DESC, "id" DESC);
CREATE INDEX "guest_purchases_landing_id_status_created_at_id_idx" ON "guest_purchases"("landing_id", "status", "created_at" DESC, "id" DESC);
CREATE INDEX "guest_purchases_landing_id_paid_at_idx" ON "guest_purchases"("landing_id", "paid_at");
CREATE INDEX "guest_purchases_status_created_at_idx" ON "guest_purchases"("status", "created_at");
CREATE INDEX "guest_purchases_buyer_user_id_created_at_id_idx" ON "guest_purchases"("buyer_user_id", "created_at" DESC, "id" DESC);
CREATE INDEX "guest_purchases_user_id_created_at_id_idx" ON "guest_purchases"("user_id", "created_at" DESC, "id" DESC);
CREATE UNIQUE INDEX "ledger_accounts_key_key" ON "ledger_accounts"("key");
CREATE UNIQUE INDEX "ledger_accounts_user_id_key" ON "ledger_accounts"("user_id");
CREATE INDEX "ledger_entries_transaction_id_idx" ON "ledger_entries"("transaction_id");
CREATE INDEX "ledger_entries_account_id_id_idx" ON "ledger_entries"("account_id", "id");
CREATE INDEX "transactions_user_id_created_at_id_idx" ON "transactions"("user_id", "created_at" DESC, "id" DESC);
CREATE INDEX "transactions_created_at_id_idx" ON "transactions"("created_at" DESC, "id" DESC);
CREATE INDEX "transactions_type_is_completed_created_at_idx" ON "transactions"("type", "is_completed", "created_at");
CREATE INDEX "transactions_type_created_at_id_idx" ON "transactions"("type", "created_at" DESC, "id" DESC);
CREATE INDEX "transactions_payment_method_created_at_id_idx" ON "transactions"("payment_method", "created_at" DESC, "id" DESC);
CREATE UNIQUE INDEX "transactions_payment_method_external_id_key" ON "transactions"("payment_method", "external_id");
CREATE INDEX "idempotency_keys_created_at_idx" ON "idempotency_keys"("created_at");
CREATE INDEX "outgoing_mails_created_at_idx" ON "outgoing_mails"("created_at");
CREATE UNIQUE INDEX "email_templates_notification_type_language_key" ON "email_templates"("notification_type", "language");
CREATE UNIQUE INDEX "payments_order_id_key" ON "payments"("order_id");
CREATE UNIQUE INDEX "payments_transaction_id_key" ON "payments"("transaction_id");
CREATE INDEX "payments_user_id_created_at_id_idx" ON "payments"("user_id", "created_at" DESC, "id" DESC);
CREATE INDEX "payments_outcome_created_at_idx" ON "payments"("outcome", "created_at");
CREATE INDEX "payments_created_at_id_idx" ON "payments"("created_at" DESC, "id" DESC);
CREATE UNIQUE INDEX "payments_method_external_id_key" ON "payments"("method", "external_id");
CREATE INDEX "provider_callbacks_processed_at_received_at_idx" ON "provider_callbacks"("processed_at", "received_at");
CREATE UNIQUE INDEX "provider_callbacks_provider_event_key_key" ON "provider_callbacks"("provider", "event_key");
CREATE UNIQUE INDEX "saved_payment_methods_provider_method_id_key" ON "saved_payment_methods"("provider_method_id");
CREATE INDEX "saved_payment_methods_user_id_is_active_idx" ON "saved_payment_methods"("user_id", "is_active");
CREATE UNIQUE INDEX "promocodes_code_key" ON "promocodes"("code");
CREATE INDEX "promocodes_created_at_id_idx" ON "promocodes"("created_at" DESC, "id" DESC);
CREATE INDEX "promocodes_is_active_created_at_id_idx" ON "promocodes"("is_active", "created_at" DESC, "id" DESC);
CREATE INDEX "promocodes_promo_group_id_idx" ON "promocodes"("promo_group_id");
CREATE INDEX "promocodes_created_by_idx" ON "promocodes"("created_by");
CREATE INDEX "promocode_uses_promocode_id_used_at_id_idx" ON "promocode_uses"("promocode_id", "used_at" DESC, "id" DESC);
CREATE UNIQUE INDEX "promocode_uses_user_id_promocode_id_key" ON "promocode_uses"("user_id", "promocode_id");
CREATE INDEX "promocode_activations_user_id_activated_at_idx" ON "promocode_activations"("user_id", "activated_at");
CREATE INDEX "promocode_activations_activated_at_idx" ON "promocode_activations"("activated_at");
CREATE INDEX "discount_offers_created_at_id_idx" ON "discount_offers"("created_at" DESC, "id" DESC);
CREATE INDEX "discount_offers_user_id_created_at_id_idx" ON "discount_offers"("user_id", "created_at" DESC, "id" DESC);
CREATE INDEX "discount_offers_is_active_created_at_id_idx" ON "discount_offers"("is_active", "created_at" DESC, "id" DESC);
CREATE INDEX "discount_offers_notification_type_created_at_id_idx" ON "discount_offers"("notification_type", "created_at" DESC, "id" DESC);
CREATE INDEX "discount_offers_subscription_id_idx" ON "discount_offers"("subscription_id");
CREATE INDEX "promo_offer_templates_offer_type_id_idx" ON "promo_offer_templates"("offer_type", "id");
CREATE INDEX "promo_offer_logs_created_at_id_idx" ON "promo_offer_logs"("created_at" DESC, "id" DESC);
CREATE INDEX "promo_offer_logs_user_id_created_at_id_idx" ON "promo_offer_logs"("user_id", "created_at" DESC, "id" DESC);
CREATE INDEX "promo_offer_logs_offer_id_created_at_id_idx" ON "promo_offer_logs"("offer_id", "created_at" DESC, "id" DESC);
CREATE INDEX "promo_offer_logs_action_created_at_id_idx" ON "promo_offer_logs"("action", "created_at" DESC, "id" DESC);
CREATE INDEX "promo_offer_logs_source_created_at_id_idx" ON "promo_offer_logs"("source", "created_at" DESC, "id" DESC);
CREATE INDEX "subscription_temporary_access_subscription_id_squad_uuid_idx" ON "subscription_temporary_access"("subscription_id", "squad_uuid");
CREATE UNIQUE INDEX "subscription_temporary_access_offer_id_squad_uuid_key" ON "subscription_temporary_access"("offer_id", "squad_uuid");
CREATE INDEX "promo_offer_broadcasts_subscription_id_idx" ON "promo_offer_broadcasts"("subscription_id");
CREATE INDEX "promo_offer_broadcasts_named_user_id_idx" ON "promo_offer_broadcasts"("named_user_id");
CREATE INDEX "promo_offer_broadcasts_created_by_idx" ON "promo_offer_broadcasts"("created_by");
CREATE INDEX "promo_offer_deliveries_offer_id_broadcast_id_idx" ON "promo_offer_deliveries"("offer_id", "broadcast_id");
CREATE INDEX "promo_offer_deliveries_settled_at_idx" ON "promo_offer_deliveries"("settled_at");
CREATE INDEX "squad_migration_runs_source_uuid_started_at_id_idx" ON "squad_migration_runs"("source_uuid", "started_at" DESC, "id" DESC);
CREATE INDEX "squad_migration_runs_started_at_id_idx" ON "squad_migration_runs"("started_at" DESC, "id" DESC);
CREATE INDEX "squad_migration_items_run_id_state_subscription_id_idx" ON "squad_migration_items"("run_id", "state", "subscription_id");
CREATE INDEX "squad_migration_items_subscription_id_idx" ON "squad_migration_items"("subscription_id");
CREATE INDEX "panel_sync_runs_kind_started_at_id_idx" ON "panel_sync_runs"("kind", "started_at" DESC, "id" DESC);
CREATE INDEX "panel_sync_users_run_id_messenger_id_idx" ON "panel_sync_users"("run_id", "messenger_id");
CREATE INDEX "panel_sync_users_run_id_email_idx" ON "panel_sync_users"("run_id", "email");
CREATE INDEX "referral_earnings_user_id_created_at_id_idx" ON "referral_earnings"("user_id", "created_at" DESC, "id" DESC);
CREATE INDEX "referral_earnings_user_id_referral_id_reason_amount_kopeks_idx" ON "referral_earnings"("user_id", "referral_id", "reason", "amount_kopeks");
CREATE INDEX "referral_earnings_referral_id_idx" ON "referral_earnings"("referral_id");
CREATE INDEX "referral_earnings_referral_transaction_id_idx" ON "referral_earnings"("referral_transaction_id");
CREATE INDEX "referral_earnings_campaign_id_user_id_created_at_referral_i_idx" ON "referral_earnings"("campaign_id", "user_id", "created_at", "referral_id", "amount_kopeks");
CREATE INDEX "referral_earnings_created_at_user_id_amount_kopeks_idx" ON "referral_earnings"("created_at", "user_id", "amount_kopeks");
CREATE UNIQUE INDEX "referral_earnings_user_id_referral_transaction_id_reason_key" ON "referral_earnings"("user_id", "referral_transaction_id", "reason");
CREATE INDEX "partner_applications_user_id_created_at_id_idx" ON "partner_applications"("user_id", "created_at" DESC, "id" DESC);
CREATE INDEX "partner_applications_status_created_at_id_idx" ON "partner_applications"("status", "created_at" DESC, "id" DESC);
CREATE INDEX "partner_applications_created_at_id_idx" ON "partner_applications"("created_at" DESC, "id" DESC);
CREATE INDEX "referrer_stats_earned_kopeks_referrals_user_id_idx" ON "referrer_stats"("earned_kopeks" DESC, "referrals" DESC, "user_id");
CREATE INDEX "referrer_days_day_user_id_referrals_earned_kopeks_idx" ON "referrer_days"("day", "user_id", "referrals", "earned_kopeks");
CREATE INDEX "referral_day_counters_day_idx" ON "referral_day_counters"("day");
CREATE INDEX "withdrawal_requests_user_id_created_at_id_idx" ON "withdrawal_requests"("user_id", "created_at" DESC, "id" DESC);
CREATE INDEX "withdrawal_requests_status_created_at_id_idx" ON "withdrawal_requests"("status", "created_at" DESC, "id" DESC);
CREATE INDEX "blacklist_entries_username_idx" ON "blacklist_entries"("username");
CREATE UNIQUE INDEX "required_channels_channel_id_key" ON "required_channels"("channel_id");
CREATE INDEX "required_channels_sort_order_id_idx" ON "required_channels"("sort_order", "id");
CREATE INDEX "user_channel_subscriptions_channel_id_idx" ON "user_channel_subscriptions"("channel_id");
CREATE UNIQUE INDEX "subscriptions_user_id_key" ON "subscriptions"("user_id");
CREATE INDEX "subscriptions_status_end_date_idx" ON "subscriptions"("status", "end_date");
CREATE INDEX "subscriptions_created_at_id_idx" ON "subscriptions"("created_at" DESC, "id" DESC);
CREATE INDEX "subscriptions_tariff_id_idx" ON "subscriptions"("tariff_id");
CREATE INDEX "subscriptions_provision_state_provision_requested_at_idx" ON "subscriptions"("provision_state", "provision_requested_at");
CREATE INDEX "subscriptions_connected_squads_idx" ON "subscriptions" USING GIN ("connected_squads" jsonb_path_ops);
CREATE INDEX "traffic_purchases_subscription_id_expires_at_idx" ON "traffic_purchases"("subscription_id", "expires_at");
CREATE INDEX "traffic_purchases_expires_at_idx" ON "traffic_purchases"("expires_at");
CREATE INDEX "subscription_servers_server_squad_id_idx" ON "subscription_servers"("server_squad_id");
CREATE UNIQUE INDEX "subscription_servers_subscription_id_server_squad_id_key" ON "subscription_servers"("subscription_id", "server_squad_id");
CREATE INDEX "subscription_conversions_user_id_idx" ON "subscription_conversions"("user_id");
CREATE INDEX "subscription_conversions_converted_at_idx" ON "subscription_conversions"("converted_at");
CREATE INDEX "subscription_events_occurred_at_id_idx" ON "subscription_events"("occurred_at" DESC, "id" DESC);
CREATE INDEX "subscription_events_event_type_occurred_at_id_idx" ON "subscription_events"("event_type", "occurred_at" DESC, "id" DESC);
CREATE INDEX "subscription_events_user_id_occurred_at_id_idx" ON "subscription_events"("user_id", "occurred_at" DESC, "id" DESC);
CREATE UNIQUE INDEX "sent_notifications_subscription_id_notification_type_discri_key" ON "sent_notifications"("subscription_id", "notification_type", "discriminator");
CREATE INDEX "tickets_updated_at_id_idx" ON "tickets"("updated_at" DESC, "id" DESC);
CREATE INDEX "tickets_user_id_updated_at_id_idx" ON "tickets"("user_id", "updated_at" DESC, "id" DESC);
CREATE INDEX "tickets_status_updated_at_id_idx" ON "tickets"("status", "updated_at" DESC, "id" DESC);
CREATE INDEX "tickets_priority_updated_at_id_idx" ON "tickets"("priority", "updated_at" DESC, "id" DESC);
CREATE INDEX "tickets_status_priority_updated_at_id_idx" ON "tickets"("status", "priority", "updated_at" DESC, "id" DESC);
CREATE INDEX "ticket_messages_ticket_id_created_at_id_idx" ON "ticket_messages"("ticket_id", "created_at", "id");
CREATE INDEX "ticket_messages_user_id_idx" ON "ticket_messages"("user_id");
CREATE INDEX "ticket_messages_admin_user_id_idx" ON "ticket_messages"("admin_user_id");
CREATE INDEX "ticket_notifications_user_id_is_for_admin_created_at_id_idx" ON "ticket_notifications"("user_id", "is_for_admin", "created_at" DESC, "id" DESC);
CREATE INDEX "ticket_notifications_is_for_admin_created_at_id_idx" ON "ticket_notifications"("is_for_admin", "created_at" DESC, "id" DESC);
CREATE INDEX "ticket_notifications_ticket_id_idx" ON "ticket_notifications"("ticket_id");
CREATE INDEX "ticket_notifications_created_at_idx" ON "ticket_notifications"("created_at");
CREATE INDEX "support_audit_logs_created_at_id_idx" ON "support_audit_logs"("created_at" DESC, "id" DESC);
CREATE INDEX "support_audit_logs_ticket_id_idx" ON "support_audit_logs"("ticket_id");
CREATE INDEX "support_audit_logs_actor_user_id_idx" ON "support_audit_logs"("actor_user_id");
CREATE INDEX "support_audit_logs_target_user_id_idx" ON "support_audit_logs"("target_user_id");
CREATE INDEX "webhooks_event_type_is_active_idx" ON "webhooks"("event_type", "is_active");
CREATE INDEX "webhooks_created_at_id_idx" ON "webhooks"("created_at" DESC, "id" DESC);
CREATE INDEX "webhook_deliveries_webhook_id_created_at_id_idx" ON "webhook_deliveries"("webhook_id", "created_at" DESC, "id" DESC);
CREATE INDEX "webhook_deliveries_status_next_retry_at_idx" ON "webhook_deliveries"("status", "next_retry_at");
CREATE INDEX "webhook_deliveries_created_at_idx" ON "webhook_deliveries"("created_at");
CREATE INDEX "webhook_attempts_delivery_id_idx" ON "webhook_attempts"("delivery_id");

-- Foreign keys.

ALTER TABLE "admin_roles" ADD CONSTRAINT "admin_roles_created_by_fkey" FOREIGN KEY ("created_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "user_roles" ADD CONSTRAINT "user_roles_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "user_roles" ADD CONSTRAINT "user_roles_role_id_fkey" FOREIGN KEY ("role_id") REFERENCES "admin_roles"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "user_roles" ADD CONSTRAINT "user_roles_assigned_by_fkey" FOREIGN KEY ("assigned_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "access_policies" ADD CONSTRAINT "access_policies_role_id_fkey" FOREIGN KEY ("role_id") REFERENCES "admin_roles"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "access_policies" ADD CONSTRAINT "access_policies_created_by_fkey" FOREIGN KEY ("created_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "admin_audit_log" ADD CONSTRAINT "admin_audit_log_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "advertising_campaigns" ADD CONSTRAINT "advertising_campaigns_tariff_id_fkey" FOREIGN KEY ("tariff_id") REFERENCES "tariffs"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "advertising_campaigns" ADD CONSTRAINT "advertising_campaigns_partner_user_id_fkey" FOREIGN KEY ("partner_user_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "advertising_campaigns" ADD CONSTRAINT "advertising_campaigns_created_by_fkey" FOREIGN KEY ("created_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "advertising_campaign_registrations" ADD CONSTRAINT "advertising_campaign_registrations_campaign_id_fkey" FOREIGN KEY ("campaign_id") REFERENCES "advertising_campaigns"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "advertising_campaign_registrations" ADD CONSTRAINT "advertising_campaign_registrations_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "advertising_campaign_registrations" ADD CONSTRAINT "advertising_campaign_registrations_tariff_id_fkey" FOREIGN KEY ("tariff_id") REFERENCES "tariffs"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "user_promo_groups" ADD CONSTRAINT "user_promo_groups_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "user_promo_groups" ADD CONSTRAINT "user_promo_groups_promo_group_id_fkey" FOREIGN KEY ("promo_group_id") REFERENCES "promo_groups"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "server_squad_promo_groups" ADD CONSTRAINT "server_squad_promo_groups_server_squad_id_fkey" FOREIGN KEY ("server_squad_id") REFERENCES "server_squads"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "server_squad_promo_groups" ADD CONSTRAINT "server_squad_promo_groups_promo_group_id_fkey" FOREIGN KEY ("promo_group_id") REFERENCES "promo_groups"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "tariff_promo_groups" ADD CONSTRAINT "tariff_promo_groups_tariff_id_fkey" FOREIGN KEY ("tariff_id") REFERENCES "tariffs"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "tariff_promo_groups" ADD CONSTRAINT "tariff_promo_groups_promo_group_id_fkey" FOREIGN KEY ("promo_group_id") REFERENCES "promo_groups"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "menu_layout_history" ADD CONSTRAINT "menu_layout_history_layout_name_fkey" FOREIGN KEY ("layout_name") REFERENCES "menu_layouts"("name") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "button_click_logs" ADD CONSTRAINT "button_click_logs_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "media_files" ADD CONSTRAINT "media_files_uploaded_by_fkey" FOREIGN KEY ("uploaded_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "polls" ADD CONSTRAINT "polls_created_by_fkey" FOREIGN KEY ("created_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "poll_questions" ADD CONSTRAINT "poll_questions_poll_id_fkey" FOREIGN KEY ("poll_id") REFERENCES "polls"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "poll_options" ADD CONSTRAINT "poll_options_question_id_fkey" FOREIGN KEY ("question_id") REFERENCES "poll_questions"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "poll_sends" ADD CONSTRAINT "poll_sends_poll_id_fkey" FOREIGN KEY ("poll_id") REFERENCES "polls"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "poll_responses" ADD CONSTRAINT "poll_responses_poll_id_fkey" FOREIGN KEY ("poll_id") REFERENCES "polls"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "poll_responses" ADD CONSTRAINT "poll_responses_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "poll_responses" ADD CONSTRAINT "poll_responses_send_id_fkey" FOREIGN KEY ("send_id") REFERENCES "poll_sends"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "poll_responses" ADD CONSTRAINT "poll_responses_reward_transaction_id_fkey" FOREIGN KEY ("reward_transaction_id") REFERENCES "transactions"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "poll_answers" ADD CONSTRAINT "poll_answers_response_id_fkey" FOREIGN KEY ("response_id") REFERENCES "poll_responses"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "poll_answers" ADD CONSTRAINT "poll_answers_question_id_fkey" FOREIGN KEY ("question_id") REFERENCES "poll_questions"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "poll_answers" ADD CONSTRAINT "poll_answers_option_id_question_id_fkey" FOREIGN KEY ("option_id", "question_id") REFERENCES "poll_options"("id", "question_id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "wheel_prizes" ADD CONSTRAINT "wheel_prizes_config_id_fkey" FOREIGN KEY ("config_id") REFERENCES "wheel_configs"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "wheel_spins" ADD CONSTRAINT "wheel_spins_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "wheel_spins" ADD CONSTRAINT "wheel_spins_prize_id_fkey" FOREIGN KEY ("prize_id") REFERENCES "wheel_prizes"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "wheel_spins" ADD CONSTRAINT "wheel_spins_generated_promocode_id_fkey" FOREIGN KEY ("generated_promocode_id") REFERENCES "promocodes"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "wheel_spins" ADD CONSTRAINT "wheel_spins_debit_transaction_id_fkey" FOREIGN KEY ("debit_transaction_id") REFERENCES "transactions"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "wheel_spins" ADD CONSTRAINT "wheel_spins_prize_transaction_id_fkey" FOREIGN KEY ("prize_transaction_id") REFERENCES "transactions"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "wheel_spins" ADD CONSTRAINT "wheel_spins_payment_id_fkey" FOREIGN KEY ("payment_id") REFERENCES "payments"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "users" ADD CONSTRAINT "users_promo_group_id_fkey" FOREIGN KEY ("promo_group_id") REFERENCES "promo_groups"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "users" ADD CONSTRAINT "users_referred_by_id_fkey" FOREIGN KEY ("referred_by_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "user_stats" ADD CONSTRAINT "user_stats_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "user_traffic" ADD CONSTRAINT "user_traffic_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "cabinet_refresh_tokens" ADD CONSTRAINT "cabinet_refresh_tokens_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "account_merges" ADD CONSTRAINT "account_merges_primary_user_id_fkey" FOREIGN KEY ("primary_user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "account_merges" ADD CONSTRAINT "account_merges_secondary_user_id_fkey" FOREIGN KEY ("secondary_user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "guest_purchases" ADD CONSTRAINT "guest_purchases_landing_id_fkey" FOREIGN KEY ("landing_id") REFERENCES "landing_pages"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "guest_purchases" ADD CONSTRAINT "guest_purchases_buyer_user_id_fkey" FOREIGN KEY ("buyer_user_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "guest_purchases" ADD CONSTRAINT "guest_purchases_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "guest_purchases" ADD CONSTRAINT "guest_purchases_tariff_id_fkey" FOREIGN KEY ("tariff_id") REFERENCES "tariffs"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "guest_purchases" ADD CONSTRAINT "guest_purchases_payment_id_fkey" FOREIGN KEY ("payment_id") REFERENCES "payments"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "guest_purchases" ADD CONSTRAINT "guest_purchases_transaction_id_fkey" FOREIGN KEY ("transaction_id") REFERENCES "transactions"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "ledger_accounts" ADD CONSTRAINT "ledger_accounts_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "ledger_entries" ADD CONSTRAINT "ledger_entries_transaction_id_fkey" FOREIGN KEY ("transaction_id") REFERENCES "transactions"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "ledger_entries" ADD CONSTRAINT "ledger_entries_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "ledger_accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "transactions" ADD CONSTRAINT "transactions_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "payments" ADD CONSTRAINT "payments_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "payments" ADD CONSTRAINT "payments_transaction_id_fkey" FOREIGN KEY ("transaction_id") REFERENCES "transactions"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "payment_method_promo_groups" ADD CONSTRAINT "payment_method_promo_groups_method_id_fkey" FOREIGN KEY ("method_id") REFERENCES "payment_method_configs"("method_id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "payment_method_promo_groups" ADD CONSTRAINT "payment_method_promo_groups_promo_group_id_fkey" FOREIGN KEY ("promo_group_id") REFERENCES "promo_groups"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "saved_payment_methods" ADD CONSTRAINT "saved_payment_methods_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "promocodes" ADD CONSTRAINT "promocodes_promo_group_id_fkey" FOREIGN KEY ("promo_group_id") REFERENCES "promo_groups"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "promocodes" ADD CONSTRAINT "promocodes_created_by_fkey" FOREIGN KEY ("created_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "promocode_uses" ADD CONSTRAINT "promocode_uses_promocode_id_fkey" FOREIGN KEY ("promocode_id") REFERENCES "promocodes"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "promocode_uses" ADD CONSTRAINT "promocode_uses_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "promocode_activations" ADD CONSTRAINT "promocode_activations_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "discount_offers" ADD CONSTRAINT "discount_offers_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "discount_offers" ADD CONSTRAINT "discount_offers_subscription_id_fkey" FOREIGN KEY ("subscription_id") REFERENCES "subscriptions"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "promo_offer_templates" ADD CONSTRAINT "promo_offer_templates_created_by_fkey" FOREIGN KEY ("created_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "promo_offer_logs" ADD CONSTRAINT "promo_offer_logs_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "promo_offer_logs" ADD CONSTRAINT "promo_offer_logs_offer_id_fkey" FOREIGN KEY ("offer_id") REFERENCES "discount_offers"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "subscription_temporary_access" ADD CONSTRAINT "subscription_temporary_access_subscription_id_fkey" FOREIGN KEY ("subscription_id") REFERENCES "subscriptions"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "subscription_temporary_access" ADD CONSTRAINT "subscription_temporary_access_offer_id_fkey" FOREIGN KEY ("offer_id") REFERENCES "discount_offers"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "promo_offer_broadcasts" ADD CONSTRAINT "promo_offer_broadcasts_subscription_id_fkey" FOREIGN KEY ("subscription_id") REFERENCES "subscriptions"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "promo_offer_broadcasts" ADD CONSTRAINT "promo_offer_broadcasts_named_user_id_fkey" FOREIGN KEY ("named_user_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "promo_offer_broadcasts" ADD CONSTRAINT "promo_offer_broadcasts_created_by_fkey" FOREIGN KEY ("created_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "promo_offer_deliveries" ADD CONSTRAINT "promo_offer_deliveries_broadcast_id_fkey" FOREIGN KEY ("broadcast_id") REFERENCES "promo_offer_broadcasts"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "promo_offer_deliveries" ADD CONSTRAINT "promo_offer_deliveries_offer_id_fkey" FOREIGN KEY ("offer_id") REFERENCES "discount_offers"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "squad_migration_items" ADD CONSTRAINT "squad_migration_items_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "squad_migration_runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "squad_migration_items" ADD CONSTRAINT "squad_migration_items_subscription_id_fkey" FOREIGN KEY ("subscription_id") REFERENCES "subscriptions"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "panel_sync_users" ADD CONSTRAINT "panel_sync_users_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "panel_sync_runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "referral_earnings" ADD CONSTRAINT "referral_earnings_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "referral_earnings" ADD CONSTRAINT "referral_earnings_referral_id_fkey" FOREIGN KEY ("referral_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "referral_earnings" ADD CONSTRAINT "referral_earnings_referral_transaction_id_fkey" FOREIGN KEY ("referral_transaction_id") REFERENCES "transactions"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "referral_earnings" ADD CONSTRAINT "referral_earnings_campaign_id_fkey" FOREIGN KEY ("campaign_id") REFERENCES "advertising_campaigns"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "partner_applications" ADD CONSTRAINT "partner_applications_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "partner_applications" ADD CONSTRAINT "partner_applications_processed_by_fkey" FOREIGN KEY ("processed_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "referrer_stats" ADD CONSTRAINT "referrer_stats_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "referrer_days" ADD CONSTRAINT "referrer_days_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "withdrawal_requests" ADD CONSTRAINT "withdrawal_requests_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "withdrawal_requests" ADD CONSTRAINT "withdrawal_requests_processed_by_fkey" FOREIGN KEY ("processed_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "user_channel_subscriptions" ADD CONSTRAINT "user_channel_subscriptions_channel_id_fkey" FOREIGN KEY ("channel_id") REFERENCES "required_channels"("channel_id") ON DELETE CASCADE ON UPDATE RESTRICT;
ALTER TABLE "subscriptions" ADD CONSTRAINT "subscriptions_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "subscriptions" ADD CONSTRAINT "subscriptions_tariff_id_fkey" FOREIGN KEY ("tariff_id") REFERENCES "tariffs"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "traffic_purchases" ADD CONSTRAINT "traffic_purchases_subscription_id_fkey" FOREIGN KEY ("subscription_id") REFERENCES "subscriptions"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "subscription_servers" ADD CONSTRAINT "subscription_servers_subscription_id_fkey" FOREIGN KEY ("subscription_id") REFERENCES "subscriptions"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "subscription_servers" ADD CONSTRAINT "subscription_servers_server_squad_id_fkey" FOREIGN KEY ("server_squad_id") REFERENCES "server_squads"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "subscription_conversions" ADD CONSTRAINT "subscription_conversions_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "subscription_events" ADD CONSTRAINT "subscription_events_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "sent_notifications" ADD CONSTRAINT "sent_notifications_subscription_id_fkey" FOREIGN KEY ("subscription_id") REFERENCES "subscriptions"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "tickets" ADD CONSTRAINT "tickets_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "ticket_messages" ADD CONSTRAINT "ticket_messages_ticket_id_fkey" FOREIGN KEY ("ticket_id") REFERENCES "tickets"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "ticket_messages" ADD CONSTRAINT "ticket_messages_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "ticket_messages" ADD CONSTRAINT "ticket_messages_admin_user_id_fkey" FOREIGN KEY ("admin_user_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "ticket_notifications" ADD CONSTRAINT "ticket_notifications_ticket_id_fkey" FOREIGN KEY ("ticket_id") REFERENCES "tickets"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "ticket_notifications" ADD CONSTRAINT "ticket_notifications_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "support_audit_logs" ADD CONSTRAINT "support_audit_logs_actor_user_id_fkey" FOREIGN KEY ("actor_user_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "support_audit_logs" ADD CONSTRAINT "support_audit_logs_ticket_id_fkey" FOREIGN KEY ("ticket_id") REFERENCES "tickets"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "support_audit_logs" ADD CONSTRAINT "support_audit_logs_target_user_id_fkey" FOREIGN KEY ("target_user_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_webhook_id_fkey" FOREIGN KEY ("webhook_id") REFERENCES "webhooks"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "webhook_attempts" ADD CONSTRAINT "webhook_attempts_delivery_id_fkey" FOREIGN KEY ("delivery_id") REFERENCES "webhook_deliveries"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Constraints that must hold whatever code writes (spec 00, Consistency and Ledger; spec 03 section 11, spec 04 section 18, spec 05 section
-- 16, spec 06 section 17).

ALTER TABLE account_merges
  ADD CONSTRAINT account_merges_two_accounts CHECK (primary_user_id <> secondary_user_id),
  ADD CONSTRAINT account_merges_panel_state_known CHECK (panel_state IN ('none', 'pending', 'done', 'failed'));

ALTER TABLE advertising_campaign_registrations
  ADD CONSTRAINT campaign_registrations_bonus_type_known CHECK (bonus_type IN ('balance', 'subscription', 'none', 'tariff')),
  ADD CONSTRAINT campaign_registrations_bonus CHECK (balance_bonus_kopeks >= 0);

ALTER TABLE advertising_campaigns
  ADD CONSTRAINT advertising_campaigns_bonus_type_known CHECK (bonus_type IN ('balance', 'subscription', 'none', 'tariff')),
  ADD CONSTRAINT advertising_campaigns_start_parameter_given CHECK (start_parameter <> ''),
  ADD CONSTRAINT advertising_campaigns_bounds CHECK (
    balance_bonus_kopeks >= 0 AND (subscription_duration_days IS NULL OR subscription_duration_days >= 0)
    AND (subscription_traffic_gb IS NULL OR subscription_traffic_gb >= 0)
    AND (subscription_device_limit IS NULL OR subscription_device_limit >= 0)
    AND (tariff_duration_days IS NULL OR tariff_duration_days >= 1));

ALTER TABLE blacklist_entries
  ADD CONSTRAINT blacklist_entries_username_lower_case CHECK (username = lower(username));

ALTER TABLE cabinet_refresh_tokens
  ADD CONSTRAINT refresh_tokens_life CHECK (expires_at > created_at);

ALTER TABLE discount_offers
  ADD CONSTRAINT discount_offers_bounds CHECK (discount_percent BETWEEN 0 AND 100 AND bonus_amount_kopeks >= 0),
  ADD CONSTRAINT discount_offers_claimed_is_over CHECK (claimed_at IS NULL OR NOT is_active);

ALTER TABLE disposable_email_domains
  ADD CONSTRAINT disposable_email_domains_lower_case CHECK (domain = lower(domain));

-- Only a paid purchase can be granted; a granted one that is not delivered waits for the panel.
ALTER TABLE guest_purchases
  ADD CONSTRAINT guest_purchases_status_known CHECK (status IN ('pending', 'paid', 'pending_activation', 'delivered', 'failed', 'expired')),
  ADD CONSTRAINT guest_purchases_source_known CHECK (source IN ('landing', 'cabinet')),
  ADD CONSTRAINT guest_purchases_contacts CHECK (
    contact_type IN ('email', 'messenger') AND (gift_recipient_type IS NULL OR gift_recipient_type IN ('email', 'messenger'))
    AND (gift_recipient_type IS NULL) = (gift_recipient_value IS NULL) AND (is_gift OR gift_recipient_type IS NULL)),
  ADD CONSTRAINT guest_purchases_bounds CHECK (amount_kopeks > 0 AND period_days > 0 AND retry_count >= 0),
  ADD CONSTRAINT guest_purchases_code_of_token CHECK (code = left(token, 12)),
  -- Every status after paid has paid_at, and only delivered has delivered_at (spec 03 H7, H21).
  ADD CONSTRAINT guest_purchases_states CHECK (
    (status NOT IN ('paid', 'pending_activation', 'delivered') OR paid_at IS NOT NULL)
    AND (status = 'delivered') = (delivered_at IS NOT NULL)),
  ADD CONSTRAINT guest_purchases_granted CHECK (granted_at IS NULL OR paid_at IS NOT NULL);

ALTER TABLE landing_pages
  ADD CONSTRAINT landing_pages_slug CHECK (slug ~ '^[a-z0-9-]+$'),
  ADD CONSTRAINT landing_pages_discount CHECK (
    CASE WHEN discount_percent IS NULL THEN discount_starts_at IS NULL AND discount_ends_at IS NULL
    ELSE discount_percent BETWEEN 1 AND 99 AND discount_starts_at IS NOT NULL AND discount_ends_at IS NOT NULL
      AND discount_starts_at < discount_ends_at END);

ALTER TABLE menu_layout_history
  ADD CONSTRAINT menu_layout_history_action_known CHECK (action IN ('update', 'reset', 'import', 'rollback_backup', 'rollback'));

ALTER TABLE panel_sync_runs
  ADD CONSTRAINT panel_sync_runs_kind_known CHECK (kind IN ('from_panel', 'to_panel', 'servers', 'validate', 'statuses', 'cleanup', 'auto')),
  ADD CONSTRAINT panel_sync_runs_status_known CHECK (status IN ('running', 'completed', 'failed')),
  ADD CONSTRAINT panel_sync_runs_finished CHECK ((status = 'running') = (finished_at IS NULL));

ALTER TABLE partner_applications
  ADD CONSTRAINT partner_applications_status_known CHECK (status IN ('pending', 'approved', 'rejected')),
  ADD CONSTRAINT partner_applications_processed CHECK ((status = 'pending') = (processed_at IS NULL)),
  ADD CONSTRAINT partner_applications_percents CHECK (
    (desired_commission_percent IS NULL OR desired_commission_percent BETWEEN 1 AND 100)
    AND (approved_commission_percent IS NULL OR approved_commission_percent BETWEEN 1 AND 100));

ALTER TABLE payments
  ADD CONSTRAINT payments_amount_positive CHECK (amount_kopeks > 0),
  ADD CONSTRAINT payments_outcome_known CHECK (outcome IN ('pending', 'paid', 'failed', 'expired', 'amount_mismatch', 'refunded')),
  -- A top-up is paid if and only if it is credited (spec 03 H4, H5).
  ADD CONSTRAINT payments_topup_paid_is_credited CHECK (purpose <> 'balance_topup' OR is_paid = (transaction_id IS NOT NULL));

ALTER TABLE poll_responses
  ADD CONSTRAINT poll_responses_delivery_known CHECK (delivery_state IN ('queued', 'sending', 'sent', 'failed', 'skipped')),
  ADD CONSTRAINT poll_responses_reward CHECK (
    reward_amount_kopeks >= 0 AND (NOT reward_given OR (completed_at IS NOT NULL AND reward_transaction_id IS NOT NULL)));

ALTER TABLE polls
  ADD CONSTRAINT polls_reward CHECK (
    CASE WHEN reward_enabled THEN reward_amount_kopeks > 0 ELSE reward_amount_kopeks = 0 END);

ALTER TABLE promo_groups
  ADD CONSTRAINT promo_groups_percents CHECK (
    server_discount_percent BETWEEN 0 AND 100 AND traffic_discount_percent BETWEEN 0 AND 100
    AND device_discount_percent BETWEEN 0 AND 100);

ALTER TABLE promo_offer_broadcasts
  ADD CONSTRAINT promo_offer_broadcasts_state CHECK (state IN ('making', 'sending', 'done')),
  ADD CONSTRAINT promo_offer_broadcasts_bounds CHECK (discount_percent BETWEEN 0 AND 100 AND bonus_amount_kopeks >= 0 AND valid_hours >= 1);

ALTER TABLE promo_offer_deliveries
  ADD CONSTRAINT promo_offer_deliveries_state CHECK (state IN ('queued', 'sending', 'sent', 'failed', 'skipped'));

ALTER TABLE promo_offer_templates
  ADD CONSTRAINT promo_offer_templates_bounds CHECK (
    valid_hours >= 1 AND discount_percent BETWEEN 0 AND 100 AND bonus_amount_kopeks >= 0
    AND (active_discount_hours IS NULL OR active_discount_hours >= 1) AND (test_duration_hours IS NULL OR test_duration_hours >= 1));

ALTER TABLE promocodes
  ADD CONSTRAINT promocodes_type_known CHECK (type IN ('balance', 'subscription_days', 'trial_subscription', 'promo_group', 'discount')),
  ADD CONSTRAINT promocodes_code_upper CHECK (code <> '' AND code = upper(code)),
  ADD CONSTRAINT promocodes_uses_within_limit CHECK (current_uses >= 0 AND current_uses <= max_uses),
  ADD CONSTRAINT promocodes_bounds CHECK (
    balance_bonus_kopeks >= 0 AND subscription_days >= 0 AND (type <> 'discount' OR balance_bonus_kopeks BETWEEN 1 AND 100)),
  ADD CONSTRAINT promocodes_validity CHECK (valid_until IS NULL OR valid_from <= valid_until);

-- One pending row a pair; every paid row names the payment that caused it, so that the unique key allows it once.
ALTER TABLE referral_earnings
  ADD CONSTRAINT referral_earnings_reason_known CHECK (reason IN
    ('referral_registration_pending', 'referral_first_topup', 'referral_commission_topup', 'referral_commission')),
  ADD CONSTRAINT referral_earnings_amount CHECK (amount_kopeks >= 0 AND (reason <> 'referral_registration_pending' OR amount_kopeks = 0)),
  ADD CONSTRAINT referral_earnings_source CHECK (reason = 'referral_registration_pending' OR referral_transaction_id IS NOT NULL),
  ADD CONSTRAINT referral_earnings_not_own CHECK (user_id <> referral_id);

ALTER TABLE required_channels
  ADD CONSTRAINT required_channels_id_form CHECK (channel_id ~ '^-100[0-9]{10,13}$');

ALTER TABLE squad_migration_items
  ADD CONSTRAINT squad_migration_items_state_known CHECK (state IN ('pending', 'done', 'failed'));

ALTER TABLE squad_migration_runs
  ADD CONSTRAINT squad_migration_runs_status_known CHECK (status IN ('running', 'completed', 'failed')),
  ADD CONSTRAINT squad_migration_runs_finished CHECK ((status = 'running') = (finished_at IS NULL)),
  ADD CONSTRAINT squad_migration_runs_squads CHECK (source_uuid <> target_uuid);

ALTER TABLE subscription_temporary_access
  ADD CONSTRAINT temporary_access_ended CHECK (NOT is_active OR deactivated_at IS NULL);

-- Only a disabled subscription has a reason; a trigger clears it when the status changes (spec 05 section 13).
ALTER TABLE subscriptions
  ADD CONSTRAINT subscriptions_status_known CHECK (status IN ('trial', 'active', 'expired', 'disabled', 'limited', 'pending')),
  ADD CONSTRAINT subscriptions_provision_state_known CHECK (provision_state IN ('pending', 'synced', 'failed')),
  ADD CONSTRAINT subscriptions_limits CHECK (traffic_limit_gb >= 0 AND device_limit >= 0 AND purchased_traffic_gb >= 0),
  ADD CONSTRAINT subscriptions_disabled_reason CHECK (
    disabled_reason IS NULL OR (status = 'disabled' AND disabled_reason IN ('admin', 'panel', 'channel', 'sync')));

ALTER TABLE tariffs
  ADD CONSTRAINT tariffs_bounds CHECK (
    traffic_limit_gb >= 0 AND device_limit >= 1 AND daily_price_kopeks >= 0 AND price_per_day_kopeks >= 0
    AND traffic_price_per_gb_kopeks >= 0 AND (device_price_kopeks IS NULL OR device_price_kopeks >= 0));

ALTER TABLE ticket_messages
  ADD CONSTRAINT ticket_messages_media CHECK (
    (media_type IS NULL) = (media_file_id IS NULL) AND has_media = (media_file_id IS NOT NULL));

ALTER TABLE ticket_notifications
  ADD CONSTRAINT ticket_notifications_type_known CHECK (notification_type IN ('new_ticket', 'admin_reply', 'user_reply')),
  ADD CONSTRAINT ticket_notifications_read CHECK (is_read = (read_at IS NOT NULL));

ALTER TABLE tickets
  ADD CONSTRAINT tickets_status_known CHECK (status IN ('open', 'pending', 'answered', 'closed')),
  ADD CONSTRAINT tickets_priority_known CHECK (priority IN ('low', 'normal', 'high', 'urgent')),
  ADD CONSTRAINT tickets_closed_at CHECK ((status = 'closed') = (closed_at IS NOT NULL));

ALTER TABLE traffic_purchases
  ADD CONSTRAINT traffic_purchases_positive CHECK (traffic_gb > 0);

ALTER TABLE transactions
  ADD CONSTRAINT transactions_type_known CHECK (type IN
    ('deposit', 'withdrawal', 'subscription_payment', 'refund', 'referral_reward', 'poll_reward', 'gift_payment'));

ALTER TABLE users
  ADD CONSTRAINT users_balance_not_negative CHECK (balance_kopeks >= 0),
  ADD CONSTRAINT users_status_known CHECK (status IN ('active', 'blocked', 'deleted')),
  ADD CONSTRAINT users_email_lower_case CHECK (email = lower(email)),
  ADD CONSTRAINT users_promo_offer_percent CHECK (promo_offer_discount_percent BETWEEN 0 AND 100),
  ADD CONSTRAINT users_not_own_referrer CHECK (referred_by_id <> id),
  ADD CONSTRAINT users_partner_status_known CHECK (partner_status IN ('none', 'pending', 'approved', 'rejected')),
  ADD CONSTRAINT users_commission_percent CHECK (referral_commission_percent BETWEEN 0 AND 100);

ALTER TABLE webhook_deliveries
  ADD CONSTRAINT webhook_deliveries_status_known CHECK (status IN ('pending', 'success', 'failed'));

ALTER TABLE wheel_configs
  ADD CONSTRAINT wheel_configs_single CHECK (id = 1),
  ADD CONSTRAINT wheel_configs_bounds CHECK (
    spin_cost_stars BETWEEN 1 AND 1000 AND spin_cost_days BETWEEN 1 AND 30 AND rtp_percent BETWEEN 0 AND 100
    AND daily_spin_limit BETWEEN 0 AND 100 AND min_subscription_days_for_day_payment BETWEEN 1 AND 30
    AND promo_validity_days BETWEEN 1 AND 365 AND promo_prefix <> '');

ALTER TABLE wheel_prizes
  ADD CONSTRAINT wheel_prizes_type_known CHECK (prize_type IN ('subscription_days', 'balance_bonus', 'traffic_gb', 'promocode', 'nothing')),
  ADD CONSTRAINT wheel_prizes_bounds CHECK (
    prize_value >= 0 AND prize_value_kopeks >= 0 AND promo_balance_bonus_kopeks >= 0 AND promo_subscription_days >= 0
    AND promo_traffic_gb >= 0 AND (manual_probability IS NULL OR manual_probability BETWEEN 0 AND 1));

-- A spin paid in stars has a payment: a debit of the wallet or the charge of an invoice (spec 04 section 13.7).
ALTER TABLE wheel_spins
  ADD CONSTRAINT wheel_spins_payment_type_known CHECK (payment_type IN ('messenger_stars', 'subscription_days')),
  ADD CONSTRAINT wheel_spins_paid CHECK (
    payment_type <> 'messenger_stars' OR debit_transaction_id IS NOT NULL OR external_charge_id IS NOT NULL),
  ADD CONSTRAINT wheel_spins_bounds CHECK (
    payment_amount >= 0 AND payment_value_kopeks >= 0 AND prize_value >= 0 AND prize_value_kopeks >= 0);

ALTER TABLE withdrawal_requests
  ADD CONSTRAINT withdrawal_requests_status_known CHECK (status IN ('pending', 'approved', 'rejected', 'completed', 'cancelled')),
  ADD CONSTRAINT withdrawal_requests_amount CHECK (amount_kopeks > 0),
  ADD CONSTRAINT withdrawal_requests_risk CHECK (risk_score BETWEEN 0 AND 100);

-- Partial and expression indexes, which prisma/models cannot declare.

-- The target of the upsert: INSERT … ON CONFLICT (user_id, notification_type) WHERE is_active AND claimed_at IS NULL DO UPDATE.
CREATE UNIQUE INDEX discount_offers_one_open ON discount_offers (user_id, notification_type) WHERE is_active AND claimed_at IS NULL;
-- The registrants of a campaign with the highest revenue.
CREATE INDEX campaign_registrations_top
  ON advertising_campaign_registrations (campaign_id, (deposits_kopeks + spent_kopeks) DESC, id DESC);
CREATE INDEX discount_offers_expiring ON discount_offers (expires_at, id) WHERE is_active;
CREATE INDEX guest_purchases_due ON guest_purchases (next_attempt_at, id) WHERE next_attempt_at IS NOT NULL;
-- Each push to the panel looks for a purchase that waits for it.
CREATE INDEX guest_purchases_granted ON guest_purchases (user_id) WHERE granted_at IS NOT NULL AND delivered_at IS NULL;
-- Credentials that were not fetched are cleared after some time.
CREATE INDEX guest_purchases_credentials ON guest_purchases (paid_at) WHERE cabinet_password IS NOT NULL OR auto_login_token IS NOT NULL;
CREATE UNIQUE INDEX panel_sync_runs_one_of_kind ON panel_sync_runs (kind) WHERE status = 'running';
CREATE UNIQUE INDEX partner_applications_one_pending ON partner_applications (user_id) WHERE status = 'pending';
CREATE UNIQUE INDEX promo_groups_one_default ON promo_groups (is_default) WHERE is_default;
-- Deliveries that are still to be sent.
CREATE INDEX promo_offer_deliveries_open ON promo_offer_deliveries (broadcast_id, offer_id) WHERE state IN ('queued', 'sending');
CREATE UNIQUE INDEX referral_earnings_one_pending ON referral_earnings (user_id, referral_id) WHERE reason = 'referral_registration_pending';
CREATE UNIQUE INDEX squad_migration_runs_one_of_source ON squad_migration_runs (source_uuid) WHERE status = 'running';
CREATE INDEX temporary_access_expiring ON subscription_temporary_access (expires_at, id) WHERE is_active;
-- Subscriptions that ended some days ago, for win-back offers.
CREATE INDEX subscriptions_ended_paid ON subscriptions (end_date, id) WHERE NOT is_trial;
-- Subscriptions with autopay by their end: the hourly job reads this index only.
CREATE INDEX "subscriptions_autopay_end_date_idx" ON "subscriptions"("end_date", "id") WHERE "autopay_enabled";
CREATE UNIQUE INDEX tariffs_one_trial ON tariffs (is_trial_available) WHERE is_trial_available;
CREATE INDEX ticket_notifications_unread_users ON ticket_notifications (user_id, created_at DESC, id DESC) WHERE NOT is_for_admin AND NOT is_read;
CREATE INDEX ticket_notifications_unread_admins ON ticket_notifications (created_at DESC, id DESC) WHERE is_for_admin AND NOT is_read;
CREATE INDEX tickets_waiting ON tickets (last_user_message_at, id) WHERE status IN ('open', 'pending') AND last_user_message_at IS NOT NULL;
-- Whether any ticket of a user blocks replies.
CREATE INDEX tickets_blocking ON tickets (user_id) WHERE user_reply_block_permanent OR user_reply_block_until IS NOT NULL;
-- The few incomplete transactions.
CREATE INDEX transactions_incomplete_idx ON transactions (created_at DESC, id DESC) WHERE NOT is_completed;
-- The administrator's list of partners; the query must write the status as a literal.
CREATE INDEX users_approved_partners ON users (created_at DESC, id DESC) WHERE partner_status = 'approved';
-- Personal discounts by the time of their expiry (spec 04 section 15).
CREATE INDEX users_offer_discount_expiring ON users (promo_offer_discount_expires_at, id) WHERE promo_offer_discount_percent > 0;
-- Look-up by messenger name, in any case of letters.
CREATE INDEX users_username_lower_case ON users (lower(username)) WHERE username IS NOT NULL;

-- Search among a million users within 50 ms on any PostgreSQL and on the embedded one, without an extension. The index holds every window
-- of up to three characters of the searched fields, so that it serves terms of one or two characters too (as prefixes of the windows),
-- which trigram extensions do not.

-- The searched text: the four fields in lower case, separated by a character that no term contains.
CREATE FUNCTION user_search_text(p_username text, p_first_name text, p_last_name text, p_referral_code text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT lower(coalesce(p_username, '') || chr(1) || coalesce(p_first_name, '') || chr(1) || coalesce(p_last_name, '')
    || chr(1) || coalesce(p_referral_code, ''))
$$;

CREATE FUNCTION search_windows(p_text text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
  SELECT coalesce(array_to_tsvector(array_agg(substr(p_text, i, 3))), ''::tsvector) FROM generate_series(1, length(p_text)) AS i
$$;

CREATE INDEX users_search ON users USING gin
  (search_windows(user_search_text(username::text, first_name::text, last_name::text, referral_code::text))) WITH (fastupdate = off);
-- Windows of names and of the e-mail, for the administrator's list. users_search covers referral codes as well, which all begin alike.
CREATE INDEX users_admin_search ON users USING gin
  (search_windows(user_search_text(username::text, first_name::text, last_name::text, ''::text)), search_windows(lower(email::text)))
  WITH (fastupdate = off);

-- Reference rows: every installation has a default promo group (spec 01 section 2.2).
INSERT INTO promo_groups (name, is_default) VALUES ('Default', true);
