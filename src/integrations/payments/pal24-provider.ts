import { createHash } from 'node:crypto';
import type { HttpClient } from '../../core/http/http-client.ts';
import {
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
} from '../../domain/payments/ports.ts';
import { isEqualHex, parseWireForm, utf8Text } from './wire/form.ts';
import { isTrue, objectsField, parseWireObject, plainJson, textField, type WireObject } from './wire/json.ts';
import { kopeksFromText, rublesText } from './wire/money.ts';
import { bareUrl, callJson, type ProviderAccess, providerAccount } from './wire/provider-call.ts';
import { answerOtherMethods, OK, problem } from './wire/replies.ts';

const METHOD = 'pal24';
const FIRST_STATUS = 'NEW';

/** PAL24, also PayPalych or Pally (03a section 7). Its refund call exists on request only and is not documented, so that it is not offered. */
export function pal24Provider(access: ProviderAccess): PaymentProvider {
  const { http, settings } = access;
  const account = providerAccount(METHOD, 'PAL24', () => pal24Connection(access), access.isOn);
  const { connection, required } = account;

  return {
    method: METHOD,
    initialStatus: FIRST_STATUS,
    pendingStatuses: [FIRST_STATUS, 'PROCESS'],
    canFetchStatus: true,
    callbackFormats: ['form', 'json'],
    asksAboutUnknown: false,
    // Refunds and chargebacks have postbacks of their own, which are signed.
    asksAboutCredited: false,
    callbacksNameInvoice: true,
    isConfigured: account.isConfigured,
    hasCredentials: account.hasCredentials,
    webhookPath: () => settings.get('PAL24_WEBHOOK_PATH'),
    createInvoice: async (request) => createBill(http, account.requiredForNew(), request),
    fetchStatus: async (reference) => fetchBill(http, required(), reference),
    receiveCallback: async (callback) => receivePal24Callback(callback, account.connectionFor(callback)),
    readCallback: (body) => {
      const current = connection();
      return current && readPal24Callback(body, current.signatureToken);
    },
  };
}

async function createBill(http: HttpClient, connection: Pal24Connection, request: InvoiceRequest): Promise<CreatedInvoice> {
  const answer = await call(http, connection, 'bill/create', billForm(request, connection));
  const externalId = textField(answer, 'bill_id');
  const paymentUrl = textField(answer, 'link_page_url') ?? textField(answer, 'link_url');
  if (!externalId || !paymentUrl) throw new ProviderError(METHOD, 'unavailable', 'The provider answered without a bill');
  const merchantId = connection.shopId;
  return { externalId, paymentUrl, status: FIRST_STATUS, expiresAt: null, merchantId, raw: plainJson(answer) };
}

async function fetchBill(
  http: HttpClient,
  connection: Pal24Connection,
  { externalId }: PaymentReference,
): Promise<PaymentReport> {
  // The parameters of the search by our order id are not documented.
  if (externalId === null) throw new ProviderError(METHOD, 'rejected', 'The bill has no id at the provider');
  const id = encodeURIComponent(externalId);
  const state = billState(await call(http, connection, `bill/status?id=${id}`), externalId);
  if (!state || state.externalId !== externalId) {
    throw new ProviderError(METHOD, 'unavailable', 'The provider answered without this bill');
  }
  if (!isOverpaid(state)) return state;
  return { ...state, amountKopeks: await overpaidKopeks(http, connection, id, state.amountKopeks) };
}

/**
 * What was paid for a bill that got too much. The bill says its own amount only; where its payments cannot be read either, it is one kopek
 * more, so that the bill is credited and the excess becomes a case.
 */
async function overpaidKopeks(http: HttpClient, connection: Pal24Connection, id: string, billKopeks: number): Promise<number> {
  try {
    return Math.max(paidKopeks(await call(http, connection, `bill/payments?id=${id}`)), billKopeks + 1);
  } catch (error) {
    if (error instanceof ProviderError) return billKopeks + 1;
    throw error;
  }
}

/** Posts a form, or reads where there is none. @returns the answer of a successful call */
async function call(http: HttpClient, connection: Pal24Connection, path: string, form?: string): Promise<WireObject> {
  const answer = await callJson(http, METHOD, {
    method: form === undefined ? 'GET' : 'POST',
    url: `${connection.baseUrl}/${path}`,
    headers: {
      authorization: `Bearer ${connection.token}`,
      accept: 'application/json',
      ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
    },
    ...(form === undefined ? {} : { body: form }),
    // A repeated form would create a second bill (03a section 0.6).
    idempotent: form === undefined,
    signal: AbortSignal.timeout(connection.timeoutMs),
  });
  // Documented as a text, also seen as a boolean; an answer about a list has none.
  const isRefused = Object.hasOwn(answer, 'success') && !isTrue(answer, 'success') && textField(answer, 'success') !== 'true';
  if (isRefused) throw new ProviderError(METHOD, 'rejected', 'The provider refused the call');
  return answer;
}

