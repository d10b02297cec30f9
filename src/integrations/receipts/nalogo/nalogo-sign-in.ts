import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import type { HttpClient } from '../../../core/http/http-client.ts';
import { ReceiptError, type ReceiptSession } from '../../../domain/receipts/ports.ts';
import { callNalogo, describeRefusal, readAnswer } from './nalogo-call.ts';
import type { NalogoConnection } from './nalogo-port.ts';
import { deviceInfo, SignedIn } from './nalogo-wire.ts';

/** What a sign-in gave. Times are UTC. */
interface Tokens {
  token: string;
  /** Null = unknown. */
  expiresAt: Date | null;
  refreshToken: string | null;
}

/** Whose tokens they are. */
interface Account {
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

/** As the browser of the service's own web client names itself. */
const USER_AGENT =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36';

/** Headers of every request. */
export const HEADERS = { accept: 'application/json', 'content-type': 'application/json', 'user-agent': USER_AGENT };

/**
 * The sign-in of one run of the queue. Tokens are shared by all instances through the session, because frequent sign-ins with the password
 * get the account blocked (03a section 15): the password is used where there is no token, or where a refresh was refused.
 */
export class NalogoSignIn {
  readonly #http: HttpClient;
  readonly #connection: NalogoConnection;
  readonly #session: ReceiptSession;
  readonly #now: () => Date;
  #tokens: Tokens | null = null;
  /** How often the tokens were renewed because the service refused them: refreshed first, then signed in. */
  #renewals = 0;

  constructor(parts: { http: HttpClient; connection: NalogoConnection; session: ReceiptSession; now: () => Date }) {
    this.#http = parts.http;
    this.#connection = parts.connection;
    this.#session = parts.session;
    this.#now = parts.now;
  }

  /** A token that has not expired. @throws ReceiptError `not_sent` | `credentials` */
  async token(): Promise<string> {
    this.#tokens ??= await this.#stored();
    if (this.#tokens === null) return this.#signIn();
    const { token, expiresAt } = this.#tokens;
    return expiresAt !== null && expiresAt <= this.#now() ? this.#refresh() : token;
  }

  /**
   * Another token than the refused one: what another instance has stored, else by a refresh, once, then by a sign-in, once.
   * @throws ReceiptError `not_sent` | `credentials`
   */
  async renew(refused: string): Promise<string> {
    const stored = await this.#stored();
    if (stored !== null && stored.token !== refused && this.#renewals === 0) {
      this.#tokens = stored;
      return stored.token;
    }
    this.#renewals += 1;
    if (this.#renewals === 1) return this.#refresh();
    if (this.#renewals === 2) return this.#signIn();
    throw new ReceiptError('credentials', 'The tax service refuses a token that it has just given');
  }

  /** The next refused token may be renewed again. */
  accepted(): void {
    this.#renewals = 0;
  }

  async #stored(): Promise<Tokens | null> {
    const sealed = await this.#session.load();
    return sealed === null ? null : unsealTokens(this.#connection, sealed);
  }

  async #refresh(): Promise<string> {
    const refreshToken = this.#tokens?.refreshToken ?? null;
    if (refreshToken === null) return this.#signIn();
    const response = await this.#post('/auth/token', { refreshToken });
    if (response.status >= 400) return this.#signIn();
    return this.#keep(readAnswer(SignedIn, response, false), refreshToken);
  }

  async #signIn(): Promise<string> {
    const { inn, password } = this.#connection;
    // A renewal after this is pointless: the password gives no better token.
    this.#renewals = 2;
    const response = await this.#post('/auth/lkfl', { username: inn, password });
    if (response.status >= 400) throw new ReceiptError('credentials', describeRefusal(response));
    return this.#keep(readAnswer(SignedIn, response, false), null);
  }

  async #post(path: string, fields: object) {
    const body = { ...fields, deviceInfo: deviceInfo(this.#session.deviceId, USER_AGENT) };
    const url = `${this.#connection.baseUrl}${path}`;
    return callNalogo(this.#http, { method: 'POST', url, headers: HEADERS, body: JSON.stringify(body) }, false);
  }

  async #keep(
    answer: { token: string; tokenExpireIn?: string | null; refreshToken?: string | null },
    refreshToken: string | null,
  ) {
    const expiresAt = answer.tokenExpireIn ? new Date(answer.tokenExpireIn) : null;
    this.#tokens = {
      token: answer.token,
      expiresAt: expiresAt && Number.isNaN(expiresAt.getTime()) ? null : expiresAt,
      refreshToken: answer.refreshToken ?? refreshToken,
    };
    await this.#session.save(await sealTokens(this.#connection, this.#tokens));
    return answer.token;
  }
}
