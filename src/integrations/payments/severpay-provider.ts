import { createHmac, randomBytes } from 'node:crypto';
import { isLosslessNumber } from 'lossless-json';
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
import {
  isTrue,
  objectField,
  parseWireObject,
  plainJson,
  textField,
  type WireObject,
  wireJson,
  wireNumber,
} from './wire/json.ts';
import { kopeksFromText, payerContact, shortRublesText } from './wire/money.ts';
import { bareUrl, callJson, FAKE_NETWORKS, type ProviderAccess, providerAccount } from './wire/provider-call.ts';
import { answerOtherMethods, jsonReply, problem, refused } from './wire/replies.ts';

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

/** Ends the provider's up to 100 attempts; it must be JSON. */
const ACKNOWLEDGED = jsonReply(200, { status: true });
const refusal = (status: number): CallbackVerdict => refused(jsonReply(status, { status: false }));
const PAYIN_ID = /^\d{1,20}$/;
const WORD = /^\w{1,40}$/;

/** Verifies a callback (03a section 14). It only names the invoice to ask about: which form of the signature is the right one is in doubt. */
export function receiveSeverpayCallback(callback: ProviderCallback, connection: SeverpayConnection | null): CallbackVerdict {
  const options = { provider: 'severpay', isConfigured: connection !== null, answersGet: true, answersOptions: false };
  const other = answerOtherMethods(callback, options);
  if (other || !connection) return other ?? problem(503, 'service_not_configured');
  if (connection.allowedNetworks.length > 0) {
    const address = resolveClientAddress(callback.ip, callback.headers, connection.proxies);
    if (address === null || !isInNetworks(address, connection.allowedNetworks)) return refusal(403);
  }
  const text = utf8Text(callback.rawBody);
  const body = text === null ? null : parseWireObject(text);
  if (text === null || !body) return refusal(400);
  if (!isSeverpaySigned(text, body, connection.token)) return refusal(403);
  // The test button of the provider's cabinet, payouts and whatever is new.
  if (textField(body, 'type') !== 'payin') return refused(ACKNOWLEDGED);
  const data = objectField(body, 'data');
  const externalId = textField(data, 'id') ?? '';
  const status = textField(data, 'status') ?? '';
  if (!PAYIN_ID.test(externalId) || !WORD.test(status)) return refusal(400);
  // By the provider's id alone: the answer about it says which order it is of, and another invoice with our order id shows as that.
  return { accepted: true, reference: { externalId, orderId: null }, eventKey: `${externalId}:${status}`, reply: ACKNOWLEDGED };
}

/** What the adapter needs of the settings (spec 03 sections 2.4 and 10). */
export interface SeverpayConnection {
  /** No slash at the end. */
  baseUrl: string;
  /** Merchant id, decimal. */
  mid: string;
  token: string;
  /** ISO 4217, upper case. */
  currency: string;
  minKopeks: number;
  maxKopeks: number;
  lifetimeMinutes: number;
  /** Used when the caller names no return URL. */
  returnUrl: string | null;
  proxies: readonly string[];
  /** Source networks of callbacks; empty = any. */
  allowedNetworks: readonly string[];
}

const SEVERPAY_BASE_URL = 'https://severpay.io/api/merchant';
const FAKE_MID = '101';
/** The provider's own limits of `lifetime`. */
const LIFETIME_MINUTES = { min: 30, max: 4_320 };

/** Null while SeverPay has no credentials. */
function severpayConnection(
  access: Pick<ProviderAccess, 'settings' | 'fake' | 'proxies' | 'callbackNetworks'>,
): SeverpayConnection | null {
  const { settings, proxies, callbackNetworks } = access;
  const fake = access.fake();
  const mid = fake ? FAKE_MID : String(settings.get('SEVERPAY_MID') ?? '');
  const token = fake ? fake.secret : (settings.get('SEVERPAY_TOKEN') ?? '').trim();
  if (mid === '' || token === '') return null;
  const { min, max } = LIFETIME_MINUTES;
  return {
    baseUrl: fake ? bareUrl(fake.baseUrl) : SEVERPAY_BASE_URL,
    mid,
    token,
    currency: settings.get('SEVERPAY_CURRENCY').trim().toUpperCase(),
    minKopeks: settings.get('SEVERPAY_MIN_AMOUNT_KOPEKS'),
    maxKopeks: settings.get('SEVERPAY_MAX_AMOUNT_KOPEKS'),
    lifetimeMinutes: Math.min(Math.max(settings.get('SEVERPAY_LIFETIME'), min), max),
    returnUrl: settings.get('SEVERPAY_RETURN_URL'),
    proxies,
    allowedNetworks: fake && callbackNetworks.length > 0 ? FAKE_NETWORKS : callbackNetworks,
  };
}

const OUTCOMES: Readonly<Record<string, PaymentOutcome>> = {
  new: 'pending',
  process: 'pending',
  success: 'paid',
  decline: 'failed',
  fail: 'failed',
};

