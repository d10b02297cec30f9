/** Texts of the operations of the administration's statistics and of the referral network. */
const PERIOD =
  'The period is from `start_date` to the end of the day of `end_date`, at most 730 days, when both are given; else the last `days` days until now, and everything when `days` is 0, negative or null. Moments without a zone and days are those of the time zone of the service (`TIMEZONE`). The answer is exact at any moment.';
const LIMITED = (limit: number) => `At most ${limit} requests a minute for each administrator.`;

export const ADMIN_STATISTICS: Readonly<Record<string, string>> = {
  'GET /cabinet/admin/stats/dashboard':
    'Returns nodes, subscriptions, money, servers, the revenue of the last 30 days by day and subscriptions by tariff. Without an answer of the panel there are no nodes.',
  'GET /cabinet/admin/stats/system-info':
    'Returns the release of the service and of its runtime, and how many users and active subscriptions there are.',
  'GET /cabinet/admin/stats/nodes':
    'Returns the nodes of the panel with their counts. Without an answer of the panel there are none.',
  'POST /cabinet/admin/stats/nodes/{node_uuid}/restart':
    'Asks the panel to restart a node; the panel does it later. Recorded in the audit log.',
  'POST /cabinet/admin/stats/nodes/{node_uuid}/toggle':
    'Enables a node that is switched off at the panel, switches off any other, and returns the new state. Recorded in the audit log.',
  'GET /cabinet/admin/stats/referrals/top':
    'Returns the referrers who earned most and those who invited most, with today, 7 days, 30 days and in all. The totals are those of all referrers.',
  'GET /cabinet/admin/stats/campaigns/top':
    'Returns the campaigns whose registrants paid in most. The totals are those of all campaigns.',
  'GET /cabinet/admin/stats/payments/recent':
    'Returns the newest top-ups and payments for subscriptions, completed or not, and what was paid through providers today and in 7 days.',
  'GET /cabinet/admin/stats/sales/summary': `Returns revenue, new trials, conversion and renewals of a period, and the subscriptions of now. ${PERIOD}`,
  'GET /cabinet/admin/stats/sales/trials': `Returns registrations and trials of a period, by day and by way of signing in. ${PERIOD}`,
  'GET /cabinet/admin/stats/sales/subscriptions': `Returns the subscriptions that were created in a period and are no trial, by tariff, length and day, and the payments for subscriptions. ${PERIOD}`,
  'GET /cabinet/admin/stats/sales/renewals': `Returns the payments for subscriptions of users who had paid before the period, compared with the equally long window before it. When everything is asked for, these are all payments of users with more than one. ${PERIOD}`,
  'GET /cabinet/admin/stats/sales/addons': `Returns traffic packages and devices that were bought in a period. What a payment was for is recorded with the payment. ${PERIOD}`,
  'GET /cabinet/admin/stats/sales/deposits': `Returns completed payments through providers and manual top-ups of a period, by method and day. ${PERIOD}`,
  'GET /cabinet/admin/referral-network': `Returns the users who have a referrer, referrals or a registration through a campaign, all campaigns, and their connections. Of more than 5000 users those with the lowest ids are returned. ${LIMITED(10)}`,
  'GET /cabinet/admin/referral-network/scope-options': `Returns the campaigns and approved partners that a part of the network can be chosen by. ${LIMITED(30)}`,
  'GET /cabinet/admin/referral-network/scoped': `Returns a part of the network: of campaigns the registrants and everyone below them; of approved partners their campaigns with these users, the partner and everyone below; of users everyone above and below them. Campaigns of all of them are added. At most 50 items, 50 levels and 5000 users. ${LIMITED(10)}`,
  'GET /cabinet/admin/referral-network/user/{user_id}': `Returns any user with what the whole branch below, 50 levels deep, has paid. ${LIMITED(30)}`,
  'GET /cabinet/admin/referral-network/campaign/{campaign_id}': `Returns a campaign with what its registrants have paid. ${LIMITED(30)}`,
  'GET /cabinet/admin/referral-network/search': `Returns users of the network by a part of the user name or e-mail or by the exact internal or messenger id, and campaigns by a part of the name or parameter; 20 of each, by id. ${LIMITED(30)}`,
};
