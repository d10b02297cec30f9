import type { HttpClient } from '../../../core/http/http-client.ts';
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
import { plainJson, textField, type WireObject } from '../wire/json.ts';
import type { ProviderAccess } from '../wire/provider-access.ts';
import { providerAccount } from '../wire/provider-account.ts';
import { callJson } from '../wire/provider-call.ts';
import { type RiopayConnection, riopayConnection } from './connection.ts';
import { merchantOf, orderBody, orderState, reversalIdOf } from './order-wire.ts';
import { readRiopayCallback, receiveRiopayCallback } from './riopay-callback.ts';

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
