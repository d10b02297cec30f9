import { type HttpClient, OutboundError } from '../../../core/http/http-client.ts';
import {
  type CreatedInvoice,
  type InvoiceRequest,
  type PaymentProvider,
  ProviderError,
  type ProviderPaymentState,
} from '../../../domain/payments/ports.ts';
import type { YookassaConnection } from './connection.ts';
import { dateOrNull, parsePayment, paymentBody, paymentState } from './payment-wire.ts';
import { receiveYookassaCallback } from './yookassa-callback.ts';

const METHOD = 'yookassa';
const DEFAULT_WEBHOOK_PATH = '/yookassa-webhook';

export interface YookassaOptions {
  http: HttpClient;
  /** Read on every call; null = nothing configured. */
  connection: () => YookassaConnection | null;
}

/** YooKassa API v3 (spec 03 section 2.5). */
export function createYookassaProvider({ http, connection }: YookassaOptions): PaymentProvider {
  const configured = (): YookassaConnection | null => {
    const current = connection();
    return current?.enabled && current.shopId !== '' && current.secretKey !== '' ? current : null;
  };

  return {
    method: METHOD,
    initialStatus: 'pending',
    pendingStatuses: ['pending', 'waiting_for_capture'],
    canFetchStatus: true,
    isConfigured: () => configured() !== null,
    webhookPath: () => connection()?.webhookPath || DEFAULT_WEBHOOK_PATH,
    createInvoice: async (request) => createPayment(http, requireConnection(configured()), request),
    fetchStatus: async (externalId) => fetchPayment(http, requireConnection(configured()), externalId),
    receiveCallback: async (callback) => receiveYookassaCallback(callback, configured()),
  };
}

function requireConnection(connection: YookassaConnection | null): YookassaConnection {
  if (!connection) throw new ProviderError(METHOD, 'not_configured', 'YooKassa is not configured');
  return connection;
}

async function createPayment(http: HttpClient, connection: YookassaConnection, request: InvoiceRequest): Promise<CreatedInvoice> {
  if (request.amountKopeks < connection.minKopeks || request.amountKopeks > connection.maxKopeks) {
    throw new ProviderError(METHOD, 'rejected', 'The amount is outside the limits of the method');
  }
  // spec 03 H16: a receipt goes to the payer or to the configured contact, never to an invented address.
  const receiptEmail = request.payerEmail ?? connection.receiptEmail;
  if (!receiptEmail) throw new ProviderError(METHOD, 'rejected', 'No receipt contact');
  const returnUrl = request.returnUrl ?? connection.returnUrl;
  if (!returnUrl) throw new ProviderError(METHOD, 'rejected', 'No return URL');

  const text = await call(http, connection, {
    method: 'POST',
    path: '/payments',
    body: paymentBody(request, connection, receiptEmail, returnUrl),
    // The order id, so that a retried POST cannot create a second payment.
    idempotenceKey: request.orderId,
  });
  const payment = parsePayment(text);
  const paymentUrl = payment?.confirmation?.confirmation_url;
  if (!payment || !paymentUrl || !/^https?:\/\//.test(paymentUrl)) {
    throw new ProviderError(METHOD, 'unavailable', 'The provider answered without a payment URL');
  }
  return { externalId: payment.id, paymentUrl, status: payment.status, expiresAt: dateOrNull(payment.expires_at), raw: payment };
}

async function fetchPayment(http: HttpClient, connection: YookassaConnection, externalId: string): Promise<ProviderPaymentState> {
  const text = await call(http, connection, { method: 'GET', path: `/payments/${encodeURIComponent(externalId)}` });
  const payment = parsePayment(text);
  const state = payment ? paymentState(payment) : null;
  if (!state || state.externalId !== externalId) {
    throw new ProviderError(METHOD, 'unavailable', 'The provider answered without this payment');
  }
  return state;
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
  try {
    const response = await http.request({
      method: request.method,
      url: `${connection.baseUrl}${request.path}`,
      headers: {
        authorization: `Basic ${credentials}`,
        ...(request.body ? { 'content-type': 'application/json' } : {}),
        ...(request.idempotenceKey ? { 'idempotence-key': request.idempotenceKey } : {}),
      },
      ...(request.body ? { body: request.body } : {}),
      idempotent: true,
    });
    if (response.status >= 200 && response.status < 300) return response.text;
    const retryable = response.status >= 500 || response.status === 429;
    throw new ProviderError(METHOD, retryable ? 'unavailable' : 'rejected', `The provider answered ${response.status}`);
  } catch (error) {
    if (error instanceof OutboundError)
      throw new ProviderError(METHOD, 'unavailable', 'The provider did not answer', { cause: error });
    throw error;
  }
}
