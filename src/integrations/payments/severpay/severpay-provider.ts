import { randomBytes } from 'node:crypto';
import type { HttpClient } from '../../../core/http/http-client.ts';
import {
  type CreatedInvoice,
  type InvoiceRequest,
  type PaymentProvider,
  type PaymentReference,
  type PaymentReport,
  ProviderError,
} from '../../../domain/payments/ports.ts';
import { isTrue, objectField, plainJson, textField, type WireObject } from '../wire/json.ts';
import type { ProviderAccess } from '../wire/provider-access.ts';
import { providerAccount } from '../wire/provider-account.ts';
import { callJson } from '../wire/provider-call.ts';
import { wireJson, wireNumber } from '../wire/write-json.ts';
import { type SeverpayConnection, severpayConnection } from './connection.ts';
import { payinFields, payinState } from './payin-wire.ts';
import { receiveSeverpayCallback } from './severpay-callback.ts';
import { severpaySignature } from './signature.ts';

const METHOD = 'severpay';

/** SeverPay (03a section 14). It has no refunds and no test mode; every callback is confirmed by /payin/get. */
export function severpayProvider(access: ProviderAccess): PaymentProvider {
  const { http, settings } = access;
  const account = providerAccount(METHOD, 'SeverPay', () => severpayConnection(access), access.isOn);
  const { required } = account;

  return {
    method: METHOD,
    initialStatus: 'new',
    pendingStatuses: ['new', 'process', 'pending', 'processing'],
    canFetchStatus: true,
    callbackFormats: ['json'],
    // Callbacks are signed with the token. An invoice whose record lost its id, and a second one with our order id, are found by the answer.
    asksAboutUnknown: true,
    isConfigured: account.isConfigured,
    hasCredentials: account.hasCredentials,
    webhookPath: () => settings.get('SEVERPAY_WEBHOOK_PATH'),
    createInvoice: async (request) => createPayin(http, account.requiredForNew(), request),
    fetchStatus: async (reference) => fetchPayin(http, required(), reference),
    receiveCallback: async (callback) => receiveSeverpayCallback(callback, account.connectionFor(callback)),
  };
}

async function createPayin(http: HttpClient, connection: SeverpayConnection, request: InvoiceRequest): Promise<CreatedInvoice> {
  if (request.amountKopeks < connection.minKopeks || request.amountKopeks > connection.maxKopeks) {
    throw new ProviderError(METHOD, 'rejected', 'The amount is outside the limits of the method');
  }
  // A repeated call would create a second invoice, and the provider finds none by our order id (03a section 0.6).
  const data = await call(http, connection, '/payin/create', payinFields(request, connection), { idempotent: false });
  const [externalId, paymentUrl] = [textField(data, 'id'), textField(data, 'url')];
  if (externalId === null || paymentUrl === null) {
    throw new ProviderError(METHOD, 'unavailable', 'The provider answered without an invoice');
  }
  const expiresAt = Number(textField(data, 'expire_at') ?? Number.NaN);
  return {
    externalId,
    paymentUrl,
    status: 'new',
    expiresAt: Number.isSafeInteger(expiresAt) && expiresAt > 0 ? new Date(expiresAt * 1_000) : null,
    merchantId: connection.mid,
    raw: plainJson(data),
  };
}

async function fetchPayin(
  http: HttpClient,
  connection: SeverpayConnection,
  { externalId }: PaymentReference,
): Promise<PaymentReport> {
  if (externalId === null) throw new ProviderError(METHOD, 'rejected', 'The invoice has no id at the provider');
  const isNumber = /^\d{1,18}$/.test(externalId);
  const fields = isNumber ? { id: wireNumber(externalId) } : { uid: externalId };
  const state = payinState(await call(http, connection, '/payin/get', fields, { idempotent: true }));
  if (!state || (isNumber && state.externalId !== externalId)) {
    throw new ProviderError(METHOD, 'unavailable', 'The provider answered without this invoice');
  }
  // The record keeps the id that it was asked by.
  return { ...state, externalId };
}

/** @returns the `data` of a successful answer */
async function call(
  http: HttpClient,
  { baseUrl, mid, token }: SeverpayConnection,
  path: string,
  fields: Readonly<Record<string, unknown>>,
  { idempotent }: { idempotent: boolean },
): Promise<WireObject> {
  const signed = { ...fields, mid: wireNumber(mid), salt: randomBytes(16).toString('hex') };
  const answer = await callJson(http, METHOD, {
    method: 'POST',
    url: `${baseUrl}${path}`,
    headers: { 'content-type': 'application/json' },
    body: wireJson({ ...signed, sign: severpaySignature(signed, token) }),
    idempotent,
  });
  const data = objectField(answer, 'data');
  if (!isTrue(answer, 'status')) throw new ProviderError(METHOD, 'rejected', 'The provider refused the call');
  if (!data) throw new ProviderError(METHOD, 'unavailable', 'The provider answered without data');
  return data;
}
