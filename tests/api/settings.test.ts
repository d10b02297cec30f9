import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { settingKeys } from '../../src/domain/settings/catalogue/catalogue.ts';
import { SECRET_MASK } from '../../src/domain/settings/mask-value.ts';
import { refreshSettings } from '../../src/domain/settings/settings-store.ts';
import { type ActorClient, adminClient } from '../support/actors.ts';
import { type ApiClient, testServer, tokenClient } from '../support/api.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const ADMIN = '/cabinet/admin/settings';
let t: TestApp;
let server: FastifyInstance;
let api: ApiClient;
let admin: ActorClient;
let owner: ActorClient;

beforeAll(async () => {
  t = await testApp({ environment: { SMTP_PASSWORD: 'from the environment' } });
  server = await testServer(t.app);
  api = await tokenClient(t.app, server);
  admin = await adminClient(t.app, server, ['settings:*'], 100);
  owner = await adminClient(t.app, server, ['*:*'], 999);
});
afterAll(() => server.close());
beforeEach(async () => {
  await t.app.db.sql('DELETE FROM system_settings');
  await refreshSettings(t.app);
});

async function storedRow(key: string) {
  const [row] = await t.app.db.sql<{ value: string | null }>('SELECT value FROM system_settings WHERE key = $1', [key]);
  return row ?? null;
}

/** Everything in the audit log about this administrator, as text. */
async function auditText(actor: ActorClient): Promise<string> {
  await t.app.ports.audit.flush();
  const rows = await t.app.db.sql(
    'SELECT action, resource_id, status, details FROM admin_audit_log WHERE user_id = $1::int ORDER BY id',
    [actor.user.id],
  );
  return JSON.stringify(rows);
}

describe('reading', () => {
  it('lists every setting but those that only the environment sets, by category label and key', async () => {
    const { body } = await api.get('/settings');
    const keys = body.map((setting: { key: string }) => setting.key);
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys.length).toBe(settingKeys.length - 2);
    for (const excluded of ['BOT_TOKEN', 'ADMIN_IDS']) {
      expect(keys).not.toContain(excluded);
      expect(await api.get(`/settings/${excluded}`)).toMatchObject({ status: 404, body: { detail: 'Setting not found' } });
      expect((await api.put(`/settings/${excluded}`, { value: 'x' })).status).toBe(404);
      expect((await api.delete(`/settings/${excluded}`)).status).toBe(404);
    }
    const labels = body.map((setting: { category: { label: string } }) => setting.category.label.toLowerCase());
    expect(labels).toEqual([...labels].sort());
  });

  it('counts the settings of each category, and lists one', async () => {
    const categories = (await api.get('/settings/categories')).body;
    const all = (await api.get('/settings')).body;
    expect(categories.reduce((sum: number, category: { items: number }) => sum + category.items, 0)).toBe(all.length);
    const support = (await api.get('/settings', { query: { category_key: 'SUPPORT' } })).body;
    expect(support.length).toBe(categories.find((category: { key: string }) => category.key === 'SUPPORT').items);
    expect(await api.get('/settings', { query: { category_key: 'NO_SUCH' } })).toMatchObject({ status: 200, body: [] });
  });

  it('describes to administrators what a setting is for', async () => {
    const { body } = await admin.get(`${ADMIN}/SUPPORT_TICKET_SLA_MINUTES`);
    expect(body).toEqual({
      key: 'SUPPORT_TICKET_SLA_MINUTES',
      name: 'Support Ticket Sla Minutes',
      category: { key: 'SUPPORT', label: expect.any(String) },
      type: 'int',
      is_optional: false,
      current: 5,
      original: 5,
      has_override: false,
      read_only: false,
      choices: [],
      hint: { description: expect.any(String), format: expect.any(String), example: '5 min', warning: expect.any(String) },
    });
    const categories = (await admin.get(`${ADMIN}/categories`)).body;
    expect(categories.find((category: { key: string }) => category.key === 'SUPPORT').description).not.toBe('');
  });

  it('masks every secret for tokens and administrators (spec 06 section 6.4)', async () => {
    for (const reply of [await api.get('/settings'), await owner.get(ADMIN)]) {
      expect(reply.text).not.toContain('from the environment');
      expect(reply.text).not.toContain('tests-only-0123456789abcdef');
      const secret = reply.body.find((setting: { key: string }) => setting.key === 'SMTP_PASSWORD');
      expect(secret).toMatchObject({ current: SECRET_MASK, original: SECRET_MASK });
    }
  });
});

