import { createHmac } from 'node:crypto';
import { addMs, MINUTE_MS } from '../../../core/clock.ts';
import type { HttpClient } from '../../../core/http/http-client.ts';
import {
  type CallbackReply,
  type CallbackVerdict,
  type CheckedOrder,
  type CreatedInvoice,
  type InvoiceRequest,
  type PaymentProvider,
  type PaymentReference,
  type PaymentReport,
  type ProviderCallback,
  ProviderError,
  type RefundAnswer,
  type RefundRequest,
} from '../../../domain/payments/ports.ts';
import { isInNetworks, resolveClientAddress } from '../wire/client-address.ts';
import { isEqualBase64, parseWireForm, utf8Text } from '../wire/form.ts';
import { isTrue, objectField, plainJson, textField, type WireObject } from '../wire/json.ts';
import { kopeksFromText } from '../wire/money.ts';
import { bareUrl, callJson, type ProviderAccess, providerAccount } from '../wire/provider-call.ts';
import { answerOtherMethods, jsonReply, problem, refused } from '../wire/replies.ts';
import {
  accountIdOf,
  formField,
  foundState,
  isTestPayment,
  kindOf,
  NOTIFICATION_SUBPATHS,
  type NotificationForm,
  notifiedState,
  orderBody,
  orderIdOf,
  refundBody,
  transactionBody,
  transactionIdOf,
  unpaidState,
} from './order-wire.ts';

const METHOD = 'cloudpayments';
/** How long a refund may be sent again with its key, which the provider keeps for an hour (03a section 12). */
const KEY_MS = 50 * MINUTE_MS;

/**
 * CloudPayments (03a section 12). An order is a link with our order id; each attempt to pay it is a transaction of the provider, whose id
 * identifies the money.
 */
export function cloudpaymentsProvider(access: ProviderAccess): PaymentProvider {
  const { http, settings, now } = access;
  const account = providerAccount(METHOD, 'CloudPayments', () => cloudpaymentsConnection(access), access.isOn);
  const { connection, required } = account;

  return {
    method: METHOD,
    initialStatus: 'pending',
    pendingStatuses: ['pending', 'Authorized', 'AwaitingAuthentication', 'Completed', 'Declined'],
    canFetchStatus: true,
    callbackFormats: ['form'],
    callbackSubpaths: NOTIFICATION_SUBPATHS,
    asksAboutUnknown: false,
    canRefundPartly: true,
    isConfigured: account.isConfigured,
    hasCredentials: account.hasCredentials,
    webhookPath: () => settings.get('CLOUDPAYMENTS_WEBHOOK_PATH'),
    createInvoice: async (request) => createOrder(http, account.requiredForNew(), request),
    fetchStatus: async (reference) => findPayment(http, required(), reference),
    receiveCallback: async (callback) => receiveCloudpaymentsCallback(callback, account.connectionFor(callback)),
    readCallback: (body, subpath) => {
      const form = parseWireForm(body);
      return form && notifiedState(form, subpath, connection()?.isTestTerminal ?? false);
    },
    refund: async (request) => refundPayment(http, required(), request, now()),
  };
}

async function createOrder(
  http: HttpClient,
  connection: CloudpaymentsConnection,
  request: InvoiceRequest,
): Promise<CreatedInvoice> {
  if (request.amountKopeks < connection.minKopeks || request.amountKopeks > connection.maxKopeks) {
    throw new ProviderError(METHOD, 'rejected', 'The amount is outside the limits of the method');
  }
  if (connection.currency !== 'RUB') throw new ProviderError(METHOD, 'rejected', 'Balances are in rubles, the terminal is not');
  if (connection.requiresEmail && !request.payerEmail)
    throw new ProviderError(METHOD, 'rejected', 'No e-mail address of the payer');
  // The order id, so that a repeated POST cannot create a second order within the hour in which the provider knows the key.
  const answer = await call(http, connection, '/orders/create', orderBody(request, connection), request.orderId);
  const model = accepted(answer);
  const paymentUrl = textField(model, 'Url');
  if (paymentUrl === null || !/^https?:\/\//.test(paymentUrl)) {
    throw new ProviderError(METHOD, 'unavailable', 'The provider answered without a payment URL');
  }
  return {
    // Notifications and searches name our order id, never the id of the order at the provider.
    externalId: request.orderId,
    paymentUrl,
    status: 'pending',
    expiresAt: null,
    merchantId: accountIdOf(request),
    raw: plainJson(model),
  };
}

