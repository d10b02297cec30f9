import { timingSafeEqual } from 'node:crypto';
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { type FastifyTRPCPluginOptions, fastifyTRPCPlugin } from '@trpc/server/adapters/fastify';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import ipaddr from 'ipaddr.js';
import type { App } from '../core/app.ts';
import { isAppError } from '../core/errors.ts';
import type { Metrics } from '../core/metrics.ts';
import { NO_TRACING, type OpenSpan, type Tracing } from '../core/telemetry/tracing.ts';
import { isUnsubscribeToken, unsubscribe } from '../domain/broadcasts/unsubscribe.ts';
import { knownLanguage, type TextKey, text } from '../domain/messaging/texts.ts';
import { definitionOf } from '../domain/settings/catalogue/catalogue.ts';
import { registerRest } from '../rest/dispatcher.ts';
import { registerDocsPages } from '../rest/docs-pages.ts';
import { type ErrorLog, logRefusal, type RefusalObserver } from '../rest/error-replies.ts';
import { endConnections, isBodyExpected, registerCors, registerSecurityHeaders, restServerOptions } from '../rest/http-limits.ts';
import { type InterfaceWords, registerMount } from '../rest/interface-words/interface-words.ts';
import { contextFactory, requestIdOf } from '../rest/request-context.ts';
import { buildRouteTable, type RestRoute } from '../rest/route-table.ts';
import { SERVICE_TITLE, servedDocument, servedOperations } from '../rest/served-document.ts';
import {
  type PageTexts,
  registerHomePage,
  registerRefusalPages,
  registerUnsubscribePage,
  UNSUBSCRIBE_ROUTE,
} from '../rest/web-page.ts';
import { type AppRouter, appRouter } from '../routers/root.ts';
import { headersOf, httpErrorOf } from '../routers/trpc.ts';
import { interfaceWordsOf } from './interface-words.ts';

/** Longer than the idle times of usual load balancers (60 s), so that it is the balancer who closes an unused connection. */
const KEEP_ALIVE_MS = 65_000;
/** Longer than clients are promised: one that is late by its own clock would send its request on a connection that is being closed. */
const KEEP_ALIVE_MARGIN_MS = 5_000;
const MAX_BATCH_SIZE = 20;

export interface HttpServer {
  readonly fastify: FastifyInstance;
  readonly routes: readonly RestRoute[];
  /** The mount with the words of clients; undefined while the option is off. */
  readonly words: InterfaceWords | undefined;
}

export interface HttpServerOptions {
  app: App;
  metrics: Metrics;
  tracing?: Tracing;
  /** Finds the internal URL of a provider's callback by the path that the provider calls; null for every other path. */
  callbackRoute: (path: string) => string | null;
  /** Operations to serve; all of the document unless given. */
  routes?: readonly RestRoute[];
  /** Further routes: callbacks, sandbox page. */
  extend?: (server: FastifyInstance) => Promise<void>;
  /** True from the order to stop on; false unless given. */
  isStopping?: () => boolean;
  /** Receives every request that was answered 500, besides the log. */
  reportFailure?: (operation: string, error: unknown, requestId: string) => void;
  /** `REQUEST_TIMES` unless given. */
  times?: RequestTimes;
  /** For tests: every refused call, over REST and over tRPC. */
  observeRefusal?: RefusalObserver;
}

