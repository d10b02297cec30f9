import { generateKeyPairSync, sign } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import type { ProviderCallback } from '../../../src/domain/payments/ports.ts';
import { wataProvider } from '../../../src/integrations/payments/wata/wata-provider.ts';
import { failure, recordingServerAccess } from '../../support/providers/adapter-access.ts';

const newKeys = () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  return { privateKey, pem: publicKey.export({ type: 'spki', format: 'pem' }).toString() };
};
const [FIRST, SECOND] = [newKeys(), newKeys()];

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

/** `key` = what the provider publishes now; null = it does not answer. */
async function setup(environment: Record<string, string> = {}) {
  const published: { pem: string | null } = { pem: FIRST.pem };
  const recorded = await recordingServerAccess(() => (published.pem === null ? failure(503) : { value: published.pem }), {
    WATA_ENABLED: 'true',
    WATA_ACCESS_TOKEN: 'w-token',
    WATA_BASE_URL: '{url}/api/h2h',
    ...environment,
  });
  open.push(recorded.server);
  const later = (ms: number) => {
    recorded.clock.now = new Date(recorded.clock.now.getTime() + ms);
  };
  return { ...recorded, provider: wataProvider(recorded.access), published, later };
}

const transaction = (change: object = {}) => ({
  kind: 'Payment',
  transactionId: 'tx-1',
  transactionStatus: 'Paid',
  amount: 500,
  currency: 'RUB',
  orderId: 'abc123',
  paymentLinkId: 'link-1',
  terminalPublicId: 'terminal-1',
  ...change,
});

function callback(body: object | string = transaction(), { privateKey } = FIRST): ProviderCallback {
  const rawBody = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return {
    method: 'POST',
    subpath: '',
    query: {},
    ip: '127.0.0.1',
    rawBody,
    headers: { 'x-signature': sign('sha512', rawBody, privateKey).toString('base64') },
  };
}

const stripped = (received: ProviderCallback): ProviderCallback => ({ ...received, headers: {} });

describe('callbacks of WATA (03a section 9)', () => {
  it('a paid transaction names our order, or the link where it has none', async () => {
    const { provider, requests } = await setup();
    expect(await provider.receiveCallback(callback())).toMatchObject({
      accepted: true,
      reference: { externalId: null, orderId: 'abc123' },
      eventKey: 'payment:tx-1:Paid',
      reply: { status: 200, body: '{"status":"ok"}' },
    });
    expect(await provider.receiveCallback(callback(transaction({ orderId: null })))).toMatchObject({
      reference: { externalId: 'link-1', orderId: null },
    });
    expect(requests[0]).toMatchObject({ method: 'GET', path: '/api/h2h/public-key' });
    expect(requests[0]!.headers.authorization).toBeUndefined();
  });

  it('the question before a payment is always answered with 200, without the key, and never stored', async () => {
    const { provider, requests, published } = await setup();
    published.pem = null;
    const before = transaction({ transactionStatus: 'Created' });
    for (const received of [callback(before), stripped(callback(before)), callback(before, SECOND)]) {
      expect(await provider.receiveCallback(received)).toMatchObject({ accepted: false, reply: { status: 200 } });
    }
    expect(requests).toHaveLength(0);
  });

  it.each([
    ['a payment that is under way', { transactionStatus: 'Pending' }],
    ['a refund that was declined', { kind: 'Refund', transactionStatus: 'Declined' }],
    ['an unknown word', { transactionStatus: 'Frozen' }],
    ['a transaction without an id', { transactionId: undefined }],
  ])('acknowledges and does not store %s', async (_name, change) => {
    const { provider } = await setup();
    expect(await provider.receiveCallback(callback(transaction(change)))).toMatchObject({
      accepted: false,
      reply: { status: 200, body: '{"status":"ok"}' },
    });
  });

  it.each([
    ['no signature', stripped(callback()), 401],
    ['a signature of another key', callback(transaction(), SECOND), 401],
    ['signed, but a repeated key', callback('{"transactionId":"a","transactionId":"b"}'), 400],
    ['signed, but no JSON', callback('paid'), 400],
    ['OPTIONS', { ...callback(), method: 'OPTIONS' }, 200],
    ['DELETE', { ...callback(), method: 'DELETE' }, 405],
  ])('does not store: %s', async (_name, received, status) => {
    const { provider } = await setup();
    expect(await provider.receiveCallback(received)).toMatchObject({ accepted: false, reply: { status } });
  });

  it('a signature that is no strict base64 is refused without reading the key', async () => {
    const { provider, requests } = await setup();
    const { headers, ...received } = callback();
    for (const signature of [` ${headers['x-signature']}`, `${headers['x-signature']}=`, 'ÿ', '!']) {
      expect(await provider.receiveCallback({ ...received, headers: { 'x-signature': signature } })).toMatchObject({
        accepted: false,
        reply: { status: 401 },
      });
    }
    expect(requests).toHaveLength(0);
  });

  it('a callback is reported with what it names, and the key signs for every merchant', async () => {
    const { provider } = await setup();
    expect(provider.signsForAllMerchants).toBe(true);
    const read = (change: object) => provider.readCallback!(JSON.stringify(transaction(change)), '');
    expect(read({ paymentLinkId: 'link-of-another-merchant' })).toMatchObject({
      externalId: 'link-of-another-merchant',
      merchantId: 'terminal-1',
      chargeId: 'tx-1',
    });
    expect(read({ paymentLinkId: null })).toMatchObject({ externalId: null, chargeId: 'tx-1' });
    const refund = { kind: 'Refund', terminalPublicId: 'terminal-2', currency: 'USD', originalTransactionId: 'tx-0' };
    expect(read(refund)).toMatchObject({
      reversals: [{ reversalId: 'tx-1', externalId: 'link-1', merchantId: 'terminal-2', currency: 'USD', chargeId: 'tx-0' }],
    });
  });
});

