/** Two instances of the built service on one PostgreSQL, as an operator runs them. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRequester, type Requester, until } from '../../packages/measures/src/demo/http.ts';
import { type ServiceProcess, startServiceProcess } from '../../packages/measures/src/demo/service-process.ts';
import { memoryStore } from '../../packages/sandbox/src/host-ports.ts';
import { signInitData } from '../../packages/sandbox/src/messenger/messenger-state.ts';
import { type SandboxPanel, startSandboxPanel } from '../../packages/sandbox/src/panel/sandbox-panel.ts';
import { systemClock } from '../../src/core/clock.ts';
import { emptyDatabaseOnServer, serverUrl } from '../support/test-database.ts';

const PANEL_KEY = 'panel-key-of-this-test';
const PURCHASES = 200;
const LANES = 10;

// In this order: the last test kills an instance.
describe.skipIf(!serverUrl)(
  'two instances on one PostgreSQL (left out without a server: TEST_DATABASE_URL)',
  { shuffle: false },
  () => {
    let database: { url: string; drop(): Promise<void> };
    let sql: pg.Pool;
    let panel: SandboxPanel;
    let first: ServiceProcess;
    let second: ServiceProcess;
    let token: string;
    const requesterOf = (service: ServiceProcess, headers: Record<string, string> = {}): Requester =>
      createRequester(service.url, { 'x-api-key': token, ...headers });

    const startInstance = () =>
      startServiceProcess({
        environment: {
          DATABASE_URL: database.url,
          // One real panel for both, as outside of the sandbox; everything else is a fake.
          SANDBOX: 'on',
          VPNPANEL_API_URL: panel.url,
          VPNPANEL_API_KEY: PANEL_KEY,
          DATABASE_POOL_SIZE: '10',
          LOG_LEVEL: 'warn',
        },
      });

    beforeAll(async () => {
      database = await emptyDatabaseOnServer();
      sql = new pg.Pool({ connectionString: database.url, max: 4 });
      panel = await startSandboxPanel({
        state: memoryStore(),
        clock: systemClock,
        apiKey: PANEL_KEY,
      });
      first = await startInstance();
      token = first.apiToken!;
      second = await startInstance();
    });
    afterAll(async () => {
      await Promise.all([first?.stop(), second?.stop()]);
      await panel?.close();
      await sql?.end();
      await database?.drop();
    });

    test('an event made on one reaches the sockets of both', async () => {
      const seen: Record<string, string[]> = { first: [], second: [] };
      const sockets = await Promise.all(
        Object.entries({ first, second }).map(async ([name, service]) => {
          const socket = new WebSocket(`${service.url.replace('http', 'ws')}/ws?token=${token}`);
          await new Promise<void>((resolve) => {
            socket.addEventListener('message', (message) => {
              const frame = JSON.parse(String(message.data)) as { type: string; payload?: { messenger_id: number } };
              if (frame.type === 'connection') resolve();
              else seen[name]!.push(`${frame.type} ${frame.payload?.messenger_id}`);
            });
          });
          return socket;
        }),
      );
      expect((await requesterOf(first).post('/users', { messenger_id: 7_000_000_001 })).status).toBe(200);
      expect((await requesterOf(second).post('/users', { messenger_id: 7_000_000_002 })).status).toBe(200);
      for (const name of ['first', 'second']) {
        await until(
          `events on ${name}`,
          async () => seen[name]!,
          (events) => ['user.created 7000000001', 'user.created 7000000002'].every((event) => events.includes(event)),
        );
        expect(seen[name]!.filter((event) => event === 'user.created 7000000001')).toHaveLength(1);
      }
      for (const socket of sockets) socket.close();
    });

    test('a webhook is delivered once', async () => {
      const received: string[] = [];
      const receiver = createServer((request, response) => {
        request.resume();
        received.push(String(request.headers['webhook-id']));
        response.end();
      });
      await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
      const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
      const hook = await requesterOf(first).post('/webhooks', { name: 'once', url, event_type: 'user.created' });
      expect(hook.status).toBe(200);
      for (let i = 0; i < 10; i++) await requesterOf(i % 2 ? first : second).post('/users', { messenger_id: 7_000_000_100 + i });
      // Settled on both: another attempt would be another row.
      const { items } = await until(
        'ten deliveries',
        async () => (await requesterOf(second).get(`/webhooks/${hook.body.id}/deliveries`)).body,
        ({ items }) => items.length >= 10 && items.every((item: { status: string }) => item.status === 'success'),
      );
      expect(items).toHaveLength(10);
      expect(received).toHaveLength(10);
      expect(new Set(received).size).toBe(10);
      receiver.close();
    });

    test('a revoked API token stops working on both', async () => {
      const made = (await requesterOf(first).post('/tokens', { name: 'to be revoked' })).body;
      const with2 = (service: ServiceProcess) => createRequester(service.url, { 'x-api-key': made.token });
      for (const service of [first, second]) expect((await with2(service).get('/tokens')).status).toBe(200);
      expect((await requesterOf(first).post(`/tokens/${made.id}/revoke`)).status).toBe(200);
      for (const service of [first, second]) {
        await until(
          'the refusal',
          () => with2(service).get('/tokens'),
          (reply) => reply.status === 401,
        );
      }
    });

    test('kill -9 in the middle of 200 parallel purchases loses and doubles nothing, and the panel converges', async () => {
      const secrets = (
        await sql.query<{ value: { botToken: string } }>("SELECT value FROM service_state WHERE key = 'sandbox:secrets'")
      ).rows[0]!.value;
      const tariffs = await until(
        'a tariff',
        async () =>
          (
            await sql.query<{ id: number; period_prices: Record<string, number> }>(
              'SELECT id, period_prices FROM tariffs WHERE is_active',
            )
          ).rows,
        (rows) => rows.length > 0,
      );
      const tariff = tariffs[0]!;
      const [days, price] = Object.entries(tariff.period_prices).sort(([, a], [, b]) => a - b)[0]!;
      const users = Array.from({ length: PURCHASES }, (_value, i) => ({ messengerId: 7_100_000_000 + i, key: `purchase-${i}` }));
      // A few at a time: two hundred would wait for a connection longer than a request may on a busy machine.
      const lane = async (start: number): Promise<void> => {
        for (let i = start; i < PURCHASES; i += LANES) {
          const { messengerId } = users[i]!;
          expect((await requesterOf(first).post('/users', { messenger_id: messengerId })).status).toBe(200);
          // Money for exactly one purchase: a doubled one would be refused or show in the ledger.
          expect((await requesterOf(second).post(`/users/${messengerId}/balance`, { amount_kopeks: price })).status).toBe(200);
        }
      };
      await Promise.all(Array.from({ length: LANES }, (_value, start) => lane(start)));
      const sessions: string[] = [];
      for (const user of users) {
        const initData = signInitData(secrets.botToken, { id: user.messengerId, first_name: 'Buyer' }, new Date());
        // Sign-in is limited per address; this test is one address with two hundred users, so it asks the database to forget.
        const reply = await signIn(user.messengerId, initData);
        sessions.push(reply);
      }

      const buy = (service: ServiceProcess, index: number) =>
        createRequester(service.url, { authorization: `Bearer ${sessions[index]}`, 'idempotency-key': users[index]!.key })
          .post('/cabinet/subscription/purchase-tariff', { tariff_id: tariff.id, period_days: Number(days) })
          .then((reply) => reply.status)
          .catch(() => 0);
      let answered = 0;
      let killed: Promise<void> | null = null;
      const outcomes = await Promise.all(
        users.map(async (_user, index) => {
          const status = await buy(index % 2 ? first : second, index);
          answered += 1;
          if (answered === 40) killed = second.kill();
          return status;
        }),
      );
      await killed;
      expect(outcomes.some((status) => status === 0)).toBe(true);
      // The client's retry with the same key: what was done is answered, what was not is done now.
      for (let index = 0; index < users.length; index++) {
        if (outcomes[index] !== 200) expect(await buy(first, index)).toBe(200);
      }

      const payments = await sql.query<{ user_id: number; count: number }>(
        `SELECT t.user_id, count(*)::int AS count FROM transactions t JOIN users u ON u.id = t.user_id
       WHERE t.type = 'subscription_payment' AND u.messenger_id >= 7100000000 GROUP BY t.user_id`,
      );
      expect(payments.rows).toHaveLength(PURCHASES);
      expect(payments.rows.every((row) => row.count === 1)).toBe(true);
      expect((await sql.query('SELECT * FROM ledger_check()')).rows).toEqual([]);
      await until(
        'the panel in step',
        async () =>
          (await sql.query<{ left: number }>("SELECT count(*)::int AS left FROM subscriptions WHERE provision_state <> 'synced'"))
            .rows[0]!.left,
        (left) => left === 0,
        // A push that the killed instance had begun is free again after its lease.
        240_000,
      );
      const names = panel.listUsers(10_000).map((user) => user.username);
      expect(names).toHaveLength(PURCHASES);
      expect(new Set(names).size).toBe(PURCHASES);
      second = await startInstance();
    });

    async function signIn(messengerId: number, initData: string): Promise<string> {
      const reply = await createRequester(first.url).post('/cabinet/auth/messenger', { init_data: initData });
      if (reply.status === 429) {
        await sql.query('TRUNCATE rate_limit_windows');
        return signIn(messengerId, initData);
      }
      expect(reply.status).toBe(200);
      return reply.body.access_token as string;
    }
  },
);