/** Builds the HTTP server with all routes, without the sockets; does not listen yet. */
export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { app, metrics, observeRefusal, times = REQUEST_TIMES } = options;
  const words = interfaceWordsOf(app.env);
  const server = fastify({
    ...restServerOptions,
    logger: false,
    // `limitRequestTimes` bounds the bodies.
    http: { headersTimeout: times.wholeMs, requestTimeout: 0, keepAliveTimeoutBuffer: KEEP_ALIVE_MARGIN_MS },
    keepAliveTimeout: KEEP_ALIVE_MS,
    // While the server closes, idle connections are closed and all others are served to their end; no request is refused.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    genReqId: (request) => requestIdOf(request.headers),
    rewriteUrl: (request) => {
      const mounted = words?.enter(request);
      if (mounted) return mounted;
      const url = request.url ?? '/';
      return options.callbackRoute(url.split('?', 1)[0]!) ?? url;
    },
  });
  server.addHook('onRoute', ({ url, method, config }) => {
    // CORS answers OPTIONS for every path; that is no route.
    if (method !== 'OPTIONS' && config?.callbackOf !== null) app.ports.routes.add(url, config?.callbackOf);
  });
  const createContext = contextFactory(server, app);
  traceRequests(server, options.tracing ?? NO_TRACING, (name) => name in appRouter._def.procedures);
  limitRequestTimes(server, times);
  logAndMeasure(server, app, metrics);
  refuseWhileClosed(server, app);
  endConnections(server, options.isStopping ?? (() => false));
  registerSecurityHeaders(server);
  registerRefusalPages(server, { texts: pageTexts, isPage: (route) => PAGES.has(route) });
  await registerCors(server, {
    webApiOrigins: () => listOf(app.settings.get('WEB_API_ALLOWED_ORIGINS')),
    cabinetOrigins: () => listOf(app.settings.get('CABINET_ALLOWED_ORIGINS')),
    moreHeaders: ({ raw }) => (words?.mountOf(raw) ? words.headers : []),
  });
  if (words) registerMount(server, words);
  const log = reportingLog(app, options.reportFailure);
  const routes = options.routes ?? buildRouteTable(appRouter, servedOperations());
  await registerRest(server, { routes, createContext, log, words, observeRefusal });
  await server.register(fastifyTRPCPlugin, {
    prefix: '/trpc',
    trpcOptions: {
      router: appRouter,
      createContext: ({ req, res }: { req: FastifyRequest; res: FastifyReply }) => createContext(req, res),
      maxBatchSize: MAX_BATCH_SIZE,
      responseMeta: ({ errors }) => ({ headers: headersOf(errors) }),
      onError: ({ error, path, input, req }) => {
        const { cause } = error;
        if (path) observeRefusal?.(path, httpErrorOf(error, input));
        if (error.code === 'INTERNAL_SERVER_ERROR')
          log.error({ err: cause ?? error, operation: path, requestId: req.id }, 'an operation failed');
        else if (isAppError(cause) && cause.status > 500) logRefusal(app.log, cause, { operation: path, status: cause.status });
      },
    } satisfies FastifyTRPCPluginOptions<AppRouter>['trpcOptions'],
  });
  registerDocsPages(server, {
    isEnabled: () => app.env.isDocsEnabled,
    title: () => documentTitle(app),
    document: async (title, mount) => {
      const text = await servedDocument(title);
      return words && mount ? words.document(text, mount) : text;
    },
  });
  const { version, isReady, sandboxKinds } = app.ports.instance;
  registerHomePage(server, {
    texts: pageTexts,
    fakes: sandboxKinds,
    facts: () => ({
      name: SERVICE_TITLE,
      version: version(),
      state: isReady() ? 'ready' : 'not ready',
      documentation: app.env.isDocsEnabled ? '/docs' : null,
      sandbox: sandboxKinds().length > 0 ? '/sandbox' : null,
    }),
  });
  registerUnsubscribePage(server, {
    texts: pageTexts,
    isValid: (token) => isUnsubscribeToken(app, token),
    unsubscribe: (token) => unsubscribe(app, token),
  });
  server.get('/metrics', (request, reply) => sendMetrics(request, reply, app, metrics));
  await options.extend?.(server);
  return { fastify: server, routes, words };
}

/** Health, metrics and pages, which need none of the data that a restore replaces. */
const SERVED_WHILE_CLOSED = new Set(['/health', '/livez', '/metrics']);
const CLOSED_RETRY_SECONDS = 10;
const CLOSED_DETAIL = 'Service temporarily unavailable. Please try again later.';

/**
 * The one place where requests of every kind (REST, tRPC, callbacks) are refused while a backup is restored. The
 * providers and the panel repeat their callbacks.
 */
function refuseWhileClosed(server: FastifyInstance, { ports }: App): void {
  server.addHook('onRequest', (request, reply, done) => {
    if (!ports.gate.isClosed || SERVED_WHILE_CLOSED.has(request.routeOptions.url ?? '')) return done();
    reply.code(503).header('retry-after', CLOSED_RETRY_SECONDS).send({ detail: CLOSED_DETAIL });
  });
}

