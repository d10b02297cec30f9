import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface ReceivedCall {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Receiver {
  url: string;
  calls: ReceivedCall[];
  /** Answers the calls that follow. */
  answer: (response: ServerResponse, call: ReceivedCall) => void;
  close(): Promise<void>;
}

/** A webhook receiver on loopback; answers 200 `ok` by default. */
export async function startReceiver(): Promise<Receiver> {
  const calls: ReceivedCall[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const call = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() };
    calls.push(call);
    receiver.answer(response, call);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/hook`,
    calls,
    answer: (response) => void response.end('ok'),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}

/** An answer with this status, text and headers. */
export function reply(status: number, text = '', headers: Record<string, string> = {}): Receiver['answer'] {
  return (response) => void response.writeHead(status, headers).end(text);
}
