-- CreateTable
CREATE TABLE "provider_nonces" (
    "scope" VARCHAR(100) NOT NULL,
    "last_nonce" BIGINT NOT NULL,

    CONSTRAINT "provider_nonces_pkey" PRIMARY KEY ("scope")
);

-- A nonce is a positive number.
ALTER TABLE "provider_nonces" ADD CONSTRAINT provider_nonces_positive CHECK (last_nonce > 0);
