-- CreateTable
CREATE TABLE "backup_tasks" (
    "task_id" CHAR(32) NOT NULL,
    "status" VARCHAR(10) NOT NULL,
    "origin" VARCHAR(10) NOT NULL,
    "message" TEXT,
    "file_path" VARCHAR(255),
    "created_by" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "backup_tasks_pkey" PRIMARY KEY ("task_id")
);

-- CreateIndex
CREATE INDEX "backup_tasks_created_at_task_id_idx" ON "backup_tasks"("created_at", "task_id");

ALTER TABLE "backup_tasks" ADD CONSTRAINT "backup_tasks_status" CHECK (status IN ('queued', 'running', 'completed', 'failed')),
    ADD CONSTRAINT "backup_tasks_origin" CHECK (origin IN ('api', 'schedule', 'safety', 'cli')),
    ADD CONSTRAINT "backup_tasks_file" CHECK ((file_path IS NOT NULL) = (status = 'completed'));

-- The few that wait or run, for the list of active ones and for the sweep.
CREATE INDEX "backup_tasks_active" ON "backup_tasks"("created_at") WHERE status IN ('queued', 'running');
