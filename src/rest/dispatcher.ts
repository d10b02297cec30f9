/**
 * Serves every procedure with `meta.openapi` over HTTP. One fastify route per operation, prepared completely at start.
 *
 * The procedure's chain of middlewares is run (`procedure-runner.ts`), without the proxy and the path look-up that `createCaller`
 * add to each request. The request is decoded inside `getRawInput`, which tRPC's input middleware calls
 * only after the guards before `.input()` have passed: without a credential the answer is 401 for any input, and an upload is not
 * read.
 */
import multipart from '@fastify/multipart';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ValidationError } from '../core/errors.ts';
import { unsupportedMediaType } from '../core/http/request-refusals.ts';
import { type ErrorLog, type ExplainInput, type RefusalObserver, sendError } from './error-replies.ts';
import { JSON_BODY_LIMIT } from './http-limits.ts';
import type { InterfaceWords } from './interface-words/interface-words.ts';
import { readForm } from './multipart-reader.ts';
import { methodFinder } from './not-found.ts';
import { runnerFor } from './procedure-runner.ts';
import type { RestRoute } from './route-table.ts';
import { sendJson, sendSpecial, sendTagged } from './success-replies.ts';
import type { Decoded, WireRequest } from './wire-decoder.ts';

export interface RestOptions {
  /** Those of the document (`buildRouteTable`). */
  routes: readonly RestRoute[];
  /** Builds the procedures' context; may be synchronous, which saves one tick of the event loop. */
  createContext: (request: FastifyRequest, reply: FastifyReply) => unknown;
  log: ErrorLog;
  /** The mount with the words of clients, where there is one. */
  words?: InterfaceWords;
  observeRefusal?: RefusalObserver;
}

/**
 * Registers all operations, the 404 and 405 answers and the error handler on the root instance.
 * The server must have been made with `restServerOptions`.
 */
export async function registerRest(fastify: FastifyInstance, options: RestOptions): Promise<void> {
  const { routes } = options;
  registerFallbacks(fastify, routes, options.log);
  // Body parsing differs from what tRPC's plugin needs, so it has a separate scope.
  await fastify.register(async (scope) => {
    // The reader decides what a file beyond the limit means.
    if (routes.some((route) => route.plan.multipart)) await scope.register(multipart, { throwFileSizeLimit: false });
    scope.removeContentTypeParser(['application/json', 'text/plain']);
    // JSON is parsed by the decoder: after the guards, and with the service's own error texts.
    scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, text, done) => done(null, text));
    for (const route of routes) {
      const config = { storesUpload: route.plan.multipart?.streams === true, words: options.words?.operation(route.operationId) };
      scope.route({
        method: route.method,
        url: route.url,
        bodyLimit: JSON_BODY_LIMIT,
        config,
        handler: handlerFor(route, options),
      });
    }
  });
}

function handlerFor(
  route: RestRoute,
  { createContext, log, observeRefusal }: RestOptions,
): (request: FastifyRequest, reply: FastifyReply) => void {
  const { procedurePath: path, type } = route;
  const call = runnerFor(route.procedure);
  const inputReader = inputReaderFor(route);
  const { reply: form = 'json', hasEtag, isPathExact } = route.meta.wire ?? {};
  const send = form !== 'json' ? sendSpecial : hasEtag ? sendTagged : sendJson;

  return function handle(request, reply) {
    let explain: ExplainInput | undefined;
    const fail = (error: unknown): void => sendError(reply, log, path, error, explain, observeRefusal);
    const succeed = (value: unknown): void => {
      try {
        // A file may begin to be sent later.
        send(reply, value)?.catch(fail);
      } catch (error) {
        fail(error);
      }
    };
    const run = (ctx: unknown): void => {
      let input: Promise<unknown> | undefined;
      const getRawInput = (): Promise<unknown> => {
        input ??= inputReader(request, (explained) => {
          explain = explained;
        });
        return input;
      };
      call({ ctx, getRawInput, path, type, signal: undefined, batchIndex: 0 }).then(succeed, fail);
    };
    if (isPathExact && request.url.split('?', 1)[0]!.endsWith('/')) {
      reply.code(404).send({ detail: 'Not Found' });
      return;
    }
    try {
      const ctx = createContext(request, reply);
      if (ctx instanceof Promise) ctx.then(run).catch(fail);
      else run(ctx);
    } catch (error) {
      fail(error);
    }
  };
}

type InputReader = (request: FastifyRequest, explainWith: (explain: ExplainInput) => void) => Promise<unknown>;

function inputReaderFor(route: RestRoute): InputReader {
  const { decoder, plan } = route;
  const finish = (wire: WireRequest, explainWith: (explain: ExplainInput) => void): Promise<unknown> => {
    const decoded: Decoded = decoder.decode(wire);
    if (!decoded.ok) return Promise.reject(new ValidationError(decoded.issues));
    explainWith((error) => decoder.explain(error, decoded, wire));
    return Promise.resolve(decoded.input);
  };
  const form = plan.multipart;
  if (form) {
    return async (request, explainWith) => {
      if (!request.isMultipart() && hasBody(request)) throw unsupportedMediaType();
      return finish(wireRequest(request, undefined, await readForm(request, form)), explainWith);
    };
  }
  if (plan.body === 'none') return (request, explainWith) => finish(wireRequest(request, undefined), explainWith);
  return (request, explainWith) => {
    const contentType = request.headers['content-type'];
    if (contentType !== undefined && !JSON_MEDIA_TYPE.test(contentType) && hasBody(request)) {
      return Promise.reject(unsupportedMediaType());
    }
    const text = typeof request.body === 'string' ? request.body : undefined;
    return finish(wireRequest(request, text), explainWith);
  };
}

const JSON_MEDIA_TYPE = /^\s*application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

function hasBody(request: FastifyRequest): boolean {
  const length = request.headers['content-length'];
  return (length !== undefined && length !== '0') || request.headers['transfer-encoding'] !== undefined;
}

function wireRequest(request: FastifyRequest, text: string | undefined, form?: WireRequest['form']): WireRequest {
  const wire: WireRequest = {
    params: request.params as WireRequest['params'],
    query: request.query as WireRequest['query'],
    headers: request.headers,
    text,
  };
  if (form !== undefined) wire.form = form;
  request.mount?.words?.readRequest(wire);
  return wire;
}

/** 404, 405 and errors outside procedures (body limits, hooks), all with the error body of the interface. */
function registerFallbacks(fastify: FastifyInstance, routes: readonly RestRoute[], log: ErrorLog): void {
  const methodsOf = methodFinder(routes);
  const sendMissing = (request: FastifyRequest, reply: FastifyReply): void => {
    const path = request.url.split('?', 1)[0]!;
    const methods = methodsOf(path);
    if (methods.length > 0) reply.code(405).header('allow', methods.join(', ')).send({ detail: 'Method Not Allowed' });
    else reply.code(404).send({ detail: 'Not Found' });
  };
  fastify.setNotFoundHandler(sendMissing);
  fastify.setErrorHandler((error, request, reply) => {
    // The body is parsed before the missing route is known; for such a request errors of the body do not matter.
    if (request.is404) sendMissing(request, reply);
    else sendError(reply, log, `${request.method} ${request.routeOptions.url ?? ''}`, error);
  });
}
