/** The text at the head of the API document (Markdown). */
export const INTRODUCTION = `Back end of a service that sells VPN subscriptions through a messenger bot, a cabinet and sales pages.

# Areas and credentials

| Area | Paths | Credential |
|---|---|---|
| Web API | everything outside of \`/cabinet\` and \`/miniapp\` | API token in \`X-API-Key\`, or as \`Authorization: Bearer\` |
| Mini-app | \`/miniapp/…\` | signed launch data of the messenger in the body, \`initData\` |
| Cabinet | \`/cabinet/…\` | \`Authorization: Bearer <access token>\` of a sign-in |
| Administration | \`/cabinet/admin/…\` | the same, of an administrator with the permission in \`x-permissions\` |

Each operation names its area in \`x-area\` and its credential in \`x-auth\` (\`NONE\`, \`KEY\`, \`JWT\`, \`JWT_ADMIN\`). API tokens may
be limited to scopes (\`x-token-scope\` is the one that an operation needs) and to addresses; without limits they may do everything: use
them on servers only. Access tokens are valid for 15 minutes and are renewed by \`POST /cabinet/auth/refresh\`, which returns the
same refresh token for its whole life. A client that stores a new one each time asks for that at its sign-in (\`rotate_refresh_token\`): then
using an old one again ends the session. The settings \`WEB_API_ENABLED\` and \`CABINET_ENABLED\` can
disable an area: its operations then answer 404.

The cabinet also checks, in this order: the account is active (403), is not blacklisted (403 \`blacklisted\`), the service is not under
maintenance (503 \`maintenance\`), required channels are joined (403 \`channel_subscription_required\`).

All operations are also procedures of \`/trpc\`, with the same credentials and rules.

# Requests and answers

Bodies are JSON (UTF-8, at most 1 MiB) unless an operation says otherwise. Unknown fields are ignored. An operation without a body
accepts none, with or without a content type. Query values are read as the type of their schema; a list is given by repeating the key.
A path is served with and without a trailing slash, except for the restore and the deletion of a backup.

Every success has status 200 and a JSON body, also creations and deletions. Exceptions are redirects (302), file downloads and a sign-in
that is not confirmed yet (202).

# Idempotency

Operations that move money accept \`Idempotency-Key\` (1 to 255 characters, chosen by the client, unique per caller). The same key with
the same body returns the first answer for 24 hours; with another body it is refused (422). Of two concurrent requests only one is
executed. After a time-out repeat the request with the same key.

# Paging

Lists take \`limit\` and \`offset\`, or \`page\` and \`per_page\`, within the bounds of their schemas, and return \`total\`. The order is
stable. A page past the end is an empty list, not an error.

# Times

All times are UTC. Answers are ISO 8601 with \`Z\`. Requests may also give a time without zone (read as UTC), a date, or Unix seconds or
milliseconds.

# Money

Amounts are whole kopeks (1 ruble = 100 kopeks) in fields that end in \`_kopeks\`. Fields that end in \`_rubles\` are kopeks / 100, for display.
Discounts in percent are rounded down. The balance of a user is never negative.

# Quotes

A preview answers, beside the price, a signed \`quote\` of it: previews of a purchase and of a switch, periods of a renewal, of a tariff
and of a gift, packages of traffic, the price of devices. It is valid for 10 minutes. A purchase that sends it back as \`quote\` is charged
exactly that price, or refused with 409 \`quote_changed\` (\`reason\`: \`price\`, \`terms\`, \`expired\`) with the new \`price_kopeks\`
and \`quote\`, and nothing is charged. A text that is no quote for this user and purchase is refused with 422. Without a quote the price of
the moment is charged.

# Errors

\`{"detail": "sentence"}\` or \`{"detail": {"code": "machine_code", "message": "sentence", …}}\`. Sentences are for people. Each
operation lists its refusals with status, machine code and an example in which \`<n>\` stands for a number and \`<id>\` for an identifier.
Over tRPC the machine code of every refusal is in \`data.appCode\`.

| Status | Meaning |
|---|---|
| 400 | refused by a rule |
| 401 | credential missing or not valid; \`WWW-Authenticate: Bearer\` in the cabinet |
| 402 | the balance does not suffice |
| 403 | authenticated, but not allowed |
| 404 | unknown id, or unknown path |
| 405 | unknown method of the path, with \`Allow\` |
| 409 | conflict with another record or with a run in progress |
| 410 | expired |
| 413, 415 | body too large, or of a wrong media type |
| 422 | a value is not valid |
| 429 | too many requests, with \`Retry-After\` in seconds |
| 500 | internal error |
| 502, 503, 504 | an outside system or the database does not answer; try again |

A value that is not valid is answered by 422 and one entry for each problem: \`{"detail": [{"loc": ["body", "amount_kopeks"], "msg": "…",
"type": "greater_than_equal", "input": 5, "ctx": {"ge": 100}}]}\`. \`loc\` names the place, \`type\` the rule, \`ctx\` its bound.

# Webhooks

An active webhook receives each event of its type by POST, with the payload as JSON body. Headers:

| Header | Content |
|---|---|
| \`X-Webhook-Event\`, \`X-Webhook-Id\` | type of the event, id of the webhook |
| \`X-Webhook-Signature\` | \`sha256=\` and the hexadecimal HMAC-SHA256 of the body with the secret; absent without a secret |
| \`webhook-id\`, \`webhook-timestamp\`, \`webhook-signature\` | the same delivery by the rules of Standard Webhooks |

Any status from 200 to 299 is a success. Otherwise the delivery is repeated after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h, with some
jitter; \`Retry-After\` is honoured within bounds. An answer of 410, or failures for 5 days, disable the webhook. A delivery can arrive
more than once; repeated deliveries have the same \`webhook-id\`. Redirects are not followed, and private addresses are refused.

# Live feeds

\`/ws?token=<API token>\` sends all events as \`{type, payload, timestamp}\`; \`timestamp\` is UTC without a zone. The token can also be the
header \`X-API-Key\` or the subprotocol \`bearer.<API token>\`, which access logs do not contain. \`/cabinet/ws?token=<access
token>\` sends the events of the signed-in user, and of tickets to administrators. \`{"type": "ping"}\` is answered by \`{"type":
"pong"}\`. A connection without a valid token is closed with code 1008.

Every message except \`pong\` has an \`id\`, an opaque text: a position in the feed, which is another one for the same event after a resume.
Events also have an \`event_id\`, which is the same on every instance and after every resume: it recognizes repeats. A client that connects again adds \`&after=<id of its last message>\` and receives what
it missed, each event once and in order, before the new ones. The first message then has \`resumed: true\`. With \`resumed: false\` the
\`id\` is unknown or more than 7 days old: load again what is shown.

# Limits

Sign-in, sales pages and some costly operations are limited by address or by user; beyond the limit they answer 429. A JSON body has at
most 1 MiB, a tRPC batch at most 20 calls.

# Sandbox

Outside of production, while no panel, payment provider, messenger or mail server is configured, built-in fakes replace them. \`GET /health\`
lists them in \`sandbox\`. With all fakes, no request leaves the machine.
`;
