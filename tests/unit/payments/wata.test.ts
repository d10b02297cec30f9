import { SignJWT } from 'jose';
import { afterEach, describe, expect, it } from 'vitest';
import type { InvoiceRequest } from '../../../src/domain/payments/ports.ts';
import { tokenExpiry, wataProvider } from '../../../src/integrations/payments/wata/wata-provider.ts';
import {
  failure,
  RECORDED_NOW,
  RECORDED_SECRET,
  recordedAccess,
  recordingServerAccess,
} from '../../support/providers/adapter-access.ts';

const LINK = { id: 'link-1', url: 'https://pay.example/link-1', status: 'Opened', terminalPublicId: 'terminal-1' };
const ON = { WATA_ENABLED: 'true', WATA_ACCESS_TOKEN: 'w-token', WATA_BASE_URL: '{url}/api/h2h/' };

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

async function setup(
  answer: Parameters<typeof recordingServerAccess>[0] = () => LINK,
  environment: Record<string, string> | null = ON,
) {
  const recorded = await recordingServerAccess(answer, environment);
  open.push(recorded.server);
  return { ...recorded, provider: wataProvider(recorded.access) };
}

const request = (change: Partial<InvoiceRequest> = {}): InvoiceRequest => ({
  paymentId: 7,
  orderId: 'abc123',
  amountKopeks: 50_050,
  description: 'Top-up',
  returnUrls: { result: null, success: 'https://c.example/ok', failed: 'https://c.example/no' },
  metadata: { user_id: 5 },
  ...change,
});

const transaction = (change: object = {}) => ({
  id: 'tx-1',
  kind: 'Payment',
  status: 'Paid',
  amount: 500.5,
  currency: 'RUB',
  orderId: 'abc123',
  totalCommission: 10.5,
  paymentLinkId: 'link-1',
  terminalPublicId: 'terminal-1',
  paymentTime: '2026-03-01T10:00:00Z',
  ...change,
});