describe('the public keys of WATA (03a section 9)', () => {
  const statusOf = async (provider: ReturnType<typeof wataProvider>, received = callback()) =>
    (await provider.receiveCallback(received)).reply.status;

  it('503 while the key cannot be read and none is cached, so that nothing is accepted unverified', async () => {
    const { provider, requests, published, later } = await setup();
    published.pem = null;
    expect(await statusOf(provider)).toBe(503);
    expect(await statusOf(provider)).toBe(503);
    expect(requests).toHaveLength(1);
    published.pem = FIRST.pem;
    later(5_000);
    expect(await statusOf(provider)).toBe(200);
    expect(requests).toHaveLength(2);
  });

  it.each(['no PEM', '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n'])('%j is no key', async (pem) => {
    const { provider, published } = await setup();
    published.pem = pem;
    expect(await statusOf(provider)).toBe(503);
  });

  it('is read once, also for many callbacks at once', async () => {
    const { provider, requests } = await setup();
    const statuses = await Promise.all(Array.from({ length: 10 }, () => statusOf(provider)));
    expect(statuses).toEqual(Array.from({ length: 10 }, () => 200));
    expect(await statusOf(provider)).toBe(200);
    expect(requests).toHaveLength(1);
  });

  it('after a failed check it is read again, at most once a minute', async () => {
    const { provider, requests, published, later } = await setup();
    expect(await statusOf(provider)).toBe(200);
    const other = callback(transaction(), SECOND);
    expect(await statusOf(provider, other)).toBe(401);
    expect(requests).toHaveLength(1);
    later(60_000);
    for (let repeat = 0; repeat < 5; repeat++) expect(await statusOf(provider, other)).toBe(401);
    expect(requests).toHaveLength(2);
    published.pem = SECOND.pem;
    later(60_000);
    expect(await statusOf(provider, other)).toBe(200);
    expect(requests).toHaveLength(3);
    expect(await statusOf(provider)).toBe(401);
  });

  it('an old key is read again, and used further when it cannot be read now', async () => {
    const { provider, requests, published, later } = await setup({ WATA_PUBLIC_KEY_CACHE_SECONDS: '3600' });
    expect(await statusOf(provider)).toBe(200);
    later(3_599_000);
    expect(await statusOf(provider)).toBe(200);
    expect(requests).toHaveLength(1);
    published.pem = null;
    later(1_000);
    expect(await statusOf(provider)).toBe(200);
    expect(requests).toHaveLength(2);
  });

  it('each address has its own key', async () => {
    const first = await setup();
    const second = await setup();
    second.published.pem = SECOND.pem;
    let current = first.access;
    const provider = wataProvider({
      ...first.access,
      settings: { ...first.access.settings, get: (key) => current.settings.get(key) },
    });
    expect(await statusOf(provider)).toBe(200);
    current = second.access;
    expect(await statusOf(provider)).toBe(401);
    expect(await statusOf(provider, callback(transaction(), SECOND))).toBe(200);
    current = first.access;
    expect(await statusOf(provider)).toBe(200);
    expect([first.requests.length, second.requests.length]).toEqual([1, 1]);
  });
});