/** Ids have no colon, so that no two postbacks have the same signed text. */
const ID = /^[\w-]{1,64}$/;
/** States of a refund or a chargeback in which no money has gone back. */
const NOT_REVERSED = new Set(['NEW', 'PROCESS', 'FAIL', 'FAILED', 'CANCELLED']);

type Fields = (name: string) => string;

/** Upper-case hex of MD5 over the parts and the token, with colons between them, every part as received. */
export function pal24Signature(parts: readonly string[], token: string): string {
  return createHash('md5')
    .update([...parts, token].join(':'))
    .digest('hex')
    .toUpperCase();
}

/**
 * Verifies a postback (03a section 7): of a payment, which only makes us ask about its bill, since neither its status nor its currency is
 * signed, or of a refund or a chargeback. The shop's pages of the provider may name one address for all of them.
 */
export function receivePal24Callback(callback: ProviderCallback, connection: Pal24Connection | null): CallbackVerdict {
  const options = { provider: 'pal24', isConfigured: connection !== null, answersGet: true, answersOptions: true };
  const other = answerOtherMethods(callback, options);
  if (other || !connection) return other ?? problem(503, 'service_not_configured');

  const text = utf8Text(callback.rawBody);
  if (text?.trim() === '') return problem(400, 'empty_payload');
  const fields = text === null ? null : fieldsOf(text);
  if (!fields) return problem(400, 'invalid_payload');
  return fields('OutSum') === '' ? receiveReversal(fields, connection) : receivePayment(fields, connection);
}

function receivePayment(fields: Fields, { signatureToken }: Pal24Connection): CallbackVerdict {
  const [orderId, billId, status, signature] = [fields('InvId'), fields('TrsId'), fields('Status'), fields('SignatureValue')];
  if (orderId === '' || status === '') return problem(400, 'missing_fields');
  if (!ID.test(orderId) || (billId !== '' && !ID.test(billId))) return problem(400, 'invalid_fields');
  if (signature === '') return problem(400, 'missing_signature');
  if (!isEqualHex(signature, pal24Signature([fields('OutSum'), orderId], signatureToken)))
    return problem(400, 'invalid_signature');
  const reference = { externalId: billId || null, orderId };
  return { accepted: true, reference, eventKey: `${orderId}:${status}`, reply: OK };
}

function receiveReversal(fields: Fields, { signatureToken }: Pal24Connection): CallbackVerdict {
  const [billId, id] = [fields('BillId'), fields('Id')];
  if (![billId, id, fields('PaymentId')].every((value) => ID.test(value))) return problem(400, 'missing_fields');
  if (fields('SignatureValue') === '') return problem(400, 'missing_signature');
  const reversal = reversalOf(fields, signatureToken);
  if (!reversal) return problem(400, 'invalid_signature');
  if (reversal.kind === 'refund' && reversal.amountKopeks === null) return problem(400, 'invalid_fields');
  // The order id is not signed in these: the bill alone says whose money it is.
  const reference = { externalId: billId, orderId: null };
  return { accepted: true, reference, eventKey: `${reversal.reversalId}:${fields('Status')}`, reply: OK };
}

/** The reversal that a postback is signed for; null for another signature. */
function reversalOf(fields: Fields, token: string): ProviderReversal | null {
  const ids = [fields('BillId'), fields('PaymentId'), fields('Id')];
  const signature = fields('SignatureValue');
  if (isEqualHex(signature, pal24Signature([fields('Amount'), fields('Currency'), ...ids], token))) {
    const [amountKopeks, currency] = [kopeksFromText(fields('Amount')), fields('Currency').toUpperCase()];
    return { reversalId: `refund:${fields('Id')}`, kind: 'refund', amountKopeks, currency };
  }
  if (!isEqualHex(signature, pal24Signature(ids, token))) return null;
  return { reversalId: `chargeback:${fields('Id')}`, kind: 'chargeback', amountKopeks: null, currency: null };
}

/**
 * The reversal that a verified postback proves. Null for a postback of a payment, and while nothing has gone back: then the bill is asked
 * about.
 */
