-- AlterTable
ALTER TABLE "guest_purchases" ADD COLUMN     "granted_at" TIMESTAMPTZ(3),
ADD COLUMN     "is_activation_signed" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "next_attempt_at" TIMESTAMPTZ(3);

-- Only what was paid can have been granted; what was granted and not delivered waits for the panel alone.
ALTER TABLE guest_purchases ADD CONSTRAINT guest_purchases_granted CHECK (granted_at IS NULL OR paid_at IS NOT NULL);

CREATE INDEX guest_purchases_due ON guest_purchases (next_attempt_at, id) WHERE next_attempt_at IS NOT NULL;
-- A push asks after each subscription whether a purchase waited for it.
CREATE INDEX guest_purchases_granted ON guest_purchases (user_id) WHERE granted_at IS NOT NULL AND delivered_at IS NULL;
-- Credentials that nobody fetched are cleared by time.
CREATE INDEX guest_purchases_credentials ON guest_purchases (paid_at) WHERE cabinet_password IS NOT NULL OR auto_login_token IS NOT NULL;

-- People are addressed by their messenger name in any case of letters.
CREATE INDEX users_username_lower_case ON users (lower(username)) WHERE username IS NOT NULL;
