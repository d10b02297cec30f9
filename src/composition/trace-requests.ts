import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { OpenSpan, Tracing } from '../core/telemetry/tracing.ts';

type Traced = FastifyRequest & { span?: OpenSpan | null };

/**
 * Makes each recorded request the beginning of a trace. A span has the route's template, never the path or the query as they were sent;
 * a call over tRPC the names of its procedures.
 * @param hasProcedure whether a name is one of a procedure: others are a client's text
 */
export function traceRequests(server: FastifyInstance, tracing: Tracing, hasProcedure: (name: string) => boolean): void {
  if (!tracing.isOn) return;
  server.addHook('onRequest', (request: Traced, _reply, done) => {
    const { traceparent } = request.headers;
    const header = typeof traceparent === 'string' ? traceparent : undefined;
    request.span = tracing.startRequest(request.method, { 'http.request.method': request.method }, header);
    done();
  });
  // Only now: the events that read the body are not in the flow of the first hook.
  server.addHook('preHandler', (request: Traced, _reply, done) => {
    if (request.span) tracing.within(request.span, done);
    else done();
  });
  server.addHook('onResponse', (request: Traced, reply, done) => {
    end(request, reply.statusCode);
    done();
  });
  server.addHook('onRequestAbort', (request: Traced, done) => {
    request.span?.fail('aborted');
    end(request, null);
    done();
  });

  function end(request: Traced, status: number | null): void {
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
