/** The route of the panel's webhooks (spec 06 section 12; spec 08 section 1). */
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { App } from '../../src/core/app.ts';
import { addDays } from '../../src/core/clock.ts';
import { createLogger } from '../../src/core/log.ts';
import { createMetrics } from '../../src/core/metrics.ts';
import { purgeOldRows } from '../../src/domain/ops/purge.ts';
import { createPanelEventPort } from '../../src/integrations/vpnpanel/panel-events.ts';
import {
  aProvisioned,
  callbackServer,
  eventRows,
  PANEL_PATH,
  PANEL_SECRET,
  PANEL_WEBHOOK_ON,
  panelBody,
  processWaiting,
  signed,
  userData,
} from '../support/panel-events.ts';
import { type ProvisioningTest, startAppWithPanel } from '../support/provisioning-setup.ts';
import { testApp } from '../support/test-app.ts';

let t: ProvisioningTest;
let app: App;
let server: FastifyInstance;
const lines: string[] = [];
beforeAll(async () => {
  t = await startAppWithPanel({ environment: { ...PANEL_WEBHOOK_ON, WEB_API_REQUEST_LOGGING: 'true' } });
  const log = createLogger({ level: 'trace', format: 'json', stream: { write: (line) => void lines.push(line) } });
  app = { ...t.app, log };
  server = await callbackServer(app);
  return async () => {
    await server.close();
    await t.panel.close();
  };
});
afterEach(async () => {
  await app.db.sql('DELETE FROM panel_events');
  await app.db.sql("DELETE FROM jobs.job WHERE name LIKE 'panel.%'");
});

const post = (payload: string | Buffer, headers: Record<string, string> = signed(payload), path = PANEL_PATH) =>
  server.inject({ method: 'POST', url: path, headers, payload });
const countJobs = async () => (await app.db.sql("SELECT id FROM jobs.job WHERE name = 'panel.process-event'")).length;
const anEvent = () => panelBody('node.created', t.clock.now(), { name: 'Amsterdam' });

describe('06 12: answers', () => {
  const wrong = { ...signed('{}'), 'x-remnawave-signature': 'f'.repeat(64) };
  const cases: [string, () => string, Record<string, string> | null, number, string][] = [
    ['empty body', () => '', null, 400, 'empty_body'],
    ['above 64 KiB', () => 'x'.repeat(65_537), null, 413, 'payload_too_large'],
    ['no signature', anEvent, { 'content-type': 'application/json' }, 401, 'missing_signature'],
    ['wrong signature', anEvent, wrong, 401, 'invalid_signature'],
    [
      'signature in upper case',
      () => '{}',
      { ...wrong, 'x-remnawave-signature': signed('{}')['x-remnawave-signature']!.toUpperCase() },
      401,
      'invalid_signature',
    ],
    [
      'signature with a prefix',
      () => '{}',
      { ...wrong, 'x-remnawave-signature': `sha256=${signed('{}')['x-remnawave-signature']}` },
      401,
      'invalid_signature',
    ],
    ['signature of another secret', () => '{}', signed('{}', 'another-secret-0123456789abcdef-0123'), 401, 'invalid_signature'],
    ['no JSON', () => '{"scope":', null, 400, 'invalid_json'],
    ['no event', () => '{"scope":"user","data":{}}', null, 400, 'missing_scope_or_event'],
    ['no object', () => '[1]', null, 400, 'missing_scope_or_event'],
  ];
  it.each(cases)('%s is refused and changes no row', async (_name, body, headers, status, reason) => {
    const reply = await post(body(), headers ?? signed(body()));
    expect([reply.statusCode, reply.json()]).toEqual([status, { status: 'error', reason }]);
    expect([await eventRows(app), await countJobs()]).toEqual([[], 0]);
  });

  it('GET shows that it is on', async () => {
    const reply = await server.inject({ method: 'GET', url: PANEL_PATH });
    expect([reply.statusCode, reply.json()]).toEqual([200, { status: 'ok', service: 'vpnpanel_webhook', enabled: true }]);
  });

  it('other methods and the internal path do not exist', async () => {
    expect((await server.inject({ method: 'PUT', url: PANEL_PATH, payload: {} })).statusCode).toBe(404);
    expect((await post(anEvent(), undefined, '/~callbacks/vpnpanel-events')).statusCode).toBe(404);
  });

  it.each([
    ['switched off', { VPNPANEL_WEBHOOK_SECRET: PANEL_SECRET }],
    ['without a secret', { VPNPANEL_WEBHOOK_ENABLED: 'true' }],
  ])('%s there is no such route', async (_name, environment) => {
    const other = await callbackServer((await testApp({ environment: environment as Record<string, string> })).app);
    onTestFinished(() => other.close());
    const body = anEvent();
    const reply = await other.inject({ method: 'POST', url: PANEL_PATH, headers: signed(body), payload: body });
    expect(reply.statusCode).toBe(404);
  });

  it('the path is a setting', async () => {
    const changed = await testApp({ environment: { ...PANEL_WEBHOOK_ON, VPNPANEL_WEBHOOK_PATH: '/from-the-panel' } });
    const other = await callbackServer(changed.app);
    onTestFinished(() => other.close());
    const body = anEvent();
    const call = (url: string) => other.inject({ method: 'POST', url, headers: signed(body), payload: body });
    expect([(await call('/from-the-panel/')).statusCode, (await call(PANEL_PATH)).statusCode]).toEqual([200, 404]);
  });

  it('without a database: 503 with Retry-After', async () => {
    const away = () => Promise.reject(Object.assign(new Error('terminating connection'), { code: '57P01' }));
    const other = await callbackServer({ ...app, db: { ...app.db, sql: away } });
    onTestFinished(() => other.close());
    const body = anEvent();
    const reply = await other.inject({ method: 'POST', url: PANEL_PATH, headers: signed(body), payload: body });
    expect([reply.statusCode, reply.headers['retry-after'], reply.json()]).toEqual([
      503,
      '5',
      { status: 'error', reason: 'database_unavailable' },
    ]);
  });
});

