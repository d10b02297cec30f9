-- CreateTable
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

-- CreateTable
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

-- CreateTable
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

-- CreateTable
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

-- CreateTable
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

-- CreateTable
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

-- CreateTable
CREATE TABLE "user_promo_groups" (
    "user_id" INTEGER NOT NULL,
    "promo_group_id" INTEGER NOT NULL,
    "assigned_by" VARCHAR(50) NOT NULL DEFAULT 'system',
    "assigned_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "user_promo_groups_pkey" PRIMARY KEY ("user_id","promo_group_id")
);

-- CreateTable
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
    "current_users" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "server_squads_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "server_squad_promo_groups" (
    "server_squad_id" INTEGER NOT NULL,
    "promo_group_id" INTEGER NOT NULL,

    CONSTRAINT "server_squad_promo_groups_pkey" PRIMARY KEY ("server_squad_id","promo_group_id")
);

-- CreateTable
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

-- CreateTable
CREATE TABLE "tariff_promo_groups" (
    "tariff_id" INTEGER NOT NULL,
    "promo_group_id" INTEGER NOT NULL,

    CONSTRAINT "tariff_promo_groups_pkey" PRIMARY KEY ("tariff_id","promo_group_id")
);

-- CreateTable
CREATE TABLE "domain_events" (
    "id" BIGSERIAL NOT NULL,
    "type" VARCHAR(60) NOT NULL,
    "payload" JSONB NOT NULL,
    "audience" VARCHAR(10) NOT NULL,
    "user_id" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "domain_events_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "system_settings" (
    "key" VARCHAR(100) NOT NULL,
    "value" TEXT,
    "description" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "system_settings_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "service_state" (
    "key" VARCHAR(100) NOT NULL,
    "value" JSONB NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "service_state_pkey" PRIMARY KEY ("key")
);

-- CreateTable
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
    "vpnpanel_uuid" UUID,
    "trojan_password" VARCHAR(255),
    "vless_uuid" VARCHAR(255),
    "ss_password" VARCHAR(255),
    "last_vpnpanel_sync" TIMESTAMPTZ(3),
    "lifetime_used_traffic_bytes" BIGINT NOT NULL DEFAULT 0,
    "promo_group_id" INTEGER,
    "referral_commission_percent" INTEGER,
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

-- CreateTable
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

-- CreateTable
CREATE TABLE "short_lived_entries" (
    "key" VARCHAR(200) NOT NULL,
    "value" JSONB NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "short_lived_entries_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "rate_limit_windows" (
    "key" VARCHAR(200) NOT NULL,
    "window_start" TIMESTAMPTZ(3) NOT NULL,
    "hits" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "rate_limit_windows_pkey" PRIMARY KEY ("key","window_start")
);

-- CreateTable
CREATE TABLE "ledger_accounts" (
    "id" SERIAL NOT NULL,
    "kind" VARCHAR(40) NOT NULL,
    "key" VARCHAR(80) NOT NULL,
    "user_id" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ledger_accounts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ledger_entries" (
    "id" BIGSERIAL NOT NULL,
    "transaction_id" INTEGER NOT NULL,
    "account_id" INTEGER NOT NULL,
    "kopeks" BIGINT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ledger_entries_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "actor" VARCHAR(64) NOT NULL,
    "key" VARCHAR(255) NOT NULL,
    "operation" VARCHAR(100) NOT NULL,
    "body_hash" VARCHAR(64) NOT NULL,
    "response" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("actor","key")
);

-- CreateTable
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

-- CreateTable
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

-- CreateTable
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

-- CreateTable
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

-- CreateTable
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

-- CreateTable
CREATE TABLE "payment_method_promo_groups" (
    "method_id" VARCHAR(40) NOT NULL,
    "promo_group_id" INTEGER NOT NULL,

    CONSTRAINT "payment_method_promo_groups_pkey" PRIMARY KEY ("method_id","promo_group_id")
);

-- CreateTable
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

