/**
 * Refusals of one value each, of requests that are right but for it. What only a sample of the hostile values would provoke has its row here:
 * the check of the declared refusals (`npm run refusals -- --check`) must not depend on the sample.
 */
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { testServer } from '../support/api.ts';
import { observeRefusal } from '../support/refusal-recorder.ts';
import { documentOfService } from '../support/served-routes.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { WITH_BAN_SYSTEM } from './ban-system-writes.ts';
import { type DocumentedOperation, operationsOf } from './operation-cases.ts';
import { type RightRequest, rightRequest, wholeRequest } from './right-request.ts';

const operations = new Map<string, DocumentedOperation>(
  operationsOf(documentOfService as never).map((operation) => [`${operation.method} ${operation.path}`, operation] as const),
);

interface Change {
  /** Instead of those of the right body. */
  fields?: Record<string, unknown>;
  query?: Record<string, string>;
  /** Segments of the path: what is there by what comes instead. */
  segment?: [pattern: RegExp, other: string];
  /** Every parameter and field of the document. */
  isWhole?: true;
  /** So often, up to the refusal. */
  times?: number;
}

const NOBODY = 2 ** 31 - 1;
const BELOW_ALL_IDS = -(2 ** 31) - 1;
/** As many characters as the schemas allow; the messenger counts each as two. */
const TOO_LONG = '😀'.repeat(4_000);
const NO_END = { start: '0001-01-01T00:00:00Z' };

const empty = (...names: string[]): Change => ({ fields: Object.fromEntries(names.map((name) => [name, ' '])) });
const unknown = (name: string, id = NOBODY): Change => ({ fields: { [name]: id } });

const OFFERS = ['POST /promo-offers', 'POST /promo-offers/broadcast', 'POST /cabinet/admin/promo-offers/broadcast'];
const MINIAPP = '/miniapp/subscription';
/** The field that names the subscription, by operation. */
const SUBSCRIPTION_FIELDS: [operation: string, field: string][] = [
  [`POST ${MINIAPP}/renewal/options`, 'subscriptionId'],
  [`POST ${MINIAPP}/renewal`, 'subscriptionId'],
  [`POST ${MINIAPP}/traffic-topup`, 'subscriptionId'],
  [`POST ${MINIAPP}/settings`, 'subscription_id'],
  [`POST ${MINIAPP}/servers`, 'subscription_id'],
  [`POST ${MINIAPP}/traffic`, 'subscription_id'],
  [`POST ${MINIAPP}/devices`, 'subscription_id'],
];
const CHECK = 'POST /cabinet/balance/pending-payments/{method}/{payment_id}/check';
const REFERRAL_CONTESTS = ['POST /contests/referral', 'POST /contests/contests/referral'];
const MAILINGS = ['POST /broadcasts', 'POST /cabinet/admin/broadcasts', 'POST /cabinet/admin/broadcasts/send'];
const PINNED = ['PATCH /pinned-messages/{message_id}', 'PATCH /cabinet/admin/pinned-messages/{message_id}'];
const NODE_USAGE = ['GET /vpnpanel/nodes/{node_uuid}/usage', 'GET /cabinet/admin/vpnpanel/nodes/{node_uuid}/usage'];

type Row = [operation: string, change: Change, status: number, code: string];

