import { createHmac } from 'node:crypto';
import type { HttpClient } from '../../core/http/http-client.ts';
import {
  type CallbackReply,
  type CallbackVerdict,
  type CreatedInvoice,
  type InvoiceRequest,
  type PaymentOutcome,
  type PaymentProvider,
  type PaymentReference,
  type PaymentReport,
  type ProviderCallback,
  ProviderError,
  type ProviderReversal,
  type RefundAnswer,
  type RefundRequest,
} from '../../domain/payments/ports.ts';
import { isEqualHex, utf8Text } from './wire/form.ts';
import { dateField, isTrue, parseWireObject, plainJson, textField, type WireObject } from './wire/json.ts';
import { kopeksFromText, rublesText } from './wire/money.ts';
import { bareUrl, callJson, type ProviderAccess, providerAccount } from './wire/provider-call.ts';
import { answerOtherMethods, OK, problem, refused, textReply } from './wire/replies.ts';

const METHOD = 'riopay';

/** RioPay (03a section 13). Orders are found by its id and by ours; refunds are of the whole sum. */
export function riopayProvider(access: ProviderAccess): PaymentProvider {
  const { http, settings } = access;
  const account = providerAccount(METHOD, 'RioPay', () => riopayConnection(access), access.isOn);
  const { required } = account;

  return {
    method: METHOD,
    initialStatus: 'PENDING',
    pendingStatuses: ['PENDING', 'CREATED'],
    canFetchStatus: true,
    callbackFormats: ['json'],
    asksAboutUnknown: false,
    isConfigured: account.isConfigured,
    hasCredentials: account.hasCredentials,
    webhookPath: () => settings.get('RIOPAY_WEBHOOK_PATH'),
    createInvoice: async (request) => createOrder(http, account.requiredForNew(), request),
    fetchStatus: async (reference) => fetchOrder(http, required(), reference),
    receiveCallback: async (callback) => receiveRiopayCallback(callback, account.connectionFor(callback)),
    readCallback: readRiopayCallback,
    refund: async (request) => refundOrder(http, required(), request),
  };
}

async function createOrder(http: HttpClient, connection: RiopayConnection, request: InvoiceRequest): Promise<CreatedInvoice> {
  if (request.amountKopeks < connection.minKopeks || request.amountKopeks > connection.maxKopeks) {
    throw new ProviderError(METHOD, 'rejected', 'The amount is outside the limits of the method');
  }
  // PUT returns the order of the same externalId, so that a repeat makes no second one (03a section 0.6).
  const body = orderBody(request, connection);
  const order = await call(http, connection, { method: 'PUT', path: '/v1/orders', body, idempotent: true });
  const externalId = textField(order, 'id');
  const paymentUrl = textField(order, 'paymentLink');
  if (externalId === null || paymentUrl === null || !/^https?:\/\//.test(paymentUrl)) {
    throw new ProviderError(METHOD, 'unavailable', 'The provider answered without a payment URL');
  }
  return {
    externalId,
    paymentUrl,
    status: textField(order, 'status') ?? 'PENDING',
    expiresAt: null,
    merchantId: merchantOf(order),
    raw: plainJson(order),
  };
}

async function fetchOrder(
  http: HttpClient,
  connection: RiopayConnection,
  { externalId, orderId }: PaymentReference,
): Promise<PaymentReport> {
  const path = externalId !== null ? encodeURIComponent(externalId) : `external/${encodeURIComponent(orderId ?? '')}`;
  const order = await call(http, connection, { method: 'GET', path: `/v1/orders/${path}`, idempotent: true });
  const state = orderState(order);
  const isAsked = externalId !== null ? state?.externalId === externalId : state?.orderId === orderId;
  if (!state || !isAsked) throw new ProviderError(METHOD, 'unavailable', 'The provider answered without this order');
  return state;
}

/** That a refund was carried out is seen by the status of the order. */
async function refundOrder(
  http: HttpClient,
  connection: RiopayConnection,
  { externalId, orderId, isWhole }: RefundRequest,
): Promise<RefundAnswer> {
  if (!isWhole) throw new ProviderError(METHOD, 'rejected', 'The provider returns whole payments only');
  const body = JSON.stringify({ orderId: externalId, externalId: orderId });
  await call(http, connection, { method: 'POST', path: '/v1/refunds', body, idempotent: false });
  return { reversalId: reversalIdOf(externalId, 'refund'), state: 'pending' };
}

