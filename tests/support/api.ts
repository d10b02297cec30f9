import type { FastifyInstance } from 'fastify';
import { createHttpServer } from '../../src/composition/http-server.ts';
import type { App } from '../../src/core/app.ts';
import { createMetrics } from '../../src/core/metrics.ts';
import { createApiToken, type TokenRequest } from '../../src/domain/access/tokens.ts';
import type { RefusalObserver } from '../../src/rest/error-replies.ts';
import { recordReply } from './recorded-replies.ts';
import { observeRefusal } from './refusal-recorder.ts';
import { servedRoutes } from './served-routes.ts';
import { UploadForm } from './upload-form.ts';

export interface ApiReply {
  status: number;
  // Bodies are checked by the tests that read them.
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any field of an answer and asserts on it
  body: any;
  headers: Record<string, string | string[] | number | undefined>;
  text: string;
  /** The body as it came. */
  bytes: Buffer;
}

export interface ApiRequest {
  query?: Record<string, string | number | boolean | readonly (string | number)[]>;
  body?: unknown;
  headers?: Record<string, string>;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface ApiClient {
  get(path: string, request?: ApiRequest): Promise<ApiReply>;
  post(path: string, body?: unknown, request?: ApiRequest): Promise<ApiReply>;
  put(path: string, body?: unknown, request?: ApiRequest): Promise<ApiReply>;
  patch(path: string, body?: unknown, request?: ApiRequest): Promise<ApiReply>;
  delete(path: string, request?: ApiRequest): Promise<ApiReply>;
  /** A request with any method, for tables of operations. */
  send(method: Method, path: string, body?: unknown, request?: ApiRequest): Promise<ApiReply>;
  /** The same client with further headers. */
  with(headers: Record<string, string>): ApiClient;
}

/**
 * The REST server of an app in this process, without a socket.
 * @param onRefusal `compareRefusal` where only a sample of the cases is tried: the check of the declared refusals must not depend on it
 */
export async function testServer(app: App, onRefusal: RefusalObserver = observeRefusal): Promise<FastifyInstance> {
  const { fastify } = await createHttpServer({
    observeRefusal: onRefusal,
    routes: servedRoutes,
    app,
    metrics: createMetrics(),
    callbackRoute: () => null,
  });
  await fastify.ready();
  return fastify;
}

export function clientOf(server: FastifyInstance, headers: Record<string, string> = {}): ApiClient {
  const send = async (method: Method, path: string, body?: unknown, request: ApiRequest = {}) => {
    const reply = await server.inject({
      method,
      url: path,
      query: Object.fromEntries(
        Object.entries(request.query ?? {}).map(([name, value]) => [
          name,
          Array.isArray(value) ? value.map(String) : String(value),
        ]),
      ) as Record<string, string | string[]>,
      headers: { ...headers, ...request.headers, ...typeOf(body) },
      ...(body === undefined ? {} : { payload: payloadOf(body) }),
    });
    const isJson = String(reply.headers['content-type'] ?? '').includes('json');
    const answer = {
      status: reply.statusCode,
      body: isJson ? reply.json() : undefined,
      headers: reply.headers,
      text: reply.body,
      bytes: reply.rawPayload,
    };
    recordReply({ method, path, query: request.query, body }, { ...answer, body: answer.body ?? answer.text });
    return answer;
  };
  return {
    get: (path, request) => send('GET', path, undefined, request),
    post: (path, body, request) => send('POST', path, body, request),
    put: (path, body, request) => send('PUT', path, body, request),
    patch: (path, body, request) => send('PATCH', path, body, request),
    delete: (path, request) => send('DELETE', path, request?.body, request),
    send,
    with: (more) => clientOf(server, { ...headers, ...more }),
  };
}

function typeOf(body: unknown): Record<string, string> {
  if (body === undefined) return {};
  return { 'content-type': body instanceof UploadForm ? body.contentType : 'application/json' };
}

function payloadOf(body: unknown): string | Buffer {
  if (body instanceof UploadForm) return body.payload;
  return typeof body === 'string' ? body : JSON.stringify(body);
}

/** A client with a new API token. */
export async function tokenClient(
  app: App,
  server: FastifyInstance,
  name = 'test',
  limits: Partial<TokenRequest> = {},
): Promise<ApiClient & { token: string; tokenId: number }> {
  const made = await createApiToken(
    app,
    { kind: 'system', name: 'test' },
    { name, description: null, expiresAt: null, ...limits },
  );
  return { ...clientOf(server, { 'x-api-key': made.token }), token: made.token, tokenId: made.id };
}
