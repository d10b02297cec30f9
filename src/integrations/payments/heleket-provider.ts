import { createHash } from 'node:crypto';
import { stringify } from 'lossless-json';
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
import { isInNetworks, resolveClientAddress } from './wire/client-address.ts';
import { isEqualHex, utf8Text } from './wire/form.ts';
import { objectField, parseWireObject, plainJson, textField, type WireObject } from './wire/json.ts';
import { kopeksFromText, rublesText } from './wire/money.ts';
import { bareUrl, callJson, FAKE_NETWORKS, type ProviderAccess, providerAccount } from './wire/provider-call.ts';
import { answerOtherMethods, OK, problem, refused } from './wire/replies.ts';

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

const INVOICE_TYPE = 'payment';
/** The order ids of this service. The provider's test callback is signed with the live key and has an order id of its own. */
const OUR_ORDER = /^[0-9a-f]{30}$/;

/** Verifies a callback (03a section 4): the whole body is signed, so that it proves the state of the invoice itself. */
export function receiveHeleketCallback(callback: ProviderCallback, connection: HeleketConnection | null): CallbackVerdict {
  const options = { provider: 'heleket', isConfigured: connection !== null, answersGet: true, answersOptions: true };
  const other = answerOtherMethods(callback, options);
  if (other || !connection) return other ?? problem(503, 'service_not_configured');
  if (connection.allowedNetworks.length > 0) {
    const clientIp = resolveClientAddress(callback.ip, callback.headers, connection.proxies);
    if (clientIp === null) return problem(403, 'unknown_ip');
    if (!isInNetworks(clientIp, connection.allowedNetworks)) return problem(403, 'forbidden_ip');
  }

  const text = utf8Text(callback.rawBody);
  if (text?.trim() === '') return problem(400, 'empty_body');
  const body = text === null ? null : parseWireObject(text);
  if (text === null || !body) return problem(400, 'invalid_json');
  if (!textField(body, 'sign')) return problem(401, 'missing_signature');
  if (!isSigned(text, body, connection.apiKey)) return problem(401, 'invalid_signature');

  // Payouts and static wallets have callbacks of their own types; neither is an invoice.
  if ((textField(body, 'type') ?? INVOICE_TYPE) !== INVOICE_TYPE) return refused(OK);
  const state = invoiceState(body);
  if (!state) return problem(400, 'missing_invoice');
  const { externalId, orderId, status } = state;
  return { accepted: true, reference: { externalId, orderId }, eventKey: `${externalId}:${status}`, reply: OK };
}

/**
 * The state that a verified callback proves. Null for an order id that is not of this service: a test callback is no money, and a payment
 * that was taken over from another software is asked about.
 */
function readHeleketCallback(body: string): PaymentReport | null {
  const invoice = parseWireObject(body);
  const state = invoice && invoiceState(invoice);
  return state && OUR_ORDER.test(state.orderId ?? '') ? state : null;
}

/** What the adapter needs of the settings (spec 03 sections 2.4, 2.5 and 10). */
export interface HeleketConnection {
  /** No slash at the end. */
  baseUrl: string;
  merchantId: string;
  /** The payment key; the payout key is another one and is not used. */
  apiKey: string;
  /** Crypto currency that the payer pays in; null = the payer chooses. */
  toCurrency: string | null;
  /** Null = any network of the currency. */
  network: string | null;
  lifetimeSeconds: number;
  /** Added to the sum in crypto currency; negative = a discount. A whole number from -99 to 99. */
  markupPercent: number;
  /** Absolute URL; null = the provider sends no callbacks, and payments are found by asking. */
  callbackUrl: string | null;
  /** Used when the caller names no return URLs. */
  returnUrl: string | null;
  successUrl: string | null;
  /** Addresses and networks of the installation's reverse proxies. */
  proxies: readonly string[];
  /** Source networks of callbacks; empty = any, since callbacks are signed. */
  allowedNetworks: readonly string[];
}

/** Limits of the provider: seconds, percent. */
const LIFETIME = { min: 300, max: 43_200 };
const MAX_MARKUP = 99;

