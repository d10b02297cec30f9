import { createHash } from 'node:crypto';
import type { CallbackVerdict, PaymentReport, ProviderCallback, ProviderReversal } from '../../../domain/payments/ports.ts';
import { parseWireForm, utf8Text } from '../wire/form.ts';
import { parseWireObject, textField } from '../wire/json.ts';
import { kopeksFromText } from '../wire/money.ts';
import { answerOtherMethods, OK, problem } from '../wire/replies.ts';
import { isEqualHex } from '../wire/signature.ts';
import type { Pal24Connection } from './connection.ts';

/** Ids have no colon, so that no two postbacks have the same signed text. */
const ID = /^[\w-]{1,64}$/;
/** States of a refund or a chargeback in which no money has gone back. */
const NOT_REVERSED = new Set(['NEW', 'PROCESS', 'FAIL', 'FAILED', 'CANCELLED']);

type Fields = (name: string) => string;

/** Upper-case hex of MD5 over the parts and the token, with colons between them, every part as received. */
export function pal24Signature(parts: readonly string[], token: string): string {
  return createHash('md5')
    .update([...parts, token].join(':'))
    .digest('hex')
    .toUpperCase();
}

/**
 * Verifies a postback (03a section 7): of a payment, which only makes us ask about its bill, since neither its status nor its currency is
 * signed, or of a refund or a chargeback. The shop's pages of the provider may name one address for all of them.
 */
export function receivePal24Callback(callback: ProviderCallback, connection: Pal24Connection | null): CallbackVerdict {
  const options = { provider: 'pal24', isConfigured: connection !== null, answersGet: true, answersOptions: true };
  const other = answerOtherMethods(callback, options);
  if (other || !connection) return other ?? problem(503, 'service_not_configured');

  const text = utf8Text(callback.rawBody);
  if (text?.trim() === '') return problem(400, 'empty_payload');
  const fields = text === null ? null : fieldsOf(text);
  if (!fields) return problem(400, 'invalid_payload');
  return fields('OutSum') === '' ? receiveReversal(fields, connection) : receivePayment(fields, connection);
}

function receivePayment(fields: Fields, { signatureToken }: Pal24Connection): CallbackVerdict {
  const [orderId, billId, status, signature] = [fields('InvId'), fields('TrsId'), fields('Status'), fields('SignatureValue')];
  if (orderId === '' || status === '') return problem(400, 'missing_fields');
  if (!ID.test(orderId) || (billId !== '' && !ID.test(billId))) return problem(400, 'invalid_fields');
  if (signature === '') return problem(400, 'missing_signature');
  if (!isEqualHex(signature, pal24Signature([fields('OutSum'), orderId], signatureToken)))
    return problem(400, 'invalid_signature');
  const reference = { externalId: billId || null, orderId };
  return { accepted: true, reference, eventKey: `${orderId}:${status}`, reply: OK };
}

function receiveReversal(fields: Fields, { signatureToken }: Pal24Connection): CallbackVerdict {
  const [billId, id] = [fields('BillId'), fields('Id')];
  if (![billId, id, fields('PaymentId')].every((value) => ID.test(value))) return problem(400, 'missing_fields');
  if (fields('SignatureValue') === '') return problem(400, 'missing_signature');
  const reversal = reversalOf(fields, signatureToken);
  if (!reversal) return problem(400, 'invalid_signature');
  if (reversal.kind === 'refund' && reversal.amountKopeks === null) return problem(400, 'invalid_fields');
  // The order id is not signed in these: the bill alone says whose money it is.
  const reference = { externalId: billId, orderId: null };
  return { accepted: true, reference, eventKey: `${reversal.reversalId}:${fields('Status')}`, reply: OK };
}

/** The reversal that a postback is signed for; null for another signature. */
function reversalOf(fields: Fields, token: string): ProviderReversal | null {
  const ids = [fields('BillId'), fields('PaymentId'), fields('Id')];
  const signature = fields('SignatureValue');
  if (isEqualHex(signature, pal24Signature([fields('Amount'), fields('Currency'), ...ids], token))) {
    const [amountKopeks, currency] = [kopeksFromText(fields('Amount')), fields('Currency').toUpperCase()];
    return { reversalId: `refund:${fields('Id')}`, kind: 'refund', amountKopeks, currency };
  }
  if (!isEqualHex(signature, pal24Signature(ids, token))) return null;
  return { reversalId: `chargeback:${fields('Id')}`, kind: 'chargeback', amountKopeks: null, currency: null };
}

/**
 * The reversal that a verified postback proves. Null for a postback of a payment, and while nothing has gone back: then the bill is asked
 * about.
 */
export function readPal24Callback(body: string, token: string): PaymentReport | null {
  const fields = fieldsOf(body);
  if (!fields) return null;
  if (fields('OutSum') !== '' || NOT_REVERSED.has(fields('Status').toUpperCase())) return null;
  const reversal = reversalOf(fields, token);
  if (!reversal) return null;
  return {
    externalId: fields('BillId'),
    status: reversal.kind === 'refund' ? 'REFUND' : 'CHARGEBACK',
    // It says nothing of the payment itself.
    outcome: 'pending',
    amountKopeks: reversal.amountKopeks ?? 0,
    currency: 'RUB',
    orderId: null,
    paidAt: null,
    reversals: [reversal],
    raw: { ...reversal, billId: fields('BillId'), paymentId: fields('PaymentId') },
  };
}

/** The fields of a form, as the provider documents it, or of JSON, which it was seen to send; an absent field is empty. */
function fieldsOf(text: string): Fields | null {
  if (text.trimStart().startsWith('{')) {
    const body = parseWireObject(text);
    return body && ((name) => textField(body, name) ?? '');
  }
  const form = parseWireForm(text);
  return form && ((name) => form.get(name) ?? '');
}
