import { createHash } from 'node:crypto';
import { isLosslessNumber } from 'lossless-json';
import type { HttpClient } from '../../core/http/http-client.ts';
import {
  type CallbackVerdict,
  type CreatedInvoice,
  type InvoiceRequest,
  type PaymentOutcome,
  type PaymentProvider,
  type PaymentReport,
  type ProviderCallback,
  ProviderError,
  type RefundAnswer,
} from '../../domain/payments/ports.ts';
import { isEqualHex, utf8Text } from './wire/form.ts';
import { isTrue, objectField, parseWireObject, plainJson, textField, type WireObject } from './wire/json.ts';
import { kopeksFromText, rublesText } from './wire/money.ts';
import { bareUrl, callJson, type ProviderAccess, providerAccount } from './wire/provider-call.ts';
import { answerOtherMethods, OK, problem } from './wire/replies.ts';

const METHOD = 'mulenpay';
const FIRST_STATUS = 'created';

/** MulenPay (03a section 6). */
export function mulenpayProvider(access: ProviderAccess): PaymentProvider {
  const { http, settings } = access;
  const account = providerAccount(METHOD, 'MulenPay', () => mulenpayConnection(access), access.isOn);
  const { required } = account;

  return {
    method: METHOD,
    initialStatus: FIRST_STATUS,
    pendingStatuses: [FIRST_STATUS, 'processing', 'hold'],
    canFetchStatus: true,
    callbackFormats: ['json'],
    asksAboutUnknown: false,
    // What a payment looks like after a refund is not documented, so that asking again tells nothing.
    asksAboutCredited: false,
    isConfigured: account.isConfigured,
    hasCredentials: account.hasCredentials,
    webhookPath: () => settings.get('MULENPAY_WEBHOOK_PATH'),
    createInvoice: async (request) => createPayment(http, account.requiredForNew(), request),
    fetchStatus: async ({ externalId }) => fetchPayment(http, required(), externalId),
    receiveCallback: async (callback) => receiveMulenpayCallback(callback, account.connectionFor(callback)),
    refund: async ({ externalId }) => refundPayment(http, required(), externalId),
  };
}

async function createPayment(http: HttpClient, connection: MulenpayConnection, request: InvoiceRequest): Promise<CreatedInvoice> {
  const body = paymentBody(request, connection);
  const answer = await call(http, connection, { method: 'POST', path: '/v2/payments', body });
  const externalId = textField(answer, 'id');
  const paymentUrl = textField(answer, 'paymentUrl');
  if (!isTrue(answer, 'success')) throw new ProviderError(METHOD, 'rejected', 'The provider refused the call');
  if (externalId === null || paymentUrl === null) {
    throw new ProviderError(METHOD, 'unavailable', 'The provider answered without a payment');
  }
  return { externalId, paymentUrl, status: FIRST_STATUS, expiresAt: null, raw: plainJson(answer) };
}

async function fetchPayment(http: HttpClient, connection: MulenpayConnection, externalId: string | null): Promise<PaymentReport> {
  // A search by our order id is not documented.
  if (externalId === null) throw new ProviderError(METHOD, 'rejected', 'The payment has no id at the provider');
  const path = `/v2/payments/${encodeURIComponent(externalId)}`;
  const payment = objectField(await call(http, connection, { method: 'GET', path }), 'payment');
  const state = payment && paymentState(payment);
  if (!state || state.externalId !== externalId) {
    throw new ProviderError(METHOD, 'unavailable', 'The provider answered without this payment');
  }
  return state;
}

/**
 * Refunds the whole payment. A refusal may be that of a refund whose answer was lost: it counts only while the payment is still paid.
 */
