import { AsyncLocalStorage } from 'node:async_hooks';
import type { HttpClient, HttpResponse } from '../../core/http/http-client.ts';
import type { Logger } from '../../core/log.ts';
import { PanelError } from '../../domain/provisioning/ports.ts';
import { connectionError, connectionHeaders, type PanelConnection } from './panel-connection.ts';

/** Answer of a call: the unwrapped `response`, or absent for a 404 of the panel. */
export type PanelAnswer = { found: true; value: unknown } | { found: false };

export interface PanelCall {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Path below the base URL; build it with `panelPath` so that foreign text is encoded. */
  path: string;
  query?: Record<string, string | number>;
  body?: unknown;
  /** Whether the HTTP client may send the call again after a transport error. */
  idempotent: boolean;
  /** Some versions do not have this route: its absence is not logged. */
  isOptional?: boolean;
  /** Only one generation of the panel has this route: that it knows no such object is not doubted. */
  isOfOneGeneration?: boolean;
}

/** An operation of the port while it is carried out. */
export interface PanelOperation {
  /** The version by which its calls were made; null: none of them depends on it. */
  version: unknown;
  /** An answer that a panel of another version may give as well: an unknown route or object, a refusal without a reason of its own. */
  isDoubtful: boolean;
}

/** The operation that is under way (`confirmedByVersion`). */
export const operation = new AsyncLocalStorage<PanelOperation>();

export function markDoubtful(): void {
  const current = operation.getStore();
  if (current) current.isDoubtful = true;
}

export interface PanelTransport {
  /** @throws PanelError `not_configured`, `unavailable` or `rejected`; its message names no host */
  call(call: PanelCall): Promise<PanelAnswer>;
  /** The current base URL, the key of everything that is cached about the panel. */
  baseUrl(): string;
  /** How many calls the panel has not answered, or a proxy for it; it may be another one when it answers again. */
  outages(): number;
}

/** Joins path segments, each encoded (spec 06 section 17, hazard 14). */
export function panelPath(...segments: (string | number)[]): string {
  return `/api/${segments.map((segment) => encodeSegment(String(segment))).join('/')}`;
}

/** `.` and `..` are not percent-encoded and would lead to a parent path, so they are refused. */
function encodeSegment(segment: string): string {
  if (segment === '' || segment === '.' || segment === '..') {
    throw new PanelError('rejected', 'VPN panel call refused: empty or relative path segment');
  }
  return encodeURIComponent(segment);
}

export interface PanelTransportDeps {
  http: HttpClient;
  connection: () => PanelConnection;
  log?: Pick<Logger, 'warn' | 'error'>;
}

export function createPanelTransport(deps: PanelTransportDeps): PanelTransport {
  const baseUrl = () => (deps.connection().baseUrl ?? '').trim().replace(/\/+$/, '');
  let outages = 0;
  return {
    baseUrl,
    outages: () => outages,
    async call(call) {
      const connection = deps.connection();
      const missing = connectionError(connection);
      if (missing) throw new PanelError('not_configured', missing);
      const base = (connection.baseUrl ?? '').trim().replace(/\/+$/, '');
      if (!URL.canParse(base)) throw new PanelError('not_configured', 'VPNPANEL_API_URL is not a URL');
      const query = call.query ? `?${new URLSearchParams(textsOf(call.query))}` : '';
      const request = {
        method: call.method,
        url: `${base}${call.path}${query}`,
        headers: connectionHeaders(connection),
        idempotent: call.idempotent,
        ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      };
      const response = await send(deps.http, request).catch((error: unknown) => {
        outages += 1;
        throw error;
      });
      if (response.status >= 500 && !isPanelRefusal(response)) outages += 1;
      if (isDoubtful(response, call)) markDoubtful();
      if (response.status === 404 && isUnknownRoute(response) && !call.isOptional) {
        const route = { method: call.method, path: withoutIds(call.path) };
        deps.log?.error(route, 'vpnpanel: the panel does not have this route; its version or VPNPANEL_API_URL does not fit');
      }
      return readAnswer(response, call);
    },
  };
}

/** The UTC day of a time, as the panel's statistics require it. */
export function dayOf(timestamp: Date): string {
  return timestamp.toISOString().slice(0, 10);
}