describe('WATA adapter: links (03a section 9)', () => {
  it('creates a link with exactly the documented body', async () => {
    const { provider, requests } = await setup(undefined, { ...ON, WATA_LINK_TTL_MINUTES: '60' });
    expect(await provider.createInvoice(request())).toMatchObject({
      externalId: 'link-1',
      paymentUrl: 'https://pay.example/link-1',
      status: 'Opened',
      merchantId: 'terminal-1',
    });
    expect(requests[0]).toMatchObject({ method: 'POST', path: '/api/h2h/links', headers: { authorization: 'Bearer w-token' } });
    expect(JSON.parse(requests[0]!.body)).toEqual({
      type: 'OneTime',
      amount: 500.5,
      currency: 'RUB',
      description: 'Top-up',
      orderId: 'abc123',
      successRedirectUrl: 'https://c.example/ok',
      failRedirectUrl: 'https://c.example/no',
      expirationDateTime: '2026-03-01T11:00:00.000Z',
    });
  });

  it.each([
    [undefined, 30_000],
    ['5', 5_000],
  ])('spec 10 O4: every call gets the time of WATA_REQUEST_TIMEOUT, %s', async (seconds, timeoutMs) => {
    const environment = { ...ON, WATA_BASE_URL: 'https://wata.example', ...(seconds ? { WATA_REQUEST_TIMEOUT: seconds } : {}) };
    const { access, requests } = recordedAccess(environment, ({ method }) => ({ body: method === 'GET' ? { items: [] } : LINK }));
    const provider = wataProvider(access);
    await provider.createInvoice(request());
    await provider.fetchStatus({ externalId: 'link-1', orderId: 'abc123' });
    expect(requests.map((sent) => [sent.method, sent.timeoutMs])).toEqual([
      ['POST', timeoutMs],
      ['GET', timeoutMs],
    ]);
  });

  it.each([
    ['1', 10],
    ['10', 10],
    ['100000', 43_200],
  ])('a life of %s minutes is sent as %i', async (minutes, sent) => {
    const { provider, requests } = await setup(undefined, { ...ON, WATA_LINK_TTL_MINUTES: minutes });
    await provider.createInvoice(request());
    expect(JSON.parse(requests[0]!.body).expirationDateTime).toBe(new Date(RECORDED_NOW.getTime() + sent * 60_000).toISOString());
  });

  it('a link has no life of its own without the setting', async () => {
    const { provider, requests } = await setup();
    await provider.createInvoice(request());
    expect(JSON.parse(requests[0]!.body)).not.toHaveProperty('expirationDateTime');
  });

  it.each([
    [999, 'rejected'],
    [1_000, 'link-1'],
    [99_999_999, 'link-1'],
    [100_000_000, 'rejected'],
  ])('03 section 2.4: %i kopeks are %s, whatever the settings allow', async (amountKopeks, expected) => {
    const { provider, requests } = await setup(undefined, { ...ON, WATA_MIN_AMOUNT_KOPEKS: '0' });
    const result = await provider.createInvoice(request({ amountKopeks })).then(
      ({ externalId }) => externalId,
      ({ failure: kind }) => kind,
    );
    expect(result).toBe(expected);
    expect(requests).toHaveLength(expected === 'rejected' ? 0 : 1);
    if (amountKopeks === 99_999_999) expect(requests[0]!.body).toContain('"amount":999999.99,');
  });

  it('a link without a terminal cannot be distinguished from those of other merchants', async () => {
    const { terminalPublicId: _terminal, ...link } = LINK;
    const { provider } = await setup(() => link);
    await expect(provider.createInvoice(request())).rejects.toMatchObject({ failure: 'unavailable' });
    const named = await setup(() => link, { ...ON, WATA_TERMINAL_PUBLIC_ID: 'terminal-9' });
    expect(await named.provider.createInvoice(request())).toMatchObject({ merchantId: 'terminal-9' });
  });

  it.each([
    [400, 'rejected'],
    [401, 'rejected'],
    [429, 'unavailable'],
    [502, 'unavailable'],
  ])('03a section 0.6: an answer of %i is %s and not repeated, with no token in the error', async (status, kind) => {
    const { provider, requests } = await setup(() => failure(status, { error: { code: 'X', message: 'no' } }));
    const error = await provider.createInvoice(request()).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ failure: kind });
    expect(JSON.stringify(error) + String(error)).not.toContain('w-token');
    expect(requests).toHaveLength(1);
  });

  it('is closed without a token', async () => {
    const { provider } = await setup(undefined, { WATA_ENABLED: 'true' });
    expect(provider.isConfigured()).toBe(false);
    await expect(provider.createInvoice(request())).rejects.toMatchObject({ failure: 'not_configured' });
    expect(provider.credentialsExpireAt?.()).toBeNull();
  });
});

