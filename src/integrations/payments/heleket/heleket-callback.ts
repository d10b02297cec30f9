import type { CallbackVerdict, PaymentReport, ProviderCallback } from '../../../domain/payments/ports.ts';
import { isInNetworks, resolveClientAddress } from '../wire/client-address.ts';
import { utf8Text } from '../wire/form.ts';
import { parseWireObject, textField } from '../wire/json.ts';
import { answerOtherMethods, OK, problem, refused } from '../wire/replies.ts';
import type { HeleketConnection } from './connection.ts';
import { invoiceState } from './invoice-wire.ts';
import { isSigned } from './signature.ts';

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
export function readHeleketCallback(body: string): PaymentReport | null {
  const invoice = parseWireObject(body);
  const state = invoice && invoiceState(invoice);
  return state && OUR_ORDER.test(state.orderId ?? '') ? state : null;
}
