/** Cabinet: balance, promo codes, offers, referral programme, partners. */
export const CABINET_MONEY: Readonly<Record<string, string>> = {
  'GET /cabinet/balance': 'Returns the own balance.',
  'GET /cabinet/balance/transactions':
    'Lists own movements of money, newest first. Purchases, gifts and withdrawals are negative.',
  'GET /cabinet/balance/payment-methods': 'Lists the payment methods that are open to this user, with their limits and variants.',
  'POST /cabinet/balance/stars-invoice':
    'Creates a link of the messenger to pay a top-up in Stars. The price is rounded up to whole Stars and stored; the amount asked for is credited when the messenger reports the payment. Only this user can pay it, once, within 24 hours. Accepts `Idempotency-Key`.',
  'POST /cabinet/balance/topup':
    'Creates a payment at a provider and returns the address where the user pays. For Tribute it is the page of donations: nothing is stored before the money comes, and what the donor chose is credited. The balance grows when the provider reports the payment, which emits `payment.completed`. At most 10 a minute. Accepts `Idempotency-Key`.',
  'GET /cabinet/balance/pending-payments': 'Lists own open payments of the last 24 hours, newest first.',
  'GET /cabinet/balance/pending-payments/{method}/latest':
    'Returns the newest own payment of a method in the last hour, in any state.',
  'GET /cabinet/balance/pending-payments/{method}/{payment_id}': 'Returns one own payment as the service has recorded it.',
  'POST /cabinet/balance/pending-payments/{method}/{payment_id}/check':
    'Queries the provider about an own payment. A completed payment is credited, once, also where the provider reports it later.',
  'GET /cabinet/balance/saved-cards':
    'Lists own linked cards, newest first; empty while payments by card on file are switched off.',
  'DELETE /cabinet/balance/saved-cards/{card_id}': 'Unlinks an own card: it is not charged any more.',

  'POST /cabinet/promocode/activate':
    'Activates a promo code: money, days, a trial, a promo group or a discount, by its type. A user can use a code once, and five codes a day; repeated wrong codes are limited (429). If days are given, the panel is updated afterwards. Accepts `Idempotency-Key`.',
  'POST /cabinet/promocode/deactivate-discount':
    'Removes an unused discount that a promo code gave. The code counts as unused again, and the user leaves a promo group that the code gave.',
  'GET /cabinet/promo/offers': 'Lists own offers that have not expired, newest first.',
  'GET /cabinet/promo/active-discount': 'Returns the personal discount that the next purchase uses.',
  'DELETE /cabinet/promo/active-discount':
    'Removes the personal discount. Neither the discount nor the promo code that gave it is restored.',
  'GET /cabinet/promo/group-discounts': 'Returns the discounts of the primary promo group; zeros without one.',
  'GET /cabinet/promo/loyalty-tiers': 'Lists the promo groups that are reached by spending, and the progress of the user.',
  'POST /cabinet/promo/claim':
    'Claims an own offer: a personal discount for the next purchase, which replaces an active one, or temporary access to servers. An offer can be claimed once.',

  'GET /cabinet/referral': 'Returns own links, number of referrals and rewards.',
  'GET /cabinet/referral/list': 'Lists own referrals, newest first.',
  'GET /cabinet/referral/earnings':
    'Lists own rewards, newest first. Registrations that wait for a first top-up are listed with 0.',
  'GET /cabinet/referral/terms': 'Returns the terms of the referral programme. Needs no credential.',
  'GET /cabinet/referral/withdrawal/balance':
    'Returns what was earned, withdrawn and requested, what can be requested now, and why a request would be refused. While withdrawals are switched off every amount is 0.',
  'POST /cabinet/referral/withdrawal/create':
    'Requests a payout. No money moves before an administrator approves: then the amount leaves the balance, if the balance still covers it. What is pending cannot be requested again. The administrators are notified in their chat. Accepts `Idempotency-Key`.',
  'GET /cabinet/referral/withdrawal/history': 'Lists the newest 50 own requests, newest first, with the number of all.',
  'POST /cabinet/referral/withdrawal/{request_id}/cancel':
    'Cancels an own request that is still pending. No money moves. Accepts `Idempotency-Key`.',
  'GET /cabinet/referral/partner/status':
    'Returns the state as a partner, the newest application, and the active campaigns with their numbers.',
  'GET /cabinet/referral/partner/campaigns/{campaign_id}/stats':
    'Returns registrations and revenue of one own campaign, also by day. For partners only.',
  'POST /cabinet/referral/partner/apply':
    'Sends an application to become a partner. One application can be open at a time. Administrators are notified.',
};
