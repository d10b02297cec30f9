import type { HttpClient } from '../../../core/http/http-client.ts';
import {
  type CreatedInvoice,
  type InvoiceRequest,
  type PaymentProvider,
  type PaymentReport,
  ProviderError,
  type ProviderReversal,
  type RefundAnswer,
  type RefundRequest,
  type SavedMethodCharge,
} from '../../../domain/payments/ports.ts';
import { dateField, objectField, parseWireObject, plainJson, textField } from '../wire/json.ts';
import type { ProviderAccess } from '../wire/provider-access.ts';
import { providerAccount } from '../wire/provider-account.ts';
import { callProvider } from '../wire/provider-call.ts';
import { type YookassaConnection, yookassaConnection } from './connection.ts';
import { chargeBody, isRefunded, parsePayment, parseRefunds, paymentBody, paymentState, refundBody } from './payment-wire.ts';
import { receiveYookassaCallback } from './yookassa-callback.ts';

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
