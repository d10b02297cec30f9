import type { HttpClient } from '../../../core/http/http-client.ts';
import {
  type CreatedInvoice,
  type InvoiceRequest,
  type PaymentProvider,
  type PaymentReport,
  ProviderError,
  type RefundAnswer,
} from '../../../domain/payments/ports.ts';
import { isTrue, objectField, plainJson, textField, type WireObject } from '../wire/json.ts';
import type { ProviderAccess } from '../wire/provider-access.ts';
import { providerAccount } from '../wire/provider-account.ts';
import { callJson } from '../wire/provider-call.ts';
import { type MulenpayConnection, mulenpayConnection } from './connection.ts';
import { receiveMulenpayCallback } from './mulenpay-callback.ts';
import { paymentBody, paymentState } from './payment-wire.ts';

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
 * Gives back the whole payment. A refusal may be that of a refund whose answer was lost: it counts only while the payment is still paid.
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