async function refundPayment(http: HttpClient, connection: MulenpayConnection, externalId: string): Promise<RefundAnswer> {
  const done: RefundAnswer = { reversalId: `${externalId}:refund`, state: 'done' };
  try {
    const path = `/v2/payments/${encodeURIComponent(externalId)}/refund`;
    if (isTrue(await call(http, connection, { method: 'PUT', path }), 'success')) return done;
  } catch (error) {
    if (!(error instanceof ProviderError) || error.failure !== 'rejected') throw error;
  }
  if ((await fetchPayment(http, connection, externalId)).outcome !== 'paid') return done;
  throw new ProviderError(METHOD, 'rejected', 'The provider refused the refund');
}

interface Call {
  method: 'GET' | 'POST' | 'PUT';
  path: string;
  body?: string;
}

function call(http: HttpClient, connection: MulenpayConnection, { method, path, body }: Call): Promise<WireObject> {
  return callJson(http, METHOD, {
    method,
    url: `${connection.baseUrl}${path}`,
    headers: {
      authorization: `Bearer ${connection.apiKey}`,
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
    // A repeated request would create a second payment (03a section 0.6).
    idempotent: method === 'GET',
  });
}

const ID = /^[\w-]{1,128}$/;

/**
 * Verifies a callback (03a section 6). The sources disagree on whether callbacks are signed, so that a signature is verified where there is
 * one, and none is required: an accepted callback only makes us ask about the payment of our record. `MULENPAY_WEBHOOK_PATH` should end with
 * a long random segment.
 */
export function receiveMulenpayCallback(callback: ProviderCallback, connection: MulenpayConnection | null): CallbackVerdict {
  const options = { provider: 'mulenpay', isConfigured: connection !== null, answersGet: false, answersOptions: true };
  const other = answerOtherMethods(callback, options);
  if (other || !connection) return other ?? problem(503, 'service_not_configured');

  const text = utf8Text(callback.rawBody);
  if (text?.trim() === '') return problem(400, 'empty_body');
  const body = text === null ? null : parseWireObject(text);
  if (!body) return problem(400, 'invalid_json');
  if (!areSignaturesRight(callback, body, connection.secretKey)) return problem(401, 'invalid_signature');

  const orderId = textField(body, 'uuid') ?? '';
  if (!ID.test(orderId)) return problem(400, 'missing_uuid');
  const status = textField(body, 'payment_status') ?? 'unknown';
  // Not the id of the body: only that of our record is asked about.
  const isUnsigned = callback.headers['x-signature'] === undefined && !Object.hasOwn(body, 'sign');
  return { accepted: true, isUnsigned, reference: { externalId: null, orderId }, eventKey: `${orderId}:${status}`, reply: OK };
}

/** Whether each signature that the callback has is right. */
function areSignaturesRight({ headers, rawBody }: ProviderCallback, body: WireObject, secretKey: string): boolean {
  const header = headers['x-signature'];
  if (header !== undefined && !isEqualHex(header, headerSignature(rawBody, secretKey))) return false;
  return !Object.hasOwn(body, 'sign') || isEqualHex(textField(body, 'sign') ?? '', bodySignature(body, secretKey));
}

/** What the adapter needs of the settings (spec 03 sections 2.4, 2.5 and 10). */
export interface MulenpayConnection {
  /** No slash at the end. */
  baseUrl: string;
  apiKey: string;
  /** Signs requests and, where the provider signs them, callbacks. */
  secretKey: string;
  shopId: number;
  language: string;
  /** Codes of the receipt's item. */
  vatCode: number;
  paymentSubject: number;
  paymentMode: number;
  websiteUrl: string | null;
}

const SANDBOX_SHOP_ID = 1;

/** Null while MulenPay has no credentials. */
function mulenpayConnection({ settings, fake }: Pick<ProviderAccess, 'settings' | 'fake'>): MulenpayConnection | null {
  const access = fake();
  const apiKey = access ? access.secret : (settings.get('MULENPAY_API_KEY') ?? '');
  const secretKey = access ? access.secret : (settings.get('MULENPAY_SECRET_KEY') ?? '');
  const shopId = access ? SANDBOX_SHOP_ID : settings.get('MULENPAY_SHOP_ID');
  if (apiKey === '' || secretKey === '' || shopId === null) return null;
  return {
    baseUrl: bareUrl(access ? access.baseUrl : settings.get('MULENPAY_BASE_URL')),
    apiKey,
    secretKey,
    shopId,
    language: settings.get('MULENPAY_LANGUAGE'),
    vatCode: settings.get('MULENPAY_VAT_CODE'),
    paymentSubject: settings.get('MULENPAY_PAYMENT_SUBJECT'),
    paymentMode: settings.get('MULENPAY_PAYMENT_MODE'),
    websiteUrl: settings.get('MULENPAY_WEBSITE_URL'),
  };
}

const MAX_ITEM_DESCRIPTION = 128;

/** The provider's numbers; the words are those that clients know. */
const STATUSES: Readonly<Record<string, { word: string; outcome: PaymentOutcome }>> = {
  '0': { word: 'created', outcome: 'pending' },
  '1': { word: 'processing', outcome: 'pending' },
  '2': { word: 'canceled', outcome: 'failed' },
  '3': { word: 'success', outcome: 'paid' },
  '4': { word: 'error', outcome: 'failed' },
  // The money is held and not paid.
  '5': { word: 'hold', outcome: 'pending' },
  '6': { word: 'hold', outcome: 'pending' },
};

/** Body of POST /v2/payments (03a section 6), with a receipt of one item that has the whole amount. */
function paymentBody(request: InvoiceRequest, connection: MulenpayConnection): string {
  const { language, shopId, vatCode, paymentSubject, paymentMode, websiteUrl } = connection;
  const amount = rublesText(request.amountKopeks);
  return JSON.stringify({
    currency: 'rub',
    amount,
    uuid: request.orderId,
    shopId,
    description: request.description,
    language,
    ...(websiteUrl ? { website_url: websiteUrl } : {}),
    items: [
      {
        description: request.description.slice(0, MAX_ITEM_DESCRIPTION),
        quantity: 1,
        price: Number(amount),
        vat_code: vatCode,
        payment_subject: paymentSubject,
        payment_mode: paymentMode,
      },
    ],
    sign: createSignature(amount, connection),
  });
}

/** The state of a payment in an answer; null when it has no id, no order, no status or no readable amount. */
function paymentState(payment: WireObject): PaymentReport | null {
  const externalId = textField(payment, 'id');
  const orderId = textField(payment, 'uuid');
  const status = textField(payment, 'status');
  const amountKopeks = kopeksFromText(textField(payment, 'amount') ?? '');
  if (externalId === null || orderId === null || status === null || amountKopeks === null) return null;
  const known = STATUSES[status];
  return {
    externalId,
    status: known?.word ?? 'unknown',
    outcome: known?.outcome ?? 'pending',
    amountKopeks,
    currency: (textField(payment, 'currency') ?? '').toUpperCase(),
    orderId,
    // The wire has no time of the payment.
    paidAt: null,
    raw: plainJson(payment),
  };
}

/** Lower-case hex of SHA-1 over the texts, the secret last, with nothing between them. */
function sha1(...texts: readonly (string | Buffer)[]): string {
  const hash = createHash('sha1');
  for (const text of texts) hash.update(text);
  return hash.digest('hex');
}

/** Signature of a request to create a payment. @param amount as in the body, two decimals */
export function createSignature(amount: string, { shopId, secretKey }: { shopId: number; secretKey: string }): string {
  return sha1('rub', amount, String(shopId), secretKey);
}

/** The `sign` of a callback: over the values of its other members, in their order, numbers as received. */
export function bodySignature(body: WireObject, secretKey: string): string {
  const values = Object.entries(body).flatMap(([name, value]) => (name === 'sign' ? [] : [textOf(value)]));
  return sha1(...values, secretKey);
}

/** The X-Signature of a callback: over its bytes. */
export function headerSignature(rawBody: Buffer, secretKey: string): string {
  return sha1(rawBody, secretKey);
}

/** A value as PHP joins it. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (isLosslessNumber(value)) return value.toString();
  return value === true ? '1' : '';
}
