/** API tokens that administrators see and make (spec 01 section 9); what a token may do: token-limits.test.ts. */
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DAY_MS, MINUTE_MS } from '../../src/core/clock.ts';
import { type ActorClient, adminClient } from '../support/actors.ts';
import { clientOf, testServer, tokenClient } from '../support/api.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const BASE = '/cabinet/admin/api-tokens';
const FULL_ONLY_BY_SUPERADMIN = {
  status: 403,
  body: { detail: 'API tokens that may do everything are made and changed by superadmins only' },
};

let t: TestApp;
let server: FastifyInstance;
let superadmin: ActorClient;
let admin: ActorClient;

beforeAll(async () => {
  t = await testApp({ environment: { WEB_API_DEFAULT_TOKEN: 'the-token-of-the-operator' } });
  server = await testServer(t.app);
  superadmin = await adminClient(t.app, server, ['*:*'], 999);
  admin = await adminClient(t.app, server, ['api_tokens:*'], 100);
});
afterAll(() => server.close());

const withKey = (token: string) => clientOf(server, { 'x-api-key': token });
const reader = { name: 'Reader', scopes: ['users:read'] };

describe('an API token of an administrator', () => {
  it('is shown once, works within its scopes, and is listed with what it may do', async () => {
    const expiresAt = new Date(t.clock.now().getTime() + DAY_MS).toISOString();
    const made = await admin.post(BASE, { ...reader, expires_at: expiresAt, allowed_addresses: ['127.0.0.0/8'] });
    expect(made).toMatchObject({
      status: 200,
      body: { token: expect.stringMatching(/^sst_/), created_by: String(admin.user.id) },
    });
    const limited = withKey(made.body.token);
    expect([(await limited.get('/users')).status, (await limited.get('/tokens')).status]).toEqual([200, 403]);
    const { body } = await admin.get(BASE);
    const listed = body.items.find(({ id }: { id: number }) => id === made.body.id);
    expect(listed).toMatchObject({ scopes: ['users:read'], allowed_addresses: ['127.0.0.0/8'], is_active: true });
    expect(JSON.stringify(body)).not.toContain(made.body.token);
    expect(body.scopes).toContain('balance:write');
  });

  it('gets another text by a rotation, the present one ending when it was said', async () => {
    const made = await admin.post(BASE, reader);
    const rotated = await admin.post(`${BASE}/${made.body.id}/rotate`, { overlap_minutes: 5 });
    const statuses = async () =>
      Promise.all([made, rotated].map(async ({ body }) => (await withKey(body.token).get('/users')).status));
    expect(await statuses()).toEqual([200, 200]);
    t.clock.advance(6 * MINUTE_MS);
    expect(await statuses()).toEqual([401, 200]);
  });

  it('is refused after it was revoked, and revoking it again changes nothing', async () => {
    const made = await admin.post(BASE, reader);
    for (const _ of [1, 2])
      expect(await admin.post(`${BASE}/${made.body.id}/revoke`)).toMatchObject({ status: 200, body: { is_active: false } });
    expect((await withKey(made.body.token).get('/users')).status).toBe(401);
  });

  it('may do everything only where a superadmin has made it', async () => {
    expect(await admin.post(BASE, { name: 'Everything' })).toMatchObject(FULL_ONLY_BY_SUPERADMIN);
    expect(await admin.post(BASE, { name: 'Backups', scopes: ['users:read', 'backups:read'] })).toMatchObject(
      FULL_ONLY_BY_SUPERADMIN,
    );
    const full = await superadmin.post(BASE, { name: 'Everything' });
    expect((await withKey(full.body.token).get('/tokens')).status).toBe(200);
    for (const action of ['rotate', 'revoke'])
      expect(await admin.post(`${BASE}/${full.body.id}/${action}`), action).toMatchObject(FULL_ONLY_BY_SUPERADMIN);
    expect((await superadmin.post(`${BASE}/${full.body.id}/revoke`)).status).toBe(200);
  });

  it('that nobody has made is not found', async () => {
    for (const action of ['rotate', 'revoke'])
      expect(await superadmin.post(`${BASE}/2147483647/${action}`)).toMatchObject({
        status: 404,
        body: { detail: 'Token not found' },
      });
  });

  it('of the setting is changed there', async () => {
    await withKey('the-token-of-the-operator').get('/users');
    const { body } = await superadmin.get(BASE);
    const { id } = body.items.find(({ created_by: by }: { created_by: string }) => by === 'migration');
    expect(await superadmin.post(`${BASE}/${id}/rotate`)).toMatchObject({
      status: 409,
      body: { detail: 'This is the token of the setting WEB_API_DEFAULT_TOKEN: change it there' },
    });
  });
});

describe('who may', () => {
  it('has a permission for each, which the role Admin has not', async () => {
    const looker = await adminClient(t.app, server, ['api_tokens:read']);
    expect([(await looker.get(BASE)).status, (await looker.post(BASE, reader)).status]).toEqual([200, 403]);
    expect((await (await tokenClient(t.app, server)).get(BASE)).status).toBe(401);
    const roles = await t.app.db.sql<{ name: string }>('SELECT name FROM admin_roles WHERE permissions @> \'["api_tokens:*"]\'');
    expect(roles.map(({ name }) => name)).not.toContain('Admin');
  });

  it('has proved recently who he is, where that is asked for', async () => {
    const strict = await testApp({ environment: { FRESH_SIGN_IN_MINUTES: '10' } });
    const strictServer = await testServer(strict.app);
    const owner = await adminClient(strict.app, strictServer, ['*:*'], 999);
    strict.clock.advance(11 * MINUTE_MS);
    expect(await owner.post(BASE, reader)).toMatchObject({ status: 403, body: { detail: { code: 'fresh_sign_in_required' } } });
    await strictServer.close();
  });
});