describe('changing', () => {
  it('stores, takes effect, and goes back to the default (row 18)', async () => {
    const changed = await api.put('/settings/TRIAL_DURATION_DAYS', { value: '7' });
    expect(changed.body).toMatchObject({ current: 7, original: 3, has_override: true });
    expect(t.app.settings.get('TRIAL_DURATION_DAYS')).toBe(7);
    expect((await api.delete('/settings/TRIAL_DURATION_DAYS')).body).toEqual({
      key: 'TRIAL_DURATION_DAYS',
      name: 'Trial Duration Days',
      category: { key: 'TRIAL', label: expect.any(String) },
      type: 'int',
      is_optional: false,
      has_override: false,
      current: 3,
      original: 3,
      read_only: false,
      choices: [],
    });
    expect(await storedRow('TRIAL_DURATION_DAYS')).toBeNull();
    expect((await api.delete('/settings/TRIAL_DURATION_DAYS')).body).toMatchObject({ current: 3, has_override: false });
    expect((await api.delete('/settings/NO_SUCH_KEY')).body).toEqual({ detail: 'Setting not found' });
  });

  it('the environment takes precedence over an override', async () => {
    expect((await api.put('/settings/BOT_USERNAME', { value: 'other_bot' })).body).toMatchObject({
      current: 'test_bot',
      has_override: false,
    });
    expect(await storedRow('BOT_USERNAME')).toEqual({ value: 'other_bot' });
  });

  it.each([
    ['TRIAL_DURATION_DAYS', null, 400, 'Value is required'],
    ['TRIAL_DURATION_DAYS', 'many', 400, 'Invalid value type'],
    ['TRIAL_DURATION_DAYS', 1.5, 400, 'Invalid value type'],
    ['TRIAL_DURATION_DAYS', [7], 400, 'Invalid value type'],
    ['TRIAL_DURATION_DAYS', { days: 7 }, 400, 'Invalid value type'],
    ['DEBUG', 1, 400, 'Invalid value type'],
    ['MAIN_MENU_MODE', 'square', 400, 'Value must be one of: default, cabinet'],
    ['REFERRAL_COMMISSION_PERCENT', 101, 400, 'Value must be at most 100'],
    ['REFERRAL_COMMISSION_PERCENT', -1, 400, 'Value must be at least 0'],
    ['VPNPANEL_WEBHOOK_SECRET', 'short', 400, 'Value must have at least 32 characters'],
    ['PAYMENT_BALANCE_TEMPLATE', '{nobody}', 400, 'Value may hold only the placeholders {service_name}, {description}'],
    ['YOOKASSA_WEBHOOK_PATH', '/wata-webhook', 400, 'Value must not be the path of WATA_WEBHOOK_PATH'],
    ['EXTERNAL_ADMIN_TOKEN', 'x', 403, 'Setting EXTERNAL_ADMIN_TOKEN is read-only'],
    ['TIMEZONE', 'Mars/Base', 400, 'Value must be a known time zone'],
    ['SMTP_PASSWORD', SECRET_MASK, 400, 'Value is the mask of a secret, not a value'],
  ])('refuses %s = %j with %i', async (key, value, status, detail) => {
    expect(await api.put(`/settings/${key}`, { value })).toMatchObject({ status, body: { detail } });
    expect(await owner.put(`${ADMIN}/${key}`, { value })).toMatchObject({ status, body: { detail } });
    expect(await storedRow(key)).toBeNull();
  });

  it('refuses to reset what is read-only', async () => {
    const key = 'EXTERNAL_ADMIN_TOKEN';
    for (const reply of [await api.delete(`/settings/${key}`), await owner.delete(`${ADMIN}/${key}`)]) {
      expect([reply.status, reply.body.detail]).toEqual([403, 'Setting EXTERNAL_ADMIN_TOKEN is read-only']);
    }
  });

  it('refuses to reset a path whose original other callbacks have by now', async () => {
    const [mine, other] = ['YOOKASSA_WEBHOOK_PATH', 'WATA_WEBHOOK_PATH'];
    expect((await api.put(`/settings/${mine}`, { value: '/elsewhere' })).status).toBe(200);
    expect((await api.put(`/settings/${other}`, { value: '/yookassa-webhook' })).status).toBe(200);
    const { status, body } = await api.delete(`/settings/${mine}`);
    expect([status, body.detail]).toEqual([400, 'Value must not be the path of WATA_WEBHOOK_PATH']);
  });

  it('accepts null where it is a value, and refuses a missing value', async () => {
    expect((await api.put('/settings/CABINET_JWT_SECRET', {})).body.detail[0]).toMatchObject({
      loc: ['body', 'value'],
      type: 'missing',
    });
    const { body } = await api.put('/settings/WEB_API_DEFAULT_TOKEN', { value: null });
    expect(body).toMatchObject({ type: 'optional[str]', is_optional: true, current: null, has_override: true });
  });

  it('lets only a superadmin change guarded settings (spec 06 section 17, hazard 1)', async () => {
    for (const key of ['CABINET_JWT_SECRET', 'ADMIN_EMAILS', 'DATABASE_URL', 'REDIS_URL', 'TEST_EMAIL', 'TEST_EMAIL_PASSWORD']) {
      for (const client of [api.put(`/settings/${key}`, { value: 'x' }), admin.put(`${ADMIN}/${key}`, { value: 'x' })]) {
        expect((await client).status, key).toBe(403);
      }
      expect((await admin.delete(`${ADMIN}/${key}`)).status, key).toBe(403);
      expect(await storedRow(key)).toBeNull();
    }
    expect((await owner.put(`${ADMIN}/ADMIN_EMAILS`, { value: 'boss@example.com' })).status).toBe(200);
  });

  it('needs settings:edit', async () => {
    const reader = await adminClient(t.app, server, ['settings:read']);
    expect((await reader.get(ADMIN)).status).toBe(200);
    expect((await reader.put(`${ADMIN}/DEBUG`, { value: true })).status).toBe(403);
    expect((await reader.delete(`${ADMIN}/DEBUG`)).status).toBe(403);
  });

  it('leaves no secret in the audit log, whether accepted, refused or on the other transport, but records a plain value', async () => {
    const values = ['hunter2-accepted', 'hunter2-refused', 'hunter2-not-a-number', 'hunter2-plain', 'hunter2-rpc'] as const;
    const actor = await adminClient(t.app, server, ['*:*'], 999);
    expect((await actor.put(`${ADMIN}/YOOKASSA_SECRET_KEY`, { value: values[0] })).body.current).toBe(SECRET_MASK);
    expect((await actor.put(`${ADMIN}/EXTERNAL_ADMIN_TOKEN`, { value: values[1] })).status).toBe(403);
    expect((await actor.put(`${ADMIN}/TRIAL_DURATION_DAYS`, { value: values[2] })).status).toBe(400);
    expect((await actor.put(`${ADMIN}/SUPPORT_USERNAME`, { value: values[3] })).status).toBe(200);
    const rpc = await actor.post('/trpc/admin.settings.update', { key: 'YOOKASSA_SECRET_KEY', value: values[4] });
    expect(rpc.status).toBe(200);
    const text = await auditText(actor);
    expect(JSON.parse(text)).toHaveLength(5);
    expect(text).toContain('YOOKASSA_SECRET_KEY');
    expect(values.filter((value) => text.includes(value))).toEqual(['hunter2-plain']);
  });
});
