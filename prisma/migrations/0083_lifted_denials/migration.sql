-- CreateTable
CREATE TABLE "lifted_denials" (
    "id" BIGSERIAL NOT NULL,
    "user_id" INTEGER,
    "resource" VARCHAR(100) NOT NULL,
    "actions" JSONB NOT NULL,
    "sources" JSONB NOT NULL,
    "lifted_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "lifted_denials_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "lifted_denials_user_id_idx" ON "lifted_denials"("user_id");

-- AddForeignKey
ALTER TABLE "lifted_denials" ADD CONSTRAINT "lifted_denials_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
