import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';

/** What a sign-in gave. Times are UTC. */
export interface Tokens {
  token: string;
  /** Null = unknown. */
  expiresAt: Date | null;
  refreshToken: string | null;
}

/** Whose tokens they are. */
export interface Account {
  inn: string;
  password: string;
}

const deriveKey = promisify(scrypt) as (password: string, salt: string, length: number) => Promise<Buffer>;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** The key of the account that was used last: deriving one takes about 50 ms. */
let known: { account: Account; key: Promise<Buffer> } | null = null;

function keyOf({ inn, password }: Account): Promise<Buffer> {
  if (known?.account.inn !== inn || known.account.password !== password)
    known = { account: { inn, password }, key: deriveKey(password, `nalogo:${inn}`, 32) };
  return known.key;
}

/**
 * Tokens for the database, encrypted with a key from the account's password (AES-256-GCM): a copy of the database alone does not sign in, and
 * after a change of the account or its password they are void.
 */
export async function sealTokens(account: Account, tokens: Tokens): Promise<string> {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', await keyOf(account), iv);
  const sealed = Buffer.concat([cipher.update(JSON.stringify(tokens), 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64');
}

/** The tokens that `sealTokens` made for this account; null for those of another account or password, and for anything else. */
export async function unsealTokens(account: Account, text: string): Promise<Tokens | null> {
  const bytes = Buffer.from(text, 'base64');
  const [iv, tag] = [bytes.subarray(0, IV_BYTES), bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES)];
  if (tag.length < TAG_BYTES) return null;
  const decipher = createDecipheriv('aes-256-gcm', await keyOf(account), iv, { authTagLength: TAG_BYTES }).setAuthTag(tag);
  try {
    const plain = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
    const stored = JSON.parse(plain.toString('utf8')) as { token: string; expiresAt: string | null; refreshToken: string | null };
    return { ...stored, expiresAt: stored.expiresAt === null ? null : new Date(stored.expiresAt) };
  } catch {
    return null;
  }
}