describe('06 section 17, hazard 9: replays', () => {
  it('the same body twice, also at once, is one row and one job', async () => {
    const body = anEvent();
    const replies = await Promise.all([post(body), post(body), post(body)]);
    expect(replies.map((reply) => [reply.statusCode, reply.json()])).toEqual(
      Array(3).fill([200, { status: 'ok', processed: true }]),
    );
    expect([(await eventRows(app)).length, await countJobs()]).toEqual([1, 1]);
  });

  it('what happened more than a day ago, or in the future, is not taken', async () => {
    for (const hours of [-25, 1]) {
      const body = panelBody('node.created', new Date(t.clock.now().getTime() + hours * 3_600_000), { name: 'n' });
      expect((await post(body)).json()).toEqual({ status: 'ok', processed: false });
    }
    expect(await eventRows(app)).toEqual([]);
  });

  it('the row of a callback stays for longer than a day', async () => {
    await post(anEvent());
    await app.db.sql('UPDATE panel_events SET received_at = $1::timestamptz RETURNING id', [addDays(t.clock.now(), -6)]);
    await purgeOldRows(app);
    expect(await eventRows(app)).toHaveLength(1);
    await app.db.sql('UPDATE panel_events SET received_at = $1::timestamptz RETURNING id', [addDays(t.clock.now(), -8)]);
    await purgeOldRows(app);
    expect(await eventRows(app)).toEqual([]);
  });

  it('events without an effect are acknowledged and not stored', async () => {
    for (const event of ['user.created', 'torrent_blocker.report', 'service.api_token_created', 'user.__proto__', 'made.up']) {
      expect((await post(panelBody(event, t.clock.now(), {}))).json()).toEqual({ status: 'ok', processed: false });
    }
    expect(await eventRows(app)).toEqual([]);
  });
});

