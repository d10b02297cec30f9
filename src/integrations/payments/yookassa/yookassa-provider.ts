import type { HttpClient } from '../../../core/http/http-client.ts';
import {
  type CallbackVerdict,
  type CreatedInvoice,
  type InvoiceRequest,
  type PaymentProvider,
  type PaymentReport,
  type ProviderCallback,
  ProviderError,
  type ProviderReversal,
  type RefundAnswer,
  type RefundRequest,
  type SavedMethodCharge,
} from '../../../domain/payments/ports.ts';
import { isInNetworks, networksOf, resolveClientAddress } from '../wire/client-address.ts';
import { utf8Text } from '../wire/form.ts';
import { dateField, objectField, parseWireObject, plainJson, textField, type WireObject } from '../wire/json.ts';
import { bareUrl, callProvider, FAKE_NETWORKS, type ProviderAccess, providerAccount } from '../wire/provider-call.ts';
import { answerOtherMethods, jsonReply, OK, problem, refused } from '../wire/replies.ts';
import { chargeBody, isRefunded, parsePayment, parseRefunds, paymentBody, paymentState, refundBody } from './payment-wire.ts';

const METHOD = 'yookassa';
/** As many as the provider lists at once. */
const REFUNDS_A_PAGE = 100;
const MAX_REFUND_PAGES = 20;

export interface YookassaOptions {
  http: HttpClient;
  /** Read on every call; null = without credentials. */
  connection: () => YookassaConnection | null;
  /** Whether new payments are taken; read on every call. */
  isOn: () => boolean;
  webhookPath: () => string;
}

/** YooKassa API v3 (spec 03 section 2.5; spec 03a section 5). */
export function createYookassaProvider({ http, connection, isOn, webhookPath }: YookassaOptions): PaymentProvider {
  const account = providerAccount(METHOD, 'YooKassa', connection, isOn);
  const { required } = account;

  return {
    method: METHOD,
    initialStatus: 'pending',
    pendingStatuses: ['pending', 'waiting_for_capture'],
    canFetchStatus: true,
    callbackFormats: ['json'],
    // The metadata that a payment was created with is ours, so that one whose record was lost is found by the API's answer.
    asksAboutUnknown: true,
    canRefundPartly: true,
    isConfigured: account.isConfigured,
    hasCredentials: account.hasCredentials,
    webhookPath,
    createInvoice: async (request) => createPayment(http, account.requiredForNew(), request),
    fetchStatus: async ({ externalId }) => fetchPayment(http, required(), externalId),
    receiveCallback: async (callback) => receiveYookassaCallback(callback, account.connectionFor(callback)),
    refund: async (request) => refundPayment(http, required(), request),
    chargeSaved: async (charge) => chargeSavedMethod(http, account.requiredForNew(), charge),
  };
}

/** The provider by the settings of the service. */
export function yookassaProvider(access: ProviderAccess): PaymentProvider {
  return createYookassaProvider({
    http: access.http,
    connection: () => yookassaConnection(access),
    isOn: access.isOn,
    webhookPath: () => access.settings.get('YOOKASSA_WEBHOOK_PATH'),
  });
}

async function createPayment(http: HttpClient, connection: YookassaConnection, request: InvoiceRequest): Promise<CreatedInvoice> {
  if (request.amountKopeks < connection.minKopeks || request.amountKopeks > connection.maxKopeks) {
    throw new ProviderError(METHOD, 'rejected', 'The amount is outside the limits of the method');
  }
  // spec 03 H16: a receipt goes to the payer or to the configured contact, never to an invented address.
  const receiptEmail = request.payerEmail ?? connection.receiptEmail;
  if (!receiptEmail) throw new ProviderError(METHOD, 'rejected', 'No receipt contact');
  const returnUrl = request.returnUrls.result ?? connection.returnUrl;
  if (!returnUrl) throw new ProviderError(METHOD, 'rejected', 'No return URL');

  const text = await call(http, connection, {
    method: 'POST',
    path: '/payments',
    body: paymentBody(request, connection, receiptEmail, returnUrl),
    // The order id, so that a retried POST cannot create a second payment.
    idempotenceKey: request.orderId,
  });
  const payment = parsePayment(text);
  const paymentUrl = textField(objectField(payment, 'confirmation'), 'confirmation_url');
  if (!payment || paymentUrl === null || !/^https?:\/\//.test(paymentUrl)) {
    throw new ProviderError(METHOD, 'unavailable', 'The provider answered without a payment URL');
  }
  return {
    externalId: textField(payment, 'id')!,
    paymentUrl,
    status: textField(payment, 'status')!,
    expiresAt: dateField(payment, 'expires_at'),
    merchantId: textField(objectField(payment, 'recipient'), 'account_id'),
    raw: plainJson(payment),
  };
}

