import type { HttpClient } from '../../../core/http/http-client.ts';
import {
  type CreatedInvoice,
  type InvoiceRequest,
  type PaymentProvider,
  type PaymentReference,
  type PaymentReport,
  ProviderError,
} from '../../../domain/payments/ports.ts';
import { objectField, plainJson, textField, type WireObject } from '../wire/json.ts';
import type { ProviderAccess } from '../wire/provider-access.ts';
import { providerAccount } from '../wire/provider-account.ts';
import { callJson } from '../wire/provider-call.ts';
import { type HeleketConnection, heleketConnection } from './connection.ts';
import { readHeleketCallback, receiveHeleketCallback } from './heleket-callback.ts';
import { invoiceBody, invoiceState, invoiceStatus } from './invoice-wire.ts';
import { heleketSignature } from './signature.ts';

const METHOD = 'heleket';
const FIRST_STATUS = 'check';

/**
 * Heleket, payments in crypto currency (03a section 4). Its refund call is not offered: it needs the payout key and an address of the payer's
 * wallet, neither of which is known here. Refunds made in the provider's cabinet are reported.
 */
export function heleketProvider(access: ProviderAccess): PaymentProvider {
  const { http, settings } = access;
  const account = providerAccount(METHOD, 'Heleket', () => heleketConnection(access), access.isOn);
  const { required } = account;

  return {
    method: METHOD,
    initialStatus: FIRST_STATUS,
    pendingStatuses: ['process', FIRST_STATUS, 'confirm_check', 'wrong_amount_waiting'],
    canFetchStatus: true,
    callbackFormats: ['json'],
    asksAboutUnknown: false,
    isConfigured: account.isConfigured,
    hasCredentials: account.hasCredentials,
    webhookPath: () => settings.get('HELEKET_WEBHOOK_PATH'),
    createInvoice: async (request) => createInvoice(http, account.requiredForNew(), request),
    fetchStatus: async (reference) => fetchInvoice(http, required(), reference),
    receiveCallback: async (callback) => receiveHeleketCallback(callback, account.connectionFor(callback)),
    readCallback: readHeleketCallback,
  };
}

async function createInvoice(http: HttpClient, connection: HeleketConnection, request: InvoiceRequest): Promise<CreatedInvoice> {
  const invoice = await call(http, connection, '/payment', invoiceBody(request, connection));
  const externalId = textField(invoice, 'uuid');
  const paymentUrl = textField(invoice, 'url');
  if (externalId === null || paymentUrl === null || textField(invoice, 'order_id') !== request.orderId) {
    throw new ProviderError(METHOD, 'unavailable', 'The provider answered without this invoice');
  }
  return {
    externalId,
    paymentUrl,
    status: invoiceStatus(invoice) ?? FIRST_STATUS,
    expiresAt: unixDate(textField(invoice, 'expired_at')),
    raw: plainJson(invoice),
  };
}

async function fetchInvoice(
  http: HttpClient,
  connection: HeleketConnection,
  { externalId, orderId }: PaymentReference,
): Promise<PaymentReport> {
  // One of both: with both, the provider looks at the order id alone.
  const reference = externalId === null ? { order_id: orderId } : { uuid: externalId };
  const state = invoiceState(await call(http, connection, '/payment/info', JSON.stringify(reference)));
  const isAsked = externalId === null ? state?.orderId === orderId : state?.externalId === externalId;
  if (!state || !isAsked) throw new ProviderError(METHOD, 'unavailable', 'The provider answered without this invoice');
  return state;
}

/** @returns the `result` of the answer */
async function call(http: HttpClient, connection: HeleketConnection, path: string, body: string): Promise<WireObject> {
  const answer = await callJson(http, METHOD, {
    method: 'POST',
    url: `${connection.baseUrl}${path}`,
    headers: {
      'content-type': 'application/json',
      merchant: connection.merchantId,
      sign: heleketSignature(body, connection.apiKey),
    },
    body,
    // Creating is by order id, and a repeat returns the existing invoice (03a section 0.6); everything else only reads.
    idempotent: true,
  });
  const result = objectField(answer, 'result');
  if (textField(answer, 'state') !== '0' || !result) throw new ProviderError(METHOD, 'rejected', 'The provider refused the call');
  return result;
}

/** Seconds since 1970 as a date; null for anything else. */
function unixDate(text: string | null): Date | null {
  return text !== null && /^\d{1,11}$/.test(text) ? new Date(Number(text) * 1_000) : null;
}
