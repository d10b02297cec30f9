/**
 * Sends every served operation an id that no thing has; what is refused before any SQL is in `tests/protocol`. What an operation is,
 * is read from the document that clients read.
 */

import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { adminClient, userClient } from '../support/actors.ts';
import { type ApiClient, clientOf, testServer, tokenClient } from '../support/api.ts';
import { initDataOf } from '../support/init-data.ts';
import { sampleOf } from '../support/matrix-sample.ts';
import { documentOfService } from '../support/served-routes.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { type DocumentedOperation, minimalBody, operationsOf, pathFor, signExamples } from './operation-cases.ts';

const operations = operationsOf(documentOfService as never);
const named = operations.map((operation) => [`${operation.method} ${operation.path}`, operation] as const);
const UNKNOWN_ID = 2_147_000_000;

let t: TestApp;
let server: FastifyInstance;
const clients = new Map<string, ApiClient>();

beforeAll(async () => {
  t = await testApp({ environment: { YOOKASSA_RECURRENT_ENABLED: 'true' } });
  server = await testServer(t.app);
  clients.set('NONE', clientOf(server));
  clients.set('KEY', await tokenClient(t.app, server));
  const user = await userClient(t.app, server);
  clients.set('JWT', user);
  signExamples(operations, initDataOf(t, user.user));
  clients.set('JWT_ADMIN', await adminClient(t.app, server, ['*:*'], 900));
});
// The walk asks limited operations more often than one address may.
beforeEach(() => t.app.db.sql('DELETE FROM rate_limit_windows'));
afterAll(() => server.close());

const allowed = (operation: DocumentedOperation) => clients.get(operation.auth)!;

const send = (client: ApiClient, { method }: DocumentedOperation, path: string, body: unknown) => client.send(method, path, body);

/**
 * Having nothing is no failure: nothing to mark for an unknown thing, nothing that it pressed (spec 05 sections 2 and 7.5, spec 04
 * section 10.4).
 */
const HAS_NOTHING = [
  ...['/notifications/ticket/{ticket_id}/read', '/stats/users/{user_id}/sequences', '/contests/daily/rounds/{round_id}/attempts'],
];

/**
 * Refused otherwise than by 404 where the specification says so (spec 04 sections 3.2 and 3.3: who is no partner has no campaign;
 * section 10.5: who has no subscription plays no contest; spec 03 section 6: decisions on withdrawals).
 */
const OTHER_REFUSALS: Record<string, number> = {
  'POST /cabinet/admin/partners/applications/{application_id}/approve': 400,
  'POST /cabinet/admin/partners/applications/{application_id}/reject': 400,
  'POST /cabinet/admin/partners/{user_id}/revoke': 400,
  'POST /cabinet/admin/withdrawals/{withdrawal_id}/approve': 400,
  'POST /cabinet/admin/withdrawals/{withdrawal_id}/reject': 400,
  'POST /cabinet/admin/withdrawals/{withdrawal_id}/complete': 400,
  'GET /cabinet/referral/partner/campaigns/{campaign_id}/stats': 403,
  // A request without any field, which is refused first (spec 10 R4).
  'PUT /cabinet/admin/wheel/prizes/{prize_id}': 400,
  'GET /cabinet/contests/{round_id}': 403,
  'POST /cabinet/contests/{round_id}/answer': 403,
};

/** Conditions of the query without which nothing is looked up. */
function requiredQuery({ parameters }: DocumentedOperation): string {
  const flags = parameters.filter(
    (parameter) => parameter.in === 'query' && parameter.required && parameter.schema.type === 'boolean',
  );
  return flags.length === 0 ? '' : `?${flags.map(({ name }) => `${name}=true`).join('&')}`;
}

describe('unknown ids', () => {
  const addressed = named.filter(
    ([name, operation]) => operation.idParameters.length > 0 && !HAS_NOTHING.some((suffix) => name.endsWith(suffix)),
  );
  test.each(sampleOf(addressed, ([name]) => name))('%s is 404', async (name, operation) => {
    const path = `${pathFor(operation, UNKNOWN_ID)}${requiredQuery(operation)}`;
    const reply = await send(allowed(operation), operation, path, minimalBody(operation));
    expect(reply.status, JSON.stringify(reply.body)).toBe(OTHER_REFUSALS[name] ?? 404);
    // The mini-app tells its refusals as objects with a code (spec 02 section 12.1).
    const detail = operation.tag === 'miniapp' ? reply.body.detail.code : reply.body.detail;
    expect(typeof detail).toBe('string');
  });
});