async function fetchPayment(http: HttpClient, connection: YookassaConnection, externalId: string | null): Promise<PaymentReport> {
  // The API has no search by our order id.
  if (externalId === null) throw new ProviderError(METHOD, 'rejected', 'The payment has no id at the provider');
  const id = encodeURIComponent(externalId);
  const payment = parsePayment(await call(http, connection, { method: 'GET', path: `/payments/${id}` }));
  const refunds = payment && isRefunded(payment) ? await fetchRefunds(http, connection, id) : [];
  const state = payment && paymentState(payment, connection, refunds);
  if (!state || state.externalId !== externalId) {
    throw new ProviderError(METHOD, 'unavailable', 'The provider answered without this payment');
  }
  return state;
}

/** All refunds of a payment, page by page: a payment that was given back in small parts has more than one page has (spec 10 M9). */
async function fetchRefunds(http: HttpClient, connection: YookassaConnection, id: string): Promise<ProviderReversal[]> {
  const refunds: ProviderReversal[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MAX_REFUND_PAGES; page++) {
    const after: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const path = `/refunds?payment_id=${id}&limit=${REFUNDS_A_PAGE}${after}`;
    const answer = parseWireObject(await call(http, connection, { method: 'GET', path }));
    if (!answer) throw new ProviderError(METHOD, 'unavailable', 'The provider answered without the refunds of this payment');
    refunds.push(...parseRefunds(answer));
    cursor = textField(answer, 'next_cursor');
    if (cursor === null) return refunds;
  }
  // What was read counts; the rest would be the work of somebody who refunds kopek by kopek.
  return refunds;
}

async function chargeSavedMethod(
  http: HttpClient,
  connection: YookassaConnection,
  charge: SavedMethodCharge,
): Promise<PaymentReport> {
  const receiptEmail = charge.payerEmail ?? connection.receiptEmail;
  if (!receiptEmail) throw new ProviderError(METHOD, 'rejected', 'No receipt contact');
  const body = chargeBody(charge, connection, receiptEmail);
  const text = await call(http, connection, { method: 'POST', path: '/payments', body, idempotenceKey: charge.orderId });
  const payment = parsePayment(text);
  const state = payment && paymentState(payment, connection, []);
  if (!state) throw new ProviderError(METHOD, 'unavailable', 'The provider answered without a payment');
  return state;
}

async function refundPayment(http: HttpClient, connection: YookassaConnection, request: RefundRequest): Promise<RefundAnswer> {
  const text = await call(http, connection, {
    method: 'POST',
    path: '/refunds',
    body: refundBody(request.externalId, request.amountKopeks),
    idempotenceKey: request.idempotencyKey,
  });
  const refund = parseWireObject(text);
  const reversalId = textField(refund, 'id');
  if (reversalId === null) throw new ProviderError(METHOD, 'unavailable', 'The provider answered without a refund');
  const status = textField(refund, 'status');
  if (status === 'canceled') throw new ProviderError(METHOD, 'rejected', 'The provider cancelled the refund');
  return { reversalId, state: status === 'succeeded' ? 'done' : 'pending' };
}

interface Call {
  method: 'GET' | 'POST';
  path: string;
  body?: string;
  idempotenceKey?: string;
}

/** @returns the body of a 2xx answer */
async function call(http: HttpClient, connection: YookassaConnection, request: Call): Promise<string> {
  const credentials = Buffer.from(`${connection.shopId}:${connection.secretKey}`).toString('base64');
  const response = await callProvider(http, METHOD, {
    method: request.method,
    url: `${connection.baseUrl}${request.path}`,
    headers: {
      authorization: `Basic ${credentials}`,
      ...(request.body ? { 'content-type': 'application/json' } : {}),
      ...(request.idempotenceKey ? { 'idempotence-key': request.idempotenceKey } : {}),
    },
    ...(request.body ? { body: request.body } : {}),
    // A POST has its idempotence key.
    idempotent: true,
  });
  if (response.status >= 200 && response.status < 300) return response.text;
  throw new ProviderError(METHOD, 'rejected', `The provider answered ${response.status}`);
}

const PAYMENT_EVENTS = new Set(['payment.succeeded', 'payment.waiting_for_capture', 'payment.canceled']);
const REFUND_EVENT = 'refund.succeeded';
const ID = /^[\w-]{1,64}$/;

/**
 * Verifies a request on the webhook path. The provider signs nothing, so the source address is checked.
 * An accepted request only causes a status request to the API (spec 03 H9), which is all that a forged body can achieve.
 */