const ROWS: Row[] = [
  ['POST /users', unknown('promo_group_id'), 400, 'promo_group_not_found'],
  ['POST /users', unknown('referred_by_id'), 400, 'referrer_not_found'],
  ['POST /users/{user_id}/balance', unknown('amount_kopeks', Number.MAX_SAFE_INTEGER), 400, 'amount_too_large'],
  [
    'POST /users/{user_id}/subscription',
    { fields: { replace_existing: true, squad_uuid: 'no-server' } },
    404,
    'server_not_found',
  ],
  ...OFFERS.flatMap((name): Row[] => [
    [name, empty('effect_type'), 400, 'effect_type_empty'],
    [name, empty('notification_type'), 400, 'notification_type_empty'],
    [name, unknown('user_id'), 404, 'user_not_found'],
  ]),
  ['POST /promo-offers', unknown('messenger_id'), 400, 'user_mismatch'],
  ['POST /promo-offers', unknown('subscription_id'), 404, 'subscription_not_found'],
  ['POST /promo-offers/broadcast', { isWhole: true }, 400, 'user_mismatch'],
  ['POST /promo-offers/broadcast', unknown('subscription_id'), 400, 'offer_one_subscription'],
  ['POST /cabinet/admin/promo-offers/broadcast', { fields: { user_id: null } }, 400, 'no_recipients'],
  ...MAILINGS.map((name): Row => [name, { fields: { message_text: TOO_LONG } }, 400, 'message_too_long']),
  ...PINNED.map((name): Row => [name, { fields: { content: TOO_LONG } }, 400, 'message_too_long']),
  ...REFERRAL_CONTESTS.map((name): Row => [name, { fields: { end_at: '0001-01-01T00:00:00Z' } }, 400, 'contest_period']),
  ['POST /menu-layout/rows/reorder', { fields: { ordered_ids: ['a_row', 'a_row'] } }, 400, 'menu_rows_repeated'],
  ...NODE_USAGE.map((name): Row => [name, { query: NO_END }, 400, 'date_range_too_long']),
  ['POST /cabinet/auth/email/register/standalone', { times: 20 }, 429, 'rate_limited'],
  ['POST /cabinet/auth/password/reset', { times: 20 }, 429, 'rate_limited'],
  ['GET /cabinet/admin/referral-network/scoped', { times: 20 }, 429, 'rate_limited'],
  [CHECK, { segment: [/[^/]+\/[^/]+\/check$/, 'barter/1/check'] }, 400, 'invalid_payment_method'],
  ['POST /cabinet/subscription/pause', {}, 400, 'no_tariff'],
  ['PUT /cabinet/subscription/traffic', { times: 2 }, 400, 'same_package'],
  ['DELETE /cabinet/subscription/devices/{hwid}', {}, 400, 'no_panel_user'],
  ['POST /cabinet/contests/{round_id}/answer', { segment: [/\d+/, '0'] }, 404, 'contest_round_over'],
  ...SUBSCRIPTION_FIELDS.flatMap(([name, field]): Row[] => [
    [name, unknown(field, BELOW_ALL_IDS), 400, 'invalid_subscription_id'],
    [name, unknown(field), 403, 'subscription_mismatch'],
  ]),
  [`POST ${MINIAPP}/traffic`, unknown('traffic'), 400, 'traffic_unavailable'],
  ['GET /cabinet/admin/ban-system/settings/{key}', { segment: [/[^/]+$/, 'no_such_key'] }, 502, 'ban_system_failed'],
  ['POST /cabinet/admin/traffic/export-csv', { fields: { start_date: 'text', end_date: 'text' } }, 400, 'invalid_date'],
  ['PUT /cabinet/admin/rbac/roles/{role_id}', { fields: { permissions: ['no:such'] } }, 400, 'permissions_unknown'],
  ['PUT /cabinet/admin/rbac/policies/{policy_id}', unknown('role_id'), 404, 'role_not_found'],
  ['PUT /cabinet/admin/rbac/policies/{policy_id}', { fields: { role_id: null } }, 403, 'policy_out_of_reach'],
  ['PATCH /cabinet/admin/promocodes/{promocode_id}', unknown('promo_group_id'), 404, 'promo_group_not_found'],
  ['PATCH /cabinet/admin/partners/settings', { fields: { withdrawal_requisites_text: 'a\u0000b' } }, 400, 'setting_wrong_type'],
  ['POST /cabinet/admin/partners/applications/{application_id}/reject', { times: 2 }, 400, 'application_processed'],
];

let t: TestApp;
let server: FastifyInstance;
/** Status and code of the last refusal. */
let refused: [number, string] | null = null;

beforeAll(async () => {
  t = await testApp({ environment: { YOOKASSA_RECURRENT_ENABLED: 'true', ...WITH_BAN_SYSTEM } });
  server = await testServer(t.app, (operation, refusal) => {
    observeRefusal(operation, refusal);
    refused = [refusal.status, refusal.code];
  });
});
beforeEach(async () => {
  refused = null;
  await t.app.db.sql('DELETE FROM rate_limit_windows');
});
afterAll(() => server.close());

const shown = ({ times, ...change }: Change): string => JSON.stringify(change, (_key, value) => textOf(value)).slice(0, 80);
const textOf = (value: unknown): unknown => (value instanceof RegExp ? String(value) : value);

test.each(ROWS.map(([name, change, status, code]) => ({ name, change, status, code, shown: shown(change) })))(
  '$name $shown: $status $code',
  async ({ name, change, status, code }) => {
    const operation = operations.get(name)!;
    const right = await rightRequest(t, server, name, operation);
    const { client, path, body } = change.isWhole ? wholeRequest(right, operation)! : right;
    const sent = change.fields ? { ...(body as object), ...change.fields } : body;
    for (let count = 0; count < (change.times ?? 1); count++) {
      refused = null;
      await client.send(operation.method, pathOf(path, change), sent, { query: change.query });
      if (isSame(refused, [status, code])) break;
    }
    expect(refused).toEqual([status, code]);
  },
);

const pathOf = (path: RightRequest['path'], { segment }: Change): string =>
  segment ? path.replace(segment[0], segment[1]) : path;

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