describe('08 1: what is stored', () => {
  it('no credential, link, contact or private key of any body reaches a row, a job or the log', async () => {
    const { panelUser } = await aProvisioned(t);
    const secrets = {
      trojanPassword: 'SECRET-trojan',
      vlessUuid: 'SECRET-vless',
      ssPassword: 'SECRET-ss',
      shortUuid: 'SECRET-short',
      username: 'SECRET-username',
      email: 'SECRET@example.com',
      description: 'SECRET-description',
      subscriptionUrl: 'https://sub.example.com/SECRET-link',
      happ: { cryptoLink: 'happ://SECRET' },
      unheardOf: { deeply: ['SECRET-new-field'] },
    };
    const user = userData(panelUser, secrets);
    const inbound = { rawInbound: { streamSettings: { realitySettings: { privateKey: 'SECRET-private-key' } } } };
    const node = {
      uuid: 'SECRET-node',
      name: 'Amsterdam',
      address: 'SECRET-address',
      configProfile: { activeInbounds: [inbound] },
    };
    const hwidUserDevice = { hwid: 'device-0-SECRET-hwid', platform: 'iOS', userAgent: 'SECRET-agent', requestIp: 'SECRET-ip' };
    const login = { username: 'root', password: 'SECRET-password', ip: '203.0.113.7', userAgent: 'SECRET-agent' };
    const bodies: [string, object][] = [
      ['user.modified', user],
      ['user.revoked', user],
      ['user_hwid_devices.added', { hwidUserDevice, user }],
      ['node.modified', node],
      ['service.login_attempt_failed', { loginAttempt: login }],
      ['crm.infra_billing_node_payment_due_today', { nodeName: 'n', providerName: 'p', loginUrl: 'https://SECRET-login' }],
      ['user.modified', { ...user, status: { SECRET: 'SECRET' }, expireAt: 'SECRET', trafficLimitBytes: 'SECRET' }],
    ];
    for (const [event, data] of bodies) expect((await post(panelBody(event, t.clock.now(), data))).statusCode).toBe(200);
    await post(`${panelBody('user.modified', t.clock.now(), user)} SECRET-trailing`);
    await processWaiting(app);
    expect((await eventRows(app)).map(({ event }) => event)).toEqual(bodies.map(([event]) => event));
    const rows = await app.db.sql<{ text: string }>(
      "SELECT e::text AS text FROM panel_events e UNION ALL SELECT data::text FROM jobs.job WHERE name LIKE 'panel.%'",
    );
    expect(rows.length).toBeGreaterThan(bodies.length);
    expect(lines.length).toBeGreaterThan(bodies.length);
    for (const text of [...rows.map((row) => row.text), ...lines]) expect(text).not.toContain('SECRET');
  });

  it('the fields stored are those of the list', async () => {
    const { panelUser, user } = await aProvisioned(t);
    await post(panelBody('user.modified', t.clock.now(), userData(panelUser)));
    const [row] = await eventRows(app);
    expect(row!.userId).toBe(user.id);
    expect(Object.keys(row!.data).sort()).toEqual(['expireAt', 'percent', 'status', 'trafficLimitBytes', 'usedTrafficBytes']);
  });

  it('hostile values are stored without half characters and never fail the request', async () => {
    const data = { name: `a\u0000b\ud800${'😀'.repeat(300)}`, nodeName: 5, providerName: null, panelVersion: [] };
    expect((await post(panelBody('node.created', t.clock.now(), data))).statusCode).toBe(200);
    for (const body of [{ data: null }, { data: [] }, { data: 'x', meta: 7 }, { data: { id: -1, uuid: "' OR 1" }, meta: [] }]) {
      const text = JSON.stringify({ scope: 'user', event: 'user.expired', timestamp: 'never', ...body });
      expect((await post(text)).statusCode).toBe(200);
    }
    expect(await processWaiting(app)).toEqual(['switched_off', ...Array(4).fill('unknown_user')]);
  });
});

it('the metric counts what was received, refused, repeated, ignored and processed', async () => {
  const metrics = createMetrics();
  const panelEvents = createPanelEventPort({ secret: () => PANEL_SECRET, count: (outcome) => metrics.countPanelEvent(outcome) });
  const counted: App = { ...app, ports: { ...app.ports, panelEvents } };
  const other = await callbackServer(counted);
  onTestFinished(() => other.close());
  const send = (body: string, headers = signed(body)) =>
    other.inject({ method: 'POST', url: PANEL_PATH, headers, payload: body });
  const body = anEvent();
  await send(body);
  await send(body);
  await send(body, { 'content-type': 'application/json' });
  await send(panelBody('made.up', t.clock.now(), {}));
  await processWaiting(counted);
  const text = await metrics.render();
  for (const outcome of ['received', 'repeated', 'refused', 'ignored', 'processed']) {
    expect(text).toContain(`panel_webhook_events_total{outcome="${outcome}"} 1`);
  }
  metrics.close();
});