function receiveYookassaCallback(callback: ProviderCallback, connection: YookassaConnection | null): CallbackVerdict {
  const options = { provider: 'yookassa', isConfigured: connection !== null, answersGet: true, answersOptions: true };
  const other = answerOtherMethods(callback, options);
  if (other || !connection) return other ?? problem(503, 'service_not_configured');

  const clientIp = resolveClientAddress(callback.ip, callback.headers, connection.proxies);
  if (clientIp === null) return problem(403, 'unknown_ip');
  if (!isInNetworks(clientIp, connection.allowedNetworks)) return problem(403, 'forbidden_ip');
  return classifyBody(utf8Text(callback.rawBody));
}

function classifyBody(text: string | null): CallbackVerdict {
  if (text?.trim() === '') return problem(400, 'empty_body');
  const body = text === null ? null : parseWireObject(text);
  if (!body) return problem(400, 'invalid_json');
  const event = textField(body, 'event') ?? '';
  if (event === '') return problem(400, 'missing_event');
  const object = objectField(body, 'object');
  const paymentId = paymentOf(event, object);
  if (paymentId === null) return refused(jsonReply(200, { status: 'ok', ignored: event }));
  const eventId = textField(object, 'id') ?? '';
  if (!ID.test(paymentId) || !ID.test(eventId)) return problem(400, 'missing_payment_id');
  return { accepted: true, reference: { externalId: paymentId, orderId: null }, eventKey: `${event}:${eventId}`, reply: OK };
}

/** Id of the payment that an event is about, empty where it is missing; null for events that are not handled. */
function paymentOf(event: string, object: WireObject | null): string | null {
  if (PAYMENT_EVENTS.has(event)) return textField(object, 'id') ?? '';
  return event === REFUND_EVENT ? (textField(object, 'payment_id') ?? '') : null;
}

/** What the adapter needs of the settings (spec 03 sections 2.4, 2.5, 10). */
export interface YookassaConnection {
  /** No slash at the end. */
  baseUrl: string;
  shopId: string;
  secretKey: string;
  /** Payments of a test shop are made in test mode, those of any other shop are not. */
  isTestShop: boolean;
  /** Used when the caller names no return URL. */
  returnUrl: string | null;
  /** Receipt contact when the payer has no e-mail. */
  receiptEmail: string | null;
  vatCode: number;
  paymentMode: string;
  paymentSubject: string;
  /** Ask the provider to save the card: `YOOKASSA_RECURRENT_ENABLED` and `YOOKASSA_RECURRENT_REQUIRED`. */
  saveCard: boolean;
  minKopeks: number;
  maxKopeks: number;
  /** Addresses and networks of the installation's reverse proxies. */
  proxies: readonly string[];
  /** Source networks of the provider's notifications. */
  allowedNetworks: readonly string[];
}

export const YOOKASSA_BASE_URL = 'https://api.yookassa.ru/v3';

/** Null while YooKassa has no credentials. */
function yookassaConnection({
  settings,
  fake,
  proxies,
  callbackNetworks,
}: Omit<ProviderAccess, 'http' | 'now'>): YookassaConnection | null {
  const access = fake();
  const shopId = access ? 'sandbox' : (settings.get('YOOKASSA_SHOP_ID') ?? '');
  const secretKey = access ? access.secret : (settings.get('YOOKASSA_SECRET_KEY') ?? '');
  if (!access && (shopId === '' || secretKey === '')) return null;
  return {
    baseUrl: access ? bareUrl(access.baseUrl) : YOOKASSA_BASE_URL,
    shopId,
    secretKey,
    isTestShop: access !== null || secretKey.startsWith('test_'),
    returnUrl: settings.get('YOOKASSA_RETURN_URL'),
    receiptEmail: settings.get('YOOKASSA_DEFAULT_RECEIPT_EMAIL') ?? (access ? 'receipts@sandbox.local' : null),
    vatCode: settings.get('YOOKASSA_VAT_CODE'),
    paymentMode: settings.get('YOOKASSA_PAYMENT_MODE'),
    paymentSubject: settings.get('YOOKASSA_PAYMENT_SUBJECT'),
    saveCard: settings.get('YOOKASSA_RECURRENT_ENABLED') && settings.get('YOOKASSA_RECURRENT_REQUIRED'),
    minKopeks: settings.get('YOOKASSA_MIN_AMOUNT_KOPEKS'),
    maxKopeks: settings.get('YOOKASSA_MAX_AMOUNT_KOPEKS'),
    proxies: [...proxies, ...networksOf(settings.get('YOOKASSA_TRUSTED_PROXY_NETWORKS'))],
    allowedNetworks: access ? FAKE_NETWORKS : callbackNetworks,
  };
}
