import { afterEach, describe, expect, test } from 'vitest';
import { MINUTE_MS } from '../../../src/core/clock.ts';
import { bodySignature } from '../../../src/integrations/payments/mulenpay-provider.ts';
import { unique } from '../../support/builders.ts';
import { mulenpayCase } from '../../support/providers/mulenpay-case.ts';
import type { RawCallback } from '../../support/providers/provider-case.ts';
import { aProviderStage, factsOf, type ProviderStage } from '../../support/providers/provider-stage.ts';
import { riopayCase } from '../../support/providers/riopay-case.ts';

/** Spec 10 M9: callbacks that are accepted are limited too, and no genuine payment is lost to a limit. */
let stage: ProviderStage | null = null;
afterEach(async () => {
  await stage?.close();
  stage = null;
});

let senders = 0;
const ip = () => `203.0.113.${++senders}`;
const storedOf = async ({ app, method }: ProviderStage) => {
  const [row] = await app.db.sql<{ count: number }>('SELECT count(*)::int AS count FROM provider_callbacks WHERE provider = $1', [
    method,
  ]);
  return row!.count;
};

/** An unsigned body as anybody can make it; each is another event. */
function unsigned(orderId: string): RawCallback {
  const body = JSON.stringify({ id: unique(), amount: 500, currency: 'RUB', uuid: orderId, payment_status: 'success' });
  return { path: '/mulenpay-webhook', headers: { 'content-type': 'application/json' }, body };
}

test('of all senders: above the limit of the address 429 with Retry-After, and the repeat of the genuine one is credited', async () => {
  stage = await aProviderStage(riopayCase, { environment: { PAYMENT_CALLBACKS_PER_MINUTE: '3' } });
  const staged = stage;
  const genuine = await staged.callbackOf('pay');
  const [busy, other] = [ip(), ip()];
  // Signed ones, as a captured one that is sent again and again.
  for (let count = 0; count < 3; count++) expect((await staged.store({ ...genuine, ip: busy })).status).toBe(200);
  const reply = await staged.server.inject({
    method: 'POST',
    url: genuine.path,
    headers: genuine.headers,
    payload: genuine.body,
    remoteAddress: busy,
  });
  expect([reply.statusCode, reply.headers['retry-after']]).toEqual([429, '60']);
  expect((await staged.store({ ...genuine, ip: other })).status).toBe(200);
  staged.t.clock.advance(MINUTE_MS);
  expect((await staged.deliver({ ...genuine, ip: busy })).status).toBe(200);
  expect(await factsOf(staged)).toMatchObject({ balance: 50_000, deposits: 1 });
});

test('behind a trusted proxy the sender is counted, not the proxy', async () => {
  stage = await aProviderStage(riopayCase, { environment: { PAYMENT_CALLBACKS_PER_MINUTE: '1', TRUSTED_PROXIES: '127.0.0.1' } });
  const genuine = await stage.callbackOf('pay');
  const from = (address: string): RawCallback => ({ ...genuine, headers: { ...genuine.headers, 'x-forwarded-for': address } });
  expect((await stage.store(from('198.51.100.7'))).status).toBe(200);
  expect((await stage.store(from('198.51.100.7'))).status).toBe(429);
  expect((await stage.store(from('198.51.100.8'))).status).toBe(200);
});

describe('unsigned bodies', () => {
  test('about orders of nobody leave no row; their sender is answered 429 in the end, and a genuine payment is credited meanwhile', async () => {
    stage = await aProviderStage(mulenpayCase);
    const sender = ip();
    const before = await storedOf(stage);
    const statuses: number[] = [];
    for (let count = 0; count < 62; count++)
      statuses.push((await stage.store({ ...unsigned(`order-${unique()}`), ip: sender })).status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(60);
    expect(statuses.at(-1)).toBe(429);
    expect(await storedOf(stage)).toBe(before);
    expect((await stage.deliver({ ...(await stage.callbackOf('pay')), ip: sender })).status).toBe(200);
    expect(await factsOf(stage)).toMatchObject({ balance: 50_000, deposits: 1 });
  });

  test('about one open order are stored rarely, so that they cost few questions; the genuine one is repeated and credited', async () => {
    stage = await aProviderStage(mulenpayCase);
    const { orderId } = stage.current;
    let asked = 0;
    stage.intercept(() => {
      asked += 1;
      return null;
    });
    const replies: number[] = [];
    for (let count = 0; count < 14; count++) replies.push((await stage.deliver({ ...unsigned(orderId), ip: ip() })).status);
    expect(replies).toEqual([...Array(10).fill(200), ...Array(4).fill(429)]);
    expect(asked).toBeLessThanOrEqual(60);
    const genuine = await stage.callbackOf('pay');
    expect((await stage.store(genuine)).status).toBe(429);
    stage.t.clock.advance(MINUTE_MS);
    expect((await stage.deliver(genuine)).status).toBe(200);
    expect(await factsOf(stage)).toMatchObject({ balance: 50_000, deposits: 1 });
    // Credited: nothing is stored of it any more.
    const stored = await storedOf(stage);
    expect((await stage.store(unsigned(orderId))).status).toBe(200);
    expect(await storedOf(stage)).toBe(stored);
  });

  test('with the signature of the shop are stored like those of other providers', async () => {
    stage = await aProviderStage(mulenpayCase);
    const before = await storedOf(stage);
    const members = {
      id: String(unique()),
      amount: '500',
      currency: 'RUB',
      uuid: `order-${unique()}`,
      payment_status: 'success',
    };
    const body = JSON.stringify({ ...members, sign: bodySignature(members, stage.secret) });
    expect((await stage.store({ ...unsigned(''), body })).status).toBe(200);
    expect(await storedOf(stage)).toBe(before + 1);
  });
});
