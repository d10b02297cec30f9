-- CreateTable
CREATE TABLE "low_balance_notices" (
    "user_id" INTEGER NOT NULL,
    "entry_id" BIGINT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "low_balance_notices_pkey" PRIMARY KEY ("user_id")
);

-- AddForeignKey
ALTER TABLE "low_balance_notices" ADD CONSTRAINT "low_balance_notices_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
