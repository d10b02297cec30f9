/** Web API: promo groups, codes, offers, campaigns, polls, partners. */
export const WEB_GROWTH: Readonly<Record<string, string>> = {
  'GET /promo-groups': 'Lists promo groups by priority and name, with the number of users whose primary group each is.',
  'POST /promo-groups':
    'Creates a promo group. The first group, or one with `is_default`, becomes the default one in place of another.',
  'GET /promo-groups/{group_id}': 'Returns a promo group with the number of its members.',
  'PATCH /promo-groups/{group_id}':
    'Changes a promo group; null leaves a field unchanged. Prices of its members change immediately. Removing `is_default` makes another group the default one.',
  'DELETE /promo-groups/{group_id}':
    'Deletes a promo group; its members join the default one. The default group itself cannot be deleted.',

  'GET /promo-codes': 'Lists promo codes, newest first.',
  'POST /promo-codes': 'Creates a promo code. Which fields are required depends on its type.',
  'GET /promo-codes/{promocode_id}': 'Returns a promo code with the number of its uses and the ten newest ones.',
  'PATCH /promo-codes/{promocode_id}':
    'Changes a promo code; null leaves a field unchanged. The same rules as for a new code apply to the result. Benefits that were given remain.',
  'DELETE /promo-codes/{promocode_id}':
    'Deletes a promo code and the records of its uses. A code that the fortune wheel gave cannot be deleted.',

  'GET /promo-offers': 'Lists promo offers, newest first.',
  'POST /promo-offers':
    'Makes an offer to one user. An active unclaimed offer of the same `notification_type` is overwritten. No message is sent.',
  'POST /promo-offers/broadcast':
    'Makes the same offer to every user of a segment and to a named user. Active unclaimed offers of the same `notification_type` are overwritten. No messages are sent.',
  'GET /promo-offers/logs': 'Lists the events of offers and personal discounts: claimed, consumed by a purchase, or disabled.',
  'GET /promo-offers/templates': 'Lists the templates of offers.',
  'GET /promo-offers/templates/{template_id}': 'Returns a template.',
  'PATCH /promo-offers/templates/{template_id}':
    'Changes a template; null leaves a field unchanged. Offers that were made stay as they are.',
  'GET /promo-offers/{offer_id}': 'Returns an offer with its user and subscription.',

  'GET /campaigns': 'Lists advertising campaigns, newest first.',
  'POST /campaigns': 'Creates a campaign. Which fields of the bonus are required depends on `bonus_type`.',
  'PATCH /campaigns/{campaign_id}':
    'Changes a campaign; only fields that are sent change. Null clears partner, tariff and the values of the subscription bonus. Bonuses that were given remain.',
  'DELETE /campaigns/{campaign_id}': 'Deletes a campaign with its registrations. Bonuses and referrers stay with the users.',

  'GET /contests/daily/templates': 'Lists the daily games with their prizes and schedules.',
  'GET /contests/daily/templates/{template_id}': 'Returns a daily game.',
  'PATCH /contests/daily/templates/{template_id}':
    'Changes a daily game; absent or null fields are not changed. Rounds that have begun keep their game and numbers.',
  'POST /contests/daily/templates/{template_id}/start-round':
    'Starts a round now or later and enables the game. Users with an active subscription and the first required channel are told in the background.',
  'GET /contests/daily/rounds':
    'Lists rounds: those that are played now by their start, else the latest first. The payload contains the solution.',
  'GET /contests/daily/rounds/{round_id}': 'Returns a round. The payload contains the solution.',
  'POST /contests/daily/rounds/{round_id}/finish':
    'Ends a round. The schedule does not open it again; repeating the call changes nothing.',
  'GET /contests/daily/rounds/{round_id}/attempts': 'Lists the attempts of a round, oldest first; none for an unknown round.',
  'GET /contests/referral': 'Lists contests of referrers, the latest start first.',
  'POST /contests/contests/referral': 'Creates a contest of referrers. The same as `POST /contests/referral`.',
  'POST /contests/referral':
    'Creates a contest of referrers. Referrals who register within its period are scored: for payments for subscriptions, or for the registration.',
  'GET /contests/referral/{contest_id}': 'Returns a contest with the first places of its leaderboard.',
  'PATCH /contests/referral/{contest_id}':
    'Changes a contest; absent or null fields are not changed. Results count the events within the period as it is then.',
  'DELETE /contests/referral/{contest_id}': 'Deletes a contest that is over and not active, with its events.',
  'POST /contests/referral/{contest_id}/toggle':
    'Makes a contest active or inactive. An inactive one scores nothing and sends no summaries.',
  'GET /contests/referral/{contest_id}/events': 'Lists the events of a contest, latest first: one for each referral.',
  'GET /contests/referral/{contest_id}/detailed-stats':
    'Returns all participants of a contest and the sums of what their referrals paid.',
  'GET /polls': 'Lists polls, newest first, with the number of users who got each.',
  'POST /polls': 'Creates a poll with its questions and answers. Users get it only when it is sent.',
  'GET /polls/{poll_id}': 'Returns a poll with its questions and answers.',
  'DELETE /polls/{poll_id}': 'Deletes a poll with all answers. Rewards that were paid stay.',
  'GET /polls/{poll_id}/stats': 'Counts how often each answer was chosen, and sums up the rewards.',
  'GET /polls/{poll_id}/responses': 'Lists users who got the poll, with their answers, in the order in which they got it.',
  'POST /polls/{poll_id}/send':
    'Assigns the poll to every user of a segment who does not have it yet, and sends an invitation through the messenger. The answer counts what was sent so far; the rest is sent in the background. Repeating the call sends nothing twice.',

  'GET /partners/referrers': 'Lists users who have a referral code or referrals, newest first, with their numbers.',
  'GET /partners/referrers/{user_id}':
    'Returns a referrer with a page of those invited. The number is looked up as messenger id first, then as internal id.',
  'PATCH /partners/referrers/{user_id}/commission':
    'Sets the personal commission of a user; null for the general one. It applies from the next top-up of a referral.',
  'GET /partners/stats': 'Returns totals, rewards and new referrals of the referral programme by period.',
  'GET /partners/stats/daily': 'Returns new referrals and rewards by day, today included; days without any are zero.',
  'GET /partners/stats/top-referrers': 'Lists the referrers with the greatest rewards, of all time or of the last days.',
  'GET /partners/referrers/{user_id}/stats': 'Returns referrals, rewards and conversion of one referrer by period.',
  'GET /partners/referrers/{user_id}/stats/daily': 'Returns new referrals and rewards of one referrer by day, today included.',
  'GET /partners/referrers/{user_id}/stats/top-referrals': 'Lists the referrals from whom a referrer earned most.',
  'GET /partners/referrers/{user_id}/stats/compare': 'Compares the last days of a referrer with the days directly before them.',
};
