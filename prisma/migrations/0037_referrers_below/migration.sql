-- What is below a user is read from those who referred somebody: of the others only their number is needed (spec 04 section 16).
ALTER TABLE "referrer_stats" ADD COLUMN "referred_by_id" INTEGER;
UPDATE referrer_stats f SET referred_by_id = u.referred_by_id FROM users u WHERE u.id = f.user_id AND u.referred_by_id IS NOT NULL;
CREATE INDEX referrer_stats_below ON referrer_stats (referred_by_id, user_id) INCLUDE (referrals) WHERE referrals > 0;
