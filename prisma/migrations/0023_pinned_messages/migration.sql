-- CreateTable
CREATE TABLE "pinned_messages" (
    "id" SERIAL NOT NULL,
    "content" TEXT NOT NULL,
    "media_type" VARCHAR(20),
    "media_file_id" VARCHAR(255),
    "send_before_menu" BOOLEAN NOT NULL DEFAULT true,
    "send_on_every_start" BOOLEAN NOT NULL DEFAULT true,
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "created_by" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "pinned_messages_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "pinned_deliveries" (
    "user_id" INTEGER NOT NULL,
    "chat_id" BIGINT NOT NULL,
    "message_id" BIGINT NOT NULL,
    "is_pinned" BOOLEAN NOT NULL DEFAULT false,
    "send_id" INTEGER,
    "update_id" BIGINT,
    "sent_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "pinned_deliveries_pkey" PRIMARY KEY ("user_id")
);

-- CreateIndex
CREATE INDEX "pinned_messages_created_at_id_idx" ON "pinned_messages"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "pinned_messages_created_by_idx" ON "pinned_messages"("created_by");

-- AddForeignKey
ALTER TABLE "pinned_messages" ADD CONSTRAINT "pinned_messages_created_by_fkey" FOREIGN KEY ("created_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "pinned_deliveries" ADD CONSTRAINT "pinned_deliveries_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What must be true whatever the code does (spec 05 section 4): one active message, and each has something to send.
CREATE UNIQUE INDEX pinned_messages_one_active ON pinned_messages ((true)) WHERE is_active;
ALTER TABLE pinned_messages
  ADD CONSTRAINT pinned_messages_media CHECK ((media_type IS NULL) = (media_file_id IS NULL) AND media_type IN ('photo', 'video')),
  ADD CONSTRAINT pinned_messages_content CHECK (content <> '' OR media_file_id IS NOT NULL);
