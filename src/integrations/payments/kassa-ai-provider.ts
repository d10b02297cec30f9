import { type InvoiceRequest, type PaymentProvider, ProviderError } from '../../domain/payments/ports.ts';
import { type NotificationRules, notifiedState, receiveNotification } from './freekassa/freekassa-provider.ts';
import { API_SYSTEMS, createOrder, FAKE_SHOP_ID, fetchOrder, type OrderAccess, type OrderApi } from './freekassa/orders.ts';
import { createInTurn } from './wire/in-turn.ts';
import { publicPayerIp } from './wire/money.ts';
import { bareUrl, type ProviderAccess, providerAccount } from './wire/provider-call.ts';

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

/** What the adapter needs of the settings. */
interface KassaAiConnection {
  api: OrderApi;
  rules: NotificationRules;
  /** Where the payer chose no sub-option. */
  paymentSystem: string;
  /** ISO 4217, upper case. */
  currency: string;
  minKopeks: number;
  maxKopeks: number;
}

const KASSA_AI_API_URL = 'https://api.fk.life/v1';

/** Null while a credential of Kassa.ai is missing. */
function kassaAiConnection({ settings, ...access }: Pick<ProviderAccess, 'settings' | 'fake'>): KassaAiConnection | null {
  const fake = access.fake();
  const shopId = fake ? FAKE_SHOP_ID : String(settings.get('KASSA_AI_SHOP_ID') ?? '');
  const apiKey = fake ? fake.secret : (settings.get('KASSA_AI_API_KEY') ?? '').trim();
  const word2 = fake ? fake.secret : (settings.get('KASSA_AI_SECRET_WORD_2') ?? '').trim();
  if ([shopId, apiKey, word2].includes('')) return null;
  return {
    api: { method: 'kassa_ai', baseUrl: fake ? `${bareUrl(fake.baseUrl)}/v1` : KASSA_AI_API_URL, shopId, apiKey },
    // The provider publishes no addresses.
    rules: { shopId, word2, senders: null },
    paymentSystem: String(settings.get('KASSA_AI_PAYMENT_SYSTEM_ID')),
    currency: settings.get('KASSA_AI_CURRENCY').trim().toUpperCase(),
    minKopeks: settings.get('KASSA_AI_MIN_AMOUNT_KOPEKS'),
    maxKopeks: settings.get('KASSA_AI_MAX_AMOUNT_KOPEKS'),
  };
}