/** Null while Heleket has no credentials. */
function heleketConnection({
  settings,
  fake,
  proxies,
  callbackNetworks,
}: Omit<ProviderAccess, 'http' | 'now'>): HeleketConnection | null {
  const access = fake();
  const merchantId = access ? 'sandbox' : (settings.get('HELEKET_MERCHANT_ID') ?? '');
  const apiKey = access ? access.secret : (settings.get('HELEKET_API_KEY') ?? '');
  if (!access && (merchantId === '' || apiKey === '')) return null;
  const serviceUrl = settings.get('WEBHOOK_URL');
  return {
    baseUrl: bareUrl(access ? access.baseUrl : settings.get('HELEKET_BASE_URL')),
    merchantId,
    apiKey,
    toCurrency: settings.get('HELEKET_DEFAULT_CURRENCY').trim().toUpperCase() || null,
    network: settings.get('HELEKET_DEFAULT_NETWORK')?.trim() || null,
    lifetimeSeconds: within(settings.get('HELEKET_INVOICE_LIFETIME'), LIFETIME.min, LIFETIME.max),
    markupPercent: within(Math.round(settings.get('HELEKET_MARKUP_PERCENT')), -MAX_MARKUP, MAX_MARKUP),
    callbackUrl:
      settings.get('HELEKET_CALLBACK_URL') ?? (serviceUrl && `${bareUrl(serviceUrl)}${settings.get('HELEKET_WEBHOOK_PATH')}`),
    returnUrl: settings.get('HELEKET_RETURN_URL'),
    successUrl: settings.get('HELEKET_SUCCESS_URL'),
    proxies,
    allowedNetworks: access && callbackNetworks.length > 0 ? FAKE_NETWORKS : callbackNetworks,
  };
}

function within(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max);
}

/** Bounds of the provider for its URL fields, characters. */
const URL_LENGTH = { min: 6, max: 255 };

const OUTCOMES: Readonly<Record<string, PaymentOutcome>> = {
  process: 'pending',
  check: 'pending',
  confirm_check: 'pending',
  wrong_amount_waiting: 'pending',
  paid: 'paid',
  paid_over: 'paid',
  wrong_amount: 'underpaid',
  fail: 'failed',
  cancel: 'failed',
  system_fail: 'failed',
  locked: 'blocked',
  refund_process: 'pending',
  // The money came and went back, which `reversals` says.
  refund_paid: 'paid',
  // Money that was to go back and did not: if it was not credited before, an administrator decides.
  refund_fail: 'blocked',
};

/** Body of POST /payment (03a section 4). The provider returns the existing invoice for an order id that it knows. */
function invoiceBody(request: InvoiceRequest, connection: HeleketConnection): string {
  const { toCurrency, network, lifetimeSeconds, markupPercent, callbackUrl } = connection;
  const { result, success } = request.returnUrls;
  return JSON.stringify({
    amount: rublesText(request.amountKopeks),
    currency: 'RUB',
    order_id: request.orderId,
    lifetime: lifetimeSeconds,
    ...(toCurrency ? { to_currency: toCurrency } : {}),
    ...(network ? { network } : {}),
    // The payer may complete an invoice that got too little; anything less than all of it is not accepted as paid.
    is_payment_multiple: true,
    accuracy_payment_percent: 0,
    ...(markupPercent === 0 ? {} : { discount_percent: -markupPercent }),
    ...urlField('url_callback', callbackUrl),
    ...urlField('url_return', result ?? connection.returnUrl),
    ...urlField('url_success', success ?? connection.successUrl),
  });
}

function urlField(name: string, url: string | null): Record<string, string> {
  return url !== null && url.length >= URL_LENGTH.min && url.length <= URL_LENGTH.max ? { [name]: url } : {};
}

/** The word for the state of an invoice: callbacks call it `status`, answers also `payment_status`. */
function invoiceStatus(invoice: WireObject): string | null {
  return textField(invoice, 'payment_status') ?? textField(invoice, 'status');
}

