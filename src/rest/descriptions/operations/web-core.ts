/** Web API: health, tokens, users, transactions, statistics, subscriptions, servers, events. */
export const WEB_CORE: Readonly<Record<string, string>> = {
  'GET /health':
    'Returns the release and which parts of the service are enabled. Does not use the database and needs no credential.',
  'GET /livez':
    'Liveness probe for an orchestrator: 200 while the process works, 503 when nothing could be read from the database for two minutes although a new connection to it works: then only a new process helps. Does not use the database itself and needs no credential.',
  'GET /readyz':
    'Readiness probe for a load balancer: 200 while requests may be sent here, 503 during start and shutdown while the database does not answer within a second or accepts no writes, and while the clock of the machine differs from the clock of the database by more than 30 seconds. Needs no credential.',
  'GET /health/database':
    'Sends a probe to the database, waits for at most 5 seconds, and returns its duration and the counters of the connection pool. The status is 200 in every case; read `status`.',
  'GET /metrics/pool': 'Returns the counters of the connection pool. They are zero where the pool gives none.',

  'GET /tokens': 'Lists all API tokens, inactive ones included, newest first. The tokens themselves are never returned again.',
  'POST /tokens':
    'Creates an active API token and returns it once in `token`; only its hash is stored. The name of the calling token is recorded as creator.',
  'POST /tokens/{token_id}/revoke':
    'Revokes a token: it is refused from now on and its open feeds are closed. Repeating the call changes nothing. A token may revoke itself.',
  'POST /tokens/{token_id}/activate': 'Activates a token again. Repeating the call changes nothing.',
  'DELETE /tokens/{token_id}':
    'Deletes a token permanently. The token of the setting `WEB_API_DEFAULT_TOKEN` is created again at its next use.',

  'GET /users':
    'Lists users, newest first, filtered by status, primary promo group and text. Pages are given by `limit` and `offset` or by `page` and `per_page`.',
  'POST /users':
    'Creates a user with a referral code in the default promo group, or the given one. A messenger id can belong to one user only. Emits `user.created`.',
  'GET /users/{user_id}':
    'Returns a user with the subscription and the primary promo group. The number is looked up as messenger id first, then as internal id.',
  'PATCH /users/{user_id}':
    'Changes fields of a user; absent or null fields are not changed. A change of status applies to the cabinet immediately; a promo group becomes the only manually assigned one.',
  'GET /users/by-messenger-id/{messenger_id}':
    'Returns the user with this messenger id, with the subscription and the primary promo group.',
  'POST /users/{user_id}/balance':
    'Adds to the balance of a user, or takes from it when the amount is negative; the balance cannot become negative. Records a movement of type `deposit` or `withdrawal` unless `create_transaction` is false, and emits `payment.completed` or `transaction.created`. Accepts `Idempotency-Key`.',
  'POST /users/{user_id}/subscription':
    'Gives a user a subscription without charging. An existing one is refused, or overwritten with `replace_existing`. The user is created or changed in the panel afterwards.',
  'DELETE /users/{user_id}/subscription':
    'Disables the subscription of a user: the status becomes `disabled`, the row remains. The user is disabled in the panel afterwards. Nothing is refunded.',

  'GET /transactions':
    'Lists movements of money of all users, newest first. Amounts are signed as they are stored. All filters are combined.',

  'GET /stats/overview':
    'Counts users, subscriptions and open tickets and sums up balances and the top-ups of today. The numbers are exact; days begin at 00:00 UTC.',
  'GET /stats/full':
    'Returns the overview together with statistics of users, subscriptions, trials, movements of money and referrals. The numbers are exact; days begin at 00:00 UTC.',

  'GET /subscriptions': 'Lists subscriptions, newest first, as a plain array. All filters are combined.',
  'POST /subscriptions':
    'Gives a user a trial or a paid subscription without charging. A paid one needs `period_days` or `duration_days`; other absent values are taken from the settings. The user is created or changed in the panel afterwards.',
  'GET /subscriptions/{subscription_id}': 'Returns a subscription with its stored and its effective status.',
  'DELETE /subscriptions/{subscription_id}':
    'Disables a subscription: the status becomes `disabled`, the row remains. The user is disabled in the panel afterwards.',
  'POST /subscriptions/{subscription_id}/extend':
    'Adds days without charging: from the end where it is in the future, else from now. An expired, disabled or limited subscription becomes active. The panel is updated afterwards.',
  'POST /subscriptions/{subscription_id}/traffic':
    'Adds traffic for 30 days without charging; an unlimited subscription stays unlimited. An expired, disabled or limited subscription whose end is in the future becomes active. The panel is updated afterwards.',
  'POST /subscriptions/{subscription_id}/devices':
    'Raises the device limit without charging, at most to the setting `MAX_DEVICES_LIMIT`. The panel is updated afterwards.',
  'POST /subscriptions/{subscription_id}/squads':
    'Connects a server to the subscription, if it is not connected yet. The panel is updated afterwards.',
  'DELETE /subscriptions/{subscription_id}/squads/{squad_uuid}':
    'Disconnects a server from the subscription, if it is connected. The panel is updated afterwards.',

  'GET /servers': 'Lists servers by their place and name, page by page.',
  'POST /servers':
    'Creates a server for an internal squad of the panel. Each squad has one server; it needs at least one promo group.',
  'GET /servers/stats': 'Counts servers, those on sale and those in use, and sums up what was paid for servers.',
  'GET /servers/{server_id}': 'Returns a server with its promo groups.',
  'PATCH /servers/{server_id}': 'Changes fields of a server; only fields that are sent change. The panel is not changed.',
  'DELETE /servers/{server_id}': 'Deletes a server that no subscription uses. The squad in the panel stays.',
  'GET /servers/{server_id}/users': 'Lists users whose subscription uses the server, by user id.',
  'POST /servers/sync':
    'Reads the internal squads of the panel: those of the first call become servers on sale, later ones servers that are not on sale, names are refreshed, servers without squad are deleted. A panel that gives no squads changes nothing and is answered with 502 and the reason.',
  'POST /servers/sync-counts': 'Counts the active subscriptions of every server anew.',

  'GET /notifications/subscriptions':
    'Lists events in the life of subscriptions, newest first. The service records purchases, renewals, trials, top-ups, promo codes and changes of groups.',
  'POST /notifications/subscriptions':
    'Records an event of a user. Subscription and transaction must belong to the user. Nothing is sent and no money is moved. Repeating the call records it again.',

  'GET /webhooks': 'Lists webhooks, newest first.',
  'POST /webhooks':
    'Creates an active webhook for one type of event. The secret is stored and never returned. Deliveries begin with the next event.',
  'GET /webhooks/stats': 'Counts webhooks and stored deliveries and gives the rate of success.',
  'GET /webhooks/{webhook_id}': 'Returns a webhook without its secret.',
  'PATCH /webhooks/{webhook_id}':
    'Changes a webhook; absent or null fields are not changed. The type of event cannot be changed. Switching it on again begins with the next event.',
  'DELETE /webhooks/{webhook_id}': 'Deletes a webhook with its stored deliveries. Deliveries in progress are dropped.',
  'GET /webhooks/{webhook_id}/deliveries': 'Lists deliveries of a webhook, newest first, with the answers of the receiver.',
};
