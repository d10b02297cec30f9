import { decodeJwt } from 'jose';
import { addMs, MINUTE_MS, SECOND_MS } from '../../../core/clock.ts';
import type { HttpClient, HttpResponse } from '../../../core/http/http-client.ts';
import {
  type CallbackVerdict,
  type CreatedInvoice,
  type InvoiceRequest,
  type PaymentProvider,
  type PaymentReference,
  type PaymentReport,
  type ProviderCallback,
  ProviderError,
  type RefundAnswer,
  type RefundRequest,
} from '../../../domain/payments/ports.ts';
import { isInNetworks, resolveClientAddress } from '../wire/client-address.ts';
import { utf8Text } from '../wire/form.ts';
import { dateField, objectsField, parseWireObject, plainJson, textField, wireJson, wireNumber } from '../wire/json.ts';
import { shortRublesText } from '../wire/money.ts';
import { bareUrl, callJson, callProvider, FAKE_NETWORKS, type ProviderAccess, providerAccount } from '../wire/provider-call.ts';
import { answerOtherMethods, OK, problem, refused } from '../wire/replies.ts';
import {
  createWataKeys,
  readTransaction,
  reversalsOf,
  transactionState,
  type WataKeys,
  type WataTransaction,
} from './transaction-wire.ts';

const METHOD = 'wata';
/** The provider answers one search of transactions in this time. */
const ASK_AGAIN_MS = 30 * SECOND_MS;
/** Attempts of one link that are read. */
const MAX_TRANSACTIONS = 100;

/**
 * WATA (03a section 9). Payments are credited from its signed callbacks. Its searches are limited to one in 30 s, so that another question
 * in this time fails at once; it is asked by our order id, since links are deleted after they expire.
 */
export function wataProvider(access: ProviderAccess): PaymentProvider {
  const { http, settings, now } = access;
  const keys = createWataKeys(http, now);
  const account = providerAccount(METHOD, 'WATA', () => wataConnection(access), access.isOn);
  const { connection, required } = account;
  let askedAt = Number.NEGATIVE_INFINITY;
  const takeTurn = () => {
    const at = now().getTime();
    if (at - askedAt < ASK_AGAIN_MS) throw new ProviderError(METHOD, 'unavailable', 'The provider answers one question in 30 s');
    askedAt = at;
  };

  return {
    method: METHOD,
    initialStatus: 'Opened',
    pendingStatuses: ['Opened', 'Created', 'Pending', 'Processing', 'InProgress', 'In_Progress'],
    canFetchStatus: true,
    callbackFormats: ['json'],
    asksAboutUnknown: false,
    signsForAllMerchants: true,
    isConfigured: account.isConfigured,
    hasCredentials: account.hasCredentials,
    webhookPath: () => settings.get('WATA_WEBHOOK_PATH'),
    credentialsExpireAt: () => tokenExpiry(connection()?.token ?? ''),
    createInvoice: async (request) => createLink(http, account.requiredForNew(), request, now()),
    fetchStatus: async (reference) => {
      const current = required();
      takeTurn();
      return fetchPayment(http, current, reference);
    },
    receiveCallback: async (callback) => receiveWataCallback(callback, account.connectionFor(callback), keys),
    readCallback: readWataCallback,
    refund: async (request) => refundPayment(http, required(), request),
  };
}

/** When a Bearer token ends, by its `exp`; null for a text that is no JWT or says none. The signature is the provider's own matter. */
export function tokenExpiry(token: string): Date | null {
  try {
    const { exp } = decodeJwt(token);
    return exp === undefined ? null : new Date(exp * 1_000);
  } catch {
    return null;
  }
}

