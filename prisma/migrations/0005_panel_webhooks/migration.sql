-- CreateTable
CREATE TABLE "panel_events" (
    "id" SERIAL NOT NULL,
    "body_hash" CHAR(64) NOT NULL,
    "event" VARCHAR(100) NOT NULL,
    "user_id" INTEGER,
    "is_link_changed" BOOLEAN NOT NULL DEFAULT false,
    "happened_at" TIMESTAMPTZ(3) NOT NULL,
    "data" JSONB NOT NULL DEFAULT '{}',
    "received_at" TIMESTAMPTZ(3) NOT NULL,
    "processed_at" TIMESTAMPTZ(3),
    "result" VARCHAR(40),

    CONSTRAINT "panel_events_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "panel_events_body_hash_key" ON "panel_events"("body_hash");

-- CreateIndex
CREATE INDEX "panel_events_user_id_happened_at_idx" ON "panel_events"("user_id", "happened_at");

-- CreateIndex
CREATE INDEX "panel_events_received_at_idx" ON "panel_events"("received_at");

-- CreateIndex
CREATE INDEX "subscriptions_vpnpanel_short_uuid_idx" ON "subscriptions"("vpnpanel_short_uuid");

-- AddForeignKey
ALTER TABLE "panel_events" ADD CONSTRAINT "panel_events_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
