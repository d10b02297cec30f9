import { firstCharacters } from '../../core/characters.ts';
import { SECOND_MS } from '../../core/clock.ts';
import { type HttpClient, type HttpResponse, OutboundError } from '../../core/http/http-client.ts';
import { createHttpClient, type HttpClientDeps } from '../../core/http/outbound.ts';
import { BanSystemError } from '../../domain/ban-system/ports.ts';

/** Address, token and patience, read for every call because settings change at run time. */
export interface BanSystemConnection {
  isEnabled: boolean;
  /** With or without a trailing slash. */
  baseUrl: string | null;
  token: string | null;
  /** For the whole of a call. */
  timeoutSeconds: number;
}

export interface BanSystemCall {
  method: 'GET' | 'POST';
  /** Each is encoded (spec 06 section 17, hazard 14). */
  path: readonly string[];
  /** Arguments, of a POST too: no call has a body. Null is left out. */
  query?: Readonly<Record<string, string | number | boolean | null>>;
}

export interface BanSystemTransport {
  isConfigured(): boolean;
  /** @returns the JSON of the answer; an empty object where it is no JSON @throws BanSystemError */
  call(call: BanSystemCall): Promise<unknown>;
}

const MAX_RESPONSE_BYTES = 8 * 1024 * 1024;
const MAX_TIMEOUT_SECONDS = 600;
const MAX_ERROR_CHARACTERS = 200;
/** What the answers of this service could still be written with; the ban system's own have a depth of about six. */
const MAX_DEPTH = 64;

/** Without retries, which the specification does not want; a status is an answer, so it does not count for the circuit breaker. */
export function banSystemHttp(deps: HttpClientDeps): HttpClient {
  const limits = { retries: 0, maxResponseBytes: MAX_RESPONSE_BYTES, isRefusal: () => true };
  return createHttpClient({ system: 'ban_system', ...limits }, deps);
}

export function createBanTransport(http: HttpClient, connection: () => BanSystemConnection): BanSystemTransport {
  const isConfigured = () => baseOf(connection()) !== null;
  return {
    isConfigured,
    async call({ method, path, query = {} }) {
      const current = connection();
      const base = baseOf(current);
      if (base === null) throw new BanSystemError('Connection error: it is not configured');
      const token = current.token!.trim();
      const response = await answerOf(http, {
        method,
        url: `${base}/${path.map(segment).join('/')}${queryText(query)}`,
        headers: { authorization: `Bearer ${token}`, accept: 'application/json', 'content-type': 'application/json' },
        timeoutMs: Math.min(current.timeoutSeconds, MAX_TIMEOUT_SECONDS) * SECOND_MS,
      });
      return readAnswer(response, token);
    },
  };
}

/** Null without an address that can be called, or without a token that can be a header. */
function baseOf({ baseUrl, token }: BanSystemConnection): string | null {
  const base = (baseUrl ?? '').trim().replace(/\/+$/, '');
  const isAddress = /^https?:\/\//i.test(base) && URL.canParse(base);
  return isAddress && /^[\x21-\x7e]+$/.test((token ?? '').trim()) ? base : null;
}

/** `.` and `..` would lead to a parent path, encoded or not. */
function segment(text: string): string {
  if (text === '' || text === '.' || text === '..') throw new BanSystemError('Connection error: the path cannot be called');
  return encodeURIComponent(text.toWellFormed());
}

function queryText(query: NonNullable<BanSystemCall['query']>): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== null) given.append(name, String(value));
  return given.size === 0 ? '' : `?${given}`;
}

/** Neither message names the host. */
async function answerOf(http: HttpClient, request: Parameters<HttpClient['request']>[0]): Promise<HttpResponse> {
  try {
    return await http.request(request);
  } catch (cause) {
    if (!(cause instanceof OutboundError)) throw cause;
    if (cause.failure === 'timeout') throw new BanSystemError('Request timeout', { cause });
    const reason = cause.cause instanceof Error && 'code' in cause.cause ? ` (${cause.cause.code})` : '';
    const text = cause.failure === 'circuit_open' ? 'no answer to the last calls' : `no answer${reason}`;
    throw new BanSystemError(`Connection error: ${text}`, { cause });
  }
}

function readAnswer({ status, text }: HttpResponse, token: string): unknown {
  if (status === 401 || status === 403) throw new BanSystemError(`API error ${status}`);
  if (status < 200 || status >= 300) {
    const body = firstCharacters(text.replaceAll(token, '[redacted]'), MAX_ERROR_CHARACTERS);
    throw new BanSystemError(`API error ${status}: ${body}`);
  }
  // A character that was cut in half at the limit is dropped, hence the 4 bytes.
  if (Buffer.byteLength(text) >= MAX_RESPONSE_BYTES - 4) throw new BanSystemError('Connection error: the answer is too long');
  const value = parseJson(text);
  if (isDeeper(value, MAX_DEPTH)) throw new BanSystemError('Connection error: the answer is nested too deeply');
  return value;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** Level by level, because the answer may be nested deeper than functions can call themselves. */
function isDeeper(value: unknown, depth: number): boolean {
  let level = [value];
  for (let at = 0; at <= depth; at += 1) {
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
    if (level.length === 0) return false;
  }
  return true;
}
