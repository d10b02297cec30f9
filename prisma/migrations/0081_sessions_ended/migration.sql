-- When all sessions of a user were ended last (password reset, block, merge): access tokens, merge offers and linking ways that were
-- begun before count no more. NULL = never. Without a default, so that no row is written.
ALTER TABLE "users" ADD COLUMN "sessions_ended_at" TIMESTAMPTZ(3);
