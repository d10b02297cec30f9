/**
 * How long runs to the panel take (08 P13): all users are created there, then changed, then found to be in step.
 *   node scripts/on-runtime.mjs packages/measures/src/bench/panel-run.ts [--users 2000] [--delay 100] [--concurrency 8]
 * The panel is the fake one behind a proxy that answers each call after the delay (ms). The database is a scratch one on
 * `TEST_DATABASE_URL` or `DATABASE_URL`, else an embedded one. The aim: 20,000 users within 10 minutes at 100 ms.
 */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { connectOutsideSystems } from '../../../../src/composition/outside-systems.ts';
import { createService } from '../../../../src/composition/service.ts';
import type { App } from '../../../../src/core/app.ts';
import { systemClock } from '../../../../src/core/clock.ts';
import { loadEnv } from '../../../../src/core/env.ts';
import { createLogger } from '../../../../src/core/log.ts';
import { createMetrics } from '../../../../src/core/metrics.ts';
import { createRedactor } from '../../../../src/core/redaction.ts';
import { findRun } from '../../../../src/domain/provisioning/sync/run-repo.ts';
import { continueSync } from '../../../../src/domain/provisioning/sync/run-sync.ts';
import { startSync } from '../../../../src/domain/provisioning/sync/start-sync.ts';
import { createMemoryStore } from '../../../sandbox/src/panel/panel-state.ts';
import { startSandboxPanel } from '../../../sandbox/src/panel/sandbox-panel.ts';
import { readArguments } from '../read-arguments.ts';
import { createScratch, findServer } from './scratch-database.ts';

const HELP =
  'node scripts/on-runtime.mjs packages/measures/src/bench/panel-run.ts [--users 2000] [--delay 100] [--concurrency 8]';
const AIM = { users: 20_000, seconds: 600 };
const SQUAD = '5a11ad00-0000-4000-8000-000000000001';

const options = readArguments((args) => {
  const { values } = parseArgs({
    args: [...args],
    options: { users: { type: 'string' }, delay: { type: 'string' }, concurrency: { type: 'string' }, help: { type: 'boolean' } },
  });
  if (values.help) return 'help';
  const number = (name: 'users' | 'delay' | 'concurrency', standard: number) => {
    const value = Number(values[name] ?? standard);
    if (!Number.isInteger(value) || value < 0) throw new Error(`--${name} must be a whole number`);
    return value;
  };
  return { users: number('users', 2_000), delayMs: number('delay', 100), concurrency: number('concurrency', 8) };
}, HELP);

/** Hands every request on after the delay. */
async function startSlowProxy(target: string, delayMs: number) {
  const calls = { made: 0, underWay: 0, most: 0 };
  const server = createServer((incoming, outgoing) => {
    calls.made += 1;
    calls.underWay += 1;
    calls.most = Math.max(calls.most, calls.underWay);
    outgoing.on('close', () => {
      calls.underWay -= 1;
    });
    const { method, headers, url } = incoming;
    const onward = request(new URL(url ?? '/', target), { method: method ?? 'GET', headers }, (answer) => {
      void wait(delayMs).then(() => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, calls, close: () => new Promise((resolve) => server.close(resolve)) };
}

function seed(app: App, users: number): Promise<unknown> {
  return app.db.sql(
    `WITH made AS (
       INSERT INTO users (messenger_id, first_name, username, referral_code, promo_group_id)
       SELECT 8000000000 + n, 'User', 'name' || n, 'many' || n, (SELECT id FROM promo_groups WHERE is_default)
       FROM generate_series(1, $1::int) n RETURNING id)
     INSERT INTO subscriptions (user_id, status, start_date, end_date, traffic_limit_gb, device_limit, connected_squads)
     SELECT id, 'active', now(), now() + interval '30 days', 100, 2, $2::jsonb FROM made ORDER BY id RETURNING id`,
    [users, JSON.stringify([SQUAD])],
  );
}

/** One run, as the request and then the queue work on it. */
async function run(app: App) {
  let current = await startSync(app, { kind: 'system', name: 'measurement' }, { kind: 'to_panel' });
  while (current.status === 'running') {
    await continueSync(app, current.id, { untilMs: performance.now() + 60_000 });
    current = (await findRun(app.db, current.id))!;
    const { progress } = current.cursor;
    if (progress) console.log(`  ${progress.done} of ${progress.total}`);
  }
  return current;
}

const serverUrl = await findServer(process.env);
const database = await createScratch(serverUrl === null ? 'embedded' : 'postgres', serverUrl);
const panel = await startSandboxPanel({ state: createMemoryStore(), clock: systemClock });
const proxy = await startSlowProxy(panel.url, options.delayMs);
const metrics = createMetrics();
try {
  const env = loadEnv({
    ...database.environment,
    CABINET_JWT_SECRET: 'measurement-0123456789abcdef0123456789abcdef',
    LOG_LEVEL: 'error',
    SANDBOX: 'off',
    VPNPANEL_API_URL: proxy.url,
    VPNPANEL_API_KEY: panel.apiKey,
    VPNPANEL_CONCURRENCY: String(options.concurrency),
  });
  const log = createLogger({ level: 'error', format: 'json' });
  const instance = {
    version: () => '',
    sandboxKinds: () => [],
    poolCounters: () => ({ size: 0, inUse: 0, waiting: 0 }),
    isReady: () => true,
    isStuck: () => false,
    clockSkewMs: () => 0,
  };
  const service = await createService({
    ...{ env, log, metrics, redactor: createRedactor([]) },
    ports: async ({ database: { db }, settings }) => ({
      clock: systemClock,
      ports: connectOutsideSystems({ env, db, settings, clock: systemClock, log, metrics, sandbox: null, instance }),
    }),
  });
  try {
    const { app } = service;
    await seed(app, options.users);
    console.log(
      `${options.users} users, ${options.delayMs} ms a call, ${options.concurrency} at the same time, ${database.kind}`,
    );
    const steps: [string, () => Promise<unknown>][] = [
      ['create', async () => undefined],
      ['change', () => app.db.sql('UPDATE subscriptions SET traffic_limit_gb = 70, device_limit = 3')],
      ['in step', async () => undefined],
    ];
    for (const [name, prepare] of steps) {
      await prepare();
      // What was pushed at or after the reading of the list is not compared with it.
      await wait(1_000);
      const before = proxy.calls.made;
      const startedAt = performance.now();
      const { status, counts, error } = await run(app);
      const seconds = (performance.now() - startedAt) / 1000;
      const forAim = (seconds / options.users) * AIM.users;
      console.log(
        `${name}: ${seconds.toFixed(1)} s, ${proxy.calls.made - before} calls, at most ${proxy.calls.most} at the same time; ` +
          `created ${counts.created}, updated ${counts.updated}, errors ${counts.errors}, ${status}${error ? `: ${error}` : ''}; ` +
          `${AIM.users} users would take ${forAim.toFixed(0)} s (aim ${AIM.seconds})`,
      );
    }
  } finally {
    await service.close();
    service.app.ports.mail.close();
  }
} finally {
  metrics.close();
  await proxy.close();
  await panel.close();
  await database.drop();
}
