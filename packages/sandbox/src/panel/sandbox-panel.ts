/** A fake VPN panel: an HTTP server on loopback that checks and answers as the panel does. */

import { randomBytes, randomInt } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Clock, Random } from '../host-ports.ts';
import { appConfigRoutes, deviceRoutes } from './device-routes.ts';
import { HWID_PATTERN, infraRoutes } from './infra-routes.ts';
import { nodeUsageRoutes } from './node-usage-routes.ts';
import type { AnswerContext } from './panel-answers.ts';
import type { Generation } from './panel-data.ts';
import {
  createPanelEvents,
  createWebhookSender,
  type EventOptions,
  type PanelEvents,
  type PanelWebhook,
} from './panel-events.ts';
import { BodyRefusal, checked, ERRORS, findRoute, PanelRefusal, type PanelRoute } from './panel-route.ts';
import { openPanelState, type PanelState, type SandboxStore } from './panel-state.ts';
import { createPanelView, type PanelView } from './panel-view.ts';
import { subscriptionBody } from './subscription-links.ts';
import { usageRoutes } from './usage-routes.ts';
import { userBytesRoutes } from './user-bytes-routes.ts';
import { userRoutes } from './user-routes.ts';

const HOST = '127.0.0.1';
const BODY_LIMIT = 1024 * 1024;
const CALLS_KEPT = 1000;
const REVIEW_MS = 1_000;

export interface SandboxPanelOptions {
  /** Store in which users and squads survive a restart. */
  state: SandboxStore;
  /** Decides what is expired; the sandbox page moves it forward. */
  clock: Clock;
  /** Fixed port. Default: the port of the last start if it is free, else any. */
  port?: number;
  /** Key that calls must send. Default: a new random one. */
  apiKey?: string;
  /** Which interface of the panel is served. Default `uuid`, the one that spec 06 section 9 describes. */
  generation?: Generation;
  random?: Random;
  /** Where events are reported, or what says it for each event; without it none are. */
  webhook?: PanelWebhook | (() => PanelWebhook | null);
  /** How often users who expired or reached their limit are looked for. Default 1 s. */
  reviewMs?: number;
}

export interface SandboxPanel extends PanelView {
  /** `http://127.0.0.1:<port>`, the value for `VPNPANEL_API_URL`. */
  readonly url: string;
  readonly apiKey: string;
  readonly faults: Pick<FaultSwitch, 'set'>;
  /** The latest calls, oldest first, at most 1000. */
  calls(): { method: string; path: string; status: number }[];
  /** What is served, for the conformity test. */
  readonly routes: readonly PanelRoute[];
  /** Serves the interface of the other version from now on, on the same address and with the same users, and reports its start. */
  replaceBy(generation: Generation): void;
  /** Reports users who expired or reached their limit now, without waiting for the next review. */
  reviewUsers(): void;
  /** Reports an event that no call of the fake causes, e.g. `node.connection_lost`. @throws for an unknown user, node or device */
  sendEvent(event: string, options?: EventOptions): void;
  /** Waits until each reported event was accepted or given up. */
  eventsSettled(): Promise<void>;
  /** Writes what is not yet saved. */
  flush(): Promise<void>;
  /** Stops the server and writes what is not yet saved. */
  close(): Promise<void>;
}

