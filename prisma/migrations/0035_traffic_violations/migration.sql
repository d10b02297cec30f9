-- Violations that the fast traffic check has found and the administrators have not been told of: written with the readings, so that a process
-- that ends in between loses none (spec 06 section 14). No row refers to a user: panel users without an account count too.
-- CreateTable
CREATE TABLE "traffic_violations" (
    "panel_uuid" UUID NOT NULL,
    "bytes" BIGINT NOT NULL,
    "texts" JSONB NOT NULL,
    "found_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "traffic_violations_pkey" PRIMARY KEY ("panel_uuid")
);
