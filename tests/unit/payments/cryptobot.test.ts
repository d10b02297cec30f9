import { describe, expect, it } from 'vitest';
import type { HttpRequest } from '../../../src/core/http/http-client.ts';
import { cryptobotProvider, cryptobotSignature } from '../../../src/integrations/payments/cryptobot-provider.ts';
import { aCallback, anInvoice, recordedAccess } from '../../support/providers/adapter-access.ts';

const SETTINGS = { CRYPTOBOT_ENABLED: 'true', CRYPTOBOT_API_TOKEN: '1:token', CRYPTOBOT_ASSETS: 'USDT, ton' };
const CREATED = {
  invoice_id: 77,
  status: 'active',
  bot_invoice_url: 'https://t.me/CryptoBot?start=x',
  expiration_date: '2026-03-02T10:00:00.000Z',
};
const bodyOf = (request: HttpRequest | undefined) => JSON.parse(String(request?.body));

describe('CryptoBot (03a section 3)', () => {
  it('spec 03 H11: asks for the rubles of the invoice, so that no rate of ours decides what is paid or credited', async () => {
    const { access, requests } = recordedAccess(SETTINGS, () => ({ body: { ok: true, result: CREATED } }));
    expect(await cryptobotProvider(access).createInvoice(anInvoice())).toMatchObject({
      externalId: '77',
      paymentUrl: CREATED.bot_invoice_url,
      status: 'active',
      expiresAt: new Date(CREATED.expiration_date),
    });
    expect(bodyOf(requests[0])).toMatchObject({
      currency_type: 'fiat',
      fiat: 'RUB',
      amount: '1000.50',
      accepted_assets: 'USDT,TON',
      payload: anInvoice().orderId,
      expires_in: 86_400,
    });
    expect(requests[0]).toMatchObject({ idempotent: false, headers: { 'crypto-pay-api-token': '1:token' } });
  });

  it('spec 03 H11: an open invoice of earlier software is credited with the kopeks of its payload, not at the rate of the day', () => {
    const invoice = { invoice_id: 5, status: 'paid', currency_type: 'crypto', asset: 'USDT', amount: '5.41' };
    const read = (payload: string) => {
      const body = JSON.stringify({ update_type: 'invoice_paid', payload: { ...invoice, payload } });
      return cryptobotProvider(recordedAccess(SETTINGS).access).readCallback!(body, '');
    };
    expect(read('cabinet_topup_12_50000')).toMatchObject({
      outcome: 'paid',
      amountKopeks: 50_000,
      currency: 'RUB',
      orderId: null,
    });
    expect(read('something else')).toMatchObject({ amountKopeks: 541, currency: 'USDT' });
  });

  it.each([
    ['an error of the API', { status: 200, body: { ok: false, error: { code: 400, name: 'AMOUNT_INVALID' } } }, 'rejected'],
    ['a refused token', { status: 401, body: { ok: false, error: { code: 401, name: 'UNAUTHORIZED' } } }, 'rejected'],
    ['an outage', { status: 502, body: 'bad gateway' }, 'unavailable'],
    ['an answer without an invoice', { status: 200, body: { ok: true, result: {} } }, 'unavailable'],
  ] as const)('%s creates nothing', async (_name, answer, failure) => {
    const { access } = recordedAccess(SETTINGS, () => answer);
    await expect(cryptobotProvider(access).createInvoice(anInvoice())).rejects.toMatchObject({ name: 'ProviderError', failure });
  });

  it('an unknown invoice is refused, and one without an id cannot be asked about', async () => {
    const { access, requests } = recordedAccess(SETTINGS, () => ({ body: { ok: true, result: { items: [] } } }));
    const provider = cryptobotProvider(access);
    await expect(provider.fetchStatus({ externalId: '9', orderId: null })).rejects.toMatchObject({ failure: 'rejected' });
    await expect(provider.fetchStatus({ externalId: null, orderId: 'x' })).rejects.toMatchObject({ failure: 'rejected' });
    expect(requests).toHaveLength(1);
  });

  it('other updates are acknowledged and not stored', async () => {
    const provider = cryptobotProvider(recordedAccess(SETTINGS).access);
    const body = JSON.stringify({ update_type: 'other', payload: {} });
    const headers = { 'crypto-pay-api-signature': cryptobotSignature(Buffer.from(body), '1:token') };
    expect(await provider.receiveCallback(aCallback(body, { headers }))).toMatchObject({
      accepted: false,
      reply: { status: 200 },
    });
  });

  it('the testnet has an address of its own', async () => {
    const { access, requests } = recordedAccess({ ...SETTINGS, CRYPTOBOT_TESTNET: 'true' }, () => ({
      body: { ok: true, result: CREATED },
    }));
    await cryptobotProvider(access).createInvoice(anInvoice());
    expect(requests[0]?.url).toBe('https://testnet-pay.crypt.bot/api/createInvoice');
  });
});
