/** HTTP requests of a client that keeps its connections, as the bot in front of the service does. */
import { Agent, request } from 'node:http';

export interface Answer {
  /** 0 = no answer: refused, cut or timed out. */
  status: number;
  body: string;
  /** Error code of a connection without an answer. */
  problem: string | null;
  headers: Record<string, string | string[] | undefined>;
}

export interface Call {
  method: 'GET' | 'POST';
  url: string;
  headers?: Record<string, string>;
  body?: string;
}

export interface RequesterOptions {
  /** Connections that are kept open for each address. */
  connections: number;
  /** Longest wait for an answer. */
  limitMs: number;
}

export interface Requester {
  send(call: Call): Promise<Answer>;
  close(): void;
}

/** Nothing is repeated: each call is one request, and a lost connection is an answer with status 0. */
export function createRequester({ connections, limitMs }: RequesterOptions): Requester {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const send = ({ method, url, headers = {}, body }: Call): Promise<Answer> =>
    new Promise((resolve) => {
      const lost = (error: NodeJS.ErrnoException) =>
        resolve({ status: 0, body: '', problem: error.code ?? error.message, headers: {} });
      const outgoing = request(url, {
        method,
        agent,
        headers: { ...headers, ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }) },
        signal: AbortSignal.timeout(limitMs),
      });
      outgoing.on('error', lost);
      outgoing.on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', lost);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            body: Buffer.concat(chunks).toString(),
            problem: null,
            headers: response.headers,
          }),
        );
      });
      outgoing.end(body);
    });
  return { send, close: () => agent.destroy() };
}
