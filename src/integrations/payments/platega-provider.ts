import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
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
  type RefundAnswer,
} from '../../domain/payments/ports.ts';
import { isEqualText, utf8Text } from './wire/form.ts';
import {
  dateField,
  isTrue,
  objectField,
  parseWireObject,
  plainJson,
  textField,
  type WireObject,
  wireJson,
  wireNumber,
} from './wire/json.ts';
import { kopeksFromText, shortRublesText } from './wire/money.ts';
import { bareUrl, callJson, type ProviderAccess, providerAccount } from './wire/provider-call.ts';
import { answerOtherMethods, OK, problem, refused } from './wire/replies.ts';

const METHOD = 'platega';

/** Platega (03a section 8). Its API finds transactions by its own id only; a cancellation gives the whole sum back. */
export function plategaProvider(access: ProviderAccess): PaymentProvider {
  const { http, settings, now } = access;
  const account = providerAccount(METHOD, 'Platega', () => plategaConnection(access), access.isOn);
  const { required } = account;

  return {
    method: METHOD,
    initialStatus: 'PENDING',
    pendingStatuses: ['PENDING', 'INPROGRESS', 'IN_PROGRESS'],
    canFetchStatus: true,
    callbackFormats: ['json'],
    asksAboutUnknown: false,
    isConfigured: account.isConfigured,
    hasCredentials: account.hasCredentials,
    webhookPath: () => settings.get('PLATEGA_WEBHOOK_PATH'),
    createInvoice: async (request) => createTransaction(http, account.requiredForNew(), request, now()),
    fetchStatus: async (reference) => fetchTransaction(http, required(), reference),
    receiveCallback: async (callback) => receivePlategaCallback(callback, account.connectionFor(callback)),
    refund: async ({ externalId }) => cancelTransaction(http, required(), externalId),
  };
}

async function createTransaction(
  http: HttpClient,
  connection: PlategaConnection,
  request: InvoiceRequest,
  now: Date,
): Promise<CreatedInvoice> {
  const { amountKopeks, returnUrls } = request;
  if (amountKopeks < connection.minKopeks || amountKopeks > connection.maxKopeks) {
    throw new ProviderError(METHOD, 'rejected', 'The amount is outside the limits of the method');
  }
  const success = returnUrls.success ?? returnUrls.result ?? connection.returnUrl;
  const failed = returnUrls.failed ?? returnUrls.result ?? connection.failedUrl;
  if (!success || !failed) throw new ProviderError(METHOD, 'rejected', 'No return URL');
  const body = transactionBody(request, { success, failed });
  if (body === null) throw new ProviderError(METHOD, 'rejected', 'The option of the method does not exist');

  // A repeated call would create a second transaction (03a section 0.6).
  const answer = await call(http, connection, { method: 'POST', path: '/transaction/process', body });
  const externalId = textField(answer, 'transactionId') ?? textField(answer, 'id');
  const paymentUrl = textField(answer, 'redirect');
  if (externalId === null || paymentUrl === null || !/^https?:\/\//.test(paymentUrl)) {
    throw new ProviderError(METHOD, 'unavailable', 'The provider answered without a payment URL');
  }
  return {
    externalId,
    paymentUrl,
    status: textField(answer, 'status') ?? 'PENDING',
    expiresAt: expiryOf(answer, now),
    merchantId: merchantIdOf(answer) ?? connection.merchantId.toLowerCase(),
    raw: plainJson(answer),
  };
}

async function fetchTransaction(
  http: HttpClient,
  connection: PlategaConnection,
  { externalId }: PaymentReference,
): Promise<PaymentReport> {
  if (externalId === null) throw new ProviderError(METHOD, 'rejected', 'The transaction has no id at the provider');
  const answer = await call(http, connection, { method: 'GET', path: `/transaction/${encodeURIComponent(externalId)}` });
  const state = transactionState(answer);
  if (state?.externalId !== externalId) {
    throw new ProviderError(METHOD, 'unavailable', 'The provider answered without this transaction');
  }
  return state;
}

/** Cancels a paid transaction; that it was carried out is seen by its status. */
async function cancelTransaction(http: HttpClient, connection: PlategaConnection, externalId: string): Promise<RefundAnswer> {
  const path = `/transaction/${encodeURIComponent(externalId)}/cancel`;
  const answer = await call(http, connection, { method: 'POST', path });
  if (!isTrue(answer, 'accepted')) {
    throw new ProviderError(METHOD, 'rejected', 'The provider cancels this transaction only through its support');
  }
  return { reversalId: reversalIdOf(externalId), state: 'pending' };
}

