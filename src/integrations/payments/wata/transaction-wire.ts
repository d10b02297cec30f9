import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { MINUTE_MS, SECOND_MS } from '../../../core/clock.ts';
import type { HttpClient } from '../../../core/http/http-client.ts';
import type { PaymentOutcome, PaymentReport, ProviderReversal } from '../../../domain/payments/ports.ts';
import { dateField, parseWireObject, plainJson, textField, type WireObject } from '../wire/json.ts';
import { kopeksFromText } from '../wire/money.ts';
import type { WataConnection } from './wata-provider.ts';

const OUTCOMES: Readonly<Record<string, PaymentOutcome>> = {
  Created: 'pending',
  Pending: 'pending',
  Paid: 'paid',
  // Of the attempt: the link can still be paid.
  Declined: 'failed',
};

/** A transaction of a callback or of the API, which name the same fields differently. */
export interface WataTransaction {
  id: string;
  /** `Created`, `Pending`, `Paid` or `Declined`. */
  status: string;
  isRefund: boolean;
  /** Null where it is no decimal. */
  amountKopeks: number | null;
  orderId: string | null;
  linkId: string | null;
  fields: WireObject;
}

/** Null when it has no id or status. */
export function readTransaction(fields: WireObject): WataTransaction | null {
  const id = textField(fields, 'transactionId') ?? textField(fields, 'id');
  const status = textField(fields, 'transactionStatus') ?? textField(fields, 'status');
  if (id === null || status === null) return null;
  return {
    ...{ id, status, fields, isRefund: textField(fields, 'kind') === 'Refund' },
    amountKopeks: kopeksFromText(textField(fields, 'amount') ?? ''),
    orderId: textField(fields, 'orderId'),
    linkId: textField(fields, 'paymentLinkId'),
  };
}

/** What one transaction says of a payment; null when its amount or currency cannot be read. */
export function transactionState(transaction: WataTransaction): PaymentReport | null {
  const { id, status, amountKopeks, orderId, linkId, isRefund, fields } = transaction;
  const currency = textField(fields, 'currency');
  if (amountKopeks === null || currency === null) return null;
  const outcome = isRefund ? 'failed' : (OUTCOMES[status] ?? 'pending');
  const isPaid = outcome === 'paid';
  return {
    externalId: linkId,
    ...{ status, outcome, amountKopeks, orderId },
    currency: currency.toUpperCase(),
    paidAt: isPaid ? dateField(fields, 'paymentTime') : null,
    chargeId: isRefund ? null : id,
    merchantId: terminalOf(fields),
    reversals: reversalsOf([transaction]),
    feeKopeks: isPaid ? feeOf(fields, amountKopeks) : null,
    raw: plainJson(fields),
  };
}

/** The refunds that were carried out. */
export function reversalsOf(transactions: readonly WataTransaction[]): ProviderReversal[] {
  return transactions
    .filter(({ isRefund, status }) => isRefund && status === 'Paid')
    .map(({ id, amountKopeks, linkId, fields }) => ({
      ...{ reversalId: id, kind: 'refund', amountKopeks, externalId: linkId, merchantId: terminalOf(fields) },
      currency: textField(fields, 'currency')?.toUpperCase() ?? null,
      // Documented for the request of a refund only; where a refund does not name its payment, the link says whose it is.
      chargeId: textField(fields, 'originalTransactionId'),
    }));
}

const terminalOf = (fields: WireObject) => textField(fields, 'terminalPublicId');

function feeOf(fields: WireObject, amountKopeks: number): number | null {
  const fee = kopeksFromText(textField(fields, 'commission') ?? textField(fields, 'totalCommission') ?? '');
  return fee === null || fee > amountKopeks ? null : fee;
}

/** Shortest time between two reads of a key: after a failed check, and while there is none. */
const READ_AGAIN_MS = MINUTE_MS;
const READ_MISSING_MS = 5 * SECOND_MS;
/** A callback waits for the key no longer than this. */
const READ_TIMEOUT_MS = 8 * SECOND_MS;

/** `no_key` = nothing is known about the signature, since the key cannot be read. */
type SignatureVerdict = 'valid' | 'invalid' | 'no_key';

export interface WataKeys {
  /** Checks the signature of a body; reads the key where there is none, it is old, or the check fails. */
  check(connection: WataConnection, body: Buffer, signature: string): Promise<SignatureVerdict>;
}

interface Slot {
  key: KeyObject | null;
  readAt: number;
  triedAt: number;
  /** The read that is under way: callbacks at once cause one. */
  reading: Promise<void> | null;
}

/** The provider's public keys in memory, one for each address: those of its sandbox and its production differ (03a section 9). */
export function createWataKeys(http: HttpClient, now: () => Date): WataKeys {
  const slots = new Map<string, Slot>();
  const slotOf = (url: string): Slot => {
    const slot = slots.get(url) ?? { key: null, readAt: 0, triedAt: Number.NEGATIVE_INFINITY, reading: null };
    slots.set(url, slot);
    return slot;
  };

  const refresh = (url: string, slot: Slot): Promise<void> | null => {
    const wait = slot.key === null ? READ_MISSING_MS : READ_AGAIN_MS;
    if (slot.reading === null && now().getTime() - slot.triedAt >= wait) {
      slot.triedAt = now().getTime();
      slot.reading = readKey(http, url)
        .then((key) => {
          // A key that cannot be read now stays the one that was read before.
          if (key !== null) Object.assign(slot, { key, readAt: now().getTime() });
        })
        .finally(() => {
          slot.reading = null;
        });
    }
    return slot.reading;
  };

  return {
    async check({ publicKeyUrl, publicKeyMaxAgeMs }, body, signature) {
      const bytes = strictBase64(signature);
      if (bytes === null) return 'invalid';
      const slot = slotOf(publicKeyUrl);
      if (slot.key === null || now().getTime() - slot.readAt >= publicKeyMaxAgeMs) await refresh(publicKeyUrl, slot);
      const { key } = slot;
      if (key === null) return 'no_key';
      if (isSigned(body, bytes, key)) return 'valid';
      await refresh(publicKeyUrl, slot);
      return slot.key !== key && slot.key !== null && isSigned(body, bytes, slot.key) ? 'valid' : 'invalid';
    },
  };
}

/** RSA, PKCS#1 v1.5, SHA-512. */
export function isSigned(body: Buffer, signature: Buffer, key: KeyObject): boolean {
  return verify('sha512', body, { key, padding: constants.RSA_PKCS1_PADDING }, signature);
}

/** The bytes of a base64 text; null for a text that another encoding of the same bytes would not be. */
export function strictBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length > 0 && bytes.toString('base64') === text ? bytes : null;
}

/** @returns null when the answer has no RSA key, or there is none */
async function readKey(http: HttpClient, url: string): Promise<KeyObject | null> {
  try {
    const { status, text } = await http.request({ method: 'GET', url, signal: AbortSignal.timeout(READ_TIMEOUT_MS) });
    const pem = status === 200 ? textField(parseWireObject(text), 'value') : null;
    const key = pem === null ? null : createPublicKey(pem);
    return key?.asymmetricKeyType === 'rsa' ? key : null;
  } catch {
    return null;
  }
}