async function findPayment(
  http: HttpClient,
  connection: CloudpaymentsConnection,
  { orderId, externalId }: PaymentReference,
): Promise<PaymentReport> {
  const invoiceId = orderId ?? externalId;
  if (invoiceId === null) throw new ProviderError(METHOD, 'rejected', 'The payment has no order id');
  const answer = await call(http, connection, '/v2/payments/find', JSON.stringify({ InvoiceId: invoiceId }));
  const model = objectField(answer, 'Model');
  // A refused or failed attempt is found too, with `Success` false.
  if (!model) {
    const isUnpaid = /not found/i.test(textField(answer, 'Message') ?? '');
    if (isUnpaid) return unpaidState(invoiceId, connection);
    throw new ProviderError(METHOD, 'rejected', 'The provider refused the call');
  }
  const state = foundState(model, connection);
  if (state?.orderId !== invoiceId) throw new ProviderError(METHOD, 'unavailable', 'The provider answered without this payment');
  return state;
}

/**
 * Refunds a payment, as a whole or in part. No call lists the refunds of a payment, and a key that the provider has forgotten makes a
 * repeat a second refund. So a late repeat is sent only while nothing was given back of the payment; otherwise the notification about the
 * refund decides, which an administrator's refund in the provider's cabinet has, too.
 */
async function refundPayment(
  http: HttpClient,
  connection: CloudpaymentsConnection,
  { chargeId, amountKopeks, idempotencyKey, repeatedSince }: RefundRequest,
  now: Date,
): Promise<RefundAnswer> {
  if (chargeId === null || !/^\d+$/.test(chargeId)) {
    throw new ProviderError(METHOD, 'rejected', 'The transaction of the payment is not known');
  }
  const isLate = repeatedSince !== undefined && addMs(repeatedSince, KEY_MS) <= now;
  if (isLate && !(await isUntouched(http, connection, chargeId))) return { state: 'unclear' };
  const answer = await call(http, connection, '/payments/refund', refundBody(chargeId, amountKopeks), idempotencyKey);
  const reversalId = textField(accepted(answer), 'TransactionId');
  if (reversalId === null) throw new ProviderError(METHOD, 'unavailable', 'The provider answered without a refund');
  return { reversalId, state: 'done' };
}

/** Whether the provider says for certain that nothing was given back of a payment. */
async function isUntouched(http: HttpClient, connection: CloudpaymentsConnection, chargeId: string): Promise<boolean> {
  const model = objectField(await call(http, connection, '/payments/get', transactionBody(chargeId)), 'Model');
  return textField(model, 'TransactionId') === chargeId && model?.Refunded === false;
}

/** The `Model` of a successful answer. @throws ProviderError `rejected`: refusals come with status 200 */
function accepted(answer: WireObject): WireObject {
  const model = objectField(answer, 'Model');
  if (!isTrue(answer, 'Success') || !model) throw new ProviderError(METHOD, 'rejected', 'The provider refused the call');
  return model;
}

/** @param requestId makes the call safe to repeat for an hour; reads need none */
function call(
  http: HttpClient,
  { baseUrl, publicId, apiSecret }: CloudpaymentsConnection,
  path: string,
  body: string,
  requestId?: string,
): Promise<WireObject> {
  return callJson(http, METHOD, {
    method: 'POST',
    url: `${baseUrl}${path}`,
    headers: {
      authorization: `Basic ${Buffer.from(`${publicId}:${apiSecret}`).toString('base64')}`,
      'content-type': 'application/json',
      ...(requestId === undefined ? {} : { 'x-request-id': requestId }),
    },
    body,
    idempotent: true,
  });
}

/** Answers to a notification (03a section 12): every kind is received with 0, only Check has the others. */
const CODES = { goOn: 0, unknownOrder: 10, wrongAccount: 11, wrongAmount: 12, refuse: 13, expired: 20 } as const;
type Code = (typeof CODES)[keyof typeof CODES];

const reply = (code: Code, status = 200): CallbackReply => jsonReply(status, { code });

/**
 * Verifies a notification (03a section 12): its whole body is signed, so that Pay, Confirm and Refund prove themselves. Check is answered by
 * what the domain knows of the order.
 */
export function receiveCloudpaymentsCallback(
  callback: ProviderCallback,
  connection: CloudpaymentsConnection | null,
): CallbackVerdict {
  const options = { provider: 'cloudpayments', isConfigured: connection !== null, answersGet: true, answersOptions: true };
  const other = answerOtherMethods(callback, options);
  if (other || !connection) return other ?? problem(503, 'service_not_configured');
  if (!isFromProvider(callback, connection)) return refused(reply(CODES.refuse, 403));
  if (!isSigned(callback, connection.apiSecret)) return refused(reply(CODES.refuse));

  const form = parseWireForm(utf8Text(callback.rawBody) ?? '');
  const transactionId = form && transactionIdOf(form);
  if (!form || transactionId === null) return refused(reply(CODES.refuse, 400));
  const orderId = orderIdOf(form);
  const kind = kindOf(form, callback.subpath);
  if (kind === 'check') return checkVerdict(form, orderId, connection);
  const eventKey = `${kind}:${transactionId}`;
  return { accepted: true, reference: { externalId: orderId, orderId }, eventKey, reply: reply(CODES.goOn) };
}