/** A list or a system call has no "absent": the address is wrong. */
export function mustBeFound(answer: PanelAnswer): unknown {
  if (answer.found) return answer.value;
  throw new PanelError('unavailable', 'VPN panel answered with status 404', { status: 404 });
}

async function send(http: HttpClient, request: Parameters<HttpClient['request']>[0]): Promise<HttpResponse> {
  try {
    return await http.request(request);
  } catch (cause) {
    throw new PanelError('unavailable', 'VPN panel did not answer', { cause });
  }
}

function readAnswer(response: HttpResponse, { isOptional = false }: PanelCall): PanelAnswer {
  const { status } = response;
  const body = parseJson(response.text);
  if (status >= 200 && status < 300) {
    if (response.text.trim() === '') return { found: true, value: null };
    if (!isRecord(body) || !('response' in body)) {
      throw new PanelError('unavailable', 'VPN panel sent an answer that cannot be read', { status });
    }
    return { found: true, value: body.response };
  }
  const isWithoutRoute = isOptional && isRecord(body) && isCannotMethod(body);
  if (status === 404 && (isWithoutRoute || !isUnknownRoute(response))) return { found: false };
  throw refusal(status, body);
}

/**
 * A 404 means "no such object" only when it comes from the panel's own handlers. A proxy's HTML page or the framework's
 * "Cannot GET /x" is a wrong address or another version of the panel, and must not count as the absence of a user (08 P6).
 */
function isUnknownRoute({ text }: HttpResponse): boolean {
  if (text.trim() === '') return false;
  const body = parseJson(text);
  return !isRecord(body) || isCannotMethod(body);
}

/** The answer of the panel's framework to a path that it does not have. */
function isCannotMethod(body: Record<string, unknown>): boolean {
  return typeof body.message === 'string' && /^Cannot [A-Z]+ \//.test(body.message) && !('errorCode' in body);
}

/** Whether a panel of another version might give this answer to the same call (spec 10 V1). */
function isDoubtful(response: HttpResponse, { isOfOneGeneration = false }: PanelCall): boolean {
  if (response.status === 404) return isUnknownRoute(response) || !isOfOneGeneration;
  return (response.status === 400 || response.status === 422) && !isPanelRefusal(response);
}

/** The path for the log: identifiers of users and objects are left out. */
function withoutIds(path: string): string {
  return path
    .split('/')
    .map((segment) => (/^[a-z-]*$/.test(segment) ? segment : ':id'))
    .join('/');
}

/**
 * An answer with an `errorCode` comes from a panel that works, even with status 500: so it refuses data (08 P4). Calls of one
 * such kind must not stop all others. A proxy in front of a panel that is down sends none.
 */
export function isPanelRefusal(response: HttpResponse): boolean {
  const body = parseJson(response.text);
  return isRecord(body) && typeof body.errorCode === 'string';
}

/** Statuses below 500 that say nothing about the data of the call: wrong key, wrong address, slow, too many. */
const TEMPORARY: readonly number[] = [401, 403, 404, 408, 429];

function refusal(status: number, body: unknown): PanelError {
  const errorCode = isRecord(body) && typeof body.errorCode === 'string' ? body.errorCode : null;
  const isTemporary = status >= 500 || TEMPORARY.includes(status) || (status >= 300 && status < 400);
  return new PanelError(isTemporary ? 'unavailable' : 'rejected', refusalText(status, body, errorCode), { errorCode, status });
}

/** The panel's own sentence when it is short and names no address; otherwise the status alone. */
function refusalText(status: number, body: unknown, errorCode: string | null): string {
  const fallback = `VPN panel answered with status ${status}`;
  if (status === 401 || status === 403) return 'VPN panel refused the credentials';
  if (!isRecord(body) || typeof body.message !== 'string') return fallback;
  const message = body.message.trim();
  const namesAddress = /:\/\/|\d+\.\d+\.\d+\.\d+|[/\\]|:\d{2,5}\b|ECONN|ENOTFOUND|getaddrinfo|[a-z0-9-]+\.[a-z]{2,}/i.test(
    message,
  );
  if (message === '' || message.length > 200 || namesAddress) return fallback;
  return errorCode ? `VPN panel: ${message} (${errorCode})` : `VPN panel: ${message}`;
}

function textsOf(query: Record<string, string | number>): Record<string, string> {
  return Object.fromEntries(Object.entries(query).map(([key, value]) => [key, String(value)]));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