-- CreateTable
CREATE TABLE "subscriptions" (
    "id" SERIAL NOT NULL,
    "user_id" INTEGER NOT NULL,
    "status" VARCHAR(20) NOT NULL DEFAULT 'trial',
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
    "provision_reset_traffic" BOOLEAN NOT NULL DEFAULT false,
    "provision_reset_devices" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "subscriptions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "traffic_purchases" (
    "id" SERIAL NOT NULL,
    "subscription_id" INTEGER NOT NULL,
    "traffic_gb" INTEGER NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "traffic_purchases_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "subscription_servers" (
    "id" SERIAL NOT NULL,
    "subscription_id" INTEGER NOT NULL,
    "server_squad_id" INTEGER NOT NULL,
    "paid_price_kopeks" BIGINT NOT NULL DEFAULT 0,
    "connected_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "subscription_servers_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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

-- CreateTable
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

-- CreateTable
CREATE TABLE "sent_notifications" (
    "id" SERIAL NOT NULL,
    "user_id" INTEGER NOT NULL,
    "subscription_id" INTEGER NOT NULL,
    "notification_type" VARCHAR(50) NOT NULL,
    "discriminator" VARCHAR(50) NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "sent_notifications_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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

-- CreateTable
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

    CONSTRAINT "webhook_deliveries_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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

-- CreateIndex
CREATE UNIQUE INDEX "web_api_tokens_token_hash_key" ON "web_api_tokens"("token_hash");

-- CreateIndex
CREATE INDEX "web_api_tokens_created_at_id_idx" ON "web_api_tokens"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "admin_roles_name_key" ON "admin_roles"("name");

-- CreateIndex
CREATE INDEX "user_roles_role_id_idx" ON "user_roles"("role_id");

-- CreateIndex
CREATE UNIQUE INDEX "user_roles_user_id_role_id_key" ON "user_roles"("user_id", "role_id");

-- CreateIndex
CREATE INDEX "access_policies_is_active_priority_idx" ON "access_policies"("is_active", "priority" DESC);

-- CreateIndex
CREATE INDEX "admin_audit_log_user_id_created_at_idx" ON "admin_audit_log"("user_id", "created_at");

-- CreateIndex
CREATE INDEX "admin_audit_log_resource_type_resource_id_idx" ON "admin_audit_log"("resource_type", "resource_id");

-- CreateIndex
CREATE INDEX "admin_audit_log_created_at_id_idx" ON "admin_audit_log"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "promo_groups_name_key" ON "promo_groups"("name");

-- CreateIndex
CREATE INDEX "user_promo_groups_promo_group_id_idx" ON "user_promo_groups"("promo_group_id");

-- CreateIndex
CREATE UNIQUE INDEX "server_squads_squad_uuid_key" ON "server_squads"("squad_uuid");

-- CreateIndex
CREATE INDEX "server_squads_sort_order_display_name_id_idx" ON "server_squads"("sort_order", "display_name", "id");

-- CreateIndex
CREATE INDEX "server_squad_promo_groups_promo_group_id_idx" ON "server_squad_promo_groups"("promo_group_id");

-- CreateIndex
CREATE INDEX "tariffs_display_order_id_idx" ON "tariffs"("display_order", "id");

-- CreateIndex
CREATE INDEX "tariff_promo_groups_promo_group_id_idx" ON "tariff_promo_groups"("promo_group_id");

-- CreateIndex
CREATE INDEX "domain_events_created_at_idx" ON "domain_events"("created_at");

-- CreateIndex
CREATE UNIQUE INDEX "users_messenger_id_key" ON "users"("messenger_id");

-- CreateIndex
CREATE UNIQUE INDEX "users_referral_code_key" ON "users"("referral_code");

-- CreateIndex
CREATE UNIQUE INDEX "users_email_key" ON "users"("email");

-- CreateIndex
CREATE UNIQUE INDEX "users_email_verification_token_hash_key" ON "users"("email_verification_token_hash");

-- CreateIndex
CREATE UNIQUE INDEX "users_password_reset_token_hash_key" ON "users"("password_reset_token_hash");

-- CreateIndex
CREATE UNIQUE INDEX "users_google_id_key" ON "users"("google_id");

-- CreateIndex
CREATE UNIQUE INDEX "users_yandex_id_key" ON "users"("yandex_id");

-- CreateIndex
CREATE UNIQUE INDEX "users_discord_id_key" ON "users"("discord_id");

-- CreateIndex
CREATE UNIQUE INDEX "users_vk_id_key" ON "users"("vk_id");

-- CreateIndex
CREATE UNIQUE INDEX "users_vpnpanel_uuid_key" ON "users"("vpnpanel_uuid");

-- CreateIndex
CREATE INDEX "users_created_at_id_idx" ON "users"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "users_status_created_at_id_idx" ON "users"("status", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "users_promo_group_id_idx" ON "users"("promo_group_id");

-- CreateIndex
CREATE INDEX "users_referred_by_id_idx" ON "users"("referred_by_id");

-- CreateIndex
CREATE UNIQUE INDEX "cabinet_refresh_tokens_token_hash_key" ON "cabinet_refresh_tokens"("token_hash");

-- CreateIndex
CREATE INDEX "cabinet_refresh_tokens_user_id_idx" ON "cabinet_refresh_tokens"("user_id");

-- CreateIndex
CREATE INDEX "cabinet_refresh_tokens_family_id_idx" ON "cabinet_refresh_tokens"("family_id");

-- CreateIndex
CREATE INDEX "cabinet_refresh_tokens_expires_at_idx" ON "cabinet_refresh_tokens"("expires_at");

-- CreateIndex
CREATE INDEX "short_lived_entries_expires_at_idx" ON "short_lived_entries"("expires_at");

-- CreateIndex
CREATE INDEX "rate_limit_windows_window_start_idx" ON "rate_limit_windows"("window_start");

-- CreateIndex
CREATE UNIQUE INDEX "ledger_accounts_key_key" ON "ledger_accounts"("key");

-- CreateIndex
CREATE UNIQUE INDEX "ledger_accounts_user_id_key" ON "ledger_accounts"("user_id");

-- CreateIndex
CREATE INDEX "ledger_entries_transaction_id_idx" ON "ledger_entries"("transaction_id");

-- CreateIndex
CREATE INDEX "ledger_entries_account_id_id_idx" ON "ledger_entries"("account_id", "id");

-- CreateIndex
CREATE INDEX "transactions_user_id_created_at_id_idx" ON "transactions"("user_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "transactions_created_at_id_idx" ON "transactions"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "transactions_type_is_completed_created_at_idx" ON "transactions"("type", "is_completed", "created_at");

-- CreateIndex
CREATE UNIQUE INDEX "transactions_payment_method_external_id_key" ON "transactions"("payment_method", "external_id");

-- CreateIndex
CREATE INDEX "idempotency_keys_created_at_idx" ON "idempotency_keys"("created_at");

-- CreateIndex
CREATE INDEX "outgoing_mails_created_at_idx" ON "outgoing_mails"("created_at");

-- CreateIndex
CREATE UNIQUE INDEX "email_templates_notification_type_language_key" ON "email_templates"("notification_type", "language");

-- CreateIndex
CREATE UNIQUE INDEX "payments_order_id_key" ON "payments"("order_id");

-- CreateIndex
CREATE UNIQUE INDEX "payments_transaction_id_key" ON "payments"("transaction_id");

-- CreateIndex
CREATE INDEX "payments_user_id_created_at_id_idx" ON "payments"("user_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "payments_outcome_created_at_idx" ON "payments"("outcome", "created_at");

-- CreateIndex
CREATE INDEX "payments_created_at_id_idx" ON "payments"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "payments_method_external_id_key" ON "payments"("method", "external_id");

-- CreateIndex
CREATE INDEX "provider_callbacks_processed_at_received_at_idx" ON "provider_callbacks"("processed_at", "received_at");

-- CreateIndex
CREATE UNIQUE INDEX "provider_callbacks_provider_event_key_key" ON "provider_callbacks"("provider", "event_key");

-- CreateIndex
CREATE UNIQUE INDEX "saved_payment_methods_provider_method_id_key" ON "saved_payment_methods"("provider_method_id");

-- CreateIndex
CREATE INDEX "saved_payment_methods_user_id_is_active_idx" ON "saved_payment_methods"("user_id", "is_active");

-- CreateIndex
CREATE UNIQUE INDEX "subscriptions_user_id_key" ON "subscriptions"("user_id");

-- CreateIndex
CREATE INDEX "subscriptions_status_end_date_idx" ON "subscriptions"("status", "end_date");

-- CreateIndex
CREATE INDEX "subscriptions_created_at_id_idx" ON "subscriptions"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "subscriptions_tariff_id_idx" ON "subscriptions"("tariff_id");

-- CreateIndex
CREATE INDEX "subscriptions_provision_state_provision_requested_at_idx" ON "subscriptions"("provision_state", "provision_requested_at");

-- CreateIndex
CREATE INDEX "subscriptions_connected_squads_idx" ON "subscriptions" USING GIN ("connected_squads" jsonb_path_ops);

-- CreateIndex
CREATE INDEX "traffic_purchases_subscription_id_expires_at_idx" ON "traffic_purchases"("subscription_id", "expires_at");

-- CreateIndex
CREATE INDEX "traffic_purchases_expires_at_idx" ON "traffic_purchases"("expires_at");

-- CreateIndex
CREATE INDEX "subscription_servers_server_squad_id_idx" ON "subscription_servers"("server_squad_id");

-- CreateIndex
CREATE UNIQUE INDEX "subscription_servers_subscription_id_server_squad_id_key" ON "subscription_servers"("subscription_id", "server_squad_id");

-- CreateIndex
CREATE INDEX "subscription_conversions_user_id_idx" ON "subscription_conversions"("user_id");

-- CreateIndex
CREATE INDEX "subscription_conversions_converted_at_idx" ON "subscription_conversions"("converted_at");

-- CreateIndex
CREATE INDEX "subscription_events_occurred_at_id_idx" ON "subscription_events"("occurred_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "subscription_events_event_type_occurred_at_id_idx" ON "subscription_events"("event_type", "occurred_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "subscription_events_user_id_occurred_at_id_idx" ON "subscription_events"("user_id", "occurred_at" DESC, "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "sent_notifications_subscription_id_notification_type_discri_key" ON "sent_notifications"("subscription_id", "notification_type", "discriminator");

-- CreateIndex
CREATE INDEX "webhooks_event_type_is_active_idx" ON "webhooks"("event_type", "is_active");

-- CreateIndex
CREATE INDEX "webhooks_created_at_id_idx" ON "webhooks"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "webhook_deliveries_webhook_id_created_at_id_idx" ON "webhook_deliveries"("webhook_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "webhook_deliveries_status_next_retry_at_idx" ON "webhook_deliveries"("status", "next_retry_at");

-- CreateIndex
CREATE INDEX "webhook_deliveries_created_at_idx" ON "webhook_deliveries"("created_at");

-- CreateIndex
CREATE INDEX "webhook_attempts_delivery_id_idx" ON "webhook_attempts"("delivery_id");

-- AddForeignKey
ALTER TABLE "admin_roles" ADD CONSTRAINT "admin_roles_created_by_fkey" FOREIGN KEY ("created_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "user_roles" ADD CONSTRAINT "user_roles_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "user_roles" ADD CONSTRAINT "user_roles_role_id_fkey" FOREIGN KEY ("role_id") REFERENCES "admin_roles"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "user_roles" ADD CONSTRAINT "user_roles_assigned_by_fkey" FOREIGN KEY ("assigned_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "access_policies" ADD CONSTRAINT "access_policies_role_id_fkey" FOREIGN KEY ("role_id") REFERENCES "admin_roles"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "access_policies" ADD CONSTRAINT "access_policies_created_by_fkey" FOREIGN KEY ("created_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "admin_audit_log" ADD CONSTRAINT "admin_audit_log_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "user_promo_groups" ADD CONSTRAINT "user_promo_groups_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "user_promo_groups" ADD CONSTRAINT "user_promo_groups_promo_group_id_fkey" FOREIGN KEY ("promo_group_id") REFERENCES "promo_groups"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "server_squad_promo_groups" ADD CONSTRAINT "server_squad_promo_groups_server_squad_id_fkey" FOREIGN KEY ("server_squad_id") REFERENCES "server_squads"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "server_squad_promo_groups" ADD CONSTRAINT "server_squad_promo_groups_promo_group_id_fkey" FOREIGN KEY ("promo_group_id") REFERENCES "promo_groups"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tariff_promo_groups" ADD CONSTRAINT "tariff_promo_groups_tariff_id_fkey" FOREIGN KEY ("tariff_id") REFERENCES "tariffs"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tariff_promo_groups" ADD CONSTRAINT "tariff_promo_groups_promo_group_id_fkey" FOREIGN KEY ("promo_group_id") REFERENCES "promo_groups"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "users" ADD CONSTRAINT "users_promo_group_id_fkey" FOREIGN KEY ("promo_group_id") REFERENCES "promo_groups"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "users" ADD CONSTRAINT "users_referred_by_id_fkey" FOREIGN KEY ("referred_by_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "cabinet_refresh_tokens" ADD CONSTRAINT "cabinet_refresh_tokens_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ledger_accounts" ADD CONSTRAINT "ledger_accounts_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ledger_entries" ADD CONSTRAINT "ledger_entries_transaction_id_fkey" FOREIGN KEY ("transaction_id") REFERENCES "transactions"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ledger_entries" ADD CONSTRAINT "ledger_entries_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "ledger_accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "transactions" ADD CONSTRAINT "transactions_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "payments" ADD CONSTRAINT "payments_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "payments" ADD CONSTRAINT "payments_transaction_id_fkey" FOREIGN KEY ("transaction_id") REFERENCES "transactions"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "payment_method_promo_groups" ADD CONSTRAINT "payment_method_promo_groups_method_id_fkey" FOREIGN KEY ("method_id") REFERENCES "payment_method_configs"("method_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "payment_method_promo_groups" ADD CONSTRAINT "payment_method_promo_groups_promo_group_id_fkey" FOREIGN KEY ("promo_group_id") REFERENCES "promo_groups"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "saved_payment_methods" ADD CONSTRAINT "saved_payment_methods_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "subscriptions" ADD CONSTRAINT "subscriptions_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "subscriptions" ADD CONSTRAINT "subscriptions_tariff_id_fkey" FOREIGN KEY ("tariff_id") REFERENCES "tariffs"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "traffic_purchases" ADD CONSTRAINT "traffic_purchases_subscription_id_fkey" FOREIGN KEY ("subscription_id") REFERENCES "subscriptions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "subscription_servers" ADD CONSTRAINT "subscription_servers_subscription_id_fkey" FOREIGN KEY ("subscription_id") REFERENCES "subscriptions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "subscription_servers" ADD CONSTRAINT "subscription_servers_server_squad_id_fkey" FOREIGN KEY ("server_squad_id") REFERENCES "server_squads"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "subscription_conversions" ADD CONSTRAINT "subscription_conversions_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "subscription_events" ADD CONSTRAINT "subscription_events_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sent_notifications" ADD CONSTRAINT "sent_notifications_subscription_id_fkey" FOREIGN KEY ("subscription_id") REFERENCES "subscriptions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_webhook_id_fkey" FOREIGN KEY ("webhook_id") REFERENCES "webhooks"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_attempts" ADD CONSTRAINT "webhook_attempts_delivery_id_fkey" FOREIGN KEY ("delivery_id") REFERENCES "webhook_deliveries"("id") ON DELETE CASCADE ON UPDATE CASCADE;