async function createLink(
  http: HttpClient,
  connection: WataConnection,
  request: InvoiceRequest,
  now: Date,
): Promise<CreatedInvoice> {
  const { amountKopeks, description, orderId, returnUrls } = request;
  const { linkTtlMinutes, minKopeks, maxKopeks } = connection;
  if (amountKopeks < minKopeks || amountKopeks > maxKopeks) {
    throw new ProviderError(METHOD, 'rejected', 'The amount is outside the limits of the method');
  }
  const success = returnUrls.success ?? returnUrls.result ?? connection.successUrl;
  const failed = returnUrls.failed ?? returnUrls.result ?? connection.failUrl;
  const body = wireJson({
    type: connection.isManyTime ? 'ManyTime' : 'OneTime',
    amount: wireNumber(shortRublesText(amountKopeks)),
    currency: 'RUB',
    description,
    orderId,
    ...(success ? { successRedirectUrl: success } : {}),
    ...(failed ? { failRedirectUrl: failed } : {}),
    ...(linkTtlMinutes === null ? {} : { expirationDateTime: addMs(now, linkTtlMinutes * MINUTE_MS).toISOString() }),
  });
  // A repeated call would create a second link (03a section 0.6).
  const link = await callJson(http, METHOD, post(connection, '/links', body));
  const externalId = textField(link, 'id');
  const paymentUrl = textField(link, 'url') ?? textField(link, 'paymentUrl');
  const merchantId = textField(link, 'terminalPublicId') ?? connection.terminalId;
  // Without the terminal, callbacks of other merchants, which have valid signatures too, could not be distinguished.
  if (externalId === null || paymentUrl === null || merchantId === null || !/^https?:\/\//.test(paymentUrl)) {
    throw new ProviderError(METHOD, 'unavailable', 'The provider answered without a link or its terminal');
  }
  return {
    ...{ externalId, paymentUrl, merchantId },
    status: textField(link, 'status') ?? 'Opened',
    expiresAt: dateField(link, 'expirationDateTime'),
    raw: plainJson(link),
  };
}

/** What is known of the payment by all its attempts: those that were paid count, else one that is open, else the latest. */
async function fetchPayment(
  http: HttpClient,
  connection: WataConnection,
  { externalId, orderId }: PaymentReference,
): Promise<PaymentReport> {
  if (orderId === null) throw new ProviderError(METHOD, 'rejected', 'The payment has no order id');
  const found = await findTransactions(http, connection, orderId);
  const payments = found.filter(({ isRefund }) => !isRefund);
  const withStatus = (...statuses: string[]) => payments.filter(({ status }) => statuses.includes(status));
  // A link that may be paid many times has several.
  const [paid, ...others] = withStatus('Paid');
  const chosen = paid ?? withStatus('Created', 'Pending')[0] ?? payments[0];
  if (chosen) {
    const [state, ...more] = [chosen, ...others].map(transactionState);
    if (!state || more.includes(null)) {
      throw new ProviderError(METHOD, 'unavailable', 'The provider answered with a transaction that cannot be read');
    }
    return { ...state, others: more.filter((report) => report !== null), reversals: reversalsOf(found) };
  }
  if (externalId === null) throw new ProviderError(METHOD, 'unavailable', 'The provider knows no payment of this order yet');
  // Nobody has tried to pay. Nothing is compared with the amount of a payment that waits.
  const none = { orderId, paidAt: null, chargeId: null, merchantId: null, reversals: [], raw: null };
  return { externalId, status: 'Opened', outcome: 'pending', amountKopeks: 0, currency: 'RUB', ...none };
}

/** The transactions of an order: by the current search, or the older one where the provider does not have the current one. */
async function findTransactions(http: HttpClient, connection: WataConnection, orderId: string): Promise<WataTransaction[]> {
  const query = new URLSearchParams({ orderId, maxResultCount: String(MAX_TRANSACTIONS) });
  const search = (path: string): Promise<HttpResponse> =>
    callProvider(http, METHOD, {
      ...{ method: 'GET', url: `${connection.baseUrl}${path}?${query}`, headers: authorization(connection), idempotent: true },
      timeoutMs: connection.timeoutMs,
    });
  const current = await search('/v2/transactions');
  const { status, text } = current.status === 404 ? await search('/transactions/') : current;
  if (status < 200 || status > 299) throw new ProviderError(METHOD, 'rejected', `The provider answered ${status}`);
  const answer = parseWireObject(text);
  if (!answer) throw new ProviderError(METHOD, 'unavailable', 'The provider answered with something that is no JSON object');
  return objectsField(answer, 'items').flatMap((fields) => {
    const transaction = readTransaction(fields);
    return transaction && transaction.orderId === orderId ? [transaction] : [];
  });
}

