-- CreateTable
CREATE TABLE "monitoring_logs" (
    "id" BIGSERIAL NOT NULL,
    "event_type" VARCHAR(100) NOT NULL,
    "message" TEXT NOT NULL,
    "data" JSONB NOT NULL,
    "is_success" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "monitoring_logs_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "monitoring_logs_created_at_id_idx" ON "monitoring_logs"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "monitoring_logs_event_type_created_at_id_idx" ON "monitoring_logs"("event_type", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "support_audit_logs_action_created_at_id_idx" ON "support_audit_logs"("action", "created_at" DESC, "id" DESC);
