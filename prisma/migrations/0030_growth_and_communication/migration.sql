-- Tables of growth, support, content, landing pages, safety and panel runs (specs 03 to 06), with the rules that carry their invariants.

-- AlterTable
ALTER TABLE "subscriptions" ADD COLUMN     "disabled_reason" VARCHAR(20);

-- CreateTable
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

-- CreateTable
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

    CONSTRAINT "advertising_campaign_registrations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "menu_layouts" (
    "name" VARCHAR(50) NOT NULL,
    "document" JSON NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "menu_layouts_pkey" PRIMARY KEY ("name")
);

-- CreateTable
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

-- CreateTable
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

-- CreateTable
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

-- CreateTable
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

-- CreateTable
CREATE TABLE "poll_questions" (
    "id" SERIAL NOT NULL,
    "poll_id" INTEGER NOT NULL,
    "text" TEXT NOT NULL,
    "sort_order" INTEGER NOT NULL,

    CONSTRAINT "poll_questions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "poll_options" (
    "id" SERIAL NOT NULL,
    "question_id" INTEGER NOT NULL,
    "text" TEXT NOT NULL,
    "sort_order" INTEGER NOT NULL,

    CONSTRAINT "poll_options_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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

    CONSTRAINT "poll_sends_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "poll_responses" (
    "id" SERIAL NOT NULL,
    "poll_id" INTEGER NOT NULL,
    "user_id" INTEGER,
    "send_id" INTEGER,
    "delivery_state" VARCHAR(20) NOT NULL DEFAULT 'queued',
    "sent_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "started_at" TIMESTAMPTZ(3),
    "completed_at" TIMESTAMPTZ(3),
    "reward_given" BOOLEAN NOT NULL DEFAULT false,
    "reward_amount_kopeks" BIGINT NOT NULL DEFAULT 0,
    "reward_transaction_id" INTEGER,

    CONSTRAINT "poll_responses_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "poll_answers" (
    "id" SERIAL NOT NULL,
    "response_id" INTEGER NOT NULL,
    "question_id" INTEGER NOT NULL,
    "option_id" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "poll_answers_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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

-- CreateTable
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

-- CreateTable
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

-- CreateTable
CREATE TABLE "account_merges" (
    "id" SERIAL NOT NULL,
    "token_hash" VARCHAR(64) NOT NULL,
    "primary_user_id" INTEGER NOT NULL,
    "secondary_user_id" INTEGER NOT NULL,
    "kept_subscription_of" INTEGER,
    "balance_moved_kopeks" BIGINT NOT NULL DEFAULT 0,
    "moved" JSONB NOT NULL DEFAULT '{}',
    "abandoned_panel_uuid" UUID,
    "panel_state" VARCHAR(20) NOT NULL DEFAULT 'none',
    "panel_error" VARCHAR(500),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "account_merges_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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

-- CreateTable
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
    "last_error" VARCHAR(500),
    "receipt_uuid" VARCHAR(255),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "paid_at" TIMESTAMPTZ(3),
    "delivered_at" TIMESTAMPTZ(3),

    CONSTRAINT "guest_purchases_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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

-- CreateTable
CREATE TABLE "promocode_uses" (
    "id" SERIAL NOT NULL,
    "promocode_id" INTEGER NOT NULL,
    "user_id" INTEGER NOT NULL,
    "used_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "promocode_uses_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "promocode_activations" (
    "id" SERIAL NOT NULL,
    "user_id" INTEGER NOT NULL,
    "code" VARCHAR(50) NOT NULL,
    "activated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "promocode_activations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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

-- CreateTable
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

-- CreateTable
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

-- CreateTable
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

-- CreateTable
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

-- CreateTable
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

-- CreateTable
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

-- CreateTable
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

-- CreateTable
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

-- CreateTable
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

-- CreateTable
CREATE TABLE "blacklist_entries" (
    "messenger_id" BIGINT NOT NULL,
    "username" VARCHAR(255),
    "reason" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "blacklist_entries_pkey" PRIMARY KEY ("messenger_id")
);

-- CreateTable
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

-- CreateTable
CREATE TABLE "user_channel_subscriptions" (
    "messenger_id" BIGINT NOT NULL,
    "channel_id" VARCHAR(32) NOT NULL,
    "is_member" BOOLEAN NOT NULL,
    "checked_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "user_channel_subscriptions_pkey" PRIMARY KEY ("messenger_id","channel_id")
);

-- CreateTable
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

-- CreateTable
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

-- CreateTable
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

-- CreateTable
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

-- CreateIndex
CREATE UNIQUE INDEX "advertising_campaigns_start_parameter_key" ON "advertising_campaigns"("start_parameter");

-- CreateIndex
CREATE INDEX "advertising_campaigns_created_at_id_idx" ON "advertising_campaigns"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "advertising_campaigns_is_active_created_at_id_idx" ON "advertising_campaigns"("is_active", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "advertising_campaigns_partner_user_id_id_idx" ON "advertising_campaigns"("partner_user_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "advertising_campaign_registrations_user_id_key" ON "advertising_campaign_registrations"("user_id");

-- CreateIndex
CREATE INDEX "advertising_campaign_registrations_campaign_id_created_at_i_idx" ON "advertising_campaign_registrations"("campaign_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "menu_layout_history_layout_name_created_at_id_idx" ON "menu_layout_history"("layout_name", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "button_click_logs_clicked_at_button_type_idx" ON "button_click_logs"("clicked_at", "button_type");

-- CreateIndex
CREATE INDEX "button_click_logs_button_id_clicked_at_user_id_idx" ON "button_click_logs"("button_id", "clicked_at", "user_id");

-- CreateIndex
CREATE INDEX "button_click_logs_user_id_clicked_at_id_idx" ON "button_click_logs"("user_id", "clicked_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "media_files_uploaded_by_idx" ON "media_files"("uploaded_by");

-- CreateIndex
CREATE INDEX "polls_created_at_id_idx" ON "polls"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "poll_questions_poll_id_sort_order_key" ON "poll_questions"("poll_id", "sort_order");

-- CreateIndex
CREATE UNIQUE INDEX "poll_options_question_id_sort_order_key" ON "poll_options"("question_id", "sort_order");

-- CreateIndex
CREATE UNIQUE INDEX "poll_options_id_question_id_key" ON "poll_options"("id", "question_id");

-- CreateIndex
CREATE INDEX "poll_sends_poll_id_id_idx" ON "poll_sends"("poll_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "poll_responses_reward_transaction_id_key" ON "poll_responses"("reward_transaction_id");

-- CreateIndex
CREATE INDEX "poll_responses_poll_id_sent_at_id_idx" ON "poll_responses"("poll_id", "sent_at", "id");

-- CreateIndex
CREATE INDEX "poll_responses_user_id_sent_at_id_idx" ON "poll_responses"("user_id", "sent_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "poll_responses_send_id_delivery_state_id_idx" ON "poll_responses"("send_id", "delivery_state", "id");

-- CreateIndex
CREATE UNIQUE INDEX "poll_responses_poll_id_user_id_key" ON "poll_responses"("poll_id", "user_id");

-- CreateIndex
CREATE INDEX "poll_answers_question_id_option_id_idx" ON "poll_answers"("question_id", "option_id");

-- CreateIndex
CREATE UNIQUE INDEX "poll_answers_response_id_question_id_key" ON "poll_answers"("response_id", "question_id");

-- CreateIndex
CREATE INDEX "wheel_prizes_config_id_sort_order_id_idx" ON "wheel_prizes"("config_id", "sort_order", "id");

-- CreateIndex
CREATE UNIQUE INDEX "wheel_spins_debit_transaction_id_key" ON "wheel_spins"("debit_transaction_id");

-- CreateIndex
CREATE UNIQUE INDEX "wheel_spins_prize_transaction_id_key" ON "wheel_spins"("prize_transaction_id");

-- CreateIndex
CREATE UNIQUE INDEX "wheel_spins_payment_id_key" ON "wheel_spins"("payment_id");

-- CreateIndex
CREATE UNIQUE INDEX "wheel_spins_external_charge_id_key" ON "wheel_spins"("external_charge_id");

-- CreateIndex
CREATE INDEX "wheel_spins_user_id_created_at_id_idx" ON "wheel_spins"("user_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "wheel_spins_created_at_id_idx" ON "wheel_spins"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "wheel_spins_prize_id_idx" ON "wheel_spins"("prize_id");

-- CreateIndex
CREATE INDEX "wheel_spins_generated_promocode_id_idx" ON "wheel_spins"("generated_promocode_id");

-- CreateIndex
CREATE UNIQUE INDEX "account_merges_token_hash_key" ON "account_merges"("token_hash");

-- CreateIndex
CREATE INDEX "account_merges_primary_user_id_idx" ON "account_merges"("primary_user_id");

-- CreateIndex
CREATE INDEX "account_merges_secondary_user_id_idx" ON "account_merges"("secondary_user_id");

-- CreateIndex
CREATE UNIQUE INDEX "landing_pages_slug_key" ON "landing_pages"("slug");

-- CreateIndex
CREATE INDEX "landing_pages_display_order_id_idx" ON "landing_pages"("display_order", "id");

-- CreateIndex
CREATE UNIQUE INDEX "guest_purchases_token_key" ON "guest_purchases"("token");

-- CreateIndex
CREATE UNIQUE INDEX "guest_purchases_code_key" ON "guest_purchases"("code");

-- CreateIndex
CREATE UNIQUE INDEX "guest_purchases_payment_id_key" ON "guest_purchases"("payment_id");

-- CreateIndex
CREATE UNIQUE INDEX "guest_purchases_transaction_id_key" ON "guest_purchases"("transaction_id");

-- CreateIndex
CREATE INDEX "guest_purchases_landing_id_created_at_id_idx" ON "guest_purchases"("landing_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "guest_purchases_landing_id_status_created_at_id_idx" ON "guest_purchases"("landing_id", "status", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "guest_purchases_landing_id_paid_at_idx" ON "guest_purchases"("landing_id", "paid_at");

-- CreateIndex
CREATE INDEX "guest_purchases_status_created_at_idx" ON "guest_purchases"("status", "created_at");

-- CreateIndex
CREATE INDEX "guest_purchases_buyer_user_id_created_at_id_idx" ON "guest_purchases"("buyer_user_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "guest_purchases_user_id_created_at_id_idx" ON "guest_purchases"("user_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "promocodes_code_key" ON "promocodes"("code");

-- CreateIndex
CREATE INDEX "promocodes_created_at_id_idx" ON "promocodes"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "promocodes_is_active_created_at_id_idx" ON "promocodes"("is_active", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "promocodes_promo_group_id_idx" ON "promocodes"("promo_group_id");

-- CreateIndex
CREATE INDEX "promocodes_created_by_idx" ON "promocodes"("created_by");

-- CreateIndex
CREATE INDEX "promocode_uses_promocode_id_used_at_id_idx" ON "promocode_uses"("promocode_id", "used_at" DESC, "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "promocode_uses_user_id_promocode_id_key" ON "promocode_uses"("user_id", "promocode_id");

-- CreateIndex
CREATE INDEX "promocode_activations_user_id_activated_at_idx" ON "promocode_activations"("user_id", "activated_at");

-- CreateIndex
CREATE INDEX "promocode_activations_activated_at_idx" ON "promocode_activations"("activated_at");

-- CreateIndex
CREATE INDEX "discount_offers_created_at_id_idx" ON "discount_offers"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "discount_offers_user_id_created_at_id_idx" ON "discount_offers"("user_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "discount_offers_is_active_created_at_id_idx" ON "discount_offers"("is_active", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "discount_offers_notification_type_created_at_id_idx" ON "discount_offers"("notification_type", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "discount_offers_subscription_id_idx" ON "discount_offers"("subscription_id");

-- CreateIndex
CREATE INDEX "promo_offer_templates_offer_type_id_idx" ON "promo_offer_templates"("offer_type", "id");

-- CreateIndex
CREATE INDEX "promo_offer_logs_created_at_id_idx" ON "promo_offer_logs"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "promo_offer_logs_user_id_created_at_id_idx" ON "promo_offer_logs"("user_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "promo_offer_logs_offer_id_created_at_id_idx" ON "promo_offer_logs"("offer_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "promo_offer_logs_action_created_at_id_idx" ON "promo_offer_logs"("action", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "promo_offer_logs_source_created_at_id_idx" ON "promo_offer_logs"("source", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "subscription_temporary_access_subscription_id_squad_uuid_idx" ON "subscription_temporary_access"("subscription_id", "squad_uuid");

-- CreateIndex
CREATE UNIQUE INDEX "subscription_temporary_access_offer_id_squad_uuid_key" ON "subscription_temporary_access"("offer_id", "squad_uuid");

-- CreateIndex
CREATE INDEX "squad_migration_runs_source_uuid_started_at_id_idx" ON "squad_migration_runs"("source_uuid", "started_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "squad_migration_runs_started_at_id_idx" ON "squad_migration_runs"("started_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "squad_migration_items_run_id_state_subscription_id_idx" ON "squad_migration_items"("run_id", "state", "subscription_id");

-- CreateIndex
CREATE INDEX "squad_migration_items_subscription_id_idx" ON "squad_migration_items"("subscription_id");

-- CreateIndex
CREATE INDEX "panel_sync_runs_kind_started_at_id_idx" ON "panel_sync_runs"("kind", "started_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "panel_sync_users_run_id_messenger_id_idx" ON "panel_sync_users"("run_id", "messenger_id");

-- CreateIndex
CREATE INDEX "panel_sync_users_run_id_email_idx" ON "panel_sync_users"("run_id", "email");

-- CreateIndex
CREATE INDEX "referral_earnings_user_id_created_at_id_idx" ON "referral_earnings"("user_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "referral_earnings_user_id_referral_id_reason_idx" ON "referral_earnings"("user_id", "referral_id", "reason");

-- CreateIndex
CREATE INDEX "referral_earnings_referral_id_idx" ON "referral_earnings"("referral_id");

-- CreateIndex
CREATE INDEX "referral_earnings_referral_transaction_id_idx" ON "referral_earnings"("referral_transaction_id");

-- CreateIndex
CREATE INDEX "referral_earnings_campaign_id_created_at_idx" ON "referral_earnings"("campaign_id", "created_at");

-- CreateIndex
CREATE INDEX "referral_earnings_created_at_idx" ON "referral_earnings"("created_at");

-- CreateIndex
CREATE UNIQUE INDEX "referral_earnings_user_id_referral_transaction_id_reason_key" ON "referral_earnings"("user_id", "referral_transaction_id", "reason");

-- CreateIndex
CREATE INDEX "partner_applications_user_id_created_at_id_idx" ON "partner_applications"("user_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "partner_applications_status_created_at_id_idx" ON "partner_applications"("status", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "partner_applications_created_at_id_idx" ON "partner_applications"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "blacklist_entries_username_idx" ON "blacklist_entries"("username");

-- CreateIndex
CREATE UNIQUE INDEX "required_channels_channel_id_key" ON "required_channels"("channel_id");

-- CreateIndex
CREATE INDEX "required_channels_sort_order_id_idx" ON "required_channels"("sort_order", "id");

-- CreateIndex
CREATE INDEX "user_channel_subscriptions_channel_id_idx" ON "user_channel_subscriptions"("channel_id");

-- CreateIndex
CREATE INDEX "tickets_updated_at_id_idx" ON "tickets"("updated_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "tickets_user_id_updated_at_id_idx" ON "tickets"("user_id", "updated_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "tickets_status_updated_at_id_idx" ON "tickets"("status", "updated_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "tickets_priority_updated_at_id_idx" ON "tickets"("priority", "updated_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "tickets_status_priority_updated_at_id_idx" ON "tickets"("status", "priority", "updated_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "ticket_messages_ticket_id_created_at_id_idx" ON "ticket_messages"("ticket_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "ticket_messages_user_id_idx" ON "ticket_messages"("user_id");

-- CreateIndex
CREATE INDEX "ticket_messages_admin_user_id_idx" ON "ticket_messages"("admin_user_id");

-- CreateIndex
CREATE INDEX "ticket_notifications_user_id_is_for_admin_created_at_id_idx" ON "ticket_notifications"("user_id", "is_for_admin", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "ticket_notifications_is_for_admin_created_at_id_idx" ON "ticket_notifications"("is_for_admin", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "ticket_notifications_ticket_id_idx" ON "ticket_notifications"("ticket_id");

-- CreateIndex
CREATE INDEX "ticket_notifications_created_at_idx" ON "ticket_notifications"("created_at");

-- CreateIndex
CREATE INDEX "support_audit_logs_created_at_id_idx" ON "support_audit_logs"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "support_audit_logs_ticket_id_idx" ON "support_audit_logs"("ticket_id");

-- CreateIndex
CREATE INDEX "support_audit_logs_actor_user_id_idx" ON "support_audit_logs"("actor_user_id");

-- CreateIndex
CREATE INDEX "support_audit_logs_target_user_id_idx" ON "support_audit_logs"("target_user_id");

-- AddForeignKey
ALTER TABLE "advertising_campaigns" ADD CONSTRAINT "advertising_campaigns_tariff_id_fkey" FOREIGN KEY ("tariff_id") REFERENCES "tariffs"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "advertising_campaigns" ADD CONSTRAINT "advertising_campaigns_partner_user_id_fkey" FOREIGN KEY ("partner_user_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "advertising_campaigns" ADD CONSTRAINT "advertising_campaigns_created_by_fkey" FOREIGN KEY ("created_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "advertising_campaign_registrations" ADD CONSTRAINT "advertising_campaign_registrations_campaign_id_fkey" FOREIGN KEY ("campaign_id") REFERENCES "advertising_campaigns"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "advertising_campaign_registrations" ADD CONSTRAINT "advertising_campaign_registrations_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "advertising_campaign_registrations" ADD CONSTRAINT "advertising_campaign_registrations_tariff_id_fkey" FOREIGN KEY ("tariff_id") REFERENCES "tariffs"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "menu_layout_history" ADD CONSTRAINT "menu_layout_history_layout_name_fkey" FOREIGN KEY ("layout_name") REFERENCES "menu_layouts"("name") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "button_click_logs" ADD CONSTRAINT "button_click_logs_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "media_files" ADD CONSTRAINT "media_files_uploaded_by_fkey" FOREIGN KEY ("uploaded_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "polls" ADD CONSTRAINT "polls_created_by_fkey" FOREIGN KEY ("created_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "poll_questions" ADD CONSTRAINT "poll_questions_poll_id_fkey" FOREIGN KEY ("poll_id") REFERENCES "polls"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "poll_options" ADD CONSTRAINT "poll_options_question_id_fkey" FOREIGN KEY ("question_id") REFERENCES "poll_questions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "poll_sends" ADD CONSTRAINT "poll_sends_poll_id_fkey" FOREIGN KEY ("poll_id") REFERENCES "polls"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "poll_responses" ADD CONSTRAINT "poll_responses_poll_id_fkey" FOREIGN KEY ("poll_id") REFERENCES "polls"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "poll_responses" ADD CONSTRAINT "poll_responses_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "poll_responses" ADD CONSTRAINT "poll_responses_send_id_fkey" FOREIGN KEY ("send_id") REFERENCES "poll_sends"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "poll_responses" ADD CONSTRAINT "poll_responses_reward_transaction_id_fkey" FOREIGN KEY ("reward_transaction_id") REFERENCES "transactions"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "poll_answers" ADD CONSTRAINT "poll_answers_response_id_fkey" FOREIGN KEY ("response_id") REFERENCES "poll_responses"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "poll_answers" ADD CONSTRAINT "poll_answers_question_id_fkey" FOREIGN KEY ("question_id") REFERENCES "poll_questions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "poll_answers" ADD CONSTRAINT "poll_answers_option_id_question_id_fkey" FOREIGN KEY ("option_id", "question_id") REFERENCES "poll_options"("id", "question_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "wheel_prizes" ADD CONSTRAINT "wheel_prizes_config_id_fkey" FOREIGN KEY ("config_id") REFERENCES "wheel_configs"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "wheel_spins" ADD CONSTRAINT "wheel_spins_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "wheel_spins" ADD CONSTRAINT "wheel_spins_prize_id_fkey" FOREIGN KEY ("prize_id") REFERENCES "wheel_prizes"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "wheel_spins" ADD CONSTRAINT "wheel_spins_generated_promocode_id_fkey" FOREIGN KEY ("generated_promocode_id") REFERENCES "promocodes"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "wheel_spins" ADD CONSTRAINT "wheel_spins_debit_transaction_id_fkey" FOREIGN KEY ("debit_transaction_id") REFERENCES "transactions"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "wheel_spins" ADD CONSTRAINT "wheel_spins_prize_transaction_id_fkey" FOREIGN KEY ("prize_transaction_id") REFERENCES "transactions"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "wheel_spins" ADD CONSTRAINT "wheel_spins_payment_id_fkey" FOREIGN KEY ("payment_id") REFERENCES "payments"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "account_merges" ADD CONSTRAINT "account_merges_primary_user_id_fkey" FOREIGN KEY ("primary_user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "account_merges" ADD CONSTRAINT "account_merges_secondary_user_id_fkey" FOREIGN KEY ("secondary_user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "guest_purchases" ADD CONSTRAINT "guest_purchases_landing_id_fkey" FOREIGN KEY ("landing_id") REFERENCES "landing_pages"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "guest_purchases" ADD CONSTRAINT "guest_purchases_buyer_user_id_fkey" FOREIGN KEY ("buyer_user_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "guest_purchases" ADD CONSTRAINT "guest_purchases_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "guest_purchases" ADD CONSTRAINT "guest_purchases_tariff_id_fkey" FOREIGN KEY ("tariff_id") REFERENCES "tariffs"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "guest_purchases" ADD CONSTRAINT "guest_purchases_payment_id_fkey" FOREIGN KEY ("payment_id") REFERENCES "payments"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "guest_purchases" ADD CONSTRAINT "guest_purchases_transaction_id_fkey" FOREIGN KEY ("transaction_id") REFERENCES "transactions"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "promocodes" ADD CONSTRAINT "promocodes_promo_group_id_fkey" FOREIGN KEY ("promo_group_id") REFERENCES "promo_groups"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "promocodes" ADD CONSTRAINT "promocodes_created_by_fkey" FOREIGN KEY ("created_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "promocode_uses" ADD CONSTRAINT "promocode_uses_promocode_id_fkey" FOREIGN KEY ("promocode_id") REFERENCES "promocodes"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "promocode_uses" ADD CONSTRAINT "promocode_uses_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "promocode_activations" ADD CONSTRAINT "promocode_activations_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "discount_offers" ADD CONSTRAINT "discount_offers_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "discount_offers" ADD CONSTRAINT "discount_offers_subscription_id_fkey" FOREIGN KEY ("subscription_id") REFERENCES "subscriptions"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "promo_offer_templates" ADD CONSTRAINT "promo_offer_templates_created_by_fkey" FOREIGN KEY ("created_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "promo_offer_logs" ADD CONSTRAINT "promo_offer_logs_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "promo_offer_logs" ADD CONSTRAINT "promo_offer_logs_offer_id_fkey" FOREIGN KEY ("offer_id") REFERENCES "discount_offers"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "subscription_temporary_access" ADD CONSTRAINT "subscription_temporary_access_subscription_id_fkey" FOREIGN KEY ("subscription_id") REFERENCES "subscriptions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "subscription_temporary_access" ADD CONSTRAINT "subscription_temporary_access_offer_id_fkey" FOREIGN KEY ("offer_id") REFERENCES "discount_offers"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "squad_migration_items" ADD CONSTRAINT "squad_migration_items_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "squad_migration_runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "squad_migration_items" ADD CONSTRAINT "squad_migration_items_subscription_id_fkey" FOREIGN KEY ("subscription_id") REFERENCES "subscriptions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "panel_sync_users" ADD CONSTRAINT "panel_sync_users_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "panel_sync_runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "referral_earnings" ADD CONSTRAINT "referral_earnings_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "referral_earnings" ADD CONSTRAINT "referral_earnings_referral_id_fkey" FOREIGN KEY ("referral_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "referral_earnings" ADD CONSTRAINT "referral_earnings_referral_transaction_id_fkey" FOREIGN KEY ("referral_transaction_id") REFERENCES "transactions"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "referral_earnings" ADD CONSTRAINT "referral_earnings_campaign_id_fkey" FOREIGN KEY ("campaign_id") REFERENCES "advertising_campaigns"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "partner_applications" ADD CONSTRAINT "partner_applications_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "partner_applications" ADD CONSTRAINT "partner_applications_processed_by_fkey" FOREIGN KEY ("processed_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "user_channel_subscriptions" ADD CONSTRAINT "user_channel_subscriptions_channel_id_fkey" FOREIGN KEY ("channel_id") REFERENCES "required_channels"("channel_id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "tickets" ADD CONSTRAINT "tickets_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ticket_messages" ADD CONSTRAINT "ticket_messages_ticket_id_fkey" FOREIGN KEY ("ticket_id") REFERENCES "tickets"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ticket_messages" ADD CONSTRAINT "ticket_messages_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ticket_messages" ADD CONSTRAINT "ticket_messages_admin_user_id_fkey" FOREIGN KEY ("admin_user_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ticket_notifications" ADD CONSTRAINT "ticket_notifications_ticket_id_fkey" FOREIGN KEY ("ticket_id") REFERENCES "tickets"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ticket_notifications" ADD CONSTRAINT "ticket_notifications_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "support_audit_logs" ADD CONSTRAINT "support_audit_logs_actor_user_id_fkey" FOREIGN KEY ("actor_user_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "support_audit_logs" ADD CONSTRAINT "support_audit_logs_ticket_id_fkey" FOREIGN KEY ("ticket_id") REFERENCES "tickets"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "support_audit_logs" ADD CONSTRAINT "support_audit_logs_target_user_id_fkey" FOREIGN KEY ("target_user_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- Rules that must hold whatever code runs (spec 04 section 18, spec 05 section 16, spec 03 section 11, spec 06 section 17).

ALTER TABLE users ADD CONSTRAINT users_partner_status_known CHECK (partner_status IN ('none', 'pending', 'approved', 'rejected'));
-- The administrator's list of partners; the query must write the status as a literal.
CREATE INDEX users_approved_partners ON users (created_at DESC, id DESC) WHERE partner_status = 'approved';

-- Nobody descends from himself (spec 04 section 16.4). Callers lock both users first, so that two opposite attributions see each other.
CREATE FUNCTION refuse_referral_cycle() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (
    WITH RECURSIVE ancestors (id) AS (
      SELECT NEW.referred_by_id
      UNION
      SELECT u.referred_by_id FROM users u JOIN ancestors a ON u.id = a.id WHERE u.referred_by_id IS NOT NULL)
    SELECT 1 FROM ancestors WHERE id = NEW.id)
  THEN
    RAISE EXCEPTION 'user % would be among his own referrers', NEW.id USING ERRCODE = 'check_violation', CONSTRAINT = 'users_no_referral_cycle';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER users_no_referral_cycle BEFORE UPDATE OF referred_by_id ON users FOR EACH ROW
  WHEN (NEW.referred_by_id IS NOT NULL AND NEW.referred_by_id IS DISTINCT FROM OLD.referred_by_id)
  EXECUTE FUNCTION refuse_referral_cycle();

-- The pending row is written once a pair; everything paid names the payment that caused it, which the unique key then holds to once.
ALTER TABLE referral_earnings
  ADD CONSTRAINT referral_earnings_reason_known CHECK (reason IN
    ('referral_registration_pending', 'referral_first_topup', 'referral_commission_topup', 'referral_commission')),
  ADD CONSTRAINT referral_earnings_amount CHECK (amount_kopeks >= 0 AND (reason <> 'referral_registration_pending' OR amount_kopeks = 0)),
  ADD CONSTRAINT referral_earnings_source CHECK (reason = 'referral_registration_pending' OR referral_transaction_id IS NOT NULL),
  ADD CONSTRAINT referral_earnings_not_own CHECK (user_id <> referral_id);
CREATE UNIQUE INDEX referral_earnings_one_pending ON referral_earnings (user_id, referral_id) WHERE reason = 'referral_registration_pending';

ALTER TABLE partner_applications
  ADD CONSTRAINT partner_applications_status_known CHECK (status IN ('pending', 'approved', 'rejected')),
  ADD CONSTRAINT partner_applications_processed CHECK ((status = 'pending') = (processed_at IS NULL)),
  ADD CONSTRAINT partner_applications_percents CHECK (
    (desired_commission_percent IS NULL OR desired_commission_percent BETWEEN 1 AND 100)
    AND (approved_commission_percent IS NULL OR approved_commission_percent BETWEEN 1 AND 100));
CREATE UNIQUE INDEX partner_applications_one_pending ON partner_applications (user_id) WHERE status = 'pending';

ALTER TABLE advertising_campaigns
  ADD CONSTRAINT advertising_campaigns_bonus_type_known CHECK (bonus_type IN ('balance', 'subscription', 'none', 'tariff')),
  ADD CONSTRAINT advertising_campaigns_start_parameter_given CHECK (start_parameter <> ''),
  ADD CONSTRAINT advertising_campaigns_bounds CHECK (
    balance_bonus_kopeks >= 0 AND (subscription_duration_days IS NULL OR subscription_duration_days >= 0)
    AND (subscription_traffic_gb IS NULL OR subscription_traffic_gb >= 0)
    AND (subscription_device_limit IS NULL OR subscription_device_limit >= 0)
    AND (tariff_duration_days IS NULL OR tariff_duration_days >= 1));
ALTER TABLE advertising_campaign_registrations
  ADD CONSTRAINT campaign_registrations_bonus_type_known CHECK (bonus_type IN ('balance', 'subscription', 'none', 'tariff')),
  ADD CONSTRAINT campaign_registrations_bonus CHECK (balance_bonus_kopeks >= 0);

ALTER TABLE promocodes
  ADD CONSTRAINT promocodes_type_known CHECK (type IN ('balance', 'subscription_days', 'trial_subscription', 'promo_group', 'discount')),
  ADD CONSTRAINT promocodes_code_upper CHECK (code <> '' AND code = upper(code)),
  ADD CONSTRAINT promocodes_uses_within_limit CHECK (current_uses >= 0 AND current_uses <= max_uses),
  ADD CONSTRAINT promocodes_bounds CHECK (
    balance_bonus_kopeks >= 0 AND subscription_days >= 0 AND (type <> 'discount' OR balance_bonus_kopeks BETWEEN 1 AND 100)),
  ADD CONSTRAINT promocodes_validity CHECK (valid_until IS NULL OR valid_from <= valid_until);

ALTER TABLE discount_offers
  ADD CONSTRAINT discount_offers_bounds CHECK (discount_percent BETWEEN 0 AND 100 AND bonus_amount_kopeks >= 0),
  ADD CONSTRAINT discount_offers_claimed_is_over CHECK (claimed_at IS NULL OR NOT is_active);
-- The target of the upsert: INSERT … ON CONFLICT (user_id, notification_type) WHERE is_active AND claimed_at IS NULL DO UPDATE.
CREATE UNIQUE INDEX discount_offers_one_open ON discount_offers (user_id, notification_type) WHERE is_active AND claimed_at IS NULL;
CREATE INDEX discount_offers_expiring ON discount_offers (expires_at, id) WHERE is_active;

ALTER TABLE promo_offer_templates
  ADD CONSTRAINT promo_offer_templates_bounds CHECK (
    valid_hours >= 1 AND discount_percent BETWEEN 0 AND 100 AND bonus_amount_kopeks >= 0
    AND (active_discount_hours IS NULL OR active_discount_hours >= 1) AND (test_duration_hours IS NULL OR test_duration_hours >= 1));

ALTER TABLE subscription_temporary_access
  ADD CONSTRAINT temporary_access_ended CHECK (NOT is_active OR deactivated_at IS NULL);
CREATE INDEX temporary_access_expiring ON subscription_temporary_access (expires_at, id) WHERE is_active;

ALTER TABLE polls
  ADD CONSTRAINT polls_reward CHECK (
    CASE WHEN reward_enabled THEN reward_amount_kopeks > 0 ELSE reward_amount_kopeks = 0 END);
ALTER TABLE poll_responses
  ADD CONSTRAINT poll_responses_delivery_known CHECK (delivery_state IN ('queued', 'sent', 'failed', 'skipped')),
  ADD CONSTRAINT poll_responses_reward CHECK (
    reward_amount_kopeks >= 0 AND (NOT reward_given OR (completed_at IS NOT NULL AND reward_transaction_id IS NOT NULL)));

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
-- A spin paid in stars has its payment: the debit of the wallet, or the charge of an invoice (spec 04 section 13.7).
ALTER TABLE wheel_spins
  ADD CONSTRAINT wheel_spins_payment_type_known CHECK (payment_type IN ('messenger_stars', 'subscription_days')),
  ADD CONSTRAINT wheel_spins_paid CHECK (
    payment_type <> 'messenger_stars' OR debit_transaction_id IS NOT NULL OR external_charge_id IS NOT NULL),
  ADD CONSTRAINT wheel_spins_bounds CHECK (
    payment_amount >= 0 AND payment_value_kopeks >= 0 AND prize_value >= 0 AND prize_value_kopeks >= 0);

ALTER TABLE tickets
  ADD CONSTRAINT tickets_status_known CHECK (status IN ('open', 'pending', 'answered', 'closed')),
  ADD CONSTRAINT tickets_priority_known CHECK (priority IN ('low', 'normal', 'high', 'urgent')),
  ADD CONSTRAINT tickets_closed_at CHECK ((status = 'closed') = (closed_at IS NOT NULL));
CREATE INDEX tickets_waiting ON tickets (last_user_message_at, id) WHERE status IN ('open', 'pending') AND last_user_message_at IS NOT NULL;
-- "Is this user blocked by any of his tickets" without a limit on how many he has.
CREATE INDEX tickets_blocking ON tickets (user_id) WHERE user_reply_block_permanent OR user_reply_block_until IS NOT NULL;
ALTER TABLE ticket_messages
  ADD CONSTRAINT ticket_messages_media CHECK (
    (media_type IS NULL) = (media_file_id IS NULL) AND has_media = (media_file_id IS NOT NULL));
ALTER TABLE ticket_notifications
  ADD CONSTRAINT ticket_notifications_type_known CHECK (notification_type IN ('new_ticket', 'admin_reply', 'user_reply')),
  ADD CONSTRAINT ticket_notifications_read CHECK (is_read = (read_at IS NOT NULL));
CREATE INDEX ticket_notifications_unread_users ON ticket_notifications (user_id, created_at DESC, id DESC) WHERE NOT is_for_admin AND NOT is_read;
CREATE INDEX ticket_notifications_unread_admins ON ticket_notifications (created_at DESC, id DESC) WHERE is_for_admin AND NOT is_read;

ALTER TABLE menu_layout_history
  ADD CONSTRAINT menu_layout_history_action_known CHECK (action IN ('update', 'reset', 'import', 'rollback_backup', 'rollback'));

ALTER TABLE landing_pages
  ADD CONSTRAINT landing_pages_slug CHECK (slug ~ '^[a-z0-9-]+$'),
  ADD CONSTRAINT landing_pages_discount CHECK (
    CASE WHEN discount_percent IS NULL THEN discount_starts_at IS NULL AND discount_ends_at IS NULL
    ELSE discount_percent BETWEEN 1 AND 99 AND discount_starts_at IS NOT NULL AND discount_ends_at IS NOT NULL
      AND discount_starts_at < discount_ends_at END);
ALTER TABLE guest_purchases
  ADD CONSTRAINT guest_purchases_status_known CHECK (status IN ('pending', 'paid', 'pending_activation', 'delivered', 'failed', 'expired')),
  ADD CONSTRAINT guest_purchases_source_known CHECK (source IN ('landing', 'cabinet')),
  ADD CONSTRAINT guest_purchases_contacts CHECK (
    contact_type IN ('email', 'messenger') AND (gift_recipient_type IS NULL OR gift_recipient_type IN ('email', 'messenger'))
    AND (gift_recipient_type IS NULL) = (gift_recipient_value IS NULL) AND (is_gift OR gift_recipient_type IS NULL)),
  ADD CONSTRAINT guest_purchases_bounds CHECK (amount_kopeks > 0 AND period_days > 0 AND retry_count >= 0),
  ADD CONSTRAINT guest_purchases_code_of_token CHECK (code = left(token, 12)),
  -- A state beyond paid has been paid, a delivered one has been delivered (spec 03 H7, H21).
  ADD CONSTRAINT guest_purchases_states CHECK (
    (status NOT IN ('paid', 'pending_activation', 'delivered') OR paid_at IS NOT NULL)
    AND (status = 'delivered') = (delivered_at IS NOT NULL));

ALTER TABLE blacklist_entries ADD CONSTRAINT blacklist_entries_username_lower_case CHECK (username = lower(username));
ALTER TABLE required_channels ADD CONSTRAINT required_channels_id_form CHECK (channel_id ~ '^-100[0-9]{10,13}$');

ALTER TABLE squad_migration_runs
  ADD CONSTRAINT squad_migration_runs_status_known CHECK (status IN ('running', 'completed', 'failed')),
  ADD CONSTRAINT squad_migration_runs_finished CHECK ((status = 'running') = (finished_at IS NULL)),
  ADD CONSTRAINT squad_migration_runs_squads CHECK (source_uuid <> target_uuid);
CREATE UNIQUE INDEX squad_migration_runs_one_of_source ON squad_migration_runs (source_uuid) WHERE status = 'running';
ALTER TABLE squad_migration_items
  ADD CONSTRAINT squad_migration_items_state_known CHECK (state IN ('pending', 'done', 'failed'));
ALTER TABLE panel_sync_runs
  ADD CONSTRAINT panel_sync_runs_kind_known CHECK (kind IN ('from_panel', 'to_panel', 'servers', 'validate', 'statuses', 'cleanup', 'auto')),
  ADD CONSTRAINT panel_sync_runs_status_known CHECK (status IN ('running', 'completed', 'failed')),
  ADD CONSTRAINT panel_sync_runs_finished CHECK ((status = 'running') = (finished_at IS NULL));
CREATE UNIQUE INDEX panel_sync_runs_one_of_kind ON panel_sync_runs (kind) WHERE status = 'running';

ALTER TABLE account_merges
  ADD CONSTRAINT account_merges_two_accounts CHECK (primary_user_id <> secondary_user_id),
  ADD CONSTRAINT account_merges_panel_state_known CHECK (panel_state IN ('none', 'pending', 'done', 'failed'));

-- The reason belongs to being disabled and ends with it, whoever changes the status (spec 05 section 13).
ALTER TABLE subscriptions
  ADD CONSTRAINT subscriptions_disabled_reason CHECK (
    disabled_reason IS NULL OR (status = 'disabled' AND disabled_reason IN ('admin', 'panel', 'channel', 'sync')));
CREATE FUNCTION forget_disabled_reason() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.disabled_reason := NULL;
  RETURN NEW;
END $$;
CREATE TRIGGER subscriptions_forget_reason BEFORE UPDATE OF status ON subscriptions FOR EACH ROW
  WHEN (OLD.disabled_reason IS NOT NULL AND NEW.status <> 'disabled') EXECUTE FUNCTION forget_disabled_reason();

-- The three templates that every installation starts with (spec 04 section 9.1); does nothing while there is any.
CREATE FUNCTION seed_promo_offer_templates() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  v_added integer;
BEGIN
  INSERT INTO promo_offer_templates
    (offer_type, name, message_text, button_text, valid_hours, discount_percent, active_discount_hours, test_duration_hours)
  SELECT * FROM (VALUES
    ('test_access', 'Пробный доступ',
      E'<b>Попробуйте новые серверы</b>\n\nНа {test_duration_hours} ч откроем вам {server_name} без доплаты. Предложение действует {valid_hours} ч.',
      'Попробовать', 24, 0, NULL::integer, 24),
    ('extend_discount', 'Скидка на продление',
      E'<b>Продлите подписку со скидкой {discount_percent}%</b>\n\nЗаберите скидку в течение {valid_hours} ч, после этого она действует ещё {active_discount_hours} ч.',
      'Забрать скидку', 24, 20, 24, NULL),
    ('purchase_discount', 'Скидка на покупку',
      E'<b>Скидка {discount_percent}% на подписку</b>\n\nЗаберите скидку в течение {valid_hours} ч, после этого она действует ещё {active_discount_hours} ч.',
      'Забрать скидку', 48, 25, 48, NULL)) AS seed
  WHERE NOT EXISTS (SELECT 1 FROM promo_offer_templates);
  GET DIAGNOSTICS v_added = ROW_COUNT;
  RETURN v_added;
END $$;
SELECT seed_promo_offer_templates();
