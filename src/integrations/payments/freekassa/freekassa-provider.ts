import {
  type CallbackReply,
  type CallbackVerdict,
  type CreatedInvoice,
  type InvoiceRequest,
  type PaymentProvider,
  type PaymentReport,
  type ProviderCallback,
  ProviderError,
  type ProviderLimit,
} from '../../../domain/payments/ports.ts';
import { isInNetworks, resolveClientAddress } from '../wire/client-address.ts';
import { isEqualHex, isEqualText, parseWireForm, utf8Text } from '../wire/form.ts';
import { createInTurn } from '../wire/in-turn.ts';
import { objectField, objectsField, textField, type WireObject } from '../wire/json.ts';
import { kopeksFromText, publicPayerIp, shortRublesText } from '../wire/money.ts';
import { type ProviderAccess, providerAccount } from '../wire/provider-call.ts';
import { answerOtherMethods, refused, textReply } from '../wire/replies.ts';
import {
  API_SYSTEMS,
  callOrderApi,
  createOrder,
  type FreekassaConnection,
  fetchOrder,
  formSignature,
  freekassaConnection,
  notificationSignature,
  type OrderAccess,
  refundOrder,
} from './orders.ts';

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

/** Payment system ids that the form accepts; cards have one for each network, so that the payer chooses. */
const FORM_SYSTEMS: Readonly<Record<string, string>> = { sbp: '42' };

/**
 * Address of the provider's payment form (03a section 10). Nothing is requested from the provider, and the parameters are signed.
 * @param form `url` of the form; `system`: preferred payment system, null = by the sub-option
 */
function formUrl(
  request: InvoiceRequest,
  form: { url: string; shopId: string; word1: string; currency: string; system: string | null },
): string {
  const { orderId, payerEmail, option } = request;
  const { shopId, word1, currency } = form;
  const amount = shortRublesText(request.amountKopeks);
  const system = form.system ?? FORM_SYSTEMS[option ?? ''] ?? null;
  const query = new URLSearchParams({
    m: shopId,
    oa: amount,
    currency,
    o: orderId,
    s: formSignature({ shopId, amount, word1, currency, orderId }),
    lang: 'ru',
    ...(payerEmail === undefined ? {} : { em: payerEmail }),
    ...(system === null ? {} : { i: system }),
  });
  return `${form.url}?${query}`;
}

/**
 * What an answer of POST /currencies says of the payment systems behind our sub-options: whether they are on and, where it names them, from
 * and up to which sum.
 */
function systemLimits(answer: WireObject): ProviderLimit[] {
  const systems = objectsField(answer, 'currencies').filter((system) => textField(system, 'currency') === 'RUB');
  return Object.entries(API_SYSTEMS).flatMap(([option, id]) => {
    const system = systems.find((listed) => textField(listed, 'id') === id);
    if (!system) return [];
    const limits = objectField(system, 'limits');
    const kopeks = (name: string) => kopeksFromText(textField(limits, name) ?? '');
    return [{ option, isOn: textField(system, 'is_enabled') === '1', minKopeks: kopeks('min'), maxKopeks: kopeks('max') }];
  });
}

/** What verifies the notifications of a shop, which Freekassa and Kassa.ai send alike. */
export interface NotificationRules {
  shopId: string;
  word2: string;
  /** Where they may come from; null = anywhere. */
  senders: { networks: readonly string[]; proxies: readonly string[] } | null;
}

/** A notification as its form has it. */
interface Notification {
  merchantId: string;
  /** As received. */
  amount: string;
  orderId: string;
  signature: string;
  /** The provider's id of the payment; not signed. */
  paymentId: string | null;
}

const YES: CallbackReply = textReply(200, 'YES');
const ORDER_ID = /^[\x21-\x7e]{1,128}$/;
const PAYMENT_ID = /^[\w-]{1,64}$/;

const refusal = (status: number): CallbackVerdict => refused(textReply(status, 'Error'));

/**
 * Verifies a notification (03a sections 10 and 11). Merchant, amount and order are signed, and nothing else: neither the currency nor the
 * provider's id, so only our order id identifies the payment.
 * @param rules null = not configured
 */
export function receiveNotification(
  callback: ProviderCallback,
  rules: NotificationRules | null,
  options: { provider: string; answersOptions: boolean },
): CallbackVerdict {
  if (callback.method !== 'POST') {
    // The shop of the provider can be set to GET, which is not supported: it must not look as if it were.
    if (callback.query.SIGN !== undefined) return refusal(405);
    const other = answerOtherMethods(callback, { ...options, isConfigured: rules !== null, answersGet: true });
    return other ?? refusal(405);
  }
  if (!rules) return refusal(503);
  if (rules.senders) {
    const address = resolveClientAddress(callback.ip, callback.headers, rules.senders.proxies);
    if (address === null || !isInNetworks(address, rules.senders.networks)) return refusal(403);
  }
  const notification = parseNotification(utf8Text(callback.rawBody));
  if (!notification || !isEqualText(notification.merchantId, rules.shopId)) return refusal(400);
  const { orderId, paymentId, signature } = notification;
  if (!isEqualHex(signature, notificationSignature({ ...notification, word2: rules.word2 }))) return refusal(400);
  // Of the provider's own id, which is not signed, nothing is used but to tell notifications apart.
  return { accepted: true, reference: { externalId: null, orderId }, eventKey: `${orderId}:${paymentId ?? ''}`, reply: YES };
}

/** @returns null when a field is missing or cannot be read */
function parseNotification(text: string | null): Notification | null {
  const fields = text === null ? null : parseWireForm(text);
  const [merchantId, amount] = [fields?.get('MERCHANT_ID'), fields?.get('AMOUNT')];
  const [orderId, signature] = [fields?.get('MERCHANT_ORDER_ID'), fields?.get('SIGN')];
  const paymentId = fields?.get('intid') || null;
  if (merchantId === undefined || amount === undefined || orderId === undefined || signature === undefined) return null;
  if (kopeksFromText(amount) === null || !ORDER_ID.test(orderId) || (paymentId !== null && !PAYMENT_ID.test(paymentId)))
    return null;
  return { merchantId, amount, orderId, signature, paymentId };
}

/**
 * What a verified notification says; its signature covers no currency and no id of the provider.
 * @param currency of the shop, since notifications have none
 */
export function notifiedState(body: string, currency: string): PaymentReport | null {
  const notification = parseNotification(body);
  if (!notification) return null;
  const { amount, orderId, paymentId } = notification;
  return {
    externalId: null,
    isUnconfirmed: true,
    status: 'success',
    outcome: 'paid',
    amountKopeks: kopeksFromText(amount)!,
    currency,
    orderId,
    paidAt: null,
    chargeId: paymentId ?? orderId,
    raw: { orderId, amount, paymentId },
  };
}