interface Call {
  method: 'GET' | 'POST' | 'PUT';
  path: string;
  body?: string;
  idempotent: boolean;
}

function call(
  http: HttpClient,
  { baseUrl, token }: RiopayConnection,
  { method, path, body, idempotent }: Call,
): Promise<WireObject> {
  return callJson(http, METHOD, {
    method,
    url: `${baseUrl}${path}`,
    // `Authorization` does not work here, as the provider's page warns.
    headers: { 'x-api-token': token, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body }),
    idempotent,
  });
}

const SIGNATURE_HEADER = 'x-signature';
const TYPE_HEADER = 'x-type';
const PAYOUT = 'PAYOUT_UPDATE';
const ID = /^[\w-]{1,128}$/;

/** HMAC-SHA-512 over the body; lower-case hex. */
export function riopaySignature(body: Buffer | string, secret: string): string {
  return createHmac('sha512', secret).update(body).digest('hex');
}

/** Verifies a callback (03a section 13): the whole body is signed. Refusals have the text that spec 03 section 2.6 gives them. */
export function receiveRiopayCallback(callback: ProviderCallback, connection: RiopayConnection | null): CallbackVerdict {
  const options = { provider: 'riopay', isConfigured: connection !== null, answersGet: true, answersOptions: false };
  const other = answerOtherMethods(callback, options);
  if (other || !connection) return other ?? problem(503, 'service_not_configured');

  const text = utf8Text(callback.rawBody);
  const body = parseWireObject(text ?? '');
  const signature = callback.headers[SIGNATURE_HEADER] ?? '';
  const isSigned = signaturesOf(callback.rawBody, body === null ? null : text, connection.webhookSecret).some((expected) =>
    isEqualHex(signature, expected),
  );
  if (!isSigned) return refused(ERROR(403));
  if (!body) return refused(ERROR(400));
  // The type is not signed: it only says what not to look at.
  if (callback.headers[TYPE_HEADER] === PAYOUT) return refused(OK);
  const [id, order, externalId] = [textField(body, 'id'), textField(body, 'orderId'), textField(body, 'externalId')];
  const reference = { externalId: order ?? id, orderId: externalId };
  if (reference.externalId === null || !ID.test(reference.externalId)) return refused(OK);
  return { accepted: true, reference, eventKey: `${id ?? order}:${textField(body, 'status') ?? ''}`, reply: OK };
}

/**
 * The state that a signed body proves: an order that has ended. An open order, an unknown word and the report of a refund, whose body is not
 * that of an order, are asked about.
 */
function readRiopayCallback(text: string): PaymentReport | null {
  const body = parseWireObject(text);
  const state = body && !namesAnotherOrder(body) ? orderState(body) : null;
  return state && state.outcome !== 'pending' ? state : null;
}

/** The provider's sample signs the body as it writes it again after parsing: compact JSON, which is what it sends. */
function signaturesOf(rawBody: Buffer, json: string | null, secret: string): string[] {
  const raw = riopaySignature(rawBody, secret);
  return json === null ? [raw] : [raw, riopaySignature(JSON.stringify(JSON.parse(json)), secret)];
}

const ERROR = (status: number): CallbackReply => textReply(status, 'Error');

/** What the adapter needs of the settings (spec 03 section 2.4; spec 03a section 13). */
export interface RiopayConnection {
  /** No slash at the end. */
  baseUrl: string;
  token: string;
  /** Key of the callbacks' signatures: the token, unless the provider gave another one. */
  webhookSecret: string;
  /** Where the provider posts its callbacks; null = as its manager entered it. */
  callbackUrl: string | null;
  /** Used when the caller names no pages; the failure page may be missing. */
  successUrl: string | null;
  failUrl: string | null;
  minKopeks: number;
  maxKopeks: number;
}

const RIOPAY_BASE_URL = 'https://api.riopay.online';
/** The longest address that the provider accepts. */
const MAX_URL = 2_048;

