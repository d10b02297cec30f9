-- CreateTable
CREATE TABLE "panel_traffic_fills" (
    "id" SERIAL NOT NULL,
    "key" VARCHAR(40) NOT NULL,
    "nodes" JSONB NOT NULL DEFAULT '[]',
    "lease_until" TIMESTAMPTZ(3) NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "panel_traffic_fills_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "panel_traffic_users" (
    "fill_id" INTEGER NOT NULL,
    "user_id" INTEGER NOT NULL,
    "total_bytes" BIGINT NOT NULL,
    "node_bytes" JSONB NOT NULL,

    CONSTRAINT "panel_traffic_users_pkey" PRIMARY KEY ("fill_id","user_id")
);

-- CreateTable
CREATE TABLE "panel_user_details" (
    "fill_id" INTEGER NOT NULL,
    "user_id" INTEGER NOT NULL,
    "devices_connected" INTEGER NOT NULL DEFAULT 0,
    "last_node_name" TEXT,

    CONSTRAINT "panel_user_details_pkey" PRIMARY KEY ("fill_id","user_id")
);

-- CreateIndex
CREATE INDEX "panel_traffic_fills_key_finished_at_idx" ON "panel_traffic_fills"("key", "finished_at" DESC);

-- CreateIndex
CREATE INDEX "panel_traffic_users_fill_id_total_bytes_user_id_idx" ON "panel_traffic_users"("fill_id", "total_bytes" DESC, "user_id");

-- AddForeignKey
ALTER TABLE "panel_traffic_users" ADD CONSTRAINT "panel_traffic_users_fill_id_fkey" FOREIGN KEY ("fill_id") REFERENCES "panel_traffic_fills"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "panel_user_details" ADD CONSTRAINT "panel_user_details_fill_id_fkey" FOREIGN KEY ("fill_id") REFERENCES "panel_traffic_fills"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- One reading of a key at a time, on all instances together.
CREATE UNIQUE INDEX panel_traffic_fills_in_progress ON panel_traffic_fills (key) WHERE finished_at IS NULL;