function call(
  http: HttpClient,
  { baseUrl, merchantId, secret }: PlategaConnection,
  { method, path, body }: { method: 'GET' | 'POST'; path: string; body?: string },
): Promise<WireObject> {
  return callJson(http, METHOD, {
    method,
    url: `${baseUrl}${path}`,
    headers: {
      [MERCHANT_HEADER]: merchantId,
      [SECRET_HEADER]: secret,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
    idempotent: method === 'GET',
  });
}

const MERCHANT_HEADER = 'x-merchantid';
const SECRET_HEADER = 'x-secret';
const ID = /^[\w-]{1,64}$/;

/**
 * Verifies a callback (03a section 8): two headers with our credentials, nothing is signed. An accepted one only causes a question to the API.
 * Events of subscriptions have other field names and are acknowledged without being stored.
 */
export function receivePlategaCallback(callback: ProviderCallback, connection: PlategaConnection | null): CallbackVerdict {
  const options = { provider: 'platega', isConfigured: connection !== null, answersGet: true, answersOptions: false };
  const other = answerOtherMethods(callback, options);
  if (other || !connection) return other ?? problem(503, 'service_not_configured');

  const { [MERCHANT_HEADER]: merchantId, [SECRET_HEADER]: secret } = callback.headers;
  const text = utf8Text(callback.rawBody);
  // The provider tries the address this way when it is entered.
  if (!merchantId && !secret && text?.trim() === '') return refused(OK);
  if (!hasCredentials(merchantId, secret, connection)) return problem(401, 'unauthorized');

  const body = parseWireObject(text ?? '');
  if (!body) return problem(400, 'invalid_json');
  const externalId = textField(body, 'id');
  if (externalId === null || !ID.test(externalId)) return refused(OK);
  const reference = { externalId, orderId: orderIdOf(textField(body, 'payload')) };
  return { accepted: true, reference, eventKey: `${externalId}:${textField(body, 'status') ?? ''}`, reply: OK };
}

/** Both are compared, whatever the first comparison says, so that the time tells nothing. */
function hasCredentials(merchantId = '', secret = '', connection: PlategaConnection): boolean {
  const isMerchant = isEqualText(merchantId.toLowerCase(), connection.merchantId.toLowerCase());
  const isSecret = isEqualText(secret, connection.secret);
  return isMerchant && isSecret;
}

/** What the adapter needs of the settings. */
interface PlategaConnection {
  /** No slash at the end. */
  baseUrl: string;
  /** A UUID; compared in any case of letters. */
  merchantId: string;
  secret: string;
  /** Used when the caller names no pages. */
  returnUrl: string | null;
  failedUrl: string | null;
  minKopeks: number;
  maxKopeks: number;
}

/** The merchant of the sandbox's fake. */
const SANDBOX_MERCHANT_ID = '5a4db0c5-0000-4000-8000-000000000001';

/** Null while Platega has no credentials. */
function plategaConnection({ settings, fake }: Pick<ProviderAccess, 'settings' | 'fake'>): PlategaConnection | null {
  const access = fake();
  const merchantId = access ? SANDBOX_MERCHANT_ID : (settings.get('PLATEGA_MERCHANT_ID') ?? '');
  const secret = access ? access.secret : (settings.get('PLATEGA_SECRET') ?? '');
  if (!access && (merchantId === '' || secret === '')) return null;
  const page = (name: string) => {
    const base = settings.get('WEBHOOK_URL');
    return base ? `${bareUrl(base)}/${name}` : null;
  };
  return {
    baseUrl: bareUrl(access ? access.baseUrl : settings.get('PLATEGA_BASE_URL')),
    merchantId,
    secret,
    returnUrl: settings.get('PLATEGA_RETURN_URL') ?? page('payment-success'),
    failedUrl: settings.get('PLATEGA_FAILED_URL') ?? page('payment-failed'),
    minKopeks: settings.get('PLATEGA_MIN_AMOUNT_KOPEKS'),
    maxKopeks: settings.get('PLATEGA_MAX_AMOUNT_KOPEKS'),
  };
}

/** Codes of payment methods: SBP by QR code, bank cards, international cards, crypto currency. Code 10 does not exist (03a section 8). */
const METHOD_CODES: readonly string[] = ['2', '11', '12', '13'];
const DEFAULT_CODE = '2';
const MAX_DESCRIPTION_BYTES = 64;
/** Precedes our order id, as in the payments of other software and in the mini-app. */
const PAYLOAD_PREFIX = 'platega:';
const REVERSED = 'CHARGEBACKED';
const OUTCOMES: Readonly<Record<string, PaymentOutcome>> = {
  PENDING: 'pending',
  CONFIRMED: 'paid',
  CANCELED: 'failed',
  [REVERSED]: 'failed',
};

/** Body of POST /transaction/process; null for a method code that does not exist. */
function transactionBody(request: InvoiceRequest, pages: { success: string; failed: string }): string | null {
  const { amountKopeks, description, orderId, metadata, option = DEFAULT_CODE } = request;
  if (!METHOD_CODES.includes(option)) return null;
  const userId = metadata.user_id ?? null;
  const userName = metadata.user_username ?? null;
  return wireJson({
    paymentMethod: Number(option),
    paymentDetails: { amount: wireNumber(shortRublesText(amountKopeks)), currency: 'RUB' },
    description: cutToBytes(description, MAX_DESCRIPTION_BYTES),
    return: pages.success,
    failedUrl: pages.failed,
    payload: `${PAYLOAD_PREFIX}${orderId}`,
    // For the provider's checks of fraud.
    ...(userId === null
      ? {}
      : { metadata: { userId: String(userId), ...(userName === null ? {} : { userName: String(userName) }) } }),
  });
}

/** As many whole characters from the beginning as fit into the bytes of UTF-8. */
export function cutToBytes(text: string, maxBytes: number): string {
  let cut = '';
  let bytes = 0;
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > maxBytes) break;
    cut += character;
  }
  return cut;
}