/** Null while RioPay has no token. */
export function riopayConnection({ settings, fake }: Pick<ProviderAccess, 'settings' | 'fake'>): RiopayConnection | null {
  const access = fake();
  const token = access ? access.secret : (settings.get('RIOPAY_API_TOKEN') ?? '');
  if (!access && token === '') return null;
  const service = settings.get('WEBHOOK_URL');
  const callbackUrl = service ? `${bareUrl(service)}${settings.get('RIOPAY_WEBHOOK_PATH')}` : null;
  return {
    baseUrl: bareUrl(access ? access.baseUrl : RIOPAY_BASE_URL),
    token,
    webhookSecret: access ? access.secret : settings.get('RIOPAY_WEBHOOK_SECRET') || token,
    callbackUrl: callbackUrl !== null && callbackUrl.length <= MAX_URL ? callbackUrl : null,
    successUrl: settings.get('RIOPAY_SUCCESS_URL'),
    failUrl: settings.get('RIOPAY_FAIL_URL'),
    minKopeks: settings.get('RIOPAY_MIN_AMOUNT_KOPEKS'),
    maxKopeks: settings.get('RIOPAY_MAX_AMOUNT_KOPEKS'),
  };
}

const MAX_PURPOSE = 255;
const OUTCOMES: Readonly<Record<string, PaymentOutcome>> = {
  CREATED: 'pending',
  PENDING: 'pending',
  COMPLETED: 'paid',
  FAILED: 'failed',
  CANCELED: 'failed',
  EXPIRED: 'failed',
  BLOCKED: 'blocked',
  REFUND: 'failed',
  CHARGEBACK: 'failed',
};
const REVERSALS: Readonly<Record<string, ProviderReversal['kind']>> = { REFUND: 'refund', CHARGEBACK: 'chargeback' };

/** Body of PUT /v1/orders. The fee is said to be ours, since otherwise the payer may pay another sum (03a section 13). */
export function orderBody(request: InvoiceRequest, connection: RiopayConnection): string {
  const { amountKopeks, orderId, description, returnUrls, metadata } = request;
  const successUrl = returnUrls.success ?? returnUrls.result ?? connection.successUrl;
  const failUrl = returnUrls.failed ?? returnUrls.result ?? connection.failUrl;
  return JSON.stringify({
    amount: rublesText(amountKopeks),
    currency: 'RUB',
    externalId: orderId,
    ...(metadata.user_id == null ? {} : { externalUserId: String(metadata.user_id) }),
    isFeeOnUser: false,
    purpose: description.slice(0, MAX_PURPOSE),
    ...(successUrl ? { successUrl } : {}),
    ...(failUrl ? { failUrl } : {}),
    ...(connection.callbackUrl ? { callbackUrl: connection.callbackUrl } : {}),
  });
}

/** The merchant and its shop; null where an answer or a callback does not name both. */
function merchantOf(order: WireObject): string | null {
  const [merchantId, shopId] = [textField(order, 'merchantId'), textField(order, 'shopId')];
  return merchantId !== null && shopId !== null ? `${merchantId}/${shopId}` : null;
}

/** The state of an order of the wire; null when it has no id, status, readable amount or currency. */
export function orderState(order: WireObject): PaymentReport | null {
  const externalId = textField(order, 'id');
  const status = textField(order, 'status');
  const currency = textField(order, 'currency');
  const amountKopeks = kopeksFromText(textField(order, 'amount') ?? '');
  if (externalId === null || status === null || currency === null || amountKopeks === null) return null;
  const outcome = OUTCOMES[status] ?? 'pending';
  const kind = REVERSALS[status];
  return {
    externalId,
    status,
    outcome,
    amountKopeks,
    currency: currency.toUpperCase(),
    orderId: textField(order, 'externalId'),
    // The provider's spelling.
    paidAt: outcome === 'paid' ? dateField(order, 'payedAt') : null,
    merchantId: merchantOf(order),
    isTest: isTrue(order, 'isTest'),
    reversals: kind ? [{ reversalId: reversalIdOf(externalId, kind), kind, amountKopeks: null }] : [],
    feeKopeks: outcome === 'paid' ? feeOf(order, amountKopeks) : null,
    raw: plainJson(order),
  };
}

/** An order is reversed as a whole, at most once of each kind. */
function reversalIdOf(orderId: string, kind: ProviderReversal['kind']): string {
  return `${orderId}:${kind}`;
}

/** The difference to what the shop gets; null while the provider does not say it. */
function feeOf(order: WireObject, amountKopeks: number): number | null {
  const received = kopeksFromText(textField(order, 'received') ?? '');
  return received === null || received === 0 || received > amountKopeks ? null : amountKopeks - received;
}

/** Whether a body is about another thing than an order of a payer, for example a refund, which names the order that it is about. */
function namesAnotherOrder(body: WireObject): boolean {
  return textField(body, 'orderId') !== null;
}
