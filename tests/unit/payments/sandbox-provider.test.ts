import { createHmac } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import type { LoopbackReply, LoopbackRequest } from '../../../packages/sandbox/src/loopback-server.ts';
import { startPaymentSandbox } from '../../../packages/sandbox/src/payments/payment-sandbox.ts';
import type { InvoiceRequest, ProviderCallback } from '../../../src/domain/payments/ports.ts';
import { createSandboxProvider } from '../../../src/integrations/payments/sandbox-provider.ts';
import { memoryStore, onceHttp, startRecorder } from '../../support/loopback-http.ts';

const SECRET = 'sandbox-secret';
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

const OK: LoopbackReply = { status: 200, contentType: 'application/json', body: '{}' };

async function setup(answer: (request: LoopbackRequest, count: number) => LoopbackReply = () => OK) {
  const receiver = await startRecorder(answer);
  const store = memoryStore();
  const options = {
    store,
    http: onceHttp(),
    secret: SECRET,
    now: () => new Date('2026-03-01T10:00:00.000Z'),
    serviceUrl: () => receiver.server.url,
  };
  const sandbox = await startPaymentSandbox(options);
  open.push(receiver.server, sandbox);
  const connection = { baseUrl: `${sandbox.server.url}/sandbox`, secret: SECRET, webhookPath: '/hook' };
  const provider = createSandboxProvider({ http: onceHttp(), connection: () => connection });
  return { receiver, sandbox, provider, connection, options };
}

const invoice = (orderId: string, change: Partial<InvoiceRequest> = {}): InvoiceRequest => ({
  paymentId: 1,
  orderId,
  amountKopeks: 50_000,
  description: 'Top-up <b>',
  returnUrls: { result: 'https://cabinet.example/result', success: null, failed: null },
  metadata: { user_id: 1 },
  ...change,
});

const asCallback = (request: LoopbackRequest): ProviderCallback => ({
  method: request.method,
  headers: request.headers,
  rawBody: Buffer.from(request.body),
  query: {},
  subpath: '',
  ip: '127.0.0.1',
});

