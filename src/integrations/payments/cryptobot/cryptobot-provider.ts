import type { HttpClient } from '../../../core/http/http-client.ts';
import {
  type CreatedInvoice,
  type InvoiceRequest,
  type PaymentProvider,
  type PaymentReference,
  type PaymentReport,
  ProviderError,
} from '../../../domain/payments/ports.ts';
import {
  dateField,
  isTrue,
  objectField,
  objectsField,
  parseWireObject,
  plainJson,
  textField,
  type WireObject,
} from '../wire/json.ts';
import type { ProviderAccess } from '../wire/provider-access.ts';
import { providerAccount } from '../wire/provider-account.ts';
import { callJson } from '../wire/provider-call.ts';
import { type CryptobotConnection, cryptobotConnection } from './connection.ts';
import { receiveCryptobotCallback } from './cryptobot-callback.ts';
import { invoiceBody, invoiceState } from './invoice-wire.ts';

const METHOD = 'cryptobot';

/** CryptoBot, the Crypto Pay API (03a section 3). It has no refunds: a transfer would be a payout. */
export function cryptobotProvider(access: ProviderAccess): PaymentProvider {
  const { http, settings } = access;
  const account = providerAccount(METHOD, 'CryptoBot', () => cryptobotConnection(access), access.isOn);
  const { required } = account;

  return {
    method: METHOD,
    initialStatus: 'active',
    pendingStatuses: ['active'],
    canFetchStatus: true,
    callbackFormats: ['json'],
    asksAboutUnknown: false,
    isConfigured: account.isConfigured,
    hasCredentials: account.hasCredentials,
    webhookPath: () => settings.get('CRYPTOBOT_WEBHOOK_PATH'),
    createInvoice: async (request) => createInvoice(http, account.requiredForNew(), request),
    fetchStatus: async (reference) => fetchInvoice(http, required(), reference),
    receiveCallback: async (callback) => receiveCryptobotCallback(callback, account.connectionFor(callback)),
    readCallback: (body) => {
      const invoice = objectField(parseWireObject(body), 'payload');
      const state = invoice && invoiceState(invoice);
      // The provider says `invoice_paid` of paid invoices only; anything else is asked about.
      return state?.outcome === 'paid' ? state : null;
    },
  };
}

async function createInvoice(
  http: HttpClient,
  connection: CryptobotConnection,
  request: InvoiceRequest,
): Promise<CreatedInvoice> {
  // A repeated call would create a second invoice (03a section 0.6).
  const result = await call(http, connection, 'createInvoice', { body: invoiceBody(request, connection), idempotent: false });
  const externalId = textField(result, 'invoice_id');
  const paymentUrl = textField(result, 'bot_invoice_url') ?? textField(result, 'web_app_invoice_url');
  if (externalId === null || paymentUrl === null) {
    throw new ProviderError(METHOD, 'unavailable', 'The provider answered without an invoice');
  }
  return {
    externalId,
    paymentUrl,
    status: textField(result, 'status') ?? 'active',
    expiresAt: dateField(result, 'expiration_date'),
    raw: plainJson(result),
  };
}

async function fetchInvoice(
  http: HttpClient,
  connection: CryptobotConnection,
  { externalId }: PaymentReference,
): Promise<PaymentReport> {
  // The API finds invoices by its own id only.
  if (externalId === null) throw new ProviderError(METHOD, 'rejected', 'The invoice has no id at the provider');
  const body = JSON.stringify({ invoice_ids: externalId, offset: 0, count: 1 });
  const result = await call(http, connection, 'getInvoices', { body, idempotent: true });
  const invoice = objectsField(result, 'items').find((item) => textField(item, 'invoice_id') === externalId);
  if (!invoice) throw new ProviderError(METHOD, 'rejected', 'The provider does not know this invoice');
  const state = invoiceState(invoice);
  if (!state) throw new ProviderError(METHOD, 'unavailable', 'The provider answered with an invoice that cannot be read');
  return state;
}

/** @returns the `result` of the answer */
async function call(
  http: HttpClient,
  connection: CryptobotConnection,
  method: string,
  { body, idempotent }: { body: string; idempotent: boolean },
): Promise<WireObject> {
  const answer = await callJson(http, METHOD, {
    method: 'POST',
    url: `${connection.baseUrl}/api/${method}`,
    headers: { 'crypto-pay-api-token': connection.token, 'content-type': 'application/json' },
    body,
    idempotent,
  });
  const result = objectField(answer, 'result');
  if (!isTrue(answer, 'ok') || !result) throw new ProviderError(METHOD, 'rejected', 'The provider refused the call');
  return result;
}
