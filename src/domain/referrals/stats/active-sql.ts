/**
 * SQL: has user `r` an active subscription that has not ended (spec 04 section 0.4)? A scalar subquery on purpose: the planner would
 * turn a join or EXISTS over a referrer's thousands of referrals into a reading of all subscriptions.
 * @param now the placeholder of the current time
 */
export const hasLiveSubscription = (now: string): string =>
  `coalesce((SELECT s.status = 'active' AND s.end_date > ${now}::timestamptz FROM subscriptions s WHERE s.user_id = r.id), false)`;

/** SQL: how many referrals of a user have one. @param referrer SQL of the user's id */
export const countActiveReferralsOf = (referrer: string, now: string): string =>
  `(SELECT count(*) FILTER (WHERE ${hasLiveSubscription(now)})::int FROM users r WHERE r.referred_by_id = ${referrer})`;