function readPal24Callback(body: string, token: string): PaymentReport | null {
  const fields = fieldsOf(body);
  if (!fields) return null;
  if (fields('OutSum') !== '' || NOT_REVERSED.has(fields('Status').toUpperCase())) return null;
  const reversal = reversalOf(fields, token);
  if (!reversal) return null;
  return {
    externalId: fields('BillId'),
    status: reversal.kind === 'refund' ? 'REFUND' : 'CHARGEBACK',
    // It says nothing of the payment itself.
    outcome: 'pending',
    amountKopeks: reversal.amountKopeks ?? 0,
    currency: 'RUB',
    orderId: null,
    paidAt: null,
    reversals: [reversal],
    raw: { ...reversal, billId: fields('BillId'), paymentId: fields('PaymentId') },
  };
}

/** The fields of a form, as the provider documents it, or of JSON, which it was seen to send; an absent field is empty. */
function fieldsOf(text: string): Fields | null {
  if (text.trimStart().startsWith('{')) {
    const body = parseWireObject(text);
    return body && ((name) => textField(body, name) ?? '');
  }
  const form = parseWireForm(text);
  return form && ((name) => form.get(name) ?? '');
}

/** What the adapter needs of the settings (spec 03 sections 2.4, 2.5 and 10). */
export interface Pal24Connection {
  /** No slash at the end. */
  baseUrl: string;
  token: string;
  shopId: string;
  /** Signs postbacks: a token of its own where one is configured, else the API token. */
  signatureToken: string;
  /** Milliseconds that one request may take. */
  timeoutMs: number;
}

/** Null while PAL24 has no credentials. */
function pal24Connection({ settings, fake }: Pick<ProviderAccess, 'settings' | 'fake'>): Pal24Connection | null {
  const access = fake();
  const token = access ? access.secret : (settings.get('PAL24_API_TOKEN') ?? '');
  const shopId = access ? 'sandbox' : (settings.get('PAL24_SHOP_ID') ?? '');
  if (!access && (token === '' || shopId === '')) return null;
  return {
    baseUrl: bareUrl(access ? access.baseUrl : settings.get('PAL24_BASE_URL')),
    token,
    shopId,
    signatureToken: access ? token : settings.get('PAL24_SIGNATURE_TOKEN') || token,
    timeoutMs: settings.get('PAL24_REQUEST_TIMEOUT') * 1_000,
  };
}

const OVERPAID = 'OVERPAID';
const PAID_STATUSES = new Set(['SUCCESS', OVERPAID]);

/** Every other word, also PAID and CANCELLED, for which nothing but another shop's code is evidence, changes nothing. */
const OUTCOMES: Readonly<Record<string, PaymentOutcome>> = {
  SUCCESS: 'paid',
  [OVERPAID]: 'paid',
  // The bill stays open, but the provider has some of the money.
  UNDERPAID: 'underpaid',
  FAIL: 'failed',
};

/** Form of POST bill/create (03a section 7). `custom` comes back as it is sent; the provider documents a text. */
function billForm(request: InvoiceRequest, { shopId }: Pal24Connection): string {
  const { orderId, payerEmail } = request;
  return new URLSearchParams({
    amount: rublesText(request.amountKopeks),
    shop_id: shopId,
    order_id: orderId,
    description: request.description,
    // A bill of the type `multi` can be paid again and again.
    type: 'normal',
    currency_in: 'RUB',
    custom: orderId,
    payment_method: request.option === 'card' ? 'BANK_CARD' : 'SBP',
    ...(payerEmail ? { payer_email: payerEmail } : {}),
  }).toString();
}

/** The state of a bill in the answer of bill/status; null when it has no status or no readable amount. */
function billState(bill: WireObject, billId: string): PaymentReport | null {
  const status = textField(bill, 'status');
  const amountKopeks = kopeksFromText(textField(bill, 'amount') ?? '');
  if (status === null || amountKopeks === null) return null;
  return {
    externalId: textField(bill, 'id') ?? billId,
    status,
    outcome: OUTCOMES[status.toUpperCase()] ?? 'pending',
    amountKopeks,
    currency: (textField(bill, 'currency_in') ?? '').toUpperCase(),
    orderId: textField(bill, 'order_id'),
    // The wire has no time of the payment.
    paidAt: null,
    merchantId: textField(bill, 'shop_id'),
    raw: plainJson(bill),
  };
}

function isOverpaid({ status }: PaymentReport): boolean {
  return status.toUpperCase() === OVERPAID;
}

/** The sum of a bill's payments in the answer of bill/payments, kopeks; an amount that cannot be read counts as nothing. */
function paidKopeks(payments: WireObject): number {
  const paid = objectsField(payments, 'data').filter((payment) =>
    PAID_STATUSES.has((textField(payment, 'status') ?? '').toUpperCase()),
  );
  return paid.reduce((sum, payment) => sum + (kopeksFromText(textField(payment, 'amount') ?? '') ?? 0), 0);
}
