import { decodeJwt } from 'jose';
import { addMs, MINUTE_MS, SECOND_MS } from '../../../core/clock.ts';
import type { HttpClient, HttpResponse } from '../../../core/http/http-client.ts';
import {
  type CreatedInvoice,
  type InvoiceRequest,
  type PaymentProvider,
  type PaymentReference,
  type PaymentReport,
  ProviderError,
  type RefundAnswer,
  type RefundRequest,
} from '../../../domain/payments/ports.ts';
import { dateField, objectsField, parseWireObject, plainJson, textField } from '../wire/json.ts';
import { shortRublesText } from '../wire/money.ts';
import type { ProviderAccess } from '../wire/provider-access.ts';
import { providerAccount } from '../wire/provider-account.ts';
import { callJson, callProvider } from '../wire/provider-call.ts';
import { wireJson, wireNumber } from '../wire/write-json.ts';
import { type WataConnection, wataConnection } from './connection.ts';
import { createWataKeys } from './public-keys.ts';
import { readTransaction, reversalsOf, transactionState, type WataTransaction } from './transaction-wire.ts';
import { readWataCallback, receiveWataCallback } from './wata-callback.ts';

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
  // Without the terminal, callbacks of other merchants, which have valid signatures too, could not be told apart.
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

/** Gives a whole payment back; a refund is a transaction of its own, whose id its callback names too. */
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