/** Refunds a whole payment; a refund is a transaction of its own, whose id its callback names too. */
async function refundPayment(http: HttpClient, connection: WataConnection, request: RefundRequest): Promise<RefundAnswer> {
  const { chargeId, amountKopeks } = request;
  if (chargeId === null) throw new ProviderError(METHOD, 'rejected', 'The payment has no transaction at the provider');
  const body = wireJson({ originalTransactionId: chargeId, amount: wireNumber(shortRublesText(amountKopeks)) });
  const answer = await callJson(http, METHOD, post(connection, '/transactions/refunds', body));
  const transaction = readTransaction(answer);
  const reversalId = transaction?.id ?? textField(answer, 'transactionId') ?? textField(answer, 'id');
  if (reversalId === null) throw new ProviderError(METHOD, 'unavailable', 'The provider answered without a refund');
  if (transaction?.status === 'Declined') throw new ProviderError(METHOD, 'rejected', 'The provider declined the refund');
  return { reversalId, state: transaction?.status === 'Paid' ? 'done' : 'pending' };
}

function post(connection: WataConnection, path: string, body: string) {
  const headers = { ...authorization(connection), 'content-type': 'application/json' };
  const { baseUrl, timeoutMs } = connection;
  return { method: 'POST' as const, url: `${baseUrl}${path}`, headers, body, idempotent: false, timeoutMs };
}

const authorization = ({ token }: WataConnection) => ({ authorization: `Bearer ${token}` });

const SIGNATURE_HEADER = 'x-signature';
const BEFORE_PAYMENT = 'Created';

/** Verifies a callback (03a section 9): an RSA signature over the whole body, with a key that signs for all merchants of the provider. */
async function receiveWataCallback(
  callback: ProviderCallback,
  connection: WataConnection | null,
  keys: WataKeys,
): Promise<CallbackVerdict> {
  const options = { provider: 'wata', isConfigured: connection !== null, answersGet: true, answersOptions: true };
  const other = answerOtherMethods(callback, options);
  if (other || !connection) return other ?? problem(503, 'service_not_configured');
  if (!isAllowedAddress(callback, connection)) return problem(403, 'forbidden_ip');

  const body = parseWireObject(utf8Text(callback.rawBody) ?? '');
  const transaction = body && readTransaction(body);
  // The provider asks before the payment, waits 10 s, and declines the payment after any other answer. Nothing is stored and nothing
  // follows, so that the answer waits for no key, and needs none.
  if (transaction?.status === BEFORE_PAYMENT) return refused(OK);

  const signature = callback.headers[SIGNATURE_HEADER];
  if (!signature) return problem(401, 'missing_signature');
  const verdict = await keys.check(connection, callback.rawBody, signature);
  if (verdict === 'no_key') return problem(503, 'key_unavailable');
  if (verdict === 'invalid') return problem(401, 'invalid_signature');
  if (!body) return problem(400, 'invalid_json');
  if (!transaction || !hasEnded(transaction)) return refused(OK);
  const { id, status, isRefund, linkId, orderId } = transaction;
  // Our order id identifies the record. The link is left out then: of another merchant's payment it would become that of a record without one.
  const reference = orderId === null ? { externalId: linkId ?? id, orderId } : { externalId: null, orderId };
  return { accepted: true, reference, eventKey: `${isRefund ? 'refund' : 'payment'}:${id}:${status}`, reply: OK };
}

