-- CreateTable
CREATE TABLE "audit_links" (
    "position" BIGINT NOT NULL,
    "entry_id" BIGINT NOT NULL,
    "user_id" INTEGER,
    "entry_at" TIMESTAMPTZ(3) NOT NULL,
    "content_hash" BYTEA NOT NULL,
    "hash" BYTEA NOT NULL,
    "linked_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "audit_links_pkey" PRIMARY KEY ("position")
);

-- CreateTable
CREATE TABLE "audit_days" (
    "day" DATE NOT NULL,
    "position" BIGINT NOT NULL,
    "hash" VARCHAR(64) NOT NULL,
    "public_key" VARCHAR(64),
    "signature" VARCHAR(128),
    "closed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "audit_days_pkey" PRIMARY KEY ("day")
);

-- CreateIndex
CREATE INDEX "audit_links_entry_id_idx" ON "audit_links"("entry_id");
