-- CreateTable
CREATE TABLE "contest_templates" (
    "id" SERIAL NOT NULL,
    "slug" VARCHAR(50) NOT NULL,
    "name" VARCHAR(255) NOT NULL,
    "description" TEXT,
    "prize_type" VARCHAR(20) NOT NULL DEFAULT 'days',
    "prize_value" VARCHAR(255) NOT NULL DEFAULT '1',
    "max_winners" INTEGER NOT NULL DEFAULT 1,
    "attempts_per_user" INTEGER NOT NULL DEFAULT 1,
    "times_per_day" INTEGER NOT NULL DEFAULT 1,
    "schedule_times" VARCHAR(255),
    "cooldown_hours" INTEGER NOT NULL DEFAULT 24,
    "payload" JSONB NOT NULL DEFAULT '{}',
    "is_enabled" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "contest_templates_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "contest_rounds" (
    "id" SERIAL NOT NULL,
    "template_id" INTEGER NOT NULL,
    "starts_at" TIMESTAMPTZ(3) NOT NULL,
    "ends_at" TIMESTAMPTZ(3) NOT NULL,
    "status" VARCHAR(20) NOT NULL DEFAULT 'active',
    "payload" JSONB NOT NULL DEFAULT '{}',
    "winners_count" INTEGER NOT NULL DEFAULT 0,
    "max_winners" INTEGER NOT NULL,
    "attempts_per_user" INTEGER NOT NULL DEFAULT 1,
    "is_scheduled" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "contest_rounds_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "contest_attempts" (
    "id" SERIAL NOT NULL,
    "round_id" INTEGER NOT NULL,
    "user_id" INTEGER NOT NULL,
    "answer" VARCHAR(200),
    "is_winner" BOOLEAN NOT NULL DEFAULT false,
    "prize_transaction_id" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "contest_attempts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "referral_contests" (
    "id" SERIAL NOT NULL,
    "title" VARCHAR(255) NOT NULL,
    "description" TEXT,
    "prize_text" TEXT,
    "contest_type" VARCHAR(50) NOT NULL DEFAULT 'referral_paid',
    "start_at" TIMESTAMPTZ(3) NOT NULL,
    "end_at" TIMESTAMPTZ(3) NOT NULL,
    "closes_at" TIMESTAMPTZ(3) NOT NULL,
    "daily_summary_time" VARCHAR(8) NOT NULL DEFAULT '12:00:00',
    "daily_summary_times" VARCHAR(255),
    "timezone" VARCHAR(64) NOT NULL DEFAULT 'UTC',
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "last_daily_summary_at" TIMESTAMPTZ(3),
    "final_summary_sent" BOOLEAN NOT NULL DEFAULT false,
    "created_by" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "referral_contests_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "referral_contest_events" (
    "id" SERIAL NOT NULL,
    "contest_id" INTEGER NOT NULL,
    "referrer_id" INTEGER NOT NULL,
    "referral_id" INTEGER NOT NULL,
    "event_type" VARCHAR(40) NOT NULL,
    "amount_kopeks" BIGINT NOT NULL DEFAULT 0,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "referral_contest_events_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "referral_contest_virtual_participants" (
    "id" SERIAL NOT NULL,
    "contest_id" INTEGER NOT NULL,
    "display_name" VARCHAR(255) NOT NULL,
    "referral_count" INTEGER NOT NULL DEFAULT 0,
    "total_amount_kopeks" BIGINT NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "referral_contest_virtual_participants_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "referral_contest_summaries" (
    "contest_id" INTEGER NOT NULL,
    "kind" VARCHAR(10) NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "sent_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "referral_contest_summaries_pkey" PRIMARY KEY ("contest_id","kind","due_at")
);

-- CreateIndex
CREATE UNIQUE INDEX "contest_templates_slug_key" ON "contest_templates"("slug");

-- CreateIndex
CREATE INDEX "contest_rounds_starts_at_id_idx" ON "contest_rounds"("starts_at" DESC, "id");

-- CreateIndex
CREATE INDEX "contest_rounds_status_starts_at_id_idx" ON "contest_rounds"("status", "starts_at" DESC, "id");

-- CreateIndex
CREATE INDEX "contest_rounds_template_id_starts_at_id_idx" ON "contest_rounds"("template_id", "starts_at" DESC, "id");

-- CreateIndex
CREATE UNIQUE INDEX "contest_attempts_prize_transaction_id_key" ON "contest_attempts"("prize_transaction_id");

