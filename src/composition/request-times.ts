import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

export interface RequestTimes {
  /** A request must have arrived within this time after its headers. */
  wholeMs: number;
  /** Of an upload that is stored as it arrives, and of a download: longest time without a byte. */
  idleMs: number;
}

export const REQUEST_TIMES: RequestTimes = { wholeMs: 30_000, idleMs: 30_000 };

/** How often an upload is looked at within the longest time without a byte. */
const LOOKS = 6;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body is an upload that is stored as it arrives, bounded by its size. */
    storesUpload?: boolean;
  }
}

/**
 * Ends requests whose body does not arrive. In place of the server's own limit (`requestTimeout`), which knows the time of a whole request
 * only: a backup of some hundred megabytes takes longer on a slow line, and is bounded by its size. Ends downloads that nobody reads.
 */
export function limitRequestTimes(server: FastifyInstance, { wholeMs, idleMs }: RequestTimes): void {
  server.addHook('onRequest', (request, reply, done) => {
    if (isBodyExpected(request) && request.raw.socket instanceof Socket) {
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

function isBodyExpected({ headers }: FastifyRequest): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
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
