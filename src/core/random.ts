import { randomBytes, randomInt } from 'node:crypto';

/** Source of randomness; tests may pass a seeded one, production uses the system's CSPRNG. */
export interface Random {
  bytes(length: number): Buffer;
  /** A whole number in [min, max). */
  int(min: number, max: number): number;
}

export const systemRandom: Random = {
  bytes: (length) => randomBytes(length),
  int: (min, max) => randomInt(min, max),
};

/** Url-safe base64 of `byteLength` random bytes: 32 bytes give 43 characters. */
export function urlSafeToken(random: Random, byteLength: number): string {
  return random.bytes(byteLength).toString('base64url');
}

/** Lower-case hex of `byteLength` random bytes. */
export function hexToken(random: Random, byteLength: number): string {
  return random.bytes(byteLength).toString('hex');
}
