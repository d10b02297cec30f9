-- CreateTable
CREATE TABLE "broadcast_history" (
    "id" SERIAL NOT NULL,
    "target_type" VARCHAR(100) NOT NULL,
    "message_text" TEXT,
    "has_media" BOOLEAN NOT NULL DEFAULT false,
    "media_type" VARCHAR(32),
    "media_file_id" VARCHAR(255),
    "media_caption" TEXT,
    "selected_buttons" JSONB NOT NULL DEFAULT '[]',
    "custom_buttons" JSONB NOT NULL DEFAULT '[]',
    "channel" VARCHAR(20) NOT NULL DEFAULT 'messenger',
    "email_subject" VARCHAR(255),
    "email_html_content" TEXT,
    "admin_id" INTEGER,
    "admin_name" VARCHAR(255),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "broadcast_history_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "mass_sends" (
    "id" SERIAL NOT NULL,
    "kind" VARCHAR(20) NOT NULL,
    "source_id" INTEGER NOT NULL,
    "channel" VARCHAR(20) NOT NULL,
    "audience" VARCHAR(100) NOT NULL,
    "state" VARCHAR(20) NOT NULL DEFAULT 'queued',
    "run" INTEGER NOT NULL DEFAULT 0,
    "leased_until" TIMESTAMPTZ(3),
    "audience_end" INTEGER,
    "prepared_up_to" INTEGER NOT NULL DEFAULT 0,
    "total" INTEGER NOT NULL DEFAULT 0,
    "sent" INTEGER NOT NULL DEFAULT 0,
    "failed" INTEGER NOT NULL DEFAULT 0,
    "blocked" INTEGER NOT NULL DEFAULT 0,
    "repeated" INTEGER NOT NULL DEFAULT 0,
    "stop_requested_at" TIMESTAMPTZ(3),
    "paused_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "mass_sends_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "mass_send_recipients" (
    "send_id" INTEGER NOT NULL,
    "user_id" INTEGER NOT NULL,
    "state" VARCHAR(10) NOT NULL DEFAULT 'queued',
    "run" INTEGER NOT NULL DEFAULT 0,
    "attempts" SMALLINT NOT NULL DEFAULT 0,
    "is_repeated" BOOLEAN NOT NULL DEFAULT false,
    "message_id" BIGINT,

    CONSTRAINT "mass_send_recipients_pkey" PRIMARY KEY ("send_id","user_id")
);

-- CreateTable
CREATE TABLE "send_paces" (
    "channel" VARCHAR(20) NOT NULL,
    "next_at" TIMESTAMPTZ(6) NOT NULL,
    "paused_until" TIMESTAMPTZ(6),

    CONSTRAINT "send_paces_pkey" PRIMARY KEY ("channel")
);

-- CreateTable
CREATE TABLE "messenger_blocks" (
    "user_id" INTEGER NOT NULL,
    "blocked_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "messenger_blocks_pkey" PRIMARY KEY ("user_id")
);

-- CreateIndex
CREATE INDEX "broadcast_history_created_at_id_idx" ON "broadcast_history"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "broadcast_history_admin_id_idx" ON "broadcast_history"("admin_id");

-- CreateIndex
CREATE INDEX "mass_sends_finished_at_idx" ON "mass_sends"("finished_at");

-- CreateIndex
CREATE INDEX "mass_sends_kind_source_id_idx" ON "mass_sends"("kind", "source_id");

-- AddForeignKey
ALTER TABLE "broadcast_history" ADD CONSTRAINT "broadcast_history_admin_id_fkey" FOREIGN KEY ("admin_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "mass_send_recipients" ADD CONSTRAINT "mass_send_recipients_send_id_fkey" FOREIGN KEY ("send_id") REFERENCES "mass_sends"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "messenger_blocks" ADD CONSTRAINT "messenger_blocks_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE mass_sends ADD CONSTRAINT mass_sends_counters CHECK (sent >= 0 AND failed >= 0 AND blocked >= 0 AND sent + failed + blocked <= total),
  ADD CONSTRAINT mass_sends_end CHECK ((finished_at IS NOT NULL) = (state IN ('done', 'cancelled', 'failed')));
-- What a worker looks for: what is unfinished, who waits, and what an ended worker had under way.
CREATE INDEX mass_sends_unfinished ON mass_sends (id) WHERE finished_at IS NULL;
CREATE INDEX mass_send_recipients_queued ON mass_send_recipients (send_id, user_id) WHERE state = 'queued';
CREATE INDEX mass_send_recipients_sending ON mass_send_recipients (send_id) WHERE state = 'sending';
