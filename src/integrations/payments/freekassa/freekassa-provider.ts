import { type CreatedInvoice, type InvoiceRequest, type PaymentProvider, ProviderError } from '../../../domain/payments/ports.ts';
import { createInTurn } from '../wire/in-turn.ts';
import { publicPayerIp } from '../wire/payer.ts';
import type { ProviderAccess } from '../wire/provider-access.ts';
import { providerAccount } from '../wire/provider-account.ts';
import { type FreekassaConnection, freekassaConnection } from './connection.ts';
import { formUrl } from './form-url.ts';
import { notifiedState, receiveNotification } from './notification.ts';
import { callOrderApi, type OrderAccess } from './order-api.ts';
import { API_SYSTEMS } from './order-wire.ts';
import { createOrder, fetchOrder, refundOrder } from './orders.ts';
import { systemLimits } from './system-limits.ts';

const METHOD = 'freekassa';

/**
 * Freekassa (03a section 10), which also serves the methods `freekassa_sbp` and `freekassa_card`. A notification is confirmed by the API
 * before it is credited, unless the shop has no API key and the operator allows crediting without one.
 */
export function freekassaProvider(providerAccess: ProviderAccess): PaymentProvider {
  const access = { ...providerAccess, inTurn: createInTurn() };
  const account = providerAccount(METHOD, 'Freekassa', () => freekassaConnection(access), access.isOn);
  const { connection, required } = account;
  const requiredApi = () => {
    const { api } = required();
    if (!api) throw new ProviderError(METHOD, 'not_configured', 'Freekassa has no API key');
    return api;
  };

  return {
    method: METHOD,
    initialStatus: 'pending',
    pendingStatuses: ['pending', 'created', 'processing'],
    get canFetchStatus() {
      return connection()?.api !== null;
    },
    callbackFormats: ['form'],
    asksAboutUnknown: false,
    isConfigured: account.isConfigured,
    hasCredentials: account.hasCredentials,
    webhookPath: () => access.settings.get('FREEKASSA_WEBHOOK_PATH'),
    createInvoice: async (request) => createInvoice(access, account.requiredForNew(), request),
    fetchStatus: async (reference) => fetchOrder(access, requiredApi(), reference),
    receiveCallback: async (callback) =>
      receiveNotification(callback, account.connectionFor(callback)?.rules ?? null, { provider: METHOD, answersOptions: true }),
    readCallback: (body) => {
      const current = connection();
      return current && notifiedState(body, current.currency);
    },
    fetchLimits: async () => systemLimits(await callOrderApi(access, requiredApi(), '/currencies', {})),
    refund: async (request) => refundOrder(access, requiredApi(), request),
  };
}

/** By the API where a payment system is known and the payer's address, which it requires; else the provider's payment form. */
async function createInvoice(
  access: ProviderAccess & OrderAccess,
  connection: FreekassaConnection,
  request: InvoiceRequest,
): Promise<CreatedInvoice> {
  const { api, currency, form, paymentSystem, minKopeks, maxKopeks } = connection;
  if (request.amountKopeks < minKopeks || request.amountKopeks > maxKopeks) {
    throw new ProviderError(METHOD, 'rejected', 'The amount is outside the limits of the method');
  }
  const expiresAt = new Date(access.now().getTime() + connection.expiresInSeconds * 1_000);
  const system = API_SYSTEMS[request.option ?? ''] ?? paymentSystem;
  const ip = publicPayerIp(request);
  if (api && connection.usesApi && system === null) {
    throw new ProviderError(METHOD, 'rejected', 'FREEKASSA_USE_API needs FREEKASSA_PAYMENT_SYSTEM_ID or a sub-option');
  }
  if (api && system !== null && ip !== null) {
    return createOrder(access, api, request, { system, ip, currency, failureField: 'failure_url', expiresAt });
  }
  return {
    // The provider has no order yet.
    externalId: request.orderId,
    paymentUrl: formUrl(request, { ...form, currency, system: paymentSystem }),
    status: 'pending',
    expiresAt,
    merchantId: form.shopId,
    raw: { mode: 'form' },
  };
}
