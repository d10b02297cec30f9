import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SandboxStoreUnavailable } from './host-ports.ts';

/** A request as the fake servers get it, with its whole body. */
export interface LoopbackRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  /** Names in lower case; repeated headers joined by a comma. */
  headers: Readonly<Record<string, string>>;
  body: string;
  /** The body as it came, for forms with files. */
  rawBody: Buffer;
}

export interface LoopbackReply {
  status: number;
  contentType: string;
  body: string | Buffer;
  headers?: Readonly<Record<string, string>>;
  /** Close the connection instead of answering. */
  isCut?: boolean;
}

export interface LoopbackServer {
  /** `http://127.0.0.1:{port}` */
  url: string;
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 1_048_576;
/** Of a form with a file: what the messenger accepts, and some room for the fields. */
const MAX_FORM_BYTES = 52 * 1_048_576;

export function jsonReply(status: number, value: unknown): LoopbackReply {
  return { status, contentType: 'application/json', body: JSON.stringify(value) };
}

/** The body as a JSON object, or null when it is none. */
export function jsonObject(body: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** Serves `handle` on loopback only. @param port 0 = any free port */
export function startLoopbackServer(
  handle: (request: LoopbackRequest) => Promise<LoopbackReply>,
  port = 0,
): Promise<LoopbackServer> {
  const server = createServer(async (incoming, outgoing) => {
    try {
      const chunks: Buffer[] = [];
      let size = 0;
      const isForm = incoming.headers['content-type']?.startsWith('multipart/form-data') === true;
      for await (const chunk of incoming as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > (isForm ? MAX_FORM_BYTES : MAX_BODY_BYTES)) {
          outgoing.writeHead(413, { connection: 'close' }).end();
          return;
        }
        chunks.push(chunk);
      }
      const url = new URL(incoming.url ?? '/', 'http://127.0.0.1');
      const headers = Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value ?? '')]));
      const rawBody = Buffer.concat(chunks);
      const body = isForm ? '' : rawBody.toString('utf8');
      const reply = await handle({
        method: incoming.method ?? 'GET',
        path: url.pathname,
        query: url.searchParams,
        headers,
        body,
        rawBody,
      });
      if (reply.isCut) {
        incoming.socket.destroy();
        return;
      }
      outgoing.writeHead(reply.status, { 'content-type': reply.contentType, ...reply.headers }).end(reply.body);
    } catch (error) {
      // The fakes keep their state in the database: while that is away, they are too.
      const failure =
        error instanceof SandboxStoreUnavailable ? { status: 503, headers: { 'retry-after': '5' } } : { status: 500 };
      if (!outgoing.headersSent) outgoing.writeHead(failure.status, { 'content-type': 'application/json', ...failure.headers });
      outgoing.end('{"error":"sandbox server failed"}');
    }
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      const address = server.address() as AddressInfo;
      resolve({
        url: `http://127.0.0.1:${address.port}`,
        close: () =>
          new Promise((done) => {
            server.close(() => done());
            server.closeAllConnections();
          }),
      });
    });
  });
}
