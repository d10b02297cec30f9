/**
 * Measures the fan-out of `/ws`: one server process, two client processes, loopback only; ends by itself.
 *   node packages/measures/src/bench/ws-fanout.ts [sockets=5000] [messages a second=30000] [seconds=10]
 * First the asked rate (latency from `publish` to the client's handler), then as fast as the clients take it.
 * Authentication and the event bus are fakes, so that sockets are measured and not the database.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { App } from '../../../../src/core/app.ts';
import { systemClock } from '../../../../src/core/clock.ts';
import type { EventListener } from '../../../../src/core/events/event-bus.ts';
import { endOf } from '../../../../src/core/events/event-position.ts';
import { createLogger } from '../../../../src/core/log.ts';
import { attachRealtime } from '../../../../src/realtime/attach-realtime.ts';

const CLIENT_PROCESSES = 2;
const CONNECTS_AT_ONCE = 200;
const FLOOD_SECONDS = 5;
const WARM_UP_MS = 1_000;
/** Latencies are counted in tenths of a millisecond up to ten seconds. */
const BUCKETS = 100_000;

interface ClientReport {
  received: number;
  closed: number;
  /** Sparse: [tenths of a millisecond, count]. */
  latencies: [number, number][];
}

type ToClient = { connect: { url: string; sockets: number } } | 'report';

function now(): number {
  return performance.timeOrigin + performance.now();
}

/** A client process: opens sockets, counts messages and how old they are. */
function runClient(): void {
  let received = 0;
  let closed = 0;
  let latencies = new Uint32Array(BUCKETS);
  const countFrame = (data: unknown): void => {
    const text = String(data);
    const at = text.indexOf('"at":');
    if (at === -1) return;
    received += 1;
    const age = Math.round((now() - Number.parseFloat(text.slice(at + 5))) * 10);
    latencies[Math.min(Math.max(age, 0), BUCKETS - 1)]! += 1;
  };
  const open = (url: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const ws = new WebSocket(url, { perMessageDeflate: false });
      ws.once('message', () => {
        ws.on('message', countFrame);
        resolve();
      });
      ws.on('close', () => {
        closed += 1;
      });
      ws.on('error', reject);
    });
  process.on('message', async (message: ToClient) => {
    if (message === 'report') {
      const sparse: [number, number][] = [];
      latencies.forEach((count, bucket) => {
        if (count > 0) sparse.push([bucket, count]);
      });
      process.send!({ received, closed, latencies: sparse } satisfies ClientReport);
      received = 0;
      latencies = new Uint32Array(BUCKETS);
      return;
    }
    const { url, sockets } = message.connect;
    for (let from = 0; from < sockets; from += CONNECTS_AT_ONCE) {
      await Promise.all(Array.from({ length: Math.min(CONNECTS_AT_ONCE, sockets - from) }, () => open(url)));
    }
    process.send!('connected');
  });
  process.on('disconnect', () => process.exit(0));
}

function answerOf<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const onExit = (): void => reject(new Error('a client process ended early'));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      resolve(message as T);
    });
  });
}

async function reportOf(clients: ChildProcess[]): Promise<ClientReport> {
  const reports = await Promise.all(
    clients.map((client) => {
      const answer = answerOf<ClientReport>(client);
      client.send('report' satisfies ToClient);
      return answer;
    }),
  );
  const counts = new Map<number, number>();
  for (const [bucket, count] of reports.flatMap((report) => report.latencies))
    counts.set(bucket, (counts.get(bucket) ?? 0) + count);
  return {
    received: reports.reduce((sum, report) => sum + report.received, 0),
    closed: reports.reduce((sum, report) => sum + report.closed, 0),
    latencies: [...counts].sort(([a], [b]) => a - b),
  };
}

function percentileMs(report: ClientReport, share: number): number {
  let left = report.received * share;
  for (const [bucket, count] of report.latencies) {
    left -= count;
    if (left <= 0) return bucket / 10;
  }
  return 0;
}

/** The parts of an `App` that the sockets use. */
function benchApp(): App {
  return {
    settings: { get: () => true },
    clock: systemClock,
    log: createLogger({ level: 'warn', format: 'json' }),
  } as unknown as App;
}

