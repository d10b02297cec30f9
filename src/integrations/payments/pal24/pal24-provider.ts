import type { HttpClient } from '../../../core/http/http-client.ts';
import {
  type CreatedInvoice,
  type InvoiceRequest,
  type PaymentProvider,
  type PaymentReference,
  type PaymentReport,
  ProviderError,
} from '../../../domain/payments/ports.ts';
import { isTrue, plainJson, textField, type WireObject } from '../wire/json.ts';
import type { ProviderAccess } from '../wire/provider-access.ts';
import { providerAccount } from '../wire/provider-account.ts';
import { callJson } from '../wire/provider-call.ts';
import { billForm, billState, isOverpaid, paidKopeks } from './bill-wire.ts';
import { type Pal24Connection, pal24Connection } from './connection.ts';
import { readPal24Callback, receivePal24Callback } from './pal24-callback.ts';

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
