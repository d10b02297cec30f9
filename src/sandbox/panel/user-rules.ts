import type { Random } from '../../core/random.ts';
import type { StoredUser, UserStatus } from './panel-data.ts';

/** The status by the clock and the used traffic: an active user becomes expired or limited without a call. */
export function currentStatus(user: StoredUser, now: Date): UserStatus {
  if (user.status !== 'ACTIVE') return user.status;
  if (Date.parse(user.expireAt) <= now.getTime()) return 'EXPIRED';
  const isOverLimit = user.trafficLimitBytes > 0 && user.usedTrafficBytes >= user.trafficLimitBytes;
  return isOverLimit ? 'LIMITED' : 'ACTIVE';
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
