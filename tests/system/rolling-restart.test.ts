/** Two instances behind a load balancer, restarted one after the other under requests (spec 08 S11). */
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket as SocketOfWs } from 'ws';
import { createRequester, until } from '../../packages/measures/src/demo/http.ts';
import { type ServiceProcess, startServiceProcess } from '../../packages/measures/src/demo/service-process.ts';
import { type Balancer, startBalancer } from '../support/round-robin-balancer.ts';
import { emptyDatabaseOnServer, serverUrl } from '../support/test-database.ts';

const REQUESTS = 2_000;
const CLIENTS = 12;
/** Between two requests of a client: the starting instances need the processor too. */
const PAUSE_MS = 50;
/** Fifty checks of the balancer: however slow the machine, some of them are made within it. */
const DRAIN_MS = 10_000;
/** Never over by itself within a test: the test ends it by a second signal. */
const LONG_DRAIN_MS = 300_000;

describe.skipIf(!serverUrl)('a rolling restart (left out without a server: TEST_DATABASE_URL)', { shuffle: false }, () => {
  let database: { url: string; drop(): Promise<void> };
  let balancer: Balancer;
  let token: string;
  const running = new Set<ServiceProcess>();

  const startInstance = async (drainMs: number): Promise<ServiceProcess> => {
    const environment = { DATABASE_URL: database.url, LOG_LEVEL: 'warn', SHUTDOWN_DRAIN_MS: String(drainMs) };
    const service = await startServiceProcess({ environment });
    running.add(service);
    return service;
  };
  const addToBalancer = (service: ServiceProcess) => {
    balancer.add(service.url);
    return until(
      'the balancer to use the instance',
      async () => balancer.uses(service.url),
      (uses) => uses,
    );
  };

  beforeAll(async () => {
    database = await emptyDatabaseOnServer();
    balancer = await startBalancer();
  });
  afterAll(async () => {
    for (const service of running) {
      await service.kill();
      // Removes its folder.
      await service.stop();
    }
    await balancer?.close();
    await database?.drop();
  });

  test('of 2,000 requests of clients that keep their connections none fails while both instances are restarted', async () => {
    const first = await startInstance(LONG_DRAIN_MS);
    token = first.apiToken!;
    const second = await startInstance(DRAIN_MS);
    await addToBalancer(first);
    await addToBalancer(second);
    const user = (await createRequester(first.url, { 'x-api-key': token }).post('/users', { messenger_id: 9_100_000_001 })).body;

    const agent = new Agent({ keepAlive: true });
    const failed: string[] = [];
    let answered = 0;
    let credits = 0;
    let isOver = false;
    const send = async (client: number, turn: number): Promise<void> => {
      const isRead = turn % 4 !== 0;
      const outcome = isRead
        ? await exchange(agent, 'GET', `${balancer.url}/users/${user.id}`, token)
        : await exchange(agent, 'POST', `${balancer.url}/users/${user.id}/balance`, token, `restart-${client}-${turn}`);
      answered += 1;
      if (outcome !== '200') failed.push(outcome);
      else if (!isRead) credits += 1;
    };
    const clients = Array.from({ length: CLIENTS }, async (_client, client) => {
      for (let turn = 0; !isOver || answered < REQUESTS; turn++) {
        await send(client, turn);
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    });
    const moreAnswers = async (count: number): Promise<void> => {
      const before = answered;
      await until(
        'requests',
        async () => answered - before,
        (more) => more >= count,
      );
    };

    await moreAnswers(200);
    // A: the drain ends when the balancer has taken the instance out.
    const firstEnded = first.stop();
    await until(
      'the balancer to notice',
      async () => balancer.uses(first.url),
      (uses) => !uses,
    );
    await moreAnswers(200);
    await drainingInstanceServes(first, token);
    await until(
      'the last answers',
      async () => balancer.underWay(first.url),
      (count) => count === 0,
    );
    first.process.kill('SIGTERM');
    expect(await firstEnded).toBe(0);
    balancer.remove(first.url);
    const newFirst = await startInstance(0);
    await addToBalancer(newFirst);
    await moreAnswers(200);
    // B: the drain ends by itself.
    const secondEnded = second.stop();
    expect(await secondEnded).toBe(0);
    balancer.remove(second.url);
    const newSecond = await startInstance(0);
    await addToBalancer(newSecond);
    await moreAnswers(200);

    isOver = true;
    await Promise.all(clients);
    agent.destroy();
    expect(failed).toEqual([]);
    expect(answered).toBeGreaterThanOrEqual(REQUESTS);
    const sql = new pg.Client({ connectionString: database.url });
    await sql.connect();
    const { rows } = await sql.query('SELECT count(*)::int AS n FROM transactions WHERE user_id = $1', [user.id]);
    await sql.end();
    expect(rows[0].n).toBe(credits);
  });
});

/** One request, without a second attempt. @returns the status, or the code of the socket's error */
function exchange(agent: Agent, method: string, url: string, token: string, key?: string): Promise<string> {
  const body = key === undefined ? '' : JSON.stringify({ amount_kopeks: 1 });
  const headers = {
    'x-api-key': token,
    ...(key === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), 'idempotency-key': key }),
  };
  return new Promise((resolve) => {
    const sent = request(url, { agent, method, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (part) => {
        text += part;
      });
      answer.on('end', () => resolve(answer.statusCode === 200 ? '200' : `${answer.statusCode} ${text}`));
      answer.on('error', (error) => resolve(String(error)));
    });
    sent.on('error', (error) => resolve(String((error as { code?: string }).code ?? error)));
    sent.end(body);
  });
}

/** Not ready, but serving, on new connections too; each answer ends its connection; no new socket. */
async function drainingInstanceServes(service: ServiceProcess, token: string): Promise<void> {
  const expected = [
    ['GET /readyz', 503],
    ['GET /users', 200],
    ['GET /trpc/web.auth.list', 200],
    ['GET /no-such-path', 404],
  ] as const;
  for (const [line, status] of expected) {
    const answer = await rawAnswer(service, line, token);
    expect(answer.split('\r\n', 1), line).toEqual([expect.stringContaining(` ${status} `)]);
    expect(answer, line).toMatch(/\r\nconnection: close\r\n/i);
  }
  const socket = new SocketOfWs(`${service.url.replace('http', 'ws')}/ws?token=${token}`);
  const [, refusal] = await once(socket, 'unexpected-response');
  expect(refusal.statusCode).toBe(503);
  refusal.resume();
}

/** Everything that the server sends on a new connection until it closes it. */
async function rawAnswer(service: ServiceProcess, line: string, token: string): Promise<string> {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  socket.setEncoding('utf8');
  let text = '';
  socket.on('data', (part) => {
    text += part;
  });
  socket.write(`${line} HTTP/1.1\r\nHost: service\r\nX-API-Key: ${token}\r\n\r\n`);
  await once(socket, 'end');
  return text;
}
