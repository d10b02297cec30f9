import { afterEach, describe, expect, test } from 'vitest';
import { MINUTE_MS } from '../../../src/core/clock.ts';
import { bodySignature } from '../../../src/integrations/payments/mulenpay-provider.ts';
import { unique } from '../../support/builders.ts';
import { mulenpayCase } from '../../support/providers/mulenpay-case.ts';
import type { RawCallback } from '../../support/providers/provider-case.ts';
import { aProviderFixture, factsOf, type ProviderFixture } from '../../support/providers/provider-fixture.ts';
import { riopayCase } from '../../support/providers/riopay-case.ts';

/** Spec 10 M9: callbacks that are accepted are limited too, and no genuine payment is lost to a limit. */
let fixture: ProviderFixture | null = null;
afterEach(async () => {
  await fixture?.close();
  fixture = null;
});

let senders = 0;
const ip = () => `203.0.113.${++senders}`;
const storedOf = async ({ app, method }: ProviderFixture) => {
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
  fixture = await aProviderFixture(riopayCase, { environment: { PAYMENT_CALLBACKS_PER_MINUTE: '3' } });
  const prepared = fixture;
  const genuine = await prepared.callbackOf('pay');
  const [busy, other] = [ip(), ip()];
  // Signed ones, as a captured one that is sent again and again.
  for (let count = 0; count < 3; count++) expect((await prepared.store({ ...genuine, ip: busy })).status).toBe(200);
  const reply = await prepared.server.inject({
    method: 'POST',
    url: genuine.path,
    headers: genuine.headers,
    payload: genuine.body,
    remoteAddress: busy,
  });
  expect([reply.statusCode, reply.headers['retry-after']]).toEqual([429, '60']);
  expect((await prepared.store({ ...genuine, ip: other })).status).toBe(200);
  prepared.t.clock.advance(MINUTE_MS);
  expect((await prepared.deliver({ ...genuine, ip: busy })).status).toBe(200);
  expect(await factsOf(prepared)).toMatchObject({ balance: 50_000, deposits: 1 });
});

test('behind a trusted proxy the sender is counted, not the proxy', async () => {
  fixture = await aProviderFixture(riopayCase, {
    environment: { PAYMENT_CALLBACKS_PER_MINUTE: '1', TRUSTED_PROXIES: '127.0.0.1' },
  });
  const genuine = await fixture.callbackOf('pay');
  const from = (address: string): RawCallback => ({ ...genuine, headers: { ...genuine.headers, 'x-forwarded-for': address } });
  expect((await fixture.store(from('198.51.100.7'))).status).toBe(200);
  expect((await fixture.store(from('198.51.100.7'))).status).toBe(429);
  expect((await fixture.store(from('198.51.100.8'))).status).toBe(200);
});

describe('unsigned bodies', () => {
  test('about orders of nobody leave no row and end in 429 for their sender, while a genuine payment is credited', async () => {
    fixture = await aProviderFixture(mulenpayCase);
    const sender = ip();
    const before = await storedOf(fixture);
    const statuses: number[] = [];
    for (let count = 0; count < 62; count++)
      statuses.push((await fixture.store({ ...unsigned(`order-${unique()}`), ip: sender })).status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(60);
    expect(statuses.at(-1)).toBe(429);
    expect(await storedOf(fixture)).toBe(before);
    expect((await fixture.deliver({ ...(await fixture.callbackOf('pay')), ip: sender })).status).toBe(200);
    expect(await factsOf(fixture)).toMatchObject({ balance: 50_000, deposits: 1 });
  });

  test('about one open order are stored rarely, so that they cost few questions, while the genuine one is repeated and credited', async () => {
    fixture = await aProviderFixture(mulenpayCase);
    const { orderId } = fixture.current;
    let asked = 0;
    fixture.intercept(() => {
      asked += 1;
      return null;
    });
    const replies: number[] = [];
    for (let count = 0; count < 14; count++) replies.push((await fixture.deliver({ ...unsigned(orderId), ip: ip() })).status);
    expect(replies).toEqual([...Array(10).fill(200), ...Array(4).fill(429)]);
    expect(asked).toBeLessThanOrEqual(60);
    const genuine = await fixture.callbackOf('pay');
    expect((await fixture.store(genuine)).status).toBe(429);
    fixture.t.clock.advance(MINUTE_MS);
    expect((await fixture.deliver(genuine)).status).toBe(200);
    expect(await factsOf(fixture)).toMatchObject({ balance: 50_000, deposits: 1 });
    // Credited: nothing is stored of it any more.
    const stored = await storedOf(fixture);
    expect((await fixture.store(unsigned(orderId))).status).toBe(200);
    expect(await storedOf(fixture)).toBe(stored);
  });

  test('with the signature of the shop are stored like those of other providers', async () => {
    fixture = await aProviderFixture(mulenpayCase);
    const before = await storedOf(fixture);
    const members = {
      id: String(unique()),
      amount: '500',
      currency: 'RUB',
      uuid: `order-${unique()}`,
      payment_status: 'success',
    };
    const body = JSON.stringify({ ...members, sign: bodySignature(members, fixture.secret) });
    expect((await fixture.store({ ...unsigned(''), body })).status).toBe(200);
    expect(await storedOf(fixture)).toBe(before + 1);
  });
});