/** Any address where no list is set: the signature is enough. */
function isFromProvider({ ip, headers }: ProviderCallback, { allowedNetworks, proxies }: CloudpaymentsConnection): boolean {
  if (allowedNetworks.length === 0) return true;
  const address = resolveClientAddress(ip, headers, proxies);
  return address !== null && isInNetworks(address, allowedNetworks);
}

/** Two signatures are sent: one over the body as received, one over the URL-decoded body. Either is enough. */
function isSigned({ headers, rawBody }: ProviderCallback, secret: string): boolean {
  const overBody = headers['content-hmac'];
  if (overBody && isEqualBase64(overBody, cloudpaymentsSignature(rawBody, secret))) return true;
  const overText = headers['x-content-hmac'];
  const decoded = overText ? decodedBody(rawBody) : null;
  return decoded !== null && isEqualBase64(overText!, cloudpaymentsSignature(decoded, secret));
}

/** HMAC-SHA-256 with the API secret; on the wire in base64. */
export function cloudpaymentsSignature(signed: Buffer | string, secret: string): Buffer {
  return createHmac('sha256', secret).update(signed).digest();
}

function decodedBody(rawBody: Buffer): string | null {
  try {
    return decodeURIComponent((utf8Text(rawBody) ?? '%').replaceAll('+', ' '));
  } catch {
    return null;
  }
}

function checkVerdict(form: NotificationForm, orderId: string | null, connection: CloudpaymentsConnection): CallbackVerdict {
  const unknown = reply(CODES.unknownOrder);
  if (orderId === null) return refused(unknown);
  const answer = (order: CheckedOrder | null) => reply(checkCode(form, order, connection));
  return { accepted: false, reply: unknown, check: { orderId, answer } };
}

/** Whether the payer may go on to pay. */
function checkCode(form: NotificationForm, order: CheckedOrder | null, connection: CloudpaymentsConnection): Code {
  if (!order) return CODES.unknownOrder;
  const accountId = formField(form, 'AccountId');
  if (order.merchantId !== null && order.merchantId !== accountId) return CODES.wrongAccount;
  const isAmount = kopeksFromText(formField(form, 'Amount') ?? '') === order.amountKopeks;
  if (!isAmount || (formField(form, 'Currency') ?? '').toUpperCase() !== order.currency) return CODES.wrongAmount;
  if (isTestPayment(form) && !connection.isTestTerminal) return CODES.refuse;
  if (!order.isOpen) return CODES.refuse;
  return order.isExpired ? CODES.expired : CODES.goOn;
}

/** What the adapter needs of the settings (spec 03 sections 2.4 and 10). */
export interface CloudpaymentsConnection {
  /** No slash at the end. */
  baseUrl: string;
  publicId: string;
  apiSecret: string;
  /** ISO 4217, upper case. */
  currency: string;
  /** Used when the caller names no return URLs. */
  returnUrl: string | null;
  /** The terminal is a test terminal: its payments have `TestMode`, and are credited. */
  isTestTerminal: boolean;
  /** Orders are made only for payers whose e-mail address is known. */
  requiresEmail: boolean;
  minKopeks: number;
  maxKopeks: number;
  /** Addresses and networks of the installation's reverse proxies. */
  proxies: readonly string[];
  /** Source networks of the notifications; empty = any, since they are signed. */
  allowedNetworks: readonly string[];
}

/** The fake's public id. */
const FAKE_PUBLIC_ID = 'pk_sandbox';

/** Null while CloudPayments has no credentials. */
function cloudpaymentsConnection({
  settings,
  fake,
  proxies,
  callbackNetworks,
}: Omit<ProviderAccess, 'http' | 'now'>): CloudpaymentsConnection | null {
  const access = fake();
  const publicId = access ? FAKE_PUBLIC_ID : (settings.get('CLOUDPAYMENTS_PUBLIC_ID') ?? '');
  const apiSecret = access ? access.secret : (settings.get('CLOUDPAYMENTS_API_SECRET') ?? '');
  if (!access && (publicId === '' || apiSecret === '')) return null;
  return {
    baseUrl: bareUrl(access ? access.baseUrl : settings.get('CLOUDPAYMENTS_API_URL')),
    publicId,
    apiSecret,
    currency: settings.get('CLOUDPAYMENTS_CURRENCY').trim().toUpperCase(),
    returnUrl: settings.get('CLOUDPAYMENTS_RETURN_URL'),
    isTestTerminal: settings.get('CLOUDPAYMENTS_TEST_MODE'),
    requiresEmail: settings.get('CLOUDPAYMENTS_REQUIRE_EMAIL'),
    minKopeks: settings.get('CLOUDPAYMENTS_MIN_AMOUNT_KOPEKS'),
    maxKopeks: settings.get('CLOUDPAYMENTS_MAX_AMOUNT_KOPEKS'),
    proxies,
    allowedNetworks: callbackNetworks,
  };
}
