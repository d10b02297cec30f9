import { createHash, createHmac } from 'node:crypto';
import {
  type CreatedInvoice,
  type InvoiceRequest,
  type PaymentOutcome,
  type PaymentReference,
  type PaymentReport,
  ProviderError,
  type RefundAnswer,
  type RefundRequest,
} from '../../../domain/payments/ports.ts';
import type { InTurn } from '../wire/in-turn.ts';
import { objectsField, parseWireObject, plainJson, textField, type WireObject, wireJson, wireNumber } from '../wire/json.ts';
import { kopeksFromText, payerContact, shortRublesText } from '../wire/money.ts';
import { bareUrl, callProvider, FAKE_NETWORKS, type ProviderAccess } from '../wire/provider-call.ts';
import type { NotificationRules } from './freekassa-provider.ts';

/** Creates an order. @throws ProviderError */
export async function createOrder(
  access: OrderAccess,
  api: OrderApi,
  request: InvoiceRequest,
  order: Parameters<typeof orderFields>[1] & { expiresAt: Date },
): Promise<CreatedInvoice> {
  const answer = await callOrderApi(access, api, '/orders/create', orderFields(request, order));
  const externalId = textField(answer, 'orderId');
  const paymentUrl = textField(answer, 'location');
  if (externalId === null || paymentUrl === null) {
    throw new ProviderError(api.method, 'unavailable', 'The provider answered without an order');
  }
  return {
    externalId,
    paymentUrl,
    status: 'pending',
    expiresAt: order.expiresAt,
    merchantId: api.shopId,
    raw: plainJson(answer),
  };
}

/** Asks about the orders of our order id. @throws ProviderError `rejected` when there is none */
export async function fetchOrder(access: OrderAccess, api: OrderApi, reference: PaymentReference): Promise<PaymentReport> {
  const { externalId, orderId } = reference;
  if (orderId === null) throw new ProviderError(api.method, 'rejected', 'Orders are found by our order id only');
  const orders = ordersOf(await callOrderApi(access, api, '/orders', { paymentId: orderId }), orderId);
  // The address of the form is our own; the provider has no order before somebody opens it.
  if (orders.length === 0 && externalId === orderId) return unopenedForm(orderId);
  if (orders.length === 0) throw new ProviderError(api.method, 'rejected', 'The provider does not know this order');
  const report = orderReport(orders);
  if (!report) throw new ProviderError(api.method, 'unavailable', 'The provider answered with an order that cannot be read');
  return report;
}

function unopenedForm(orderId: string): PaymentReport {
  const nothing = { amountKopeks: 0, currency: 'RUB', paidAt: null, raw: null };
  return { externalId: orderId, orderId, status: 'pending', outcome: 'pending', ...nothing };
}

/**
 * Refunds an order, which is possible as a whole only. The call has no idempotency key, so the order is read first: a refund whose answer
 * was lost is not requested again.
 * @throws ProviderError
 */
export async function refundOrder(access: OrderAccess, api: OrderApi, request: RefundRequest): Promise<RefundAnswer> {
  const { orderId, isWhole } = request;
  if (!isWhole) throw new ProviderError(api.method, 'rejected', 'The provider refunds whole payments only');
  const fkOrderId = request.chargeId ?? request.externalId;
  const readStatus = async () => {
    const orders = ordersOf(await callOrderApi(access, api, '/orders', { paymentId: orderId }), orderId);
    return textField(orders.find((order) => textField(order, 'fk_order_id') === fkOrderId) ?? null, 'status');
  };
  const reversalId = refundIdOf(fkOrderId);
  const before = await readStatus();
  if (before === REFUNDED) return { reversalId, state: 'done' };
  if (before !== PAID) throw new ProviderError(api.method, 'rejected', 'The provider has no such paid order');
  await callOrderApi(access, api, '/orders/refund', { orderId: wireNumber(fkOrderId) });
  return { reversalId, state: (await readStatus()) === REFUNDED ? 'done' : 'pending' };
}

