-- Refresh tokens rotate only where the client asked for it (spec 10 U2). Earlier sessions did not: a client that stores what it is answered works
-- with both, and a token that was rotated before stays void.
ALTER TABLE "cabinet_refresh_tokens" ADD COLUMN     "last_used_at" TIMESTAMPTZ(3),
ADD COLUMN     "rotates" BOOLEAN NOT NULL DEFAULT false;
