-- Replaced by credit_uninvoiced() and upsert_uninvoiced_payment(), which are created from prisma/sql.
DROP FUNCTION IF EXISTS credit_stars(integer, text, text, bigint, text, jsonb, text, timestamptz);
DROP FUNCTION IF EXISTS upsert_stars_payment(integer, text, text, bigint, text, text, integer, jsonb, timestamptz);