/** The API that Freekassa and Kassa.ai share (03a sections 10 and 11), with the credentials of one shop. */
export interface OrderApi {
  /** Payment method, for errors and for the sequence of nonces. */
  method: 'freekassa' | 'kassa_ai';
  /** No slash at the end. */
  baseUrl: string;
  /** Decimal. */
  shopId: string;
  apiKey: string;
}

export type OrderAccess = Pick<ProviderAccess, 'http' | 'nextNonce'> & {
  /** Requests of one instance do not overtake each other; those of several may, and are sent again. */
  inTurn: InTurn;
};

/** A request that was overtaken by one with a higher nonce is refused without effect, and sent again with the next one. */
const NONCE_TRIES = 5;
/** Behind a request that the provider does not answer, others end with it and not one time-out after the other. */
const MAX_WAIT_MS = 10_000;

/** The sequence of nonces of a shop and key; a new key begins a new one. */
function nonceScope({ method, shopId, apiKey }: OrderApi): string {
  return `${method}:${shopId}:${createHash('sha256').update(apiKey).digest('hex').slice(0, 16)}`;
}

/**
 * Calls the API. Nothing is repeated after a lost answer (03a section 0.6): the nonce is used up, and a create has no protection.
 * @param fields without `shopId`, `nonce` and `signature`
 * @throws ProviderError `rejected` for an error of the provider; `unavailable` also when it goes on refusing our nonces
 */
export async function callOrderApi(
  { http, nextNonce, inTurn }: OrderAccess,
  api: OrderApi,
  path: string,
  fields: Readonly<Record<string, unknown>>,
): Promise<WireObject> {
  const { method, baseUrl, apiKey } = api;
  for (let attempt = 1; attempt <= NONCE_TRIES; attempt++) {
    const { status, text } = await inTurn(async (waitedMs) => {
      if (waitedMs > MAX_WAIT_MS) throw new ProviderError(method, 'unavailable', 'The provider does not answer earlier requests');
      const nonce = wireNumber(String(await nextNonce(nonceScope(api))));
      const signed = { shopId: wireNumber(api.shopId), nonce, ...fields };
      return callProvider(http, method, {
        method: 'POST',
        url: `${baseUrl}${path}`,
        headers: { 'content-type': 'application/json' },
        body: wireJson({ ...signed, signature: orderSignature(signed, apiKey) }),
        idempotent: false,
      });
    });
    const answer = parseWireObject(text);
    const isSuccess = status >= 200 && status <= 299;
    if (isSuccess && answer && textField(answer, 'type') !== 'error') return answer;
    if (isSuccess && !answer)
      throw new ProviderError(method, 'unavailable', 'The provider answered with something that is no JSON object');
    if (!isNonceRefused(answer)) throw new ProviderError(method, 'rejected', `The provider refused the request (${status})`);
  }
  throw new ProviderError(
    method,
    'unavailable',
    `The provider refuses our nonces: let it issue a new API key, or set ${method.toUpperCase()}_NONCE_START above the last nonce of the software that used this key`,
  );
}

function isNonceRefused(answer: WireObject | null): boolean {
  return [textField(answer, 'message'), textField(answer, 'error')].some((message) => message !== null && /nonce/i.test(message));
}

/** Status numbers of POST /orders with our words for them; another number changes nothing. */
const STATUSES: Readonly<Record<string, { word: string; outcome: PaymentOutcome }>> = {
  0: { word: 'pending', outcome: 'pending' },
  1: { word: 'success', outcome: 'paid' },
  6: { word: 'refunded', outcome: 'paid' },
  8: { word: 'error', outcome: 'failed' },
  9: { word: 'canceled', outcome: 'failed' },
};
/** Status of an order whose money has come, and of one that was refunded. */
const PAID = '1';
const REFUNDED = '6';
const OPEN = '0';
/** Which of several orders of one order id says how the payment is: paid before refunded, before open, before failed. */
const PRECEDENCE = [PAID, REFUNDED, OPEN, '9', '8'];

