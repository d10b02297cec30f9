import type { HttpClient } from '../../../core/http/http-client.ts';
import { ReceiptError, type ReceiptSession } from '../../../domain/receipts/ports.ts';
import type { NalogoConnection } from './connection.ts';
import { callNalogo, describeRefusal, readAnswer } from './nalogo-call.ts';
import { deviceInfo, SignedIn } from './nalogo-wire.ts';
import { sealTokens, type Tokens, unsealTokens } from './sealed-tokens.ts';

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
