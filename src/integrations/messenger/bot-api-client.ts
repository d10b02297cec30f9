import type { ApiMethods, Opts } from '@grammyjs/types';
import { type HttpClient, OutboundError } from '../../core/http/http-client.ts';
import { MessengerError, type MessengerFailure } from '../../domain/messaging/ports.ts';
import type { EncodedForm } from './multipart-form.ts';
import { PaceExceeded, SendPacer } from './send-pacer.ts';

export interface BotApiConnection {
  /** `https://api.telegram.org`, or the sandbox's address; no slash at the end. */
  baseUrl: string;
  /** `BOT_TOKEN`. */
  token: string;
  /** Sent with every update; 1 to 256 of `A-Z a-z 0-9 _ -`. Null closes the webhook. */
  webhookSecret: string | null;
}

export const BOT_API_BASE_URL = 'https://api.telegram.org';

/** A 429 that asks for a short wait is tried again here; a longer wait is left to the caller's job queue. */
const MAX_TRIES = 3;

type Method = keyof ApiMethods<never>;
type Result<M extends Method> = ReturnType<ApiMethods<never>[M]>;

interface Answer {
  ok?: boolean;
  result?: unknown;
  description?: string;
  parameters?: { retry_after?: number };
}

interface Pace {
  /** The caller has leased the time of this message (`SendPacer.takeTurn`). */
  isPaced?: boolean;
}

const json = (payload: unknown): EncodedForm => ({ contentType: 'application/json', body: JSON.stringify(payload) });

/** One Bot API client for the whole process: pacing, 429 and error classes in one place (spec 05 sections 3.5 and 15). */
export class BotApiClient {
  readonly #http: HttpClient;
  readonly #fileHttp: HttpClient;
  readonly #connection: () => BotApiConnection | null;
  readonly #pacer: SendPacer;

  /** @param options.http must be built with `retries: 0`: a 429 has to reach the pacer, and a send must not be repeated without knowing its result */
  constructor(options: {
    http: HttpClient;
    fileHttp?: HttpClient;
    connection: () => BotApiConnection | null;
    pacer?: SendPacer;
  }) {
    this.#http = options.http;
    this.#fileHttp = options.fileHttp ?? options.http;
    this.#connection = options.connection;
    this.#pacer = options.pacer ?? new SendPacer();
  }

  /** A call that puts a message into a chat: waits for its turn. @throws MessengerError */
  async send<M extends Method>(method: M, chatId: number, payload: Opts<never>[M], pace: Pace = {}): Promise<Result<M>> {
    return this.#perform(method, json(payload), () => this.#pacer.takeTurn(chatId, pace.isPaced));
  }

  /** The same with a file. @throws MessengerError */
  async sendForm<M extends Method>(method: M, chatId: number, form: EncodedForm, pace: Pace = {}): Promise<Result<M>> {
    return this.#perform(method, form, () => this.#pacer.takeTurn(chatId, pace.isPaced), this.#fileHttp);
  }

  /** Content of a file by the path that `getFile` returned; null when it is gone or larger than the client reads. @throws MessengerError */
  async download(path: string): Promise<Buffer | null> {
    const connection = this.#connected();
    const url = `${connection.baseUrl}/file/bot${connection.token}/${path.split('/').map(encodeURIComponent).join('/')}`;
    const response = await this.#fileHttp.request({ method: 'GET', url, wantsBytes: true }).catch((error: unknown) => {
      throw withoutUrl(error, 'the download of a file');
    });
    if (response.status === 404) return null;
    const length = Number(response.headers['content-length']);
    if (response.status === 200 && response.bytes) return length > response.bytes.length ? null : response.bytes;
    throw new MessengerError(classify(response.status, null, undefined), `A file was answered ${response.status}`);
  }

  /** Any other call: waits only during the pause after a 429. @throws MessengerError */
  async call<M extends Method>(method: M, payload: Opts<never>[M]): Promise<Result<M>> {
    return this.#perform(method, json(payload), () => this.#pacer.waitForPause());
  }

  #connected(): BotApiConnection {
    const connection = this.#connection();
    if (!connection) throw new MessengerError({ kind: 'not_configured' }, 'The messenger is not configured');
    return connection;
  }

  async #perform<M extends Method>(
    method: M,
    payload: EncodedForm,
    turn: () => Promise<void>,
    http: HttpClient = this.#http,
  ): Promise<Result<M>> {
    for (let tries = 1; ; tries++) {
      try {
        await turn();
        return (await this.#post(http, method, payload)) as Result<M>;
      } catch (error) {
        if (error instanceof PaceExceeded) {
          throw new MessengerError({ kind: 'rate_limited', retryAfterSeconds: error.retryAfterSeconds }, error.message);
        }
        const limited = error instanceof MessengerError && error.failure.kind === 'rate_limited';
        if (!limited || tries === MAX_TRIES) throw error;
      }
    }
  }

  async #post(http: HttpClient, method: string, { contentType, body }: EncodedForm): Promise<unknown> {
    const connection = this.#connected();
    const response = await http
      .request({
        method: 'POST',
        url: `${connection.baseUrl}/bot${connection.token}/${method}`,
        headers: { 'content-type': contentType },
        body,
        idempotent: false,
      })
      .catch((error: unknown) => {
        throw withoutUrl(error, method);
      });

    const answer = parseAnswer(response.text);
    if (response.status === 200 && answer?.ok === true) return answer.result;
    const failure = classify(response.status, answer, response.headers['retry-after']);
    if (failure.kind === 'rate_limited') this.#pacer.pause(failure.retryAfterSeconds);
    throw new MessengerError(failure, `${method} was answered ${response.status}: ${answer?.description ?? 'no description'}`);
  }
}

/** The error without its cause, whose URL contains the bot's token. */
function withoutUrl(error: unknown, call: string): unknown {
  if (!(error instanceof OutboundError)) return error;
  const failure: MessengerFailure = mayHaveArrived(error)
    ? { kind: 'unavailable', mayHaveArrived: true }
    : { kind: 'unavailable' };
  return new MessengerError(failure, `No answer to ${call}: ${error.failure}`);
}

/** Failures before the connection is established; after any other one the messenger may have received the request. */
const NOT_CONNECTED: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ECONNECTTIMEOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
]);

function mayHaveArrived({ failure, cause }: OutboundError): boolean {
  if (failure === 'circuit_open' || failure === 'blocked') return false;
  return !(cause instanceof Error && 'code' in cause && NOT_CONNECTED.has(cause.code));
}

function parseAnswer(text: string): Answer | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : null;
  } catch {
    return null;
  }
}

/** Error classes of spec 05 section 3.5. */
function classify(status: number, answer: Answer | null, retryAfterHeader: string | undefined): MessengerFailure {
  const description = (answer?.description ?? '').toLowerCase();
  if (status === 429) {
    const seconds = Number(answer?.parameters?.retry_after ?? retryAfterHeader);
    return { kind: 'rate_limited', retryAfterSeconds: Number.isFinite(seconds) && seconds > 0 ? Math.ceil(seconds) : 1 };
  }
  if (/chat not found|user not found|participant_id_invalid/.test(description)) return { kind: 'chat_not_found' };
  if (status === 403 || /bot was blocked|user is deactivated/.test(description)) return { kind: 'blocked' };
  if (!answer || status >= 500 || status < 400) return { kind: 'unavailable' };
  return { kind: 'rejected' };
}