describe('sandbox provider', () => {
  it('spec 10 F9: a callback that the service has not acknowledged is posted by the next host, and then no more', async () => {
    const { provider, sandbox, receiver, options } = await setup();
    const { externalId } = await provider.createInvoice(invoice('order-9'));
    sandbox.knobs.isPaused = true;
    await sandbox.act(externalId!, 'pay');
    await sandbox.close();
    expect(receiver.requests).toHaveLength(0);

    const next = await startPaymentSandbox(options);
    await next.idle();
    expect(receiver.requests).toHaveLength(1);
    await next.close();
    const last = await startPaymentSandbox(options);
    await last.idle();
    await last.close();
    expect(receiver.requests).toHaveLength(1);
  });

  it('invoice, hosted page, payment, signed callback, confirmed state', async () => {
    const { provider, sandbox, receiver } = await setup();
    const created = await provider.createInvoice(invoice('order-1'));
    expect(created).toMatchObject({ status: 'pending', expiresAt: new Date('2026-03-02T10:00:00.000Z') });

    const page = await onceHttp().request({ method: 'GET', url: created.paymentUrl });
    expect(page.text).toContain('500.00 RUB');
    expect(page.text).toContain('Top-up &#60;b&#62;');
    const pressed = await onceHttp().request({ method: 'POST', url: `${created.paymentUrl}/pay` });
    expect(pressed.status).toBe(303);

    await sandbox.idle();
    expect(receiver.requests).toHaveLength(1);
    const verdict = await provider.receiveCallback(asCallback(receiver.requests[0] as LoopbackRequest));
    expect(verdict).toMatchObject({
      accepted: true,
      reference: { externalId: created.externalId },
      eventKey: `${created.externalId}:paid`,
    });
    expect(await provider.fetchStatus({ externalId: created.externalId, orderId: null })).toMatchObject({
      outcome: 'paid',
      amountKopeks: 50_000,
      currency: 'RUB',
      orderId: 'order-1',
      paidAt: new Date('2026-03-01T10:00:00.000Z'),
    });
  });

  it('spec 03 H1/H17/H18: accepts no callback without the signature over exactly these bytes', async () => {
    const { provider, sandbox, receiver } = await setup();
    const { externalId } = await provider.createInvoice(invoice('order-1'));
    await sandbox.act(externalId, 'pay');
    await sandbox.idle();
    const genuine = asCallback(receiver.requests[0] as LoopbackRequest);
    const reason = async (change: Partial<ProviderCallback>) => {
      const verdict = await provider.receiveCallback({ ...genuine, ...change });
      return [verdict.accepted, verdict.reply.status, JSON.parse(verdict.reply.body).reason];
    };
    expect(await reason({})).toEqual([true, 200, undefined]);
    expect(await reason({ headers: {} })).toEqual([false, 401, 'missing_signature']);
    expect(await reason({ headers: { 'x-sandbox-signature': 'ab' } })).toEqual([false, 401, 'invalid_signature']);
    expect(await reason({ rawBody: Buffer.concat([genuine.rawBody, Buffer.from(' ')]) })).toEqual([
      false,
      401,
      'invalid_signature',
    ]);
    const nonsense = Buffer.from('null');
    const signed = createHmac('sha256', SECRET).update(nonsense).digest('hex');
    expect(await reason({ rawBody: nonsense, headers: { 'x-sandbox-signature': signed } })).toEqual([false, 400, 'invalid_json']);
  });

  it('performs each action once and from the right state only, with one callback each', async () => {
    const { provider, sandbox, receiver } = await setup();
    const { externalId } = await provider.createInvoice(invoice('order-1'));
    const paid = await Promise.all([1, 2, 3, 4].map(() => sandbox.act(externalId, 'pay')));
    expect(paid.filter((result) => result !== null)).toHaveLength(1);
    expect(await sandbox.act(externalId, 'fail')).toBeNull();
    expect(await sandbox.act(externalId, 'refund')).toMatchObject({ status: 'refunded' });
    expect(await sandbox.act('unknown', 'pay')).toBeNull();
    await sandbox.idle();
    expect(receiver.requests.map((request) => JSON.parse(request.body).event).sort()).toEqual([
      'invoice.paid',
      'invoice.refunded',
    ]);
    expect(await provider.fetchStatus({ externalId: externalId, orderId: null })).toMatchObject({
      status: 'refunded',
      outcome: 'paid',
      reversals: [{ kind: 'refund', amountKopeks: null }],
    });
  });

  it('duplicates and reorders callbacks on demand, while the event key stays the same', async () => {
    const { provider, sandbox, receiver } = await setup();
    sandbox.knobs.duplicates = 2;
    sandbox.knobs.isPaused = true;
    const first = await provider.createInvoice(invoice('order-1'));
    const second = await provider.createInvoice(invoice('order-2'));
    await sandbox.act(first.externalId, 'pay');
    await sandbox.act(second.externalId, 'pay');
    expect(receiver.requests).toHaveLength(0);
    await sandbox.flush();
    const verdicts = await Promise.all(receiver.requests.map((request) => provider.receiveCallback(asCallback(request))));
    const keys = verdicts.map((verdict) => (verdict.accepted ? verdict.eventKey : 'refused'));
    expect(keys).toEqual([...Array(3).fill(`${second.externalId}:paid`), ...Array(3).fill(`${first.externalId}:paid`)]);
  });

  it('retries until the service acknowledges', async () => {
    const { provider, sandbox, receiver } = await setup((_request, count) => (count === 1 ? { ...OK, status: 500 } : OK));
    const { externalId } = await provider.createInvoice(invoice('order-1'));
    await sandbox.act(externalId, 'pay');
    await sandbox.idle();
    expect(receiver.requests).toHaveLength(2);
    expect(receiver.requests[1]?.body).toBe(receiver.requests[0]?.body);
  });

  it('creates one invoice per order id, keeps it after a restart, refuses a wrong secret', async () => {
    const { provider, sandbox, connection, options } = await setup();
    const [a, b] = await Promise.all([provider.createInvoice(invoice('order-1')), provider.createInvoice(invoice('order-1'))]);
    expect(a.externalId).toBe(b.externalId);
    await sandbox.close();
    await expect(provider.fetchStatus({ externalId: a.externalId, orderId: null })).rejects.toMatchObject({
      failure: 'unavailable',
    });

    const again = await startPaymentSandbox(options);
    open.push(again);
    connection.baseUrl = `${again.server.url}/sandbox`;
    expect(await provider.fetchStatus({ externalId: a.externalId, orderId: null })).toMatchObject({
      externalId: a.externalId,
      outcome: 'pending',
    });
    connection.secret = 'wrong';
    await expect(provider.fetchStatus({ externalId: a.externalId, orderId: null })).rejects.toMatchObject({
      failure: 'rejected',
    });
  });

  it('is not available while the sandbox is off', async () => {
    const provider = createSandboxProvider({ http: onceHttp(), connection: () => null });
    expect(provider.isConfigured()).toBe(false);
    await expect(provider.createInvoice(invoice('o'))).rejects.toMatchObject({ failure: 'not_configured' });
    const verdict = await provider.receiveCallback({
      method: 'POST',
      headers: {},
      rawBody: Buffer.from('{}'),
      query: {},
      subpath: '',
      ip: '127.0.0.1',
    });
    expect(verdict).toMatchObject({ accepted: false, reply: { status: 503 } });
  });
});