async function runServer(sockets: number, messagesPerSecond: number, seconds: number): Promise<void> {
  const http = createServer();
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', 4_096, resolve));
  let deliver: EventListener = () => undefined;
  const memoryBefore = process.memoryUsage().rss;
  const realtime = await attachRealtime({
    httpServer: http,
    app: benchApp(),
    bus: {
      subscribe: (listener) => {
        deliver = listener;
        return () => undefined;
      },
      position: endOf({ next: 0, running: [] }),
      origin: { database: 0, issuedAt: 0 },
      refresh: async () => undefined,
    },
    authenticateToken: async () => ({ kind: 'token', tokenId: 1, name: 'bench' }),
    authenticateUser: async () => ({ userId: 1 }),
    recheckCabinetAccess: async () => [],
    readCabinetAccess: async () => ({ isAdmin: false, receivesStaffEvents: false }),
    limits: { maxSockets: sockets },
  });
  let id = 0;
  const emit = (): void => {
    id += 1;
    const payload = { at: now(), transaction_id: id, user_id: 17, type: 'deposit', amount_kopeks: 50_000, amount_rubles: 500 };
    const details = {
      payment_method: 'yookassa',
      external_id: `payment-${id}`,
      is_completed: true,
      description: 'Balance top-up',
    };
    deliver({
      id,
      type: 'payment.completed',
      payload: { ...payload, ...details },
      audience: 'feed',
      userId: 17,
      createdAt: new Date(),
      positionText: `fUFkq-Yydvk_gAIAAA.${id.toString(36)}`,
    });
  };
  const clients = Array.from({ length: CLIENT_PROCESSES }, () => fork(import.meta.filename, ['client']));
  try {
    const url = `ws://127.0.0.1:${(http.address() as AddressInfo).port}/ws?token=bench`;
    const startedAt = now();
    await Promise.all(
      clients.map((client) => {
        const answer = answerOf<string>(client);
        client.send({ connect: { url, sockets: Math.floor(sockets / CLIENT_PROCESSES) } } satisfies ToClient);
        return answer;
      }),
    );
    const connected = realtime.counts().ws;
    const connectSeconds = (now() - startedAt) / 1000;
    const kilobytesEach = (process.memoryUsage().rss - memoryBefore) / 1024 / connected;
    console.log(
      `connected ${connected} sockets in ${connectSeconds.toFixed(1)} s, ${kilobytesEach.toFixed(1)} KiB of memory each`,
    );
    emit();
    await wait(WARM_UP_MS);
    await reportOf(clients);
    await measureRate(clients, emit, { connected, messagesPerSecond, seconds });
    await measureFlood(clients, emit, connected);
  } finally {
    for (const client of clients) client.disconnect();
    await realtime.close();
    http.close();
  }
}

/** Events evenly spread in time. */
async function measureRate(
  clients: ChildProcess[],
  emit: () => void,
  { connected, messagesPerSecond, seconds }: { connected: number; messagesPerSecond: number; seconds: number },
): Promise<void> {
  const events = Math.max(1, Math.round((messagesPerSecond * seconds) / connected));
  const loop = monitorEventLoopDelay({ resolution: 5 });
  const cpu = process.cpuUsage();
  const startedAt = now();
  loop.enable();
  for (let index = 0; index < events; index += 1) {
    await wait(Math.max(0, startedAt + (index * seconds * 1000) / events - now()));
    emit();
  }
  const elapsed = (now() - startedAt) / 1000;
  const used = process.cpuUsage(cpu);
  loop.disable();
  await wait(WARM_UP_MS);
  const report = await reportOf(clients);
  const load = ((used.user + used.system) / 1e6 / elapsed) * 100;
  const ages = [0.5, 0.99, 1].map((share) => percentileMs(report, share).toFixed(1));
  console.log(
    `at ${Math.round((events * connected) / seconds)} msg/s: received ${report.received} of ${events * connected}, ` +
      `latency p50 ${ages[0]} ms, p99 ${ages[1]} ms, max ${ages[2]} ms; server CPU ${load.toFixed(0)} %, ` +
      `event loop delay p99 ${(loop.percentile(99) / 1e6).toFixed(1)} ms; dropped ${report.closed}`,
  );
}

/** The next event as soon as the clients have the last one. */
async function measureFlood(clients: ChildProcess[], emit: () => void, connected: number): Promise<void> {
  const startedAt = now();
  let received = 0;
  let closed = 0;
  while (now() - startedAt < FLOOD_SECONDS * 1000) {
    for (let index = 0; index < 10; index += 1) emit();
    for (let got = 0; got < 10 * connected && closed === 0; ) {
      const report = await reportOf(clients);
      got += report.received;
      received += report.received;
      closed = report.closed;
    }
  }
  const rate = received / ((now() - startedAt) / 1000);
  console.log(`as fast as received: ${Math.round(rate)} msg/s in bursts of ten events; dropped ${closed}`);
}

const [first = '5000', rate = '30000', seconds = '10'] = process.argv.slice(2);
if (first === 'client') runClient();
else await runServer(Number(first), Number(rate), Number(seconds));
