-- CreateTable
CREATE TABLE "data_requests" (
    "id" SERIAL NOT NULL,
    "user_id" INTEGER NOT NULL,
    "kind" VARCHAR(10) NOT NULL,
    "state" VARCHAR(10) NOT NULL DEFAULT 'requested',
    "requested_by" VARCHAR(64) NOT NULL,
    "fingerprint" CHAR(64) NOT NULL,
    "due_at" TIMESTAMPTZ(3),
    "forfeits_kopeks" BIGINT NOT NULL DEFAULT 0,
    "ends_subscription" BOOLEAN NOT NULL DEFAULT false,
    "run" INTEGER NOT NULL DEFAULT 0,
    "size_bytes" BIGINT,
    "remains" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "finished_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3),

    CONSTRAINT "data_requests_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "data_archive_parts" (
    "request_id" INTEGER NOT NULL,
    "run" INTEGER NOT NULL,
    "part" INTEGER NOT NULL,
    "content" BYTEA NOT NULL,

    CONSTRAINT "data_archive_parts_pkey" PRIMARY KEY ("request_id","run","part")
);

-- CreateIndex
CREATE INDEX "data_requests_user_id_created_at_id_idx" ON "data_requests"("user_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "data_requests_created_at_id_idx" ON "data_requests"("created_at" DESC, "id" DESC);

-- AddForeignKey
ALTER TABLE "data_archive_parts" ADD CONSTRAINT "data_archive_parts_request_id_fkey" FOREIGN KEY ("request_id") REFERENCES "data_requests"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Each kind has states, and what each state needs.
ALTER TABLE "data_requests" ADD CONSTRAINT "data_requests_state_check" CHECK (
  (kind = 'export' AND state IN ('requested', 'ready', 'expired', 'failed') AND due_at IS NULL AND remains IS NULL)
  OR (kind = 'erasure' AND state IN ('requested', 'running', 'done', 'cancelled') AND due_at IS NOT NULL AND size_bytes IS NULL)
);
ALTER TABLE "data_requests" ADD CONSTRAINT "data_requests_ready_check" CHECK (state <> 'ready' OR (size_bytes > 0 AND expires_at IS NOT NULL));
ALTER TABLE "data_requests" ADD CONSTRAINT "data_requests_remains_check" CHECK ((state = 'running') = (remains IS NOT NULL));
ALTER TABLE "data_requests" ADD CONSTRAINT "data_requests_finished_check" CHECK ((state IN ('requested', 'running')) = (finished_at IS NULL));
ALTER TABLE "data_requests" ADD CONSTRAINT "data_requests_forfeits_check" CHECK (forfeits_kopeks >= 0);

-- Two requests at once are one, and a repeat finds it.
CREATE UNIQUE INDEX "data_requests_open_key" ON "data_requests" ("user_id", "kind") WHERE state IN ('requested', 'running');
-- What jobs have to do.
CREATE INDEX "data_requests_waiting_idx" ON "data_requests" ("state", "due_at", "expires_at") WHERE state IN ('requested', 'running', 'ready');
