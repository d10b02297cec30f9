import type { Random } from '../host-ports.ts';
import type { StoredUser, UserStatus } from './panel-data.ts';

/**
 * The status by the clock and the used traffic: a user who is not disabled expires or becomes limited without a call. `LIMITED` and
 * `EXPIRED` stay until a call ends them.
 */
export function currentStatus(user: StoredUser, now: Date): UserStatus {
  if (user.status === 'DISABLED' || user.status === 'EXPIRED') return user.status;
  if (Date.parse(user.expireAt) <= now.getTime()) return 'EXPIRED';
  const isOverLimit = user.trafficLimitBytes > 0 && user.usedTrafficBytes >= user.trafficLimitBytes;
  return isOverLimit ? 'LIMITED' : user.status;
}

/** The fields of a change that a status depends on. */
interface StatusPatch {
  status?: 'ACTIVE' | 'DISABLED';
  expireAt?: Date;
  trafficLimitBytes?: number;
}

/**
 * The status that a PATCH stores (08 P1). A raised limit makes a `LIMITED` user `ACTIVE`, even together with `DISABLED`; a later end does
 * so with an `EXPIRED` one, except together with `DISABLED`. Otherwise both stay whatever status is sent: only `actions/enable` and
 * `actions/disable` change them.
 */
export function statusAfterPatch(user: StoredUser, patch: StatusPatch, now: Date): UserStatus {
  const status = currentStatus(user, now);
  const { trafficLimitBytes: limit } = patch;
  if (status === 'LIMITED') {
    const isRaised = limit !== undefined && user.trafficLimitBytes > 0 && (limit === 0 || limit > user.trafficLimitBytes);
    return isRaised ? 'ACTIVE' : 'LIMITED';
  }
  if (status === 'EXPIRED') {
    const isExtended = patch.expireAt !== undefined && patch.expireAt > now && patch.status !== 'DISABLED';
    return isExtended ? 'ACTIVE' : 'EXPIRED';
  }
  return patch.status ?? status;
}

/** The status that a reset of the used traffic stores: `LIMITED` ends, the others stay. */
export function statusAfterReset(user: StoredUser, now: Date): UserStatus {
  const status = currentStatus(user, now);
  return status === 'LIMITED' ? 'ACTIVE' : status;
}

const SHORT_UUID_ALPHABET = '0123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz-_';

export function newShortUuid(random: Random): string {
  return Array.from({ length: 16 }, () => SHORT_UUID_ALPHABET[random.int(0, SHORT_UUID_ALPHABET.length)]).join('');
}

export function newPassword(random: Random): string {
  return random.bytes(16).toString('hex');
}

/** A version 4 uuid from the given randomness. */
export function newUuid(random: Random): string {
  const bytes = random.bytes(16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