/** What a signed body says. */
function readWataCallback(text: string): PaymentReport | null {
  const body = parseWireObject(text);
  const transaction = body && readTransaction(body);
  return transaction && transactionState(transaction);
}

/** A payment that was made or declined, and a refund that was made. */
function hasEnded({ isRefund, status }: WataTransaction): boolean {
  return status === 'Paid' || (status === 'Declined' && !isRefund);
}

function isAllowedAddress({ ip, headers }: ProviderCallback, { proxies, allowedNetworks }: WataConnection): boolean {
  if (allowedNetworks.length === 0) return true;
  const address = resolveClientAddress(ip, headers, proxies);
  return address !== null && isInNetworks(address, allowedNetworks);
}

/** What the adapter needs of the settings (spec 03 section 2.4; spec 03a section 9). */
export interface WataConnection {
  /** No slash at the end. */
  baseUrl: string;
  token: string;
  /** Of our terminal; null = as the provider's answers name it. */
  terminalId: string | null;
  /** Milliseconds for one try of a call. */
  timeoutMs: number;
  publicKeyUrl: string;
  /** A key that was read longer ago is read again. */
  publicKeyMaxAgeMs: number;
  isManyTime: boolean;
  /** 10 minutes to 30 days; null = the provider's default, 3 days. */
  linkTtlMinutes: number | null;
  /** Used when the caller names no pages. */
  successUrl: string | null;
  failUrl: string | null;
  minKopeks: number;
  maxKopeks: number;
  /** Addresses and networks of the installation's reverse proxies. */
  proxies: readonly string[];
  /** Addresses and networks that callbacks may come from; empty = any. */
  allowedNetworks: readonly string[];
}

/** The provider's own limits in rubles; a terminal may have narrower ones. */
const PROVIDER_MIN_KOPEKS = 1_000;
const PROVIDER_MAX_KOPEKS = 99_999_999;
const MIN_TTL_MINUTES = 10;
const MAX_TTL_MINUTES = 30 * 24 * 60;

/** Null while WATA has no token. */
function wataConnection({
  settings,
  fake,
  proxies,
  callbackNetworks,
}: Omit<ProviderAccess, 'http' | 'now'>): WataConnection | null {
  const access = fake();
  const token = access ? access.secret : (settings.get('WATA_ACCESS_TOKEN') ?? '');
  if (!access && token === '') return null;
  const baseUrl = bareUrl(access ? access.baseUrl : settings.get('WATA_BASE_URL'));
  const ttl = settings.get('WATA_LINK_TTL_MINUTES');
  return {
    baseUrl,
    token,
    terminalId: access ? null : settings.get('WATA_TERMINAL_PUBLIC_ID') || null,
    timeoutMs: settings.get('WATA_REQUEST_TIMEOUT') * 1_000,
    publicKeyUrl: (access ? null : settings.get('WATA_PUBLIC_KEY_URL')) || `${baseUrl}/public-key`,
    publicKeyMaxAgeMs: settings.get('WATA_PUBLIC_KEY_CACHE_SECONDS') * 1_000,
    isManyTime: settings.get('WATA_PAYMENT_TYPE') === 'ManyTime',
    linkTtlMinutes: ttl === null ? null : Math.min(Math.max(ttl, MIN_TTL_MINUTES), MAX_TTL_MINUTES),
    successUrl: settings.get('WATA_SUCCESS_REDIRECT_URL'),
    failUrl: settings.get('WATA_FAIL_REDIRECT_URL'),
    minKopeks: Math.max(settings.get('WATA_MIN_AMOUNT_KOPEKS'), PROVIDER_MIN_KOPEKS),
    maxKopeks: Math.min(settings.get('WATA_MAX_AMOUNT_KOPEKS'), PROVIDER_MAX_KOPEKS),
    proxies,
    allowedNetworks: access && callbackNetworks.length > 0 ? FAKE_NETWORKS : callbackNetworks,
  };
}
