import { randomUUID } from 'node:crypto';
import type { ApiMethods, Opts } from '@grammyjs/types';
import { type HttpClient, isCertainlyUnsent, OutboundError } from '../../core/http/http-client.ts';
import { MessengerError, type MessengerFailure } from '../../domain/messaging/ports.ts';
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
  parameters?: { retry_after?: number; migrate_to_chat_id?: number };
}

interface Pace {
  /** The caller has leased the time of this message (`SendPacer.takeTurn`). */
  isPaced?: boolean;
}

const json = (payload: unknown): EncodedForm => ({ contentType: 'application/json', body: JSON.stringify(payload) });

type WithoutChat<M extends Method> = Omit<Opts<never>[M], 'chat_id'>;

/** The chat has another id now. */
class ChatMoved extends MessengerError {
  readonly to: number;

  constructor(to: number, message: string) {
    super({ kind: 'rejected' }, message);
    this.to = to;
  }
}

/** One Bot API client for the whole process: pacing, 429 and error classes in one place (spec 05 sections 3.5 and 15). */
export class BotApiClient {
  readonly #http: HttpClient;
  readonly #fileHttp: HttpClient;
  readonly #connection: () => BotApiConnection | null;
  readonly #pacer: SendPacer;
  readonly #onMoved: (from: number, to: number) => void;
  /** Groups that the messenger has given another id, as its refusals say. */
  readonly #movedTo = new Map<number, number>();

  /** @param options.http must be built with `retries: 0`: a 429 has to reach the pacer, and a send must not be repeated without knowing its result */
  constructor(options: {
    http: HttpClient;
    fileHttp?: HttpClient;
    connection: () => BotApiConnection | null;
    pacer?: SendPacer;
    onMoved?: (from: number, to: number) => void;
  }) {
    this.#http = options.http;
    this.#fileHttp = options.fileHttp ?? options.http;
    this.#connection = options.connection;
    this.#pacer = options.pacer ?? new SendPacer();
    this.#onMoved = options.onMoved ?? (() => undefined);
  }

  /** A call that puts a message into a chat: waits for its turn. @throws MessengerError */
  async send<M extends Method>(method: M, chatId: number, payload: WithoutChat<M>, pace: Pace = {}): Promise<Result<M>> {
    return this.#toChat(chatId, (chat) =>
      this.#perform(method, json({ chat_id: chat, ...payload }), (isFirst) =>
        this.#pacer.takeTurn(chat, isFirst && pace.isPaced),
      ),
    );
  }

  /** The same with a file. @param form makes the body for the id of the chat @throws MessengerError */
  async sendForm<M extends Method>(
    method: M,
    chatId: number,
    form: (chatId: number) => EncodedForm,
    pace: Pace = {},
  ): Promise<Result<M>> {
    return this.#toChat(chatId, (chat) =>
      this.#perform(method, form(chat), (isFirst) => this.#pacer.takeTurn(chat, isFirst && pace.isPaced), this.#fileHttp),
    );
  }

  /**
   * A group gets another id when it becomes a supergroup, for example with its first topics. The refusal names it, so what is meant for
   * the old id goes there: settings keep the old one until an operator changes them.
   */
  async #toChat<T>(chatId: number, send: (chatId: number) => Promise<T>): Promise<T> {
    const known = this.#movedTo.get(chatId) ?? chatId;
    try {
      return await send(known);
    } catch (error) {
      if (!(error instanceof ChatMoved)) throw error;
      this.#movedTo.set(chatId, error.to);
      this.#onMoved(chatId, error.to);
      return send(error.to);
    }
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
    turn: (isFirst: boolean) => Promise<void>,
    http: HttpClient = this.#http,
  ): Promise<Result<M>> {
    for (let tries = 1; ; tries++) {
      try {
        await turn(tries === 1);
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
    const problem = `${method} was answered ${response.status}: ${answer?.description ?? 'no description'}`;
    const movedTo = answer?.parameters?.migrate_to_chat_id;
    throw Number.isSafeInteger(movedTo) ? new ChatMoved(movedTo!, problem) : new MessengerError(failure, problem);
  }
}

/** The error without its cause, whose URL contains the bot's token. */
function withoutUrl(error: unknown, call: string): unknown {
  if (!(error instanceof OutboundError)) return error;
  const failure: MessengerFailure = isCertainlyUnsent(error)
    ? { kind: 'unavailable' }
    : { kind: 'unavailable', mayHaveArrived: true };
  return new MessengerError(failure, `No answer to ${call}: ${error.failure}`);
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
  // The method exists, so a 404 is a token that the messenger does not know.
  if (status === 401 || status === 404) return { kind: 'unavailable', isTokenRefused: true };
  if (/chat not found|user not found|participant_id_invalid/.test(description)) return { kind: 'chat_not_found' };
  if (status === 403 || /bot was blocked|user is deactivated/.test(description)) return { kind: 'blocked' };
  if (!answer || status >= 500 || status < 400) return { kind: 'unavailable' };
  return { kind: 'rejected' };
}

/** A request body with its content type. */
export interface EncodedForm {
  contentType: string;
  body: string | Uint8Array;
}

/** Fields and one file as `multipart/form-data`; texts in UTF-8. A boundary of random digits occurs in no content. */
export function multipartForm(
  fields: Readonly<Record<string, string>>,
  file: { field: string; name: string; type: string; content: string | Uint8Array },
): EncodedForm {
  const boundary = `form-${randomUUID()}`;
  const head = (disposition: string) => `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n`;
  const name = file.name.replace(/[^\w.-]/g, '_');
  const parts = [
    ...Object.entries(fields).map(([key, value]) => `${head(`name="${key}"`)}${value}\r\n`),
    head(`name="${file.field}"; filename="${name}"\r\nContent-Type: ${file.type}`),
  ];
  const body = Buffer.concat([Buffer.from(parts.join('')), Buffer.from(file.content), Buffer.from(`\r\n--${boundary}--\r\n`)]);
  return { contentType: `multipart/form-data; boundary=${boundary}`, body };
}