describe('WATA adapter: questions (03a section 9)', () => {
  const reference = { externalId: 'link-1', orderId: 'abc123' };

  it('asks by our order id, since links vanish, and counts one paid attempt among declined ones', async () => {
    const items = [transaction({ id: 'tx-0', status: 'Declined' }), transaction(), transaction({ id: 'x', orderId: 'another' })];
    const { provider, requests } = await setup(() => ({ items }));
    expect(await provider.fetchStatus(reference)).toMatchObject({
      externalId: 'link-1',
      outcome: 'paid',
      amountKopeks: 50_050,
      currency: 'RUB',
      chargeId: 'tx-1',
      orderId: 'abc123',
      merchantId: 'terminal-1',
      feeKopeks: 1_050,
      paidAt: new Date('2026-03-01T10:00:00Z'),
      reversals: [],
    });
    expect(requests[0]).toMatchObject({ method: 'GET', path: '/api/h2h/v2/transactions' });
    expect(requests[0]!.query.get('orderId')).toBe('abc123');
  });

  it('uses the older search where the provider does not have the current one', async () => {
    const { provider, requests } = await setup((_request, count) => (count === 1 ? failure(404) : { items: [transaction()] }));
    expect(await provider.fetchStatus(reference)).toMatchObject({ outcome: 'paid' });
    expect(requests.map(({ path }) => path)).toEqual(['/api/h2h/v2/transactions', '/api/h2h/transactions/']);
  });

  it.each([
    ['nobody has tried to pay', [], 'pending', 'Opened'],
    ['an attempt is open after a declined one', [{ id: 'a', status: 'Declined' }, { status: 'Pending' }], 'pending', 'Pending'],
    ['the attempt was declined', [{ status: 'Declined' }], 'failed', 'Declined'],
    ['a word is unknown', [{ status: 'New' }], 'pending', 'New'],
  ])('%s', async (_name, changes, outcome, status) => {
    const { provider } = await setup(() => ({ items: changes.map(transaction) }));
    expect(await provider.fetchStatus(reference)).toMatchObject({ externalId: 'link-1', outcome, status });
  });

  it('refunds are transactions of their own, without those not carried out', async () => {
    const refunds = [
      transaction({ id: 'r-1', kind: 'Refund', amount: 100 }),
      transaction({ id: 'r-2', kind: 'Refund', amount: 50, status: 'Declined' }),
    ];
    const { provider } = await setup(() => ({ items: [...refunds, transaction()] }));
    const reversals = [{ reversalId: 'r-1', kind: 'refund', amountKopeks: 10_000 }];
    expect(await provider.fetchStatus(reference)).toMatchObject({ outcome: 'paid', chargeId: 'tx-1', reversals });
  });

  it('asks once in 30 s, and does not wait', async () => {
    const { provider, requests, clock } = await setup(() => ({ items: [] }));
    await provider.fetchStatus(reference);
    clock.now = new Date(RECORDED_NOW.getTime() + 29_999);
    await expect(provider.fetchStatus(reference)).rejects.toMatchObject({ failure: 'unavailable' });
    expect(requests).toHaveLength(1);
    clock.now = new Date(RECORDED_NOW.getTime() + 30_000);
    await provider.fetchStatus(reference);
    expect(requests).toHaveLength(2);
  });

  it('gives a payment back by its transaction, once', async () => {
    const { provider, requests } = await setup((_request, count) =>
      count === 1 ? { id: 'r-1', status: 'Created' } : failure(502),
    );
    const refund = { externalId: 'link-1', orderId: 'abc123', chargeId: 'tx-1', amountKopeks: 50_050, isWhole: true };
    expect(await provider.refund!({ ...refund, idempotencyKey: 'k' })).toEqual({ reversalId: 'r-1', state: 'pending' });
    expect(requests[0]).toMatchObject({ method: 'POST', path: '/api/h2h/transactions/refunds' });
    expect(JSON.parse(requests[0]!.body)).toEqual({ originalTransactionId: 'tx-1', amount: 500.5 });
    await expect(provider.refund!({ ...refund, idempotencyKey: 'k' })).rejects.toMatchObject({ failure: 'unavailable' });
    expect(requests).toHaveLength(2);
    await expect(provider.refund!({ ...refund, chargeId: null, idempotencyKey: 'k' })).rejects.toMatchObject({
      failure: 'rejected',
    });
  });
});

describe('the token of WATA', () => {
  it('ends when it says so', async () => {
    const token = await new SignJWT({})
      .setProtectedHeader({ alg: 'HS256' })
      .setExpirationTime(1_772_359_200)
      .sign(Buffer.alloc(32));
    expect(tokenExpiry(token)).toEqual(new Date('2026-03-01T10:00:00.000Z'));
    const { provider } = await setup(undefined, { ...ON, WATA_ACCESS_TOKEN: token });
    expect(provider.credentialsExpireAt?.()).toEqual(new Date('2026-03-01T10:00:00.000Z'));
  });

  it.each(['', 'no-jwt', 'a.b.c', RECORDED_SECRET])('says nothing: %j', (token) => expect(tokenExpiry(token)).toBeNull());
});
