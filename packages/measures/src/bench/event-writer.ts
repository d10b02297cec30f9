/** Causes events, in a process of its own: by money writes through the service, or by SQL that no instance is notified of. */
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import pg from 'pg';
import { answerQuestions } from './child-process.ts';
import { eventText } from './event-text.ts';
import { type SteadyOrder, type SteadyResult, userIndexOf, writeSteadily } from './steady-writes.ts';

export interface WriterOrder extends SteadyOrder {
  userIds: readonly number[];
  target: { serviceUrl: string; headers: Record<string, string> } | { databaseUrl: string };
}

async function write(order: WriterOrder): Promise<SteadyResult> {
  const userOf = (number: number) => order.userIds[userIndexOf(number, order.lanes, order.userIds.length)]!;
  return 'serviceUrl' in order.target
    ? writeThroughService(order, order.target, userOf)
    : writeInDatabase(order, order.target.databaseUrl, userOf);
}

async function writeThroughService(
  order: WriterOrder,
  { serviceUrl, headers }: { serviceUrl: string; headers: Record<string, string> },
  userOf: (number: number) => number,
): Promise<SteadyResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: order.lanes });
  try {
    return await writeSteadily(order, (number) => {
      const body = JSON.stringify({ amount_kopeks: 100, description: eventText(number) });
      const unique = { 'idempotency-key': randomUUID(), 'content-length': String(Buffer.byteLength(body)) };
      return post(agent, `${serviceUrl}/users/${userOf(number)}/balance`, { ...headers, ...unique }, body);
    });
  } finally {
    agent.destroy();
  }
}

/** @throws Error for any status but 2xx */
function post(agent: Agent, url: string, headers: Record<string, string>, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume();
      const isGood = response.statusCode! >= 200 && response.statusCode! < 300;
      response.on('end', () => (isGood ? resolve() : reject(new Error(`status ${response.statusCode}`))));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Each event in a transaction of its own, as `emit_event` records it, with the time of sending. */
async function writeInDatabase(order: WriterOrder, url: string, userOf: (number: number) => number): Promise<SteadyResult> {
  const clients = Array.from({ length: order.lanes }, () => new pg.Client({ connectionString: url }));
  try {
    await Promise.all(clients.map((client) => client.connect()));
    return await writeSteadily(order, (number, lane) => {
      const [user, now] = [userOf(number), new Date()];
      const payload = JSON.stringify({ user_id: user, description: eventText(number), sent_at: now });
      const values = ['benchmark.event', payload, 'feed', user, now];
      return clients[lane]!.query({
        name: 'emit',
        text: 'SELECT emit_event($1, $2::jsonb, $3, $4::int, $5::timestamptz)',
        values,
      });
    });
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
}

answerQuestions<WriterOrder>(write);