/** Payment system ids of the sub-options through the API. */
export const API_SYSTEMS: Readonly<Record<string, string>> = { sbp: '44', card: '36' };

/** Fields of POST /orders/create besides shop, nonce and signature. @param failureField name of the field for the address after a failure */
function orderFields(
  request: InvoiceRequest,
  order: { system: string; ip: string; currency: string; failureField: 'failure_url' | 'fail_url' },
): Record<string, unknown> {
  const { success, failed } = request.returnUrls;
  return {
    paymentId: request.orderId,
    i: wireNumber(order.system),
    email: payerContact(request),
    ip: order.ip,
    // The text of the number is what is signed, so it has no zeros at its end.
    amount: wireNumber(shortRublesText(request.amountKopeks)),
    currency: order.currency,
    ...(success === null ? {} : { success_url: success }),
    ...(failed === null ? {} : { [order.failureField]: failed }),
  };
}

/** The orders of an answer of POST /orders that have our order id. A payer who tries again may leave several. */
function ordersOf(answer: WireObject, orderId: string): WireObject[] {
  return objectsField(answer, 'orders').filter((order) => textField(order, 'merchant_order_id') === orderId);
}

/**
 * What the orders of one order id say. Each is a charge of its own: every one whose money came is reported, also where it went back, so that the
 * refund of the credited one is seen whichever others there are (spec 10 M9). They are found by our order id alone.
 * @returns null when there is none, or one cannot be read
 */
function orderReport(orders: readonly WireObject[]): PaymentReport | null {
  const reports = orders.toSorted(byWeight).map(reportOf);
  const [first, ...rest] = reports;
  if (!first || reports.includes(null)) return null;
  return { ...first, others: rest.filter((report) => report?.outcome === 'paid').filter((report) => report !== null) };
}

function reportOf(order: WireObject): PaymentReport | null {
  const chargeId = textField(order, 'fk_order_id');
  const status = textField(order, 'status') ?? '';
  const amountKopeks = kopeksFromText(textField(order, 'amount') ?? '');
  const currency = textField(order, 'currency');
  if (chargeId === null || amountKopeks === null || currency === null) return null;
  const { word, outcome } = STATUSES[status] ?? { word: 'pending', outcome: 'pending' };
  return {
    externalId: null,
    status: word,
    outcome,
    amountKopeks,
    currency: currency.toUpperCase(),
    orderId: textField(order, 'merchant_order_id'),
    // The date of an order has no time zone, and is not that of the payment.
    paidAt: null,
    chargeId: outcome === 'paid' ? chargeId : null,
    // The provider gives refunds no id, and refunds whole orders only.
    reversals: status === REFUNDED ? [{ reversalId: refundIdOf(chargeId), kind: 'refund', amountKopeks: null }] : [],
    raw: plainJson(order),
  };
}

/** Id of the refund of an order. */
function refundIdOf(fkOrderId: string): string {
  return `${fkOrderId}:refund`;
}

/** Of two paid orders the earlier one comes first: the later one is a second payment. */
function byWeight(left: WireObject, right: WireObject): number {
  const weight = (order: WireObject) => {
    const known = PRECEDENCE.indexOf(textField(order, 'status') ?? '');
    return known < 0 ? PRECEDENCE.indexOf(OPEN) : known;
  };
  const id = (order: WireObject) => (textField(order, 'fk_order_id') ?? '').padStart(20, '0');
  return weight(left) - weight(right) || (id(left) < id(right) ? -1 : 1);
}

const md5 = (parts: readonly string[]) => createHash('md5').update(parts.join(':')).digest('hex');

/**
 * Signature of a request to the API (03a section 10): the values of all other fields as they are in the JSON, in the order of their names.
 * Lower-case hex of an HMAC-SHA-256.
 */
