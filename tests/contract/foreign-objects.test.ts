/** What belongs to somebody else answers like what does not exist; which operations name such things is read from the document. */

import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ActorClient, userClient } from '../support/actors.ts';
import { type ApiClient, type ApiReply, testServer } from '../support/api.ts';
import { sandboxPaymentMethodIsListed } from '../support/payment-samples.ts';
import { aStoredSubscription, rowOf, topUp } from '../support/sale-samples.ts';
import { documentOfService } from '../support/served-routes.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { type DocumentedOperation, operationsOf } from './operation-cases.ts';
import { aCard, aPayment, OWNED } from './owned-objects.ts';

const operations = operationsOf(documentOfService as never);
const personal = operations.filter((operation) => operation.auth === 'JWT');
const nameOf = (operation: DocumentedOperation) => `${operation.method} ${operation.path}`;
const UNKNOWN_ID = 2_147_000_000;

let t: TestApp;
let server: FastifyInstance;
let owner: ActorClient;
let stranger: ActorClient;

beforeAll(async () => {
  t = await testApp({ environment: { YOOKASSA_RECURRENT_ENABLED: 'true' } });
  server = await testServer(t.app);
  await sandboxPaymentMethodIsListed(t.app);
  owner = await userClient(t.app, server);
  stranger = await userClient(t.app, server);
});
afterAll(() => server.close());

/** What the path names is everybody's. */
const SHARED_THINGS = ['GET /cabinet/contests/{round_id}', 'POST /cabinet/contests/{round_id}/answer'];

/** Ids in bodies and queries that name things of the service or of what the path names. */
const SHARED_REFERENCES = [
  'POST /cabinet/contests/{round_id}/answer round_id',
  'POST /cabinet/gift/purchase tariff_id',
  'POST /cabinet/subscription/purchase-tariff tariff_id',
  'POST /cabinet/subscription/tariff/switch/preview tariff_id',
  'POST /cabinet/subscription/tariff/switch tariff_id',
  'POST /cabinet/polls/{response_id}/questions/{question_id}/answer option_id',
  'POST /cabinet/tickets media_file_id',
  'POST /cabinet/tickets/{ticket_id}/messages media_file_id',
];

function send(client: ApiClient, operation: DocumentedOperation, path: string, body: unknown): Promise<ApiReply> {
  if (operation.method === 'GET') return client.get(path);
  if (operation.method === 'DELETE') return client.delete(path);
  return operation.method === 'PATCH' ? client.patch(path, body) : client.post(path, body);
}

test('every operation that could name a foreign thing is known here', () => {
  const byPath = personal.filter((operation) => operation.idParameters.length > 0).map(nameOf);
  const named = Object.entries(OWNED);
  const owned = named.flatMap(([name, { inBody }]) => (inBody === undefined ? [name] : []));
  expect(byPath.sort()).toEqual([...owned, ...SHARED_THINGS].sort());
  const ownedInBody = named.map(([name, { inBody }]) => `${name} ${inBody}`);
  const isReference = (name: string) => /(^|_)(id|ids|uuid)$/.test(name) && name !== 'device_id';
  const elsewhere = personal.flatMap((operation) => {
    const inQuery = operation.parameters.filter((parameter) => parameter.in === 'query').map((parameter) => parameter.name);
    const inBody = Object.keys((operation.example ?? {}) as object);
    return [...inQuery, ...inBody].filter(isReference).map((name) => `${nameOf(operation)} ${name}`);
  });
  expect(elsewhere.filter((name) => !SHARED_REFERENCES.includes(name) && !ownedInBody.includes(name))).toEqual([]);
});

describe('a foreign thing is an unknown one', () => {
  const named = personal
    .filter((operation) => nameOf(operation) in OWNED)
    .map((operation) => [nameOf(operation), operation] as const);

  test.each(named)('%s', async (name, operation) => {
    const { make, table, isSilent, inBody, ofOwner = 200 } = OWNED[name]!;
    const { id, pathWith, body } = await make({ app: t.app, owner });
    const ask = (client: ApiClient, thingId: number) =>
      send(client, operation, pathWith(thingId), inBody === undefined ? body : { [inBody]: thingId });
    const row = () => rowOf(t.app, `SELECT * FROM ${table} WHERE id = $1::int`, [id]);
    const before = await row();
    expect(before).toBeDefined();
    const foreign = await ask(stranger, id);
    const unknown = await ask(stranger, UNKNOWN_ID);
    expect(unknown.status, unknown.text).toBe(isSilent ? 200 : 404);
    expect({ status: foreign.status, body: foreign.body }).toEqual({ status: unknown.status, body: unknown.body });
    expect(await row()).toEqual(before);
    // The same request by its owner finds it.
    const byOwner = await ask(owner, id);
    expect(byOwner.status, byOwner.text).toBe(ofOwner);
    if (isSilent) expect(await row()).not.toEqual(before);
  });
});

describe('what a user reads holds nothing of another', () => {
  const readings = personal
    .filter((operation) => operation.method === 'GET' && operation.idParameters.length === 0 && !operation.path.includes('{'))
    .map((operation) => [nameOf(operation), operation] as const);
  const MARK = 'a9f41c-marked';

  beforeAll(async () => {
    await topUp(t.app, owner.user.id, 77_131);
    await aPayment({ app: t.app, owner });
    await aCard({ app: t.app, owner });
    await aStoredSubscription(t.app, owner.user.id, {
      vpnpanel_short_uuid: MARK,
      subscription_url: `https://panel.example.com/${MARK}`,
    });
    await t.app.db.sql(
      `UPDATE users SET first_name = $2, email = $3, email_verified = true, google_id = $2 WHERE id = $1::int RETURNING id`,
      [owner.user.id, MARK, `${MARK}@example.com`],
    );
    const { app } = t;
    await app.cache.forget(app, [`user:${owner.user.id}`]);
  });

  test('the marks can be seen by their owner', async () => {
    const seen = await Promise.all(readings.map(([, operation]) => owner.get(operation.path)));
    const text = seen.map((reply) => reply.text).join('\n');
    for (const mark of [MARK, '77131', '*9911']) expect(text).toContain(mark);
  });

  test.each(readings)('%s', async (_name, operation) => {
    const reply = await stranger.get(operation.path);
    for (const mark of [MARK, '77131', '*9911', String(owner.user.messengerId)]) expect(reply.text).not.toContain(mark);
  });
});