/** @throws when the given port is taken */
export async function startSandboxPanel(options: SandboxPanelOptions): Promise<SandboxPanel> {
  const random = options.random ?? { bytes: randomBytes, int: randomInt };
  const state = await openPanelState({ state: options.state, clock: options.clock, random });
  const generation = options.generation ?? 'uuid';
  const apiKey = options.apiKey ?? random.bytes(24).toString('base64url');
  const all = [userRoutes, usageRoutes, nodeUsageRoutes, userBytesRoutes, appConfigRoutes, deviceRoutes, infraRoutes].flat();
  const routesOf = (served: Generation) => all.filter((route) => !route.only || route.only === served);
  const routes = routesOf(generation);
  const faults = createFaultSwitch();
  const calls: { method: string; path: string; status: number }[] = [];
  const context: AnswerContext = { state, generation, baseUrl: '' };
  state.meta.events ??= [];
  const waiting = { list: state.meta.events, save: () => state.touchMeta() };
  const sender = options.webhook ? createWebhookSender(options.webhook, options.clock, waiting) : null;
  const events = sender && createPanelEvents(context, sender);
  if (events) state.listen(events.listener);

  const server = createServer((request, response) => {
    handle({ request, response, context, routes, apiKey, faults, events }).then(
      (status) => {
        calls.push({ method: request.method ?? '', path: request.url ?? '', status });
        if (calls.length > CALLS_KEPT) calls.shift();
      },
      () => (response.headersSent ? response.destroy() : sendError(response, request.url ?? '', ERRORS.INTERNAL_SERVER_ERROR)),
    );
  });
  const port = await listen(server, options.port, state.meta.port);
  context.baseUrl = `http://${HOST}:${port}`;
  events?.panelStarted();
  const reviews = events && setInterval(() => events.reviewUsers(), options.reviewMs ?? REVIEW_MS).unref();
  if (state.meta.port !== port) {
    state.meta.port = port;
    state.touchMeta();
  }

  return {
    url: context.baseUrl,
    apiKey,
    faults,
    routes,
    calls: () => [...calls],
    ...createPanelView(context),
    replaceBy(next) {
      context.generation = next;
      routes.splice(0, routes.length, ...routesOf(next));
      events?.panelStarted();
    },
    reviewUsers: () => events?.reviewUsers(),
    sendEvent: (event, about) => events?.sendEvent(event, about),
    eventsSettled: async () => sender?.settled(),
    flush: () => state.flush(),
    async close() {
      if (reviews) clearInterval(reviews);
      sender?.close();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      await state.flush();
    },
  };
}

async function listen(server: Server, wanted: number | undefined, last: number): Promise<number> {
  try {
    return await listenOn(server, wanted ?? last);
  } catch (error) {
    if (wanted !== undefined || last === 0) throw error;
    return listenOn(server, 0);
  }
}

function listenOn(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, HOST, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  context: AnswerContext;
  routes: PanelRoute[];
  apiKey: string;
  faults: FaultSwitch;
  events: PanelEvents | null;
}

/** @returns the status that was answered; 0 when the connection was cut */
async function handle(exchange: Exchange): Promise<number> {
  const { request, response, faults } = exchange;
  const method = request.method ?? 'GET';
  const url = new URL(request.url ?? '/', `http://${HOST}`);
  const body = await readBody(request);
  const subscription = /^\/(?:api\/)?sub\/([\w-]+)$/.exec(url.pathname);
  if (method === 'GET' && subscription) return answerSubscription(exchange, subscription[1] ?? '');
  const fault = faults.next(method, url.pathname);
  if (fault.delayMs !== undefined && fault.delayMs > 0) await wait(fault.delayMs);
  if (fault.status !== undefined) return sendFault(response, fault.status, url.pathname);
  const answer = route(exchange, method, url, body);
  return sendAnswer(response, answer, fault);
}

type Answer = { status: number; body: unknown };

function route(exchange: Exchange, method: string, url: URL, text: string): Answer {
  const { request, context, routes, apiKey, events } = exchange;
  const path = url.pathname;
  const isAuthorised = request.headers.authorization === `Bearer ${apiKey}` || request.headers['x-api-key'] === apiKey;
  const isOpen = path.startsWith('/api/sub/');
  if (!isAuthorised && !isOpen) return errorAnswer(ERRORS.UNAUTHORIZED, path);
  const match = findRoute(routes, method, path);
  if (!match) return { status: 404, body: { message: `Cannot ${method} ${path}`, error: 'Not Found', statusCode: 404 } };
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  try {
    const base = { context, params: match.params, query: url.searchParams, headers, path };
    const sent = parseBody(text);
    const adapted = match.route.adapt ? match.route.adapt(sent, base) : sent;
    const body = match.route.body ? checked(match.route.body, adapted) : adapted;
    const answer = match.route.handle({ ...base, body });
    events?.afterCall(match.route, { ...base, body }, answer);
    if (!('response' in answer)) return { status: answer.status, body: undefined };
    return { status: answer.status ?? 200, body: { response: answer.response } };
  } catch (error) {
    if (error instanceof PanelRefusal) return errorAnswer(error.entry, path);
    if (error instanceof BodyRefusal) {
      return { status: 400, body: { statusCode: 400, message: 'Validation failed', errors: error.issues } };
    }
    throw error;
  }
}

function parseBody(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    throw new BodyRefusal([{ code: 'custom', path: [], message: 'Invalid JSON' }]);
  }
}

function errorAnswer(entry: PanelRefusal['entry'], path: string): Answer {
  const body = { timestamp: new Date().toISOString(), path, message: entry.message, errorCode: entry.code };
  return { status: entry.httpCode, body };
}

