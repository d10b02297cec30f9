/** Starting, stopping and refusing to start, as an operator meets them. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createRequester, until } from '../../packages/measures/src/demo/http.ts';
import { startServiceProcess } from '../../packages/measures/src/demo/service-process.ts';
import { fillMigratedFolder } from '../support/migrated-folder.ts';

const server = join(import.meta.dirname, '..', '..', 'dist', 'server.js');
let dataDir: string;
beforeEach(async () => {
  // A space, as in many a home folder.
  dataDir = await mkdtemp(join(tmpdir(), 'start stop '));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

const startRefused = (environment: Record<string, string>) =>
  spawnSync(process.execPath, [server], {
    encoding: 'utf8',
    timeout: 120_000,
    env: { PATH: process.env.PATH, DATA_DIR: dataDir, PORT: '0', ...environment },
  });

describe('starting', () => {
  test('the first start leaves a token for its owner alone, and a second start goes on with the same data', async () => {
    const first = await startServiceProcess({ dataDir });
    expect((await stat(join(dataDir, 'api-token'))).mode & 0o777).toBe(0o600);
    const operator = createRequester(first.url, { 'x-api-key': first.apiToken! });
    expect((await operator.post('/users', { messenger_id: 4_242 })).status).toBe(200);
    expect(await first.stop()).toBe(0);
    expect(existsSync(join(dataDir, 'database.lock'))).toBe(false);

    const second = await startServiceProcess({ dataDir });
    expect(second.log.join('\n')).not.toContain('First API token');
    const again = createRequester(second.url, { 'x-api-key': first.apiToken! });
    expect((await again.get('/users/4242')).body.messenger_id).toBe(4_242);
    await second.stop();
  });

  test('a data folder in use is refused with words that help', async () => {
    await fillMigratedFolder(dataDir);
    const running = await startServiceProcess({ dataDir });
    const refused = startRefused({});
    expect(refused.status).toBe(1);
    expect(refused.stderr).toMatch(/in use by process \d+/);
    await running.stop();
  });

  test('spec 10 K8: a taken port is refused in one sentence before anything is made', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    const refused = startRefused({ HOST: '127.0.0.1', PORT: String(port) });
    other.close();
    expect([refused.status, refused.stderr]).toEqual([
      1,
      expect.stringMatching(new RegExp(`^Port ${port} of 127.0.0.1 is in use`)),
    ]);
    expect(refused.stderr.trim().split('\n')).toHaveLength(1);
    expect(await readdir(dataDir)).toEqual([]);
  });

  test('production names every risk at once and does not start', () => {
    const refused = startRefused({
      NODE_ENV: 'production',
      SANDBOX: 'on',
      CABINET_JWT_SECRET: 'changeme',
      WEB_API_DEFAULT_TOKEN: 'changeme',
      TRIAL_DURATION_DAYS: 'three',
    });
    expect(refused.status).toBe(1);
    for (const name of ['SANDBOX', 'DATABASE_URL', 'CABINET_JWT_SECRET', 'WEB_API_DEFAULT_TOKEN'])
      expect(refused.stderr).toMatch(new RegExp(`^ *${name}: `, 'm'));
    expect(refused.stderr).not.toContain('changeme');
    expect(existsSync(join(dataDir, 'database'))).toBe(false);
  });

  test('a setting from the environment that cannot be used is a reason, too', () => {
    const refused = startRefused({ TRIAL_DURATION_DAYS: 'three', SALES_MODE: 'barter' });
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain('TRIAL_DURATION_DAYS');
    expect(refused.stderr).toContain('SALES_MODE');
  });
});

describe('the log', () => {
  test('has no query string of a socket at any level: it carries the credential (spec 06 section 17, hazard 18)', async () => {
    await fillMigratedFolder(dataDir);
    const service = await startServiceProcess({ dataDir, environment: { LOG_LEVEL: 'trace' } });
    const socketUrl = service.url.replace('http', 'ws');
    const connect = (path: string) =>
      new Promise<string>((resolve) => {
        const socket = new WebSocket(`${socketUrl}${path}`);
        socket.addEventListener('message', () => resolve('message'));
        socket.addEventListener('close', () => resolve('closed'));
        socket.addEventListener('error', () => resolve('refused'));
      });
    expect(await connect(`/ws?api_key=${service.apiToken}&after=0`)).toBe('message');
    for (const path of ['/ws?token=query-secret-1', '/cabinet/ws?token=query-secret-2', '/nowhere?token=query-secret-3'])
      expect(await connect(path)).not.toBe('message');
    await service.stop();
    // The first start tells its owner the token.
    const log = service.log.filter((line) => !line.includes('First API token')).join('\n');
    expect(log).toContain('a socket was opened');
    expect(log).not.toContain(service.apiToken!);
    expect(log).not.toMatch(/query-secret|[?&](?:token|api_key|after)=/);
  });
});

describe('stopping', () => {
  test('SIGTERM under load: what was accepted is answered, sockets are notified, the exit is clean and in time', async () => {
    await fillMigratedFolder(dataDir);
    const service = await startServiceProcess({ dataDir });
    const operator = createRequester(service.url, { 'x-api-key': service.apiToken! });
    const closed = new Promise<number>((resolve) => {
      const socket = new WebSocket(`${service.url.replace('http', 'ws')}/ws?token=${service.apiToken}`);
      socket.addEventListener('close', (event) => resolve(event.code));
    });
    let stopping = false;
    const created: number[] = [];
    const broken: string[] = [];
    const client = async (offset: number): Promise<void> => {
      for (let i = 0; !stopping || i === 0; i++) {
        const messengerId = 10_000_000 + offset * 100_000 + i;
        try {
          const reply = await operator.post('/users', { messenger_id: messengerId });
          if (reply.status === 200) created.push(messengerId);
          else broken.push(`${reply.status} ${JSON.stringify(reply.body)}`);
        } catch (error) {
          // A connection that is refused was never accepted; one that breaks off in the middle would be a lost request.
          const code = (error as { cause?: { code?: string } }).cause?.code ?? String(error);
          if (code !== 'ECONNREFUSED') broken.push(code);
          return;
        }
      }
    };
    const clients = Promise.all(Array.from({ length: 20 }, (_value, i) => client(i)));
    await until(
      'some work',
      async () => created.length,
      (count) => count > 50,
    );
    const exit = service.stop();
    setTimeout(() => {
      stopping = true;
    }, 500);
    // A stop that takes longer than its time-out ends with 1.
    expect(await exit).toBe(0);
    await clients;
    expect(await closed).toBe(1001);
    // A keep-alive connection may be closed between two requests; the client's stack reports that as a closed socket.
    expect(broken.filter((problem) => !/UND_ERR_SOCKET|ECONNRESET|other side closed/.test(problem))).toEqual([]);

    const next = await startServiceProcess({ dataDir });
    const after = createRequester(next.url, { 'x-api-key': service.apiToken ?? next.apiToken! });
    for (const messengerId of created.slice(-20))
      expect((await after.get(`/users/by-messenger-id/${messengerId}`)).status).toBe(200);
    await next.stop();
  });
});

describe('the sandbox clock', () => {
  test('moved forward, it makes a subscription expire, here and at the panel', async () => {
    await fillMigratedFolder(dataDir);
    const service = await startServiceProcess({ dataDir });
    const operator = createRequester(service.url, { 'x-api-key': service.apiToken! });
    const user = (await operator.post('/users', { messenger_id: 77 })).body;
    const made = await operator.post('/subscriptions', { user_id: user.id, period_days: 1 });
    expect(made.status).toBe(200);
    const panelUsers = async () => (await operator.get('/sandbox/api/state')).body.users as { status: string }[];
    await until('the panel user', panelUsers, (users) => users[0]?.status === 'ACTIVE');
    const moved = await operator.post('/sandbox/api/clock', { advance_ms: 2 * 24 * 3_600_000 }, { 'x-sandbox-page': '1' });
    expect(moved.status).toBe(200);
    await until(
      'the expiry',
      async () => (await operator.get(`/subscriptions/${made.body.id}`)).body.status as string,
      (status) => status === 'expired',
      300_000,
    );
    await until('the panel', panelUsers, (users) => users[0]?.status !== 'ACTIVE');
    await service.stop();
  });
});
