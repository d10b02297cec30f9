import { type InvoiceRequest, type PaymentProvider, ProviderError } from '../../../domain/payments/ports.ts';
import { notifiedState, receiveNotification } from '../freekassa/notification.ts';
import type { OrderAccess } from '../freekassa/order-api.ts';
import { API_SYSTEMS } from '../freekassa/order-wire.ts';
import { createOrder, fetchOrder } from '../freekassa/orders.ts';
import { createInTurn } from '../wire/in-turn.ts';
import { publicPayerIp } from '../wire/payer.ts';
import type { ProviderAccess } from '../wire/provider-access.ts';
import { providerAccount } from '../wire/provider-account.ts';
import { type KassaAiConnection, kassaAiConnection } from './connection.ts';

const METHOD = 'kassa_ai';
const EXPIRES_MS = 60 * 60 * 1_000;

/**
 * Kassa.ai (03a section 11): the wire of Freekassa's API with a shop and keys of its own, without the form and without known addresses. No
 * public document confirms any of it, so that nothing is credited before POST /orders has confirmed it. Refunds are unknown.
 */
export function kassaAiProvider(providerAccess: ProviderAccess): PaymentProvider {
  const access = { ...providerAccess, inTurn: createInTurn() };
  const account = providerAccount(METHOD, 'Kassa.ai', () => kassaAiConnection(access), access.isOn);
  const { required } = account;

  return {
    method: METHOD,
    initialStatus: 'pending',
    pendingStatuses: ['pending', 'created', 'processing'],
    canFetchStatus: true,
    callbackFormats: ['form'],
    asksAboutUnknown: false,
    isConfigured: account.isConfigured,
    hasCredentials: account.hasCredentials,
    webhookPath: () => access.settings.get('KASSA_AI_WEBHOOK_PATH'),
    createInvoice: async (request) => createInvoice(access, account.requiredForNew(), request),
    fetchStatus: async (reference) => fetchOrder(access, required().api, reference),
    receiveCallback: async (callback) =>
      receiveNotification(callback, account.connectionFor(callback)?.rules ?? null, { provider: METHOD, answersOptions: false }),
    readCallback: (body) => notifiedState(body, access.settings.get('KASSA_AI_CURRENCY').trim().toUpperCase()),
  };
}

async function createInvoice(access: ProviderAccess & OrderAccess, connection: KassaAiConnection, request: InvoiceRequest) {
  const { api, currency, minKopeks, maxKopeks, paymentSystem } = connection;
  if (request.amountKopeks < minKopeks || request.amountKopeks > maxKopeks) {
    throw new ProviderError(METHOD, 'rejected', 'The amount is outside the limits of the method');
  }
  const ip = publicPayerIp(request);
  if (ip === null) throw new ProviderError(METHOD, 'rejected', "The payer's address is unknown or not a public one");
  const system = API_SYSTEMS[request.option ?? ''] ?? paymentSystem;
  const expiresAt = new Date(access.now().getTime() + EXPIRES_MS);
  return createOrder(access, api, request, { system, ip, currency, failureField: 'fail_url', expiresAt });
}
