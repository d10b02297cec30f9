import { describe, expect, it } from 'vitest';
import { MessengerError, type StarsInvoice } from '../../../src/domain/messaging/ports.ts';
import type { InvoiceRequest } from '../../../src/domain/payments/ports.ts';
import { createStarsProvider } from '../../../src/integrations/payments/stars-provider.ts';

function setup(options: { fail?: MessengerError; enabled?: boolean } = {}) {
  const invoices: StarsInvoice[] = [];
  const refunds: [number, string][] = [];
  const provider = createStarsProvider({
    messenger: {
      isConfigured: () => true,
      refundStars: async (payer, charge) => {
        if (options.fail) throw options.fail;
        refunds.push([payer, charge]);
      },
      createStarsInvoiceLink: async (invoice) => {
        if (options.fail) throw options.fail;
        invoices.push(invoice);
        return 'https://messenger.example/$abc';
      },
    },
    connection: () => ({ enabled: options.enabled ?? true, title: 'Top-up' }),
  });
  return { provider, invoices, refunds };
}

const request = (change: Partial<InvoiceRequest> = {}): InvoiceRequest => ({
  paymentId: 1,
  orderId: 'a1b2c3d4e5f60718293a4b5c',
  amountKopeks: 13_000,
  stars: 100,
  description: 'Balance top-up',
  returnUrls: { result: null, success: null, failed: null },
  metadata: {},
  ...change,
});

describe('Stars provider', () => {
  it('asks for the stored stars, with our order id as the only payload', async () => {
    const { provider, invoices } = setup();
    const created = await provider.createInvoice(request());
    expect(created).toMatchObject({ externalId: 'a1b2c3d4e5f60718293a4b5c', paymentUrl: 'https://messenger.example/$abc' });
    expect(invoices).toEqual([
      { title: 'Top-up', description: 'Balance top-up', payload: 'a1b2c3d4e5f60718293a4b5c', stars: 100 },
    ]);
  });

  it.each([0, 10_001, 1.5])('refuses %s stars, more than the messenger takes or none', async (stars) => {
    const { provider, invoices } = setup();
    await expect(provider.createInvoice(request({ stars }))).rejects.toMatchObject({ failure: 'rejected' });
    expect(invoices).toHaveLength(0);
  });

  it('gives a whole charge back to the person who paid it', async () => {
    const { provider, refunds } = setup();
    const refund = {
      externalId: 'x',
      orderId: 'x',
      chargeId: 'charge-1',
      payerMessengerId: 42,
      amountKopeks: 13_000,
      isWhole: true,
      idempotencyKey: 'k',
    };
    expect(await provider.refund!(refund)).toEqual({ reversalId: 'charge-1', state: 'done' });
    expect(refunds).toEqual([[42, 'charge-1']]);
    for (const change of [{ isWhole: false }, { chargeId: null }, { payerMessengerId: null }]) {
      await expect(provider.refund!({ ...refund, ...change })).rejects.toMatchObject({ failure: 'rejected' });
    }
    const down = setup({ fail: new MessengerError({ kind: 'unavailable' }, 'x') });
    await expect(down.provider.refund!(refund)).rejects.toMatchObject({ name: 'ProviderError', failure: 'unavailable' });
  });

  it.each([
    [{ kind: 'unavailable' } as const, 'unavailable'],
    [{ kind: 'rate_limited', retryAfterSeconds: 3 } as const, 'unavailable'],
    [{ kind: 'rejected' } as const, 'rejected'],
  ])('maps the messenger failure %o to %s', async (failure, expected) => {
    const { provider } = setup({ fail: new MessengerError(failure, 'x') });
    await expect(provider.createInvoice(request())).rejects.toMatchObject({ name: 'ProviderError', failure: expected });
  });

  it('is off when the setting is off, and supports neither callbacks nor status requests', async () => {
    const { provider } = setup({ enabled: false });
    expect(provider.isConfigured()).toBe(false);
    await expect(provider.createInvoice(request())).rejects.toMatchObject({ failure: 'not_configured' });
    expect(provider.webhookPath()).toBeNull();
    expect(provider.canFetchStatus).toBe(false);
    await expect(provider.fetchStatus({ externalId: 'x', orderId: null })).rejects.toMatchObject({ failure: 'rejected' });
    const verdict = await provider.receiveCallback({
      method: 'POST',
      headers: {},
      rawBody: Buffer.alloc(0),
      query: {},
      subpath: '',
      ip: '::1',
    });
    expect(verdict).toMatchObject({ accepted: false, reply: { status: 404 } });
  });
});
