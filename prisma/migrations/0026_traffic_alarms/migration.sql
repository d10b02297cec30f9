-- What the service watches by itself (spec 06 section 14). No row refers to a user: panel users without an account count too.
-- CreateTable
CREATE TABLE "release_notices" (
    "repo" VARCHAR(201) NOT NULL,
    "tag" VARCHAR(255) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "release_notices_pkey" PRIMARY KEY ("repo","tag")
);

-- CreateTable
CREATE TABLE "traffic_snapshots" (
    "panel_uuid" UUID NOT NULL,
    "used_bytes" BIGINT NOT NULL,
    "read_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "traffic_snapshots_pkey" PRIMARY KEY ("panel_uuid")
);

-- CreateTable
CREATE TABLE "traffic_alarms" (
    "panel_uuid" UUID NOT NULL,
    "notified_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "traffic_alarms_pkey" PRIMARY KEY ("panel_uuid")
);