/** The state of an invoice in an answer or a callback; null when it has no id, no status or no readable amount. */
function invoiceState(invoice: WireObject): PaymentReport | null {
  const externalId = textField(invoice, 'uuid');
  const status = invoiceStatus(invoice);
  const invoiceKopeks = kopeksFromText(textField(invoice, 'amount') ?? '');
  if (externalId === null || status === null || invoiceKopeks === null) return null;
  const isRefunded = status === 'refund_paid';
  return {
    externalId,
    status,
    outcome: OUTCOMES[status] ?? 'pending',
    amountKopeks: status === 'paid_over' ? overpaidKopeks(invoice, invoiceKopeks) : invoiceKopeks,
    currency: (textField(invoice, 'currency') ?? '').toUpperCase(),
    orderId: textField(invoice, 'order_id'),
    // The wire has no time of the payment.
    paidAt: null,
    reversals: isRefunded ? [{ reversalId: `${externalId}:refund`, kind: 'refund', amountKopeks: null }] : [],
    raw: plainJson(withoutSign(invoice)),
  };
}

/** The signature is not stored with the payment. */
function withoutSign({ sign: _sign, ...invoice }: WireObject): WireObject {
  return invoice;
}

/**
 * What was paid for an invoice that got too much. `amount` is always that of the invoice; what came is known in crypto currency only, so
 * that the rubles are its share of what was asked, and one kopek more than the invoice at least.
 */
function overpaidKopeks(invoice: WireObject, invoiceKopeks: number): number {
  const paid = unitsFromText(textField(invoice, 'payment_amount'));
  const asked = unitsFromText(textField(invoice, 'payer_amount'));
  const kopeks = paid === null || !asked ? 0 : Number((BigInt(invoiceKopeks) * paid) / asked);
  return Math.max(Number.isSafeInteger(kopeks) ? kopeks : 0, invoiceKopeks + 1);
}

const UNIT_DIGITS = 18;

/** A decimal of crypto currency in units of 10^-18; null for anything else. */
function unitsFromText(text: string | null): bigint | null {
  const match = /^(\d{1,18})(?:\.(\d{1,18}))?$/.exec(text ?? '');
  return match ? BigInt(match[1]! + (match[2] ?? '').padEnd(UNIT_DIGITS, '0')) : null;
}

const SIGN = 'sign';

/** The signature of a text: lower-case hex of MD5 over its base64 and the payment key. Without a body the empty text is signed. */
export function heleketSignature(text: string, apiKey: string): string {
  return createHash('md5')
    .update(Buffer.from(text).toString('base64') + apiKey)
    .digest('hex');
}

/**
 * Whether the `sign` of a callback is that of its other members (03a section 4). The text as received without the signature is what the
 * provider signed; a body whose slashes were not escaped on the way is written again as the provider's PHP does.
 * @param text the body as received
 * @param body the same, parsed
 */
function isSigned(text: string, body: WireObject, apiKey: string): boolean {
  const received = textField(body, SIGN) ?? '';
  const rest = cutMember(text, SIGN);
  if (rest !== null && isEqualHex(received, heleketSignature(rest, apiKey))) return true;
  const { [SIGN]: _sign, ...others } = body;
  return isEqualHex(received, heleketSignature(phpJson(others), apiKey));
}

/** JSON as PHP writes it with JSON_UNESCAPED_UNICODE: slashes and the two Unicode line separators are escaped. */
function phpJson(object: WireObject): string {
  return (stringify(object) ?? '').replaceAll('/', '\\/').replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

/** Tokens of JSON; a string is one token, so that brackets and commas in it are not counted. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],]/gs;

/**
 * The text of a JSON object without one of its members, every other byte unchanged: some providers sign a body and then put the signature
 * into it (spec 03 H17).
 * @param text one JSON object without duplicate keys
 * @returns null when the object has no such member
 */
export function cutMember(text: string, name: string): string | null {
  let depth = 0;
  let start = 0;
  let key: string | null = null;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') {
      depth++;
      if (depth === 1) start = index + 1;
    } else if (depth === 1 && (token === ',' || token === '}')) {
      if (key === name) return without(text, start, index);
      start = index + 1;
      key = null;
      if (token === '}') return null;
    } else if (token === '}' || token === ']') {
      depth--;
    } else if (depth === 1 && key === null && token !== ',') {
      key = JSON.parse(token) as string;
    }
  }
  return null;
}

/** Cuts a member with the comma before it, or with the one behind it where it is the first. */
function without(text: string, start: number, end: number): string {
  if (text[start - 1] === ',') return text.slice(0, start - 1) + text.slice(end);
  return text.slice(0, start) + text.slice(text[end] === ',' ? end + 1 : end);
}