/** Routes that a person opens in a browser. */
const PAGES = new Set(['/', '/docs', '/redoc', '/metrics', '/sandbox', '/sandbox/*', UNSUBSCRIBE_ROUTE]);

const pageTexts: PageTexts = (preferred) => {
  const language = knownLanguage(preferred ?? 'en');
  return { language, text: (key, params) => text(language, `pages.${key}` as TextKey, params) };
};

/** The log of failed requests, which are reported too. */
function reportingLog(app: App, report: HttpServerOptions['reportFailure']): ErrorLog {
  return {
    warn: (details, message) => app.log.warn(details, message),
    error: (details, message) => {
      app.log.error(details, message);
      const { operation, err, requestId } = details as { operation?: string; err?: unknown; requestId?: string };
      report?.(operation ?? 'unknown', err, requestId ?? '');
    },
  };
}

function listOf(text: string | null): string[] {
  return (text ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/**
 * One log line and one observation a request; `WEB_API_REQUEST_LOGGING` off leaves the lines of failures (5xx). The URL is never logged: queries carry credentials; the
 * route template is enough.
 */
function logAndMeasure(server: FastifyInstance, app: App, metrics: Metrics): void {
  server.decorateRequest('observed', null);
  server.addHook('onRequest', (request, reply, done) => {
    request.observed = metrics.startHttpRequest();
    reply.header('x-request-id', request.id);
    done();
  });
  server.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown';
    const mount = app.env.interfaceWords === null ? undefined : request.mount ? 'words' : 'own';
    request.observed?.({ route, method: request.method, status: reply.statusCode, mount });
    const line = {
      requestId: request.id,
      method: request.method,
      route,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      actor: (request.seen?.actor ?? 'anonymous').split(':', 1)[0],
    };
    if (reply.statusCode === 500) app.log.error(line, 'request');
    else if (reply.statusCode > 500) app.log.warn(line, 'request');
    else if (app.settings.get('WEB_API_REQUEST_LOGGING')) app.log.info(line, 'request');
    done();
  });
}

async function sendMetrics(request: FastifyRequest, reply: FastifyReply, app: App, metrics: Metrics): Promise<string | object> {
  const token = app.env.metricsToken;
  const isAllowed = token === null ? isLoopback(request.socket.remoteAddress) : hasBearer(request.headers.authorization, token);
  if (!isAllowed) return reply.code(token === null ? 403 : 401).send({ detail: token === null ? 'Forbidden' : 'Unauthorized' });
  reply.header('content-type', metrics.contentType);
  return metrics.render();
}

function isLoopback(address: string | undefined): boolean {
  return address !== undefined && ipaddr.process(address).range() === 'loopback';
}

