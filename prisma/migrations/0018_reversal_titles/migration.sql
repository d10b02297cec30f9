-- These functions got a parameter; the new ones are created from prisma/sql.
DROP FUNCTION IF EXISTS credit_topup(integer, integer, text, text, bigint, text, text, text, timestamptz, jsonb, jsonb, text, timestamptz, text,
  jsonb);
DROP FUNCTION IF EXISTS credit_payment_case(integer, integer, bigint, jsonb, text, text, text, timestamptz);
