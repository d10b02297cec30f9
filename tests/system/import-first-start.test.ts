/** Spec 07 sections 2 and 9: the built service after an import says nothing to anybody while nothing is due (hazard I7). */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRequester, type Requester, until } from '../../packages/measures/src/demo/http.ts';
import { type ServiceProcess, startServiceProcess } from '../../packages/measures/src/demo/service-process.ts';
import { publishFakes } from '../../packages/measures/src/drills/fake-host.ts';
import { createMemoryStore } from '../../packages/sandbox/src/panel/panel-state.ts';
import { type SandboxPanel, startSandboxPanel } from '../../packages/sandbox/src/panel/sandbox-panel.ts';
import { systemClock } from '../../src/core/clock.ts';
import { type MadeSource, makeSource } from '../support/import-sources.ts';
import { runCommand } from '../support/run-cli.ts';
import { emptyDatabaseOnServer, serverUrl } from '../support/test-database.ts';

const PANEL_KEY = 'panel-key-of-the-first-start';

/** Leaves nothing that the service would have to do: no end, renewal, daily charge, payment, gift or lookup is due. */
const NOTHING_DUE = `
  UPDATE subscriptions s SET autopay_enabled = false, is_daily_paused = true, traffic_used_gb = 0,
    end_date = CASE WHEN s.end_date > now() AND u.remnawave_uuid ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' AND s.status IN ('active', 'limited')
      THEN now() + interval '90 days' ELSE now() - interval '60 days' END
    FROM users u WHERE u.id = s.user_id;
  UPDATE users SET promo_group_id = promo_group_id, updated_at = now(), last_activity = now();
  UPDATE webhook_deliveries SET status = 'pending';
  DELETE FROM guest_purchases WHERE status = 'paid';
  DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT table_name FROM information_schema.columns WHERE table_schema = 'public' AND table_name LIKE '%\\_payments' AND column_name = 'transaction_id'
    LOOP EXECUTE format('DELETE FROM %I WHERE transaction_id IS NULL', name); END LOOP; END $$`;

/** What the outside systems but the panel are asked: `POST /bot.../sendMessage`. The credential is left out. */
const requests: string[] = [];

/** Asks and changes nothing that a person or money may notice. */
const IS_QUESTION = /^GET |\/bot\/get/;

function startOutside(): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume();
    requests.push(`${request.method} ${request.url!.replace(/bot[^/]+/, 'bot')}`);
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        ok: true,
        result: { message_id: requests.length, id: 1, is_bot: true, first_name: 'Bot', username: 'bot' },
      }),
    );
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

const addressOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

describe.skipIf(!serverUrl)('the first start of the built service (left out without a server: TEST_DATABASE_URL)', () => {
  let made: MadeSource;
  let panel: SandboxPanel;
  let outside: Server;
  let service: ServiceProcess;
  let api: Requester;
  let database: pg.Pool;
  const closing: (() => Promise<unknown>)[] = [];
  const panelChanges = () => panel.calls().filter(({ method }) => method !== 'GET');

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'import-first-start-'));
    const [source, target] = [await emptyDatabaseOnServer(), await emptyDatabaseOnServer()];
    outside = await startOutside();
    panel = await startSandboxPanel({ state: createMemoryStore(), clock: systemClock, apiKey: PANEL_KEY });
    database = new pg.Pool({ connectionString: target.url, max: 2 });
    closing.push(
      () => panel.close(),
      async () => void outside.close(),
      () => database.end(),
      () => source.drop(),
      () => target.drop(),
      () => rm(folder, { recursive: true, force: true }),
    );
    made = await makeSource(source.url, ['--users', '60', '--now', new Date().toISOString()]);
    const old = new pg.Client({ connectionString: source.url });
    await old.connect();
    await old.query(NOTHING_DUE).finally(() => old.end());
    const ran = await runCommand(['import', 'run', source.url], { DATABASE_URL: target.url, DATA_DIR: folder, ADMIN_EMAILS: '' });
    expect([ran.code, ran.err.slice(-500)]).toEqual([0, expect.any(String)]);
    const url = addressOf(outside);
    const addresses = { panelUrl: panel.url, paymentsUrl: url, receiptsUrl: url, messengerUrl: url, mailUrl: url };
    await publishFakes((text) => database.query(text), { ...addresses, instance: 'test', banSystemUrl: '', serviceUrl: '' });
    // The panel is empty, as one whose users are lost: nobody of the import is created there until the operator says so.
    const known = await runCommand(['import', 'check-panel', '--create-unknown'], {
      DATABASE_URL: target.url,
      DATA_DIR: folder,
      ADMIN_EMAILS: '',
      VPNPANEL_API_URL: panel.url,
      VPNPANEL_API_KEY: PANEL_KEY,
    });
    expect([known.code, known.err.slice(-500)]).toEqual([1, expect.any(String)]);
    service = await startServiceProcess({
      dataDir: folder,
      environment: {
        DATABASE_URL: target.url,
        SANDBOX: 'on',
        VPNPANEL_API_URL: panel.url,
        VPNPANEL_API_KEY: PANEL_KEY,
        LOG_LEVEL: 'warn',
      },
    });
    closing.unshift(() => service.stop());
    const { token } = made.credentials.api_tokens.find(
      ({ active, works_with: needs }) => active && Object.keys(needs).length === 0,
    )!;
    api = createRequester(service.url, { 'x-api-key': token });
  });
  afterAll(async () => {
    for (const close of closing) await close();
  });

  test('changes nothing at the panel and sends nothing, then what a person does reaches both', async () => {
    const { rows } = await database.query<{ id: number; ticket: number }>(
      `SELECT s.id, t.id AS ticket FROM subscriptions s JOIN users u ON u.id = s.user_id JOIN tickets t ON t.user_id = u.id
       WHERE s.status = 'active' AND s.end_date > now() AND u.status = 'active' AND u.messenger_id IS NOT NULL ORDER BY 1 LIMIT 1`,
    );
    await until(
      'the first round of every schedule',
      async () => {
        const [found] = (
          await database.query<{ sent: number; open: number }>(
            `SELECT (SELECT count(*)::int FROM service_state WHERE key LIKE 'schedule:%') AS sent,
               (SELECT count(*)::int FROM jobs.job WHERE state < 'completed' AND start_after <= now()) AS open`,
          )
        ).rows;
        return found!;
      },
      ({ sent, open }) => sent > 30 && open === 0,
    );
    expect([panelChanges(), requests.filter((line) => !IS_QUESTION.test(line))]).toEqual([[], []]);
    expect((await database.query('SELECT count(*)::int AS count FROM webhook_deliveries')).rows).toEqual([{ count: 0 }]);
    expect((await api.post(`/subscriptions/${rows[0]!.id}/extend`, { days: 5 })).status).toBe(200);
    expect((await api.post(`/tickets/${rows[0]!.ticket}/reply`, { message_text: 'Hello' })).status).toBe(200);
    await until(
      'the change at the panel',
      async () => panelChanges().length,
      (count) => count > 0,
    );
    await until(
      'the message',
      async () => requests.filter((line) => / \/bot\/send/.test(line)).length,
      (count) => count > 0,
    );
  });
});
