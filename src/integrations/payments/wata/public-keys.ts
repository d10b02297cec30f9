import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { MINUTE_MS, SECOND_MS } from '../../../core/clock.ts';
import type { HttpClient } from '../../../core/http/http-client.ts';
import { parseWireObject, textField } from '../wire/json.ts';
import type { WataConnection } from './connection.ts';

/** Shortest time between two reads of a key: after a failed check, and while there is none. */
const READ_AGAIN_MS = MINUTE_MS;
const READ_MISSING_MS = 5 * SECOND_MS;
/** A callback waits for the key no longer than this. */
const READ_TIMEOUT_MS = 8 * SECOND_MS;

/** `no_key` = nothing is known about the signature, since the key cannot be read. */
export type SignatureVerdict = 'valid' | 'invalid' | 'no_key';

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
