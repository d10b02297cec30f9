import type { HttpClient } from '../../../core/http/http-client.ts';
import {
  type CreatedInvoice,
  type InvoiceRequest,
  type PaymentProvider,
  type PaymentReference,
  type PaymentReport,
  ProviderError,
  type RefundAnswer,
} from '../../../domain/payments/ports.ts';
import { isTrue, plainJson, textField, type WireObject } from '../wire/json.ts';
import type { ProviderAccess } from '../wire/provider-access.ts';
import { providerAccount } from '../wire/provider-account.ts';
import { callJson } from '../wire/provider-call.ts';
import { type PlategaConnection, plategaConnection } from './connection.ts';
import { MERCHANT_HEADER, receivePlategaCallback, SECRET_HEADER } from './platega-callback.ts';
import { expiryOf, merchantIdOf, reversalIdOf, transactionBody, transactionState } from './transaction-wire.ts';

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
