import { createHmac } from 'node:crypto';
import type { CallbackReply, CallbackVerdict, CheckedOrder, ProviderCallback } from '../../../domain/payments/ports.ts';
import { isInNetworks, resolveClientAddress } from '../wire/client-address.ts';
import { parseWireForm, utf8Text } from '../wire/form.ts';
import { kopeksFromText } from '../wire/money.ts';
import { answerOtherMethods, jsonReply, problem, refused } from '../wire/replies.ts';
import { isEqualBase64 } from '../wire/signature.ts';
import type { CloudpaymentsConnection } from './connection.ts';
import { formField, isTestPayment, kindOf, type NotificationForm, orderIdOf, transactionIdOf } from './notification-wire.ts';

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
