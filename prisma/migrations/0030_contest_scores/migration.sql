-- AlterTable
ALTER TABLE "referral_contest_events" ADD COLUMN     "is_listed" BOOLEAN NOT NULL DEFAULT true;

-- CreateTable
CREATE TABLE "referral_contest_scores" (
    "contest_id" INTEGER NOT NULL,
    "referrer_id" INTEGER NOT NULL,
    "events" INTEGER NOT NULL DEFAULT 0,
    "listed" INTEGER NOT NULL DEFAULT 0,
    "referrals" INTEGER NOT NULL DEFAULT 0,
    "paid" INTEGER NOT NULL DEFAULT 0,
    "amount_kopeks" BIGINT NOT NULL DEFAULT 0,
    "is_deleted" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "referral_contest_scores_pkey" PRIMARY KEY ("contest_id","referrer_id")
);

-- CreateIndex
CREATE INDEX "referral_contest_scores_referrer_id_idx" ON "referral_contest_scores"("referrer_id");

-- AddForeignKey
ALTER TABLE "referral_contest_scores" ADD CONSTRAINT "referral_contest_scores_contest_id_fkey" FOREIGN KEY ("contest_id") REFERENCES "referral_contests"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "referral_contest_scores" ADD CONSTRAINT "referral_contest_scores_referrer_id_fkey" FOREIGN KEY ("referrer_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- The leaderboard of a contest in its order.
CREATE INDEX referral_contest_scores_leaders ON referral_contest_scores (contest_id, referrals DESC, amount_kopeks DESC, referrer_id)
  WHERE referrals > 0;

-- Fills the scores from the events that exist.
UPDATE referral_contest_events e SET is_listed = false FROM users u WHERE u.id = e.referral_id AND u.status = 'deleted';
INSERT INTO referral_contest_scores (contest_id, referrer_id, events, listed, referrals, paid, amount_kopeks, is_deleted)
SELECT e.contest_id, e.referrer_id, count(*), count(*) FILTER (WHERE e.is_listed),
  count(*) FILTER (WHERE e.occurred_at BETWEEN c.start_at AND c.closes_at),
  count(*) FILTER (WHERE e.occurred_at BETWEEN c.start_at AND c.closes_at AND e.amount_kopeks > 0),
  coalesce(sum(e.amount_kopeks) FILTER (WHERE e.occurred_at BETWEEN c.start_at AND c.closes_at), 0), bool_or(f.status = 'deleted')
FROM referral_contest_events e JOIN referral_contests c ON c.id = e.contest_id JOIN users f ON f.id = e.referrer_id GROUP BY 1, 2;

-- The network of referrals: who was invited by whom, by id, those whose referrer has a greater id (few, after merges), registrants by id.
CREATE INDEX users_referrals ON users (referred_by_id, id) WHERE referred_by_id IS NOT NULL;
CREATE INDEX users_older_than_referrer ON users (id) WHERE referred_by_id > id;
CREATE INDEX campaign_registrations_users ON advertising_campaign_registrations (campaign_id, user_id);