export function orderSignature(fields: Readonly<Record<string, unknown>>, apiKey: string): string {
  const text = Object.keys(fields)
    .sort()
    .map((name) => String(fields[name]))
    .join('|');
  return createHmac('sha256', apiKey).update(text).digest('hex');
}

/** Signature of the address of the payment form. @param amount as it is in the address */
export function formSignature(form: {
  shopId: string;
  amount: string;
  word1: string;
  currency: string;
  orderId: string;
}): string {
  return md5([form.shopId, form.amount, form.word1, form.currency, form.orderId]);
}

/** Signature of a notification. @param amount as received: `100.00` and `100` are signed differently */
export function notificationSignature(paid: { merchantId: string; amount: string; word2: string; orderId: string }): string {
  return md5([paid.merchantId, paid.amount, paid.word2, paid.orderId]);
}

/** What the adapter needs of the settings (spec 03 sections 2.4 and 10). */
export interface FreekassaConnection {
  /** Null = without an API key: the form alone, whose notifications are credited as they come (`FREEKASSA_CREDIT_WITHOUT_API`). */
  api: OrderApi | null;
  /** Create orders by the API even where no payment system is chosen. */
  usesApi: boolean;
  /** Payment system where the payer chose no sub-option. */
  paymentSystem: string | null;
  form: { url: string; shopId: string; word1: string };
  rules: NotificationRules;
  /** ISO 4217, upper case. */
  currency: string;
  minKopeks: number;
  maxKopeks: number;
  expiresInSeconds: number;
}

const FREEKASSA_API_URL = 'https://api.fk.life/v1';
const FREEKASSA_FORM_URL = 'https://pay.fk.money/';
/** Shop id of the fakes of Freekassa and Kassa.ai. */
export const FAKE_SHOP_ID = '7012';

/** Null while a credential of Freekassa is missing. */
export function freekassaConnection(access: Omit<ProviderAccess, 'http' | 'now' | 'nextNonce'>): FreekassaConnection | null {
  const { settings, proxies, callbackNetworks, creditsWithoutApi } = access;
  const fake = access.fake();
  const secret = (name: 'FREEKASSA_API_KEY' | 'FREEKASSA_SECRET_WORD_1' | 'FREEKASSA_SECRET_WORD_2') =>
    fake ? fake.secret : (settings.get(name) ?? '').trim();
  const shopId = fake ? FAKE_SHOP_ID : String(settings.get('FREEKASSA_SHOP_ID') ?? '');
  const [apiKey, word1, word2] = [
    secret('FREEKASSA_API_KEY'),
    secret('FREEKASSA_SECRET_WORD_1'),
    secret('FREEKASSA_SECRET_WORD_2'),
  ];
  if ([shopId, word1, word2].includes('') || (apiKey === '' && !creditsWithoutApi)) return null;
  const baseUrl = fake ? `${bareUrl(fake.baseUrl)}/v1` : FREEKASSA_API_URL;
  const system = settings.get('FREEKASSA_PAYMENT_SYSTEM_ID');
  return {
    api: apiKey === '' ? null : { method: 'freekassa', baseUrl, shopId, apiKey },
    usesApi: settings.get('FREEKASSA_USE_API'),
    paymentSystem: system === null ? null : String(system),
    form: { url: fake ? `${bareUrl(fake.baseUrl)}/form` : FREEKASSA_FORM_URL, shopId, word1 },
    rules: { shopId, word2, senders: { networks: fake ? FAKE_NETWORKS : callbackNetworks, proxies } },
    currency: settings.get('FREEKASSA_CURRENCY').trim().toUpperCase(),
    minKopeks: settings.get('FREEKASSA_MIN_AMOUNT_KOPEKS'),
    maxKopeks: settings.get('FREEKASSA_MAX_AMOUNT_KOPEKS'),
    expiresInSeconds: settings.get('FREEKASSA_PAYMENT_TIMEOUT_SECONDS'),
  };
}
