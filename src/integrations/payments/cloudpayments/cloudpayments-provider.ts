import { addMs, MINUTE_MS } from '../../../core/clock.ts';
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
import { parseWireForm } from '../wire/form.ts';
import { isTrue, objectField, plainJson, textField, type WireObject } from '../wire/json.ts';
import type { ProviderAccess } from '../wire/provider-access.ts';
import { providerAccount } from '../wire/provider-account.ts';
import { callJson } from '../wire/provider-call.ts';
import { receiveCloudpaymentsCallback } from './cloudpayments-callback.ts';
import { type CloudpaymentsConnection, cloudpaymentsConnection } from './connection.ts';
import { NOTIFICATION_SUBPATHS, notifiedState } from './notification-wire.ts';
import { accountIdOf, foundState, orderBody, refundBody, transactionBody, unpaidState } from './order-wire.ts';

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
 * Gives a payment back, as a whole or in part. No call lists the refunds of a payment, and a key that the provider has forgotten makes a
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
