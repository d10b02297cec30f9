import { createHash, createHmac } from 'node:crypto';
import type { HttpClient } from '../../core/http/http-client.ts';
import {
  type CallbackVerdict,
  type CreatedInvoice,
  type InvoiceRequest,
  type PaymentOutcome,
  type PaymentProvider,
  type PaymentReference,
  type PaymentReport,
  type ProviderCallback,
  ProviderError,
} from '../../domain/payments/ports.ts';
import { isEqualHex, utf8Text } from './wire/form.ts';
import {
  dateField,
  isTrue,
  objectField,
  objectsField,
  parseWireObject,
  plainJson,
  textField,
  type WireObject,
} from './wire/json.ts';
import { kopeksFromText, rublesText } from './wire/money.ts';
import { bareUrl, callJson, type ProviderAccess, providerAccount } from './wire/provider-call.ts';
import { answerOtherMethods, OK, problem, refused } from './wire/replies.ts';

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

const SIGNATURE_HEADER = 'crypto-pay-api-signature';
const PAID_EVENT = 'invoice_paid';

/** HMAC-SHA-256 over the body as received; its key is the SHA-256 of the token as bytes. Lower-case hex. */
export function cryptobotSignature(body: Buffer, token: string): string {
  return createHmac('sha256', createHash('sha256').update(token).digest()).update(body).digest('hex');
}

/** Verifies a callback (03a section 3): the whole body is signed, so that it proves the state of the invoice itself. */
export function receiveCryptobotCallback(callback: ProviderCallback, connection: CryptobotConnection | null): CallbackVerdict {
  const options = { provider: 'cryptobot', isConfigured: connection !== null, answersGet: false, answersOptions: true };
  const other = answerOtherMethods(callback, options);
  if (other || !connection) return other ?? problem(503, 'service_not_configured');

  const signature = callback.headers[SIGNATURE_HEADER];
  if (!signature) return problem(401, 'missing_signature');
  if (!isEqualHex(signature, cryptobotSignature(callback.rawBody, connection.token))) return problem(401, 'invalid_signature');

  const body = parseWireObject(utf8Text(callback.rawBody) ?? '');
  if (!body) return problem(400, 'invalid_json');
  if (textField(body, 'update_type') !== PAID_EVENT) return refused(OK);
  const invoice = objectField(body, 'payload');
  const state = invoice && invoiceState(invoice);
  if (!state) return problem(400, 'missing_invoice');
  const { externalId, orderId, status } = state;
  return { accepted: true, reference: { externalId, orderId }, eventKey: `${externalId}:${status}`, reply: OK };
}

/** What the adapter needs of the settings (spec 03 sections 2.4 and 10). */
export interface CryptobotConnection {
  /** No slash at the end. */
  baseUrl: string;
  token: string;
  /** Assets that the payer may choose from; empty = all of the provider. */
  acceptedAssets: readonly string[];
  expiresInSeconds: number;
}

const TESTNET_URL = 'https://testnet-pay.crypt.bot';
/** The provider's own limit of `expires_in`. */
const MAX_EXPIRES_SECONDS = 2_678_400;

/** Null while CryptoBot has no token. */
function cryptobotConnection({ settings, fake }: Pick<ProviderAccess, 'settings' | 'fake'>): CryptobotConnection | null {
  const access = fake();
  const token = access ? access.secret : (settings.get('CRYPTOBOT_API_TOKEN') ?? '');
  if (!access && token === '') return null;
  const realUrl = settings.get('CRYPTOBOT_TESTNET') ? TESTNET_URL : settings.get('CRYPTOBOT_BASE_URL');
  return {
    baseUrl: bareUrl(access ? access.baseUrl : realUrl),
    token,
    acceptedAssets: settings
      .get('CRYPTOBOT_ASSETS')
      .split(',')
      .map((asset) => asset.trim().toUpperCase())
      .filter((asset) => asset !== ''),
    expiresInSeconds: Math.min(settings.get('CRYPTOBOT_INVOICE_EXPIRES_HOURS') * 3_600, MAX_EXPIRES_SECONDS),
  };
}

const MAX_DESCRIPTION = 1_024;
const OUTCOMES: Readonly<Record<string, PaymentOutcome>> = { active: 'pending', paid: 'paid', expired: 'failed' };
/** Invoices of the software that served the installation before were in crypto currency; their payload ends with the kopeks. */
const OLD_PAYLOAD = /^(?:cabinet_topup|balance_topup)_\d+_(\d{1,12})$/;

/**
 * Body of POST /createInvoice: an invoice in rubles, so that the provider fixes the rate and reports our own amount (03a section 3).
 * The payload is our order id and comes back with the callback.
 */
function invoiceBody(request: InvoiceRequest, connection: CryptobotConnection): string {
  const { acceptedAssets, expiresInSeconds } = connection;
  return JSON.stringify({
    currency_type: 'fiat',
    fiat: 'RUB',
    ...(acceptedAssets.length > 0 ? { accepted_assets: acceptedAssets.join(',') } : {}),
    amount: rublesText(request.amountKopeks),
    description: request.description.slice(0, MAX_DESCRIPTION),
    payload: request.orderId,
    expires_in: expiresInSeconds,
    ...(request.returnUrls.result ? { paid_btn_name: 'callback', paid_btn_url: request.returnUrls.result } : {}),
  });
}

/** The state of an invoice of the wire; null when it has no id or no readable amount. */
function invoiceState(invoice: WireObject): PaymentReport | null {
  const externalId = textField(invoice, 'invoice_id');
  const status = textField(invoice, 'status');
  const payload = textField(invoice, 'payload');
  const isFiat = textField(invoice, 'currency_type') === 'fiat';
  const oldKopeks = isFiat ? null : (OLD_PAYLOAD.exec(payload ?? '')?.[1] ?? null);
  const amountKopeks = oldKopeks === null ? kopeksFromText(textField(invoice, 'amount') ?? '') : Number(oldKopeks);
  if (externalId === null || status === null || amountKopeks === null) return null;
  const outcome = OUTCOMES[status] ?? 'pending';
  const currency = isFiat ? textField(invoice, 'fiat') : oldKopeks === null ? textField(invoice, 'asset') : 'RUB';
  return {
    externalId,
    status,
    outcome,
    amountKopeks,
    currency: (currency ?? '').toUpperCase(),
    orderId: oldKopeks === null ? payload : null,
    paidAt: outcome === 'paid' ? dateField(invoice, 'paid_at') : null,
    raw: plainJson(invoice),
  };
}
