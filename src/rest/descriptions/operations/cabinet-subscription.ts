/** Cabinet: own subscription. */
const CHARGED =
  'The balance is charged and the subscription changed in one step; the panel is updated afterwards. Emits `transaction.created`. Accepts `Idempotency-Key`.';

export const CABINET_SUBSCRIPTION: Readonly<Record<string, string>> = {
  'GET /cabinet/subscription': 'Returns the own subscription as it is now, or `has_subscription` false.',
  'GET /cabinet/subscription/renewal-options':
    'Lists periods and prices of a renewal, with all discounts of the user, as they would be charged now.',
  'GET /cabinet/subscription/traffic-packages':
    'Lists the traffic packages that can be bought for the own subscription; empty if none can be bought.',
  'GET /cabinet/subscription/trial': 'Returns whether the user can start a trial, and its length, limits and price.',
  'POST /cabinet/subscription/trial': `Starts the trial of the user, once per account. A price, if there is one, is charged to the balance. ${CHARGED}`,
  'GET /cabinet/subscription/purchase-options':
    'Returns what can be bought, at the prices that would be charged: tariffs, or periods, traffic, servers and devices in classic mode.',
  'GET /cabinet/subscription/connection-link': 'Returns the links that client apps connect with, and short instructions.',
  'GET /cabinet/subscription/happ-downloads': 'Returns the addresses where the Happ app is downloaded, by platform.',
  'PATCH /cabinet/subscription/autopay':
    'Switches automatic renewal from the balance and sets how many days before the end it starts. Daily subscriptions have none.',
  'POST /cabinet/subscription/renew': `Renews the own subscription from the balance. If the balance does not suffice, the order is saved until a top-up (402). A trial becomes paid. ${CHARGED}`,
  'POST /cabinet/subscription/purchase-tariff': `Buys a tariff from the balance; an existing subscription is extended or moved to it. If the balance does not suffice, the order is saved until a top-up (402). For tariffs mode. ${CHARGED}`,
  'POST /cabinet/subscription/purchase-preview':
    'Returns what a selection of period, traffic, servers and devices costs, part by part. For classic mode. Charges nothing.',
  'POST /cabinet/subscription/purchase': `Buys a selection of period, traffic, servers and devices from the balance. If the balance does not suffice, the order is saved until a top-up (402). For classic mode. ${CHARGED}`,
  'POST /cabinet/subscription/pause':
    'Pauses a daily subscription, or resumes it. Resuming a stopped subscription charges a day immediately; otherwise nothing is charged. Accepts `Idempotency-Key`.',
  'POST /cabinet/subscription/tariff/switch/preview':
    'Returns what a switch to another tariff costs for the remaining days. Charges nothing.',
  'POST /cabinet/subscription/tariff/switch': `Switches to another tariff; the difference for the remaining days is charged, a cheaper one is free. Bought devices and traffic are lost, and connected devices are removed in the panel. ${CHARGED}`,
  'POST /cabinet/subscription/traffic': `Buys a traffic package for 30 days on top of the limit. A subscription that was closed because its traffic was used up becomes active again. If the balance does not suffice, the order is saved (402). ${CHARGED}`,
  'PUT /cabinet/subscription/traffic': `Replaces the current traffic package with another. A more expensive one is charged for the remaining time, a cheaper one is free without refund. For paid subscriptions without tariff. ${CHARGED}`,
  'POST /cabinet/subscription/traffic/save-cart':
    'Saves the order of a traffic package, to be bought after a top-up. It replaces a saved order. Charges nothing.',
  'GET /cabinet/subscription/devices': 'Lists the connected devices. A panel that does not answer gives an empty list.',
  'POST /cabinet/subscription/devices': `Buys devices for the remaining time, at the price of \`POST /cabinet/subscription/devices/purchase\`. For older clients; new ones use that operation. ${CHARGED}`,
  'DELETE /cabinet/subscription/devices': 'Removes all connected devices in the panel; each connects again with its next use.',
  'GET /cabinet/subscription/devices/price':
    'Returns what more devices cost for the remaining time, or the reason why none can be bought.',
  'POST /cabinet/subscription/devices/purchase': `Buys devices for the remaining time. If the balance does not suffice, the order is saved (402). ${CHARGED}`,
  'POST /cabinet/subscription/devices/save-cart':
    'Saves an order of devices, to be bought after a top-up. It replaces a saved order. Charges nothing.',
  'DELETE /cabinet/subscription/devices/{hwid}':
    'Removes one connected device in the panel; it connects again with its next use.',
  'GET /cabinet/subscription/devices/reduction-info':
    'Returns how far the device limit can be lowered, and the number of connected devices.',
  'POST /cabinet/subscription/devices/reduce':
    'Lowers the device limit without refund. Where more devices are connected, the most recently updated ones are removed. If the panel refuses the change, nothing changes (502).',
  'GET /cabinet/subscription/countries':
    'Lists the servers that the user can connect, at the price that adding one is charged at now; for 30 days without a subscription. Servers that are connected but no longer offered are not listed.',
  'POST /cabinet/subscription/countries': `Connects and disconnects servers: \`countries\` is the whole new list of their UUIDs. Each added server is charged for the remaining time, removing is free. The panel is updated after the answer. ${CHARGED}`,
  'GET /cabinet/subscription/app-config':
    "Returns the panel's guide to connect client apps, with the own links put in: `deepLink` of each app, `resolvedUrl` of each button. The guide is cached, the links never. 404 while no guide is chosen or the panel has none.",
  'POST /cabinet/subscription/refresh-traffic':
    'Reads the used traffic from the panel and stores it, once a minute. Within the minute it returns the last values, with `rate_limited`. A panel that does not answer gives the stored values, with `source` `database`.',
};
