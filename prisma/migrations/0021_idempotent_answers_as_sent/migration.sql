-- A replay is the same bytes: json keeps them, jsonb sorts the keys.
ALTER TABLE "idempotency_keys" ALTER COLUMN "response" SET DATA TYPE JSON;