/** Fields of POST /payin/create besides merchant, salt and signature (03a section 14). */
function payinFields(request: InvoiceRequest, connection: SeverpayConnection): Record<string, unknown> {
  const returnUrl = request.returnUrls.result ?? connection.returnUrl;
  return {
    order_id: request.orderId,
    // PHP drops zeros at the end of a number before it signs it.
    amount: wireNumber(shortRublesText(request.amountKopeks)),
    currency: connection.currency,
    client_email: payerContact(request),
    client_id: String(request.metadata.user_id ?? request.orderId),
    ...(returnUrl === null ? {} : { url_return: returnUrl }),
    lifetime: wireNumber(String(connection.lifetimeMinutes)),
  };
}

/** The state in the `data` of /payin/get; null when something that decides about money is missing. */
function payinState(data: WireObject): PaymentReport | null {
  const externalId = textField(data, 'id');
  const status = textField(data, 'status');
  const currency = textField(data, 'currency');
  const orderId = textField(data, 'order_id');
  const amountKopeks = kopeksFromText(textField(data, 'amount') ?? '');
  if (externalId === null || status === null || currency === null || orderId === null || amountKopeks === null) return null;
  return {
    externalId,
    status,
    outcome: OUTCOMES[status] ?? 'pending',
    amountKopeks,
    currency: currency.toUpperCase(),
    orderId,
    // The provider tells no time of the payment.
    paidAt: null,
    merchantId: textField(data, 'mid'),
    raw: plainJson(data),
  };
}

const hmac = (text: string, token: string) => createHmac('sha256', token).update(text).digest('hex');
const sorted = (fields: WireObject) =>
  Object.fromEntries(Object.entries(fields).sort(([left], [right]) => (left < right ? -1 : 1)));

/** Signature of a request (03a section 14): JSON without escapes of the fields in the order of their names, also of the numbers' text. */
export function severpaySignature(fields: WireObject, token: string): string {
  return hmac(phpJson(sorted(fields), { isEscaped: false, keepsNumbers: true }), token);
}

/**
 * Whether a callback is signed with the token. The form of the signed text is in doubt, so four are accepted in turn (03a section 14): PHP's
 * default flags in the received order (the documented one), the received text without its `sign`, the same without escapes, and sorted.
 * @param text as received
 * @param body `text` parsed
 */
function isSeverpaySigned(text: string, body: WireObject, token: string): boolean {
  const sign = textField(body, 'sign');
  if (sign === null) return false;
  const { sign: _sign, ...fields } = body;
  const forms = [
    phpJson(fields, { isEscaped: true, keepsNumbers: false }),
    withoutSign(text, sign),
    phpJson(fields, { isEscaped: false, keepsNumbers: false }),
    phpJson(sorted(fields), { isEscaped: false, keepsNumbers: true }),
  ];
  // All are computed, so that the time does not tell which one matched.
  return forms.map((form) => form !== null && isEqualHex(sign, hmac(form, token))).includes(true);
}

/** The text with its member `sign` cut out; null when it cannot be determined which one that is. */
function withoutSign(text: string, sign: string): string | null {
  if (!/^[0-9a-f]+$/i.test(sign)) return null;
  // A quote inside of a string is escaped, so the pattern matches members only; the first branch takes the comma before it.
  const member = new RegExp(`\\s*,\\s*"sign"\\s*:\\s*"${sign}"|"sign"\\s*:\\s*"${sign}"\\s*,?\\s*`, 'g');
  return text.match(member)?.length === 1 ? text.replace(member, '') : null;
}

/** How PHP's `json_encode` writes a value that `json_decode` read. */
interface PhpJsonForm {
  /** `/` as `\/` and all but ASCII as `\uXXXX`: its default flags. Else JSON_UNESCAPED_SLASHES and JSON_UNESCAPED_UNICODE. */
  isEscaped: boolean;
  /** Numbers as received, in place of PHP's shortest form (`179.0` becomes `179`). */
  keepsNumbers: boolean;
}

/** Compact JSON in the order of the keys. @param value as `parseWireObject` reads it */
export function phpJson(value: unknown, form: PhpJsonForm): string {
  if (isLosslessNumber(value)) return form.keepsNumbers ? value.toString() : phpNumber(value.toString());
  if (typeof value === 'string') return phpString(value, form);
  if (Array.isArray(value)) return `[${value.map((item) => phpJson(item, form)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${phpString(name, form)}:${phpJson(member, form)}`);
  // Decoded objects are arrays in PHP; an empty one is written as a list.
  return members.length === 0 ? '[]' : `{${members.join(',')}}`;
}

function phpString(text: string, { isEscaped }: PhpJsonForm): string {
  const quoted = JSON.stringify(text);
  if (!isEscaped) return quoted.replace(/[\u2028\u2029]/g, codeOf);
  return quoted.replaceAll('/', '\\/').replace(/[^\0-\x7f]/g, (character) => [...codeUnits(character)].map(codeOf).join(''));
}

function phpNumber(text: string): string {
  return /^-?\d+$/.test(text) ? text : String(Number(text));
}

const codeUnits = (character: string) => Array.from({ length: character.length }, (_, index) => character[index]!);
const codeOf = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