-- CreateIndex
CREATE INDEX "contest_attempts_round_id_created_at_id_idx" ON "contest_attempts"("round_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "contest_attempts_user_id_idx" ON "contest_attempts"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "contest_attempts_round_id_user_id_key" ON "contest_attempts"("round_id", "user_id");

-- CreateIndex
CREATE INDEX "referral_contests_start_at_id_idx" ON "referral_contests"("start_at" DESC, "id");

-- CreateIndex
CREATE INDEX "referral_contests_contest_type_start_at_id_idx" ON "referral_contests"("contest_type", "start_at" DESC, "id");

-- CreateIndex
CREATE INDEX "referral_contests_created_by_idx" ON "referral_contests"("created_by");

-- CreateIndex
CREATE INDEX "referral_contest_events_contest_id_occurred_at_id_idx" ON "referral_contest_events"("contest_id", "occurred_at" DESC, "id");

-- CreateIndex
CREATE INDEX "referral_contest_events_contest_id_referrer_id_occurred_at__idx" ON "referral_contest_events"("contest_id", "referrer_id", "occurred_at", "amount_kopeks");

-- CreateIndex
CREATE INDEX "referral_contest_events_referrer_id_idx" ON "referral_contest_events"("referrer_id");

-- CreateIndex
CREATE INDEX "referral_contest_events_referral_id_idx" ON "referral_contest_events"("referral_id");

-- CreateIndex
CREATE UNIQUE INDEX "referral_contest_events_contest_id_referral_id_key" ON "referral_contest_events"("contest_id", "referral_id");

-- CreateIndex
CREATE INDEX "referral_contest_virtual_participants_contest_id_idx" ON "referral_contest_virtual_participants"("contest_id");

-- AddForeignKey
ALTER TABLE "contest_rounds" ADD CONSTRAINT "contest_rounds_template_id_fkey" FOREIGN KEY ("template_id") REFERENCES "contest_templates"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "contest_attempts" ADD CONSTRAINT "contest_attempts_round_id_fkey" FOREIGN KEY ("round_id") REFERENCES "contest_rounds"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "contest_attempts" ADD CONSTRAINT "contest_attempts_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "contest_attempts" ADD CONSTRAINT "contest_attempts_prize_transaction_id_fkey" FOREIGN KEY ("prize_transaction_id") REFERENCES "transactions"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "referral_contests" ADD CONSTRAINT "referral_contests_created_by_fkey" FOREIGN KEY ("created_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "referral_contest_events" ADD CONSTRAINT "referral_contest_events_contest_id_fkey" FOREIGN KEY ("contest_id") REFERENCES "referral_contests"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "referral_contest_events" ADD CONSTRAINT "referral_contest_events_referrer_id_fkey" FOREIGN KEY ("referrer_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "referral_contest_events" ADD CONSTRAINT "referral_contest_events_referral_id_fkey" FOREIGN KEY ("referral_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "referral_contest_virtual_participants" ADD CONSTRAINT "referral_contest_virtual_participants_contest_id_fkey" FOREIGN KEY ("contest_id") REFERENCES "referral_contests"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "referral_contest_summaries" ADD CONSTRAINT "referral_contest_summaries_contest_id_fkey" FOREIGN KEY ("contest_id") REFERENCES "referral_contests"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE contest_templates ADD CONSTRAINT contest_templates_prize_type_known CHECK (prize_type IN ('days', 'balance', 'custom')),
  ADD CONSTRAINT contest_templates_numbers
  CHECK (max_winners >= 1 AND attempts_per_user >= 1 AND times_per_day >= 1 AND cooldown_hours >= 1);
ALTER TABLE contest_rounds ADD CONSTRAINT contest_rounds_status_known CHECK (status IN ('active', 'finished')),
  ADD CONSTRAINT contest_rounds_winners CHECK (winners_count >= 0 AND winners_count <= max_winners),
  ADD CONSTRAINT contest_rounds_period CHECK (ends_at > starts_at);
-- A slot of the schedule starts one round, also after an administrator has finished it, and however many instances run (spec 04 section 10.3).
CREATE UNIQUE INDEX contest_rounds_scheduled ON contest_rounds (template_id, starts_at) WHERE is_scheduled;
-- Rounds that are played now or are to be closed.
CREATE INDEX contest_rounds_active ON contest_rounds (ends_at) WHERE status = 'active';
CREATE INDEX contest_attempts_winners ON contest_attempts (round_id, created_at, id) WHERE is_winner;

ALTER TABLE referral_contests ADD CONSTRAINT referral_contests_period CHECK (end_at > start_at),
  ADD CONSTRAINT referral_contests_closes_at CHECK (closes_at = CASE
    WHEN date_trunc('day', end_at AT TIME ZONE 'UTC') = end_at AT TIME ZONE 'UTC' THEN end_at + interval '23:59:59.999'
    ELSE end_at END),
  ADD CONSTRAINT referral_contests_summary_time CHECK (daily_summary_time ~ '^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]$');
-- Contests that score: every purchase of a referral asks for them.
CREATE INDEX referral_contests_running ON referral_contests (closes_at) WHERE is_active;
ALTER TABLE referral_contest_events ADD CONSTRAINT referral_contest_events_type_known
  CHECK (event_type IN ('subscription_purchase', 'referral_registration')),
  ADD CONSTRAINT referral_contest_events_two_users CHECK (referrer_id <> referral_id),
  ADD CONSTRAINT referral_contest_events_amount CHECK (amount_kopeks >= 0);
ALTER TABLE referral_contest_summaries ADD CONSTRAINT referral_contest_summaries_kind_known CHECK (kind IN ('daily', 'final'));
