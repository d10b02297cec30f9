import { describe, expect, it } from 'vitest';
import { MessengerError, type StarsInvoice } from '../../../src/domain/messaging/ports.ts';
import type { InvoiceRequest } from '../../../src/domain/payments/ports.ts';
import { starsForKopeks } from '../../../src/domain/payments/stars-rate.ts';
import { createStarsProvider } from '../../../src/integrations/payments/stars/stars-provider.ts';

function setup(options: { fail?: MessengerError; enabled?: boolean } = {}) {
  const invoices: StarsInvoice[] = [];
  const provider = createStarsProvider({
    messenger: {
      isConfigured: () => true,
      createStarsInvoiceLink: async (invoice) => {
        if (options.fail) throw options.fail;
        invoices.push(invoice);
        return 'https://messenger.example/$abc';
      },
    },
    connection: () => ({ enabled: options.enabled ?? true, title: 'Top-up' }),
    starsFor: (kopeks) => starsForKopeks(kopeks, 1.3),
  });
  return { provider, invoices };
}

const request = (change: Partial<InvoiceRequest> = {}): InvoiceRequest => ({
  paymentId: 1,
  orderId: 'a1b2c3d4e5f60718293a4b5c',
  amountKopeks: 13_000,
  description: 'Balance top-up',
  returnUrls: { result: null, success: null, failed: null },
  metadata: {},
  ...change,
});

describe('Stars provider', () => {
  it('asks for stars at the rate, with a unique payload', async () => {
    const { provider, invoices } = setup();
    const created = await provider.createInvoice(request());
    expect(created).toMatchObject({
      externalId: 'balance_a1b2c3d4e5f60718293a4b5c',
      paymentUrl: 'https://messenger.example/$abc',
    });
    expect(invoices).toEqual([{ title: 'Top-up', description: 'Balance top-up', payload: created.externalId, stars: 100 }]);
    expect((await provider.createInvoice(request({ payload: 'guest_purchase_x' }))).externalId).toBe('guest_purchase_x');
  });

  it('rejects a payload that the messenger cannot store', async () => {
    const { provider, invoices } = setup();
    await expect(provider.createInvoice(request({ payload: 'я'.repeat(65) }))).rejects.toMatchObject({ failure: 'rejected' });
    await expect(provider.createInvoice(request({ payload: '' }))).rejects.toMatchObject({ failure: 'rejected' });
    expect(invoices).toHaveLength(0);
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
