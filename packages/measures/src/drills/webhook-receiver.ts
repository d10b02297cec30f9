/** A receiver of webhooks that records what it gets and refuses some of the first attempts. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventIdentity } from './event-identity.ts';

export interface WebhookReceiver {
  readonly url: string;
  /** Identity of the event by the id of its delivery, as the `webhook-id` header names it. */
  readonly deliveries: ReadonlyMap<string, string>;
  /** Accepted again although they had been accepted: the answer to the first attempt was lost. */
  readonly repeats: number;
  readonly refused: number;
  close(): Promise<void>;
}

/** @param refuses whether the attempt is refused with 503; asked at the first attempt of a delivery */
export async function startWebhookReceiver(refuses: () => boolean = () => false): Promise<WebhookReceiver> {
  const deliveries = new Map<string, string>();
  const seen = new Set<string>();
  const counts = { repeats: 0, refused: 0 };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const delivery = String(request.headers['webhook-id']);
      const isFirst = !seen.has(delivery);
      seen.add(delivery);
      if (isFirst && refuses()) {
        counts.refused += 1;
        response.writeHead(503).end();
        return;
      }
      if (deliveries.has(delivery)) counts.repeats += 1;
      const payload = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
      deliveries.set(delivery, eventIdentity('ws', String(request.headers['x-webhook-event']), payload));
      response.end('ok');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    deliveries,
    get repeats() {
      return counts.repeats;
    },
    get refused() {
      return counts.refused;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