function hasBearer(header: string | undefined, token: string): boolean {
  const [given, wanted] = [Buffer.from(header ?? ''), Buffer.from(`Bearer ${token}`)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/** `WEB_API_TITLE` where an operator set it; its default is another product's name (spec 10 O4). */
function documentTitle({ settings }: App): string {
  const title = settings.get('WEB_API_TITLE').trim();
  return title === '' || title === definitionOf('WEB_API_TITLE').default ? SERVICE_TITLE : title;
}

export interface RequestTimes {
  /** A request must have arrived within this time after its headers. */
  wholeMs: number;
  /** Of an upload that is stored as it arrives, and of a download: longest time without a byte. */
  idleMs: number;
}

const REQUEST_TIMES: RequestTimes = { wholeMs: 30_000, idleMs: 30_000 };

/** How often an upload is looked at within the longest time without a byte. */
const LOOKS = 6;

declare module 'fastify' {
  interface FastifyRequest {
    /** Ends the measurement of the request. */
    observed: ReturnType<Metrics['startHttpRequest']> | null;
    /** Span of a request that is recorded, until its end. */
    span: OpenSpan | null;
  }
  interface FastifyContextConfig {
    /** The body is an upload that is stored as it arrives, bounded by its size. */
    storesUpload?: boolean;
  }
}

/**
 * Ends requests whose body does not arrive. In place of the server's own limit (`requestTimeout`), which knows the time of a whole request
 * only: a backup of some hundred megabytes takes longer on a slow line, and is bounded by its size. Ends downloads that nobody reads.
 */
function limitRequestTimes(server: FastifyInstance, { wholeMs, idleMs }: RequestTimes): void {
  server.addHook('onRequest', (request, reply, done) => {
    if (isBodyExpected(request.raw) && request.raw.socket instanceof Socket) {
      const end = () => endRequest(server, request, reply);
      const stop = request.routeOptions.config?.storesUpload
        ? watchIdle(request, idleMs, end)
        : watchWhole(request, wholeMs, end);
      // Of a body that the answer did not wait for, the rest is read and dropped, for as long as any other request may last.
      reply.raw.once('close', () => {
        stop();
        if (!request.raw.complete) watchWhole(request, wholeMs, end);
      });
    }
    done();
  });
  server.addHook('onSend', (_request, { raw }, payload: unknown, done) => {
    if (payload instanceof Readable && raw.socket instanceof Socket) raw.setTimeout(idleMs, () => void raw.destroy());
    done();
  });
}

/** @returns a function that ends the watch */
function watchWhole({ raw }: FastifyRequest, wholeMs: number, end: () => void): () => void {
  const timer = setTimeout(() => {
    if (!raw.complete) end();
  }, wholeMs).unref();
  return () => clearTimeout(timer);
}

/** @returns a function that ends the watch */
function watchIdle({ raw }: FastifyRequest, idleMs: number, end: () => void): () => void {
  let received = raw.socket.bytesRead;
  let quietLooks = 0;
  const timer = setInterval(() => {
    quietLooks = raw.socket.bytesRead > received ? 0 : quietLooks + 1;
    received = raw.socket.bytesRead;
    if (!raw.complete && quietLooks < LOOKS) return;
    clearInterval(timer);
    if (!raw.complete) end();
  }, idleMs / LOOKS).unref();
  return () => clearInterval(timer);
}

/** As the server does it: 408, unless an answer has begun, and the connection is closed. */
function endRequest(server: FastifyInstance, { raw }: FastifyRequest, reply: FastifyReply): void {
  if (reply.raw.headersSent) raw.socket.destroy();
  else
    server.server.emit(
      'clientError',
      Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }),
      raw.socket,
    );
}

/**
 * Makes each recorded request the beginning of a trace. A span has the route's template, never the path or the query as sent;
 * a call over tRPC the names of its procedures.
 * @param hasProcedure whether a name is one of a procedure: others are a client's text
 */
function traceRequests(server: FastifyInstance, tracing: Tracing, hasProcedure: (name: string) => boolean): void {
  if (!tracing.isOn) return;
  server.decorateRequest('span', null);
  server.addHook('onRequest', (request, _reply, done) => {
    const { traceparent } = request.headers;
    const header = typeof traceparent === 'string' ? traceparent : undefined;
    request.span = tracing.startRequest(request.method, { 'http.request.method': request.method }, header);
    done();
  });
  // Only now: the events that read the body are not in the flow of the first hook.
  server.addHook('preHandler', (request, _reply, done) => {
    if (request.span) tracing.within(request.span, done);
    else done();
  });
  server.addHook('onResponse', (request, reply, done) => {
    end(request, reply.statusCode);
    done();
  });
  server.addHook('onRequestAbort', (request, done) => {
    request.span?.fail('aborted');
    end(request, null);
    done();
  });

  function end(request: FastifyRequest, status: number | null): void {
    const { span } = request;
    if (!span) return;
    request.span = null;
    const route = request.routeOptions.url ?? 'unknown';
    const names = procedureNames(request, route);
    span.setName(names === null ? `${request.method} ${route}` : `${request.method} ${names}`);
    span.set({ 'http.route': route, ...(names === null ? {} : { 'rpc.method': names }) });
    if (status !== null) span.set({ 'http.response.status_code': status });
    if (status !== null && status >= 500) span.fail(String(status));
    span.end();
  }

  function procedureNames(request: FastifyRequest, route: string): string | null {
    if (!route.startsWith('/trpc/')) return null;
    const path = (request.params as { path?: unknown }).path;
    const names = typeof path === 'string' ? path.split(',') : [];
    return names.map((name) => (hasProcedure(name) ? name : 'unknown')).join(',');
  }
}