/** The end of an invoice by its `expiresIn`, `HH:MM:SS` from now; null when it says none. */
function expiryOf(answer: WireObject, now: Date): Date | null {
  const match = /^(\d{1,4}):(\d{2}):(\d{2})$/.exec(textField(answer, 'expiresIn') ?? '');
  if (!match) return null;
  const [hours, minutes, seconds] = match.slice(1).map(Number) as [number, number, number];
  return new Date(now.getTime() + hours * HOUR_MS + minutes * MINUTE_MS + seconds * SECOND_MS);
}

/** Our order id in a payload; null where there is none of ours. */
function orderIdOf(payload: string | null): string | null {
  if (payload === null || payload === '') return null;
  return payload.startsWith(PAYLOAD_PREFIX) ? payload.slice(PAYLOAD_PREFIX.length) : payload;
}

/** The merchant of an answer, in lower case; the provider itself spells the name `mechantId`. */
function merchantIdOf(answer: WireObject): string | null {
  return (textField(answer, 'merchantId') ?? textField(answer, 'mechantId'))?.toLowerCase() ?? null;
}

/** The id of the one reversal that a transaction can have: the provider takes back, or gives back, the whole. */
function reversalIdOf(transactionId: string): string {
  return `${transactionId}:reversed`;
}

/** The state in the answer to GET /transaction/{id}; null when it has no id, status or readable amount. */
export function transactionState(answer: WireObject): PaymentReport | null {
  const externalId = textField(answer, 'id');
  const status = textField(answer, 'status');
  const money = moneyOf(answer);
  if (externalId === null || status === null || money === null) return null;
  const outcome = OUTCOMES[status.toUpperCase()] ?? 'pending';
  return {
    externalId,
    status,
    outcome,
    ...money,
    orderId: orderIdOf(textField(answer, 'payload')),
    paidAt: outcome === 'paid' ? (dateField(answer, 'paidAt') ?? dateField(answer, 'confirmedAt')) : null,
    merchantId: merchantIdOf(answer),
    reversals: status.toUpperCase() === REVERSED ? [reversalOf(externalId)] : [],
    raw: plainJson(answer),
  };
}

/**
 * One word stands for a chargeback and for our own cancellation. It is read as a refund, so that a cancellation whose answer was lost is
 * recognised as the one that was requested.
 */
function reversalOf(transactionId: string): ProviderReversal {
  return { reversalId: reversalIdOf(transactionId), kind: 'refund', amountKopeks: null };
}

/** `paymentDetails` is an object, or a text such as `100 RUB`. */
function moneyOf(answer: WireObject): { amountKopeks: number; currency: string } | null {
  const details = objectField(answer, 'paymentDetails');
  const [amount, currency] = details
    ? [textField(details, 'amount'), textField(details, 'currency')]
    : (textField(answer, 'paymentDetails') ?? '').split(' ');
  const amountKopeks = kopeksFromText(amount ?? '');
  return amountKopeks === null || !currency ? null : { amountKopeks, currency: currency.toUpperCase() };
}
