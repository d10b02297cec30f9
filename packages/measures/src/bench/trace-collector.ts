/** A collector of the benchmark, in a process of its own: receives OTLP over HTTP, counts spans and forgets them. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerQuestions } from './child-process.ts';

export interface CollectorAnswer {
  url: string;
  /** Received by now. */
  spans: number;
}

let spans = 0;
const server = createServer(async (request, reply) => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  // The SDK sends each span's id once under this name.
  spans += Buffer.concat(parts).toString().split('"spanId"').length - 1;
  reply.setHeader('content-type', 'application/json').end('{}');
});

answerQuestions<object>(async () => {
  if (!server.listening) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans } satisfies CollectorAnswer;
});
