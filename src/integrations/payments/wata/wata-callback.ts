import type { CallbackVerdict, PaymentReport, ProviderCallback } from '../../../domain/payments/ports.ts';
import { isInNetworks, resolveClientAddress } from '../wire/client-address.ts';
import { utf8Text } from '../wire/form.ts';
import { parseWireObject } from '../wire/json.ts';
import { answerOtherMethods, OK, problem, refused } from '../wire/replies.ts';
import type { WataConnection } from './connection.ts';
import type { WataKeys } from './public-keys.ts';
import { readTransaction, transactionState, type WataTransaction } from './transaction-wire.ts';

const SIGNATURE_HEADER = 'x-signature';
const BEFORE_PAYMENT = 'Created';

/** Verifies a callback (03a section 9): an RSA signature over the whole body, with a key that signs for all merchants of the provider. */
export async function receiveWataCallback(
  callback: ProviderCallback,
  connection: WataConnection | null,
  keys: WataKeys,
): Promise<CallbackVerdict> {
  const options = { provider: 'wata', isConfigured: connection !== null, answersGet: true, answersOptions: true };
  const other = answerOtherMethods(callback, options);
  if (other || !connection) return other ?? problem(503, 'service_not_configured');
  if (!isAllowedAddress(callback, connection)) return problem(403, 'forbidden_ip');

  const body = parseWireObject(utf8Text(callback.rawBody) ?? '');
  const transaction = body && readTransaction(body);
  // The provider asks before the payment, waits 10 s, and declines the payment after any other answer. Nothing is stored and nothing
  // follows, so that the answer waits for no key, and needs none.
  if (transaction?.status === BEFORE_PAYMENT) return refused(OK);

  const signature = callback.headers[SIGNATURE_HEADER];
  if (!signature) return problem(401, 'missing_signature');
  const verdict = await keys.check(connection, callback.rawBody, signature);
  if (verdict === 'no_key') return problem(503, 'key_unavailable');
  if (verdict === 'invalid') return problem(401, 'invalid_signature');
  if (!body) return problem(400, 'invalid_json');
  if (!transaction || !hasEnded(transaction)) return refused(OK);
  const { id, status, isRefund, linkId, orderId } = transaction;
  // Our order id identifies the record. The link is left out then: of another merchant's payment it would become that of a record without one.
  const reference = orderId === null ? { externalId: linkId ?? id, orderId } : { externalId: null, orderId };
  return { accepted: true, reference, eventKey: `${isRefund ? 'refund' : 'payment'}:${id}:${status}`, reply: OK };
}

/** What a signed body says. */
export function readWataCallback(text: string): PaymentReport | null {
  const body = parseWireObject(text);
  const transaction = body && readTransaction(body);
  return transaction && transactionState(transaction);
}

/** A payment that was made or declined, and a refund that was made. */
function hasEnded({ isRefund, status }: WataTransaction): boolean {
  return status === 'Paid' || (status === 'Declined' && !isRefund);
}

function isAllowedAddress({ ip, headers }: ProviderCallback, { proxies, allowedNetworks }: WataConnection): boolean {
  if (allowedNetworks.length === 0) return true;
  const address = resolveClientAddress(ip, headers, proxies);
  return address !== null && isInNetworks(address, allowedNetworks);
}
