/** Mini-app: the rules of the cabinet, with signed launch data as credential. */
const CHARGED =
  'The balance is charged and the subscription changed in one step; the panel is updated afterwards. Emits `transaction.created`. Accepts `Idempotency-Key`.';

export const MINIAPP: Readonly<Record<string, string>> = {
  'POST /miniapp/maintenance/status': 'Returns whether the service is under maintenance, and why.',
  'POST /miniapp/subscription':
    'Returns the own subscription with links, devices, tariff, balance, movements, offers, promo groups and referrals: everything that the first page shows. Used traffic is read from the panel.',
  'POST /miniapp/subscription/settings':
    'Returns what of the subscription can be changed: servers, traffic and devices, with prices per 30 days.',
  'POST /miniapp/subscription/servers': `Replaces the servers of the subscription. Added ones cost their price for the rest of the paid time; removing is free. ${CHARGED}`,
  'POST /miniapp/subscription/traffic': `Replaces the traffic package. The difference to a dearer one is charged for the whole days left, at least one; packages bought on top stay. ${CHARGED}`,
  'POST /miniapp/subscription/devices': `Sets the device limit. Devices above the included number cost their price for the rest of the paid time; fewer are free. ${CHARGED}`,
  'POST /miniapp/payments/methods': 'Lists the payment methods that the user may use, with limits and options.',
  'POST /miniapp/payments/create':
    'Starts a top-up of the balance and returns the address where it is paid. At most 10 a minute. Accepts `Idempotency-Key`.',
  'POST /miniapp/payments/status':
    'Returns the states of own payments; some providers are asked. A payment of another user is answered like an unknown one.',
  'POST /miniapp/subscription/tariffs':
    'Returns the tariffs on sale to the user with prices, costs of a switch, the own tariff and the balance. For tariffs mode.',
  'POST /miniapp/subscription/tariff/purchase': `Buys a tariff from the balance; an existing subscription is extended or moved to it. For tariffs mode. ${CHARGED}`,
  'POST /miniapp/subscription/tariff/switch/preview':
    'Returns what a switch to another tariff costs for the remaining days. Charges nothing.',
  'POST /miniapp/subscription/tariff/switch': `Switches to another tariff; the difference for the remaining days is charged, a cheaper one is free. Bought devices and traffic are lost. ${CHARGED}`,
  'POST /miniapp/subscription/autopay':
    'Switches automatic renewal from the balance and sets how many days before the end it starts. Null leaves a value unchanged.',
  'POST /miniapp/subscription/trial': `Starts the trial of the user, once per account. A price, if there is one, is charged to the balance. ${CHARGED}`,
  'POST /miniapp/subscription/renewal/options':
    'Lists periods and prices of a renewal, with the recommended one and the amount that the balance is missing for it.',
  'POST /miniapp/subscription/renewal': `Renews the own subscription from the balance. If it does not suffice and a method is named, an invoice for the rest is created and the renewal follows its payment. ${CHARGED}`,
  'POST /miniapp/subscription/traffic-topup': `Buys a traffic package for 30 days on top of the limit. ${CHARGED}`,
  'POST /miniapp/subscription/daily/toggle-pause':
    'Pauses a daily subscription, or resumes it. Resuming a stopped subscription charges a day immediately; otherwise nothing is charged. Accepts `Idempotency-Key`.',
  'POST /miniapp/devices/remove': 'Removes one connected device in the panel; it connects again with its next use.',
  'POST /miniapp/promo-codes/activate':
    'Activates a promo code, with the rules of the cabinet. Repeated wrong codes are limited (429). Accepts `Idempotency-Key`.',
  'POST /miniapp/promo-offers/{offer_id}/claim':
    'Claims an own offer: a personal discount for the next purchase, or temporary access to servers. An offer can be claimed once.',
  'POST /miniapp/subscription/purchase/options':
    'Returns periods, traffic, servers and devices that can be bought, with prices. For classic mode.',
  'POST /miniapp/subscription/purchase/preview':
    'Returns what a selection costs, part by part. For classic mode. Charges nothing.',
  'POST /miniapp/subscription/purchase': `Buys a selection of period, traffic, servers and devices from the balance. For classic mode. ${CHARGED}`,
};