function sendError(response: ServerResponse, path: string, entry: PanelRefusal['entry']): number {
  return sendAnswer(response, errorAnswer(entry, path), {});
}

function sendFault(response: ServerResponse, status: number, path: string): number {
  if (status === ERRORS.UNAUTHORIZED.httpCode) return sendError(response, path, ERRORS.UNAUTHORIZED);
  if (status === ERRORS.INTERNAL_SERVER_ERROR.httpCode) return sendError(response, path, ERRORS.INTERNAL_SERVER_ERROR);
  const headers = status === 429 ? { 'retry-after': '1' } : {};
  response.writeHead(status, { 'content-type': 'text/html', ...headers }).end(`<html><h1>${status}</h1></html>`);
  return status;
}

function sendAnswer(response: ServerResponse, answer: Answer, fault: PanelFaults): number {
  if (fault.timeoutAfterEffect) {
    response.destroy();
    return 0;
  }
  const text = answer.body === undefined ? '' : JSON.stringify(answer.body);
  const sent = fault.malformed ? '{"response": {"uuid": "cut of' : text;
  response.writeHead(answer.status, sent === '' ? {} : { 'content-type': 'application/json; charset=utf-8' });
  response.end(sent);
  return answer.status;
}

/** The subscription as a client application fetches it; a device that the request names is registered. */
function answerSubscription({ request, response, context }: Exchange, shortUuid: string): number {
  const { state } = context;
  const user = state.byShortUuid(shortUuid);
  const hwid = request.headers['x-hwid'];
  const isNewDevice =
    typeof hwid === 'string' && HWID_PATTERN.test(hwid) && !user?.devices.some((device) => device.hwid === hwid);
  const isFull = user !== undefined && user.hwidDeviceLimit !== null && user.devices.length >= user.hwidDeviceLimit;
  if (!user || (isNewDevice && isFull)) {
    response.writeHead(404, user ? { 'x-hwid-max-devices-reached': 'true' } : {}).end();
    return 404;
  }
  if (isNewDevice) rememberDevice(state, user, hwid, request.headers);
  const { headers, body } = subscriptionBody(state, user);
  response.writeHead(200, headers).end(body);
  return 200;
}

function rememberDevice(
  state: PanelState,
  user: Parameters<PanelState['addDevice']>[0],
  hwid: string,
  headers: IncomingMessage['headers'],
): void {
  const text = (name: string) => (typeof headers[name] === 'string' ? headers[name] : null);
  const now = state.clock.now().toISOString();
  state.addDevice(user, {
    hwid,
    platform: text('x-device-os'),
    osVersion: text('x-ver-os'),
    deviceModel: text('x-device-model'),
    userAgent: text('user-agent'),
    requestIp: null,
    createdAt: now,
    updatedAt: now,
  });
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > BODY_LIMIT) throw new Error('body too large');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** Faults that tests and the sandbox page can set, to see how the service behaves while the panel fails. */
interface PanelFaults {
  /** Waits before the call is handled. */
  delayMs?: number;
  /** Only every n-th call fails; without it every call. Counts from the call of `set`. */
  failEvery?: number;
  /**
   * Answers this status without any effect: 401 and 500 as the panel itself, any other as the proxy in front of it, whose answer has no
   * `errorCode`.
   */
  status?: number;
  /** Carries out the call, then cuts the connection without an answer. */
  timeoutAfterEffect?: boolean;
  /** Carries out the call, then answers a text that is not JSON. */
  malformed?: boolean;
  /** Only calls whose path contains this text, or one of these. */
  path?: string | readonly string[];
  /** Only calls of this method. */
  method?: string;
}

interface FaultSwitch {
  /** Replaces the faults; `{}` removes all. */
  set(faults: PanelFaults): void;
  /** The faults that apply to this call. */
  next(method: string, path: string): PanelFaults;
}

function createFaultSwitch(): FaultSwitch {
  let current: PanelFaults = {};
  let calls = 0;
  return {
    set(faults) {
      current = faults;
      calls = 0;
    },
    next(method, path) {
      if (current.path !== undefined && ![current.path].flat().some((part) => path.includes(part))) return {};
      if (current.method !== undefined && current.method !== method) return {};
      calls += 1;
      if (current.failEvery !== undefined && calls % current.failEvery !== 0) return { delayMs: current.delayMs };
      return current;
    },
  };
}
