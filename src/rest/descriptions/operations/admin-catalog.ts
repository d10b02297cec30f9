/** Administration: tariffs, servers, promo groups, codes and offers, campaigns, partners. */
export const ADMIN_CATALOG: Readonly<Record<string, string>> = {
  'GET /cabinet/admin/tariffs': 'Lists tariffs in the order of display with the number of their subscriptions.',
  'POST /cabinet/admin/tariffs': 'Creates a tariff. If it is active and has prices, it is on sale immediately.',
  'GET /cabinet/admin/tariffs/available-servers': 'Lists servers that a tariff can contain.',
  'GET /cabinet/admin/tariffs/available-external-squads':
    'Lists external squads of the panel; empty when the panel does not answer.',
  'PUT /cabinet/admin/tariffs/order': 'Puts the tariffs in the given order. Unknown ids are ignored.',
  'GET /cabinet/admin/tariffs/{tariff_id}': 'Returns a tariff with prices, servers and promo groups.',
  'PUT /cabinet/admin/tariffs/{tariff_id}':
    'Changes a tariff; absent or null fields are not changed, except where null clears. Running subscriptions keep their limits; changed servers are sent to the panel in the background.',
  'DELETE /cabinet/admin/tariffs/{tariff_id}':
    'Deletes a tariff that no active subscription uses. Expired subscriptions lose their tariff.',
  'POST /cabinet/admin/tariffs/{tariff_id}/toggle':
    'Puts a tariff on sale or removes it from sale. Each call reverses the state.',
  'POST /cabinet/admin/tariffs/{tariff_id}/trial':
    'Makes a tariff the trial tariff in place of another one, or ends that. Each call reverses the state.',
  'GET /cabinet/admin/tariffs/{tariff_id}/stats': 'Counts the subscriptions of a tariff and sums up the payments of their users.',
  'POST /cabinet/admin/tariffs/{tariff_id}/sync-squads':
    'Sends the servers of a tariff to the panel for every active subscription on it. Users whom the panel refuses are counted and not changed.',

  'GET /cabinet/admin/servers': 'Lists servers with users and prices.',
  'GET /cabinet/admin/servers/{server_id}': 'Returns a server with its promo groups and the tariffs that contain it.',
  'PUT /cabinet/admin/servers/{server_id}': 'Changes a server; absent or null fields are not changed. The panel is not changed.',
  'POST /cabinet/admin/servers/{server_id}/toggle':
    'Puts a server on sale or removes it from sale. Each call reverses the state.',
  'POST /cabinet/admin/servers/{server_id}/trial': 'Allows or forbids trials on a server. Each call reverses the state.',
  'GET /cabinet/admin/servers/{server_id}/stats': 'Counts users and subscriptions of a server.',
  'POST /cabinet/admin/servers/sync':
    'Reads the internal squads of the panel: those of the first call become servers on sale, later ones servers that are not on sale, names are refreshed, servers without squad are deleted. An empty answer of the panel is refused.',

  'GET /cabinet/admin/promo-groups':
    'Lists promo groups by priority and name, with the number of users whose primary group each is.',
  'POST /cabinet/admin/promo-groups':
    'Creates a promo group. The first group, or one with `is_default`, becomes the default one in place of another.',
  'GET /cabinet/admin/promo-groups/{group_id}': 'Returns a promo group with the number of its members.',
  'PATCH /cabinet/admin/promo-groups/{group_id}':
    'Changes a promo group; null leaves a field unchanged. Prices of its members change immediately. Removing `is_default` makes another group the default one.',
  'DELETE /cabinet/admin/promo-groups/{group_id}':
    'Deletes a promo group; its members join the default one. The default group itself cannot be deleted.',
  'GET /cabinet/admin/promocodes': 'Lists promo codes, newest first.',
  'POST /cabinet/admin/promocodes':
    'Creates a promo code. Which fields are required depends on its type. The administrator is recorded as creator.',
  'GET /cabinet/admin/promocodes/{promocode_id}': 'Returns a promo code with the number of its uses and the ten newest ones.',
  'PATCH /cabinet/admin/promocodes/{promocode_id}':
    'Changes a promo code; null leaves a field unchanged. The same rules as for a new code apply to the result. Benefits that were given remain.',
  'DELETE /cabinet/admin/promocodes/{promocode_id}':
    'Deletes a promo code and the records of its uses. A code that the fortune wheel gave cannot be deleted.',
  'POST /cabinet/admin/promocodes/deactivate-discount/{user_id}':
    'Ends the personal discount of a user. If a promo code gave it, the code counts as unused again.',
  'GET /cabinet/admin/promo-offers/templates': 'Lists the templates of offers.',
  'GET /cabinet/admin/promo-offers/templates/{template_id}': 'Returns a template.',
  'PATCH /cabinet/admin/promo-offers/templates/{template_id}':
    'Changes a template; null leaves a field unchanged. Offers that were made stay as they are.',
  'GET /cabinet/admin/promo-offers': 'Lists promo offers, newest first.',
  'POST /cabinet/admin/promo-offers/broadcast':
    'Makes the same offer to every user of a segment and to a named user, overwriting active unclaimed offers of the same `notification_type`. With `send_notification` each gets a message in the messenger; the counts are those reached when the answer is given.',
  'GET /cabinet/admin/promo-offers/logs':
    'Lists the events of offers and personal discounts: claimed, consumed by a purchase, or disabled.',

  'GET /cabinet/admin/campaigns/available-servers': 'Lists servers that a campaign can give.',
  'GET /cabinet/admin/campaigns/available-tariffs': 'Lists active tariffs that a campaign can give.',
  'GET /cabinet/admin/campaigns/available-partners': 'Lists partners to whom a campaign can belong.',
  'GET /cabinet/admin/campaigns': 'Lists advertising campaigns with registrations, conversion and revenue, newest first.',
  'POST /cabinet/admin/campaigns':
    'Creates a campaign. Which fields of the bonus are required depends on `bonus_type`. The administrator is recorded as creator.',
  'GET /cabinet/admin/campaigns/{campaign_id}': 'Returns a campaign with its links, servers and tariff.',
  'PUT /cabinet/admin/campaigns/{campaign_id}':
    'Changes a campaign; only fields that are sent change. Null clears partner, tariff and the values of the subscription bonus. Bonuses that were given remain.',
  'DELETE /cabinet/admin/campaigns/{campaign_id}':
    'Deletes a campaign without registrations. Switch one with registrations off instead.',
  'POST /cabinet/admin/campaigns/{campaign_id}/toggle':
    'Switches a campaign on or off. Each call reverses the state. A campaign that is off gives no bonus.',
  'GET /cabinet/admin/campaigns/{campaign_id}/registrations': 'Lists users who registered through a campaign, newest first.',
  'GET /cabinet/admin/campaigns/overview': 'Counts campaigns, registrations and bonuses.',
  'GET /cabinet/admin/campaigns/{campaign_id}/stats':
    'Returns registrations, trials, payers, revenue and conversion of a campaign.',
  'GET /cabinet/admin/campaigns/{campaign_id}/chart-data':
    'Returns registrations and payments of the last 30 days by day, the last 7 days beside the 7 before, and the registrants with the highest payments.',

  'GET /cabinet/admin/withdrawals':
    'Lists withdrawal requests, newest first. The pending requests are counted whatever the filter.',
  'GET /cabinet/admin/withdrawals/{withdrawal_id}':
    'Returns a request with the risk analysis that was made when it was created, and the balance, referrals and rewards of the user now.',
  'POST /cabinet/admin/withdrawals/{withdrawal_id}/approve':
    'Approves a pending request: the amount leaves the balance as a movement of type `withdrawal`, which emits `transaction.created`, and the user is notified in the messenger, else by e-mail. Refused when the balance does not cover the amount. Above the amount of `REFERRAL_WITHDRAWAL_SECOND_APPROVAL_KOPEKS` the first approval is only recorded and the request stays pending until another administrator approves it too. Accepts `Idempotency-Key`.',
  'POST /cabinet/admin/withdrawals/{withdrawal_id}/reject':
    'Rejects a pending request. No money moves. The user is notified in the messenger, else by e-mail. Accepts `Idempotency-Key`.',
  'POST /cabinet/admin/withdrawals/{withdrawal_id}/complete':
    'Records that an approved request was paid out. The balance does not change: the approval has taken the amount from it. Accepts `Idempotency-Key`.',

  'GET /cabinet/admin/partners/settings': 'Returns the settings of the referral programme and of withdrawals.',
  'PATCH /cabinet/admin/partners/settings':
    'Changes settings of the referral programme; absent or null fields are not changed. The change applies immediately on every instance.',
  'GET /cabinet/admin/partners/applications': 'Lists applications, newest first.',
  'POST /cabinet/admin/partners/applications/{application_id}/approve':
    'Makes the applicant a partner with a personal commission. The applicant is notified in the messenger, else by e-mail. An application is decided once.',
  'POST /cabinet/admin/partners/applications/{application_id}/reject':
    'Declines an application. The applicant is notified in the messenger, else by e-mail, and may apply again.',
  'GET /cabinet/admin/partners/stats': 'Counts partners, open applications, referrals and rewards.',
  'GET /cabinet/admin/partners': 'Lists partners, newest registration first.',
  'GET /cabinet/admin/partners/{user_id}':
    'Returns a user as a partner: referrals, rewards and campaigns with their numbers. Works for any user, also one who is not a partner.',
  'PATCH /cabinet/admin/partners/{user_id}/commission':
    'Sets the commission of a partner, from the next top-up of a referral on.',
  'POST /cabinet/admin/partners/{user_id}/revoke':
    'Ends a partnership: the personal commission is removed, and the campaigns are unassigned. Rewards remain.',
  'POST /cabinet/admin/partners/{user_id}/campaigns/{campaign_id}/assign':
    'Gives a campaign to a partner. One that belongs to another partner is refused; repeating the call changes nothing.',
  'POST /cabinet/admin/partners/{user_id}/campaigns/{campaign_id}/unassign': 'Takes a campaign from a partner.',
};
