/** Scopes, addresses, end and rotation of API tokens (issue 31); which operation needs which scope: tests/protocol/token-scopes.test.ts. */
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addMs, MINUTE_MS } from '../../src/core/clock.ts';
import { clientOf, testServer, tokenClient } from '../support/api.ts';
import { aUser } from '../support/builders.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

let t: TestApp;
let server: FastifyInstance;
let owner: Awaited<ReturnType<typeof tokenClient>>;

beforeAll(async () => {
  t = await testApp({ environment: { TRUSTED_PROXIES: '127.0.0.1', WEB_API_DEFAULT_TOKEN: 'the-token-of-the-operator' } });
  server = await testServer(t.app);
  owner = await tokenClient(t.app, server);
});
afterAll(() => server.close());

const withKey = (token: string) => clientOf(server, { 'x-api-key': token });

describe('a token with scopes', () => {
  it('is made and listed with them, and one without has null, as those of before', async () => {
    const made = await owner.post('/tokens', { name: 'reader', scopes: ['users:read', 'stats:read'] });
    expect([made.status, made.body]).toMatchObject([200, { scopes: ['users:read', 'stats:read'], allowed_addresses: null }]);
    const { body } = await owner.get('/tokens');
    expect(body.find(({ id }: { id: number }) => id === made.body.id)).toMatchObject({ scopes: ['users:read', 'stats:read'] });
    expect(body.find(({ id }: { id: number }) => id === owner.tokenId)).toMatchObject({ scopes: null, allowed_addresses: null });
  });

  it('moves no money of users with the scope to change them', async () => {
    const editor = await tokenClient(t.app, server, 'editor', { scopes: ['users:write'] });
    const { id } = await aUser(t.app);
    const changed = await editor.patch(`/users/${id}`, { first_name: 'Changed' });
    const paid = await editor.post(`/users/${id}/balance`, { amount_kopeks: 100 });
    expect([changed.status, paid.status, paid.body.detail.scope]).toEqual([200, 403, 'balance:write']);
    const [user] = await t.app.db.sql('SELECT balance_kopeks FROM users WHERE id = $1::int', [id]);
    expect(user).toEqual({ balanceKopeks: 0 });
  });

  it('is refused over tRPC, too, and its refused change is in the audit log', async () => {
    const reader = await tokenClient(t.app, server, 'reader of users', { scopes: ['users:read'] });
    const reply = await reader.post('/trpc/web.auth.create', { name: 'more' });
    expect([reply.status, reply.body.error.data.appCode]).toEqual([403, 'scope_missing']);
    const rows = () =>
      t.app.db.sql("SELECT action, status FROM admin_audit_log WHERE details ->> 'api_token_id' = $1", [String(reader.tokenId)]);
    await expect.poll(rows).toEqual([{ action: 'tokens:create', status: 'denied' }]);
  });

  it.each([[['users:fly']], [[]], [['users']]])('cannot be made with the scopes %j', async (scopes) => {
    expect((await owner.post('/tokens', { name: 'none', scopes })).status).toBe(422);
  });
});

describe('a token with addresses', () => {
  it('is valid from these only, through the proxies that are trusted', async () => {
    const made = await owner.post('/tokens', { name: 'office', allowed_addresses: ['203.0.113.0/24', '2001:db8::7'] });
    const from = (address: string) => withKey(made.body.token).get('/tokens', { headers: { 'x-forwarded-for': address } });
    const replies = [await from('203.0.113.9'), await from('2001:db8::7'), await from('203.0.114.9')];
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 403]);
    expect(replies[2]!.body.detail).toBe('This API token is not valid from this address');
  });

  it.each(['203.0.113.0/33', 'example.com', ''])('cannot be made with the address %j', async (address) => {
    expect((await owner.post('/tokens', { name: 'none', allowed_addresses: [address] })).status).toBe(422);
  });
});

describe('a token with limits', () => {
  const LIMITS = { scopes: ['auth:write', 'users:read'], allowedAddresses: ['127.0.0.0/8'] };
  const limited = () => tokenClient(t.app, server, 'limited', { ...LIMITS, expiresAt: addMs(t.clock.now(), 60 * MINUTE_MS) });

  it('makes no token that may do more than itself', async () => {
    const client = await limited();
    const end = addMs(t.clock.now(), 30 * MINUTE_MS).toISOString();
    const same = { name: 'child', scopes: ['users:read'], allowed_addresses: ['127.0.0.1'], expires_at: end };
    expect((await client.post('/tokens', same)).status).toBe(200);
    const later = addMs(t.clock.now(), 90 * MINUTE_MS).toISOString();
    const wider = [
      { ...same, scopes: null },
      { ...same, scopes: ['users:read', 'users:write'] },
      { ...same, allowed_addresses: null },
      { ...same, allowed_addresses: ['0.0.0.0/0'] },
      { ...same, expires_at: null },
      { ...same, expires_at: later },
    ];
    for (const body of wider) {
      const reply = await client.post('/tokens', body);
      expect([reply.status, reply.body.detail], JSON.stringify(body)).toEqual([
        403,
        expect.stringContaining('no more than itself'),
      ]);
    }
  });

  it('can neither widen itself nor touch a token that may do more, and may revoke itself', async () => {
    const client = await limited();
    const widened = await client.patch(`/tokens/${client.tokenId}`, { scopes: null });
    const stolen = await client.post(`/tokens/${owner.tokenId}/rotate`);
    const others = [
      await client.post(`/tokens/${owner.tokenId}/revoke`),
      await client.post(`/tokens/${owner.tokenId}/activate`),
      await client.delete(`/tokens/${owner.tokenId}`),
    ];
    expect([widened, stolen, ...others].map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
    expect((await client.post(`/tokens/${client.tokenId}/revoke`)).status).toBe(200);
    expect((await owner.get('/tokens')).status).toBe(200);
  });

  it('is limited further at once', async () => {
    const client = await tokenClient(t.app, server, 'narrowed');
    expect((await client.get('/users')).status).toBe(200);
    const changed = await owner.patch(`/tokens/${client.tokenId}`, { scopes: ['stats:read'], name: 'for statistics' });
    expect([changed.status, changed.body]).toMatchObject([
      200,
      { scopes: ['stats:read'], name: 'for statistics', expires_at: null },
    ]);
    expect((await client.get('/users')).status).toBe(403);
    const widened = await owner.patch(`/tokens/${client.tokenId}`, { scopes: null });
    expect([widened.body.scopes, (await client.get('/users')).status]).toEqual([null, 200]);
  });
});

describe('rotation', () => {
  it('gives another text at once, and the former one is valid for the overlap', async () => {
    const client = await tokenClient(t.app, server, 'rotated', { scopes: ['users:read'] });
    const first = await owner.post(`/tokens/${client.tokenId}/rotate`, { overlap_minutes: 10 });
    expect([first.status, first.body]).toMatchObject([200, { id: client.tokenId, scopes: ['users:read'] }]);
    const next = withKey(first.body.token);
    expect([(await client.get('/users')).status, (await next.get('/users')).status]).toEqual([200, 200]);
    t.clock.advance(10 * MINUTE_MS);
    expect([(await client.get('/users')).status, (await next.get('/users')).status]).toEqual([401, 200]);
  });

  it('ends the text before the former one at once, and the former one, too, without an overlap', async () => {
    const client = await tokenClient(t.app, server, 'rotated twice');
    const second = withKey((await owner.post(`/tokens/${client.tokenId}/rotate`)).body.token);
    const third = withKey((await owner.post(`/tokens/${client.tokenId}/rotate`, { overlap_minutes: 0 })).body.token);
    const statuses = [];
    for (const each of [client, second, third]) statuses.push((await each.get('/tokens')).status);
    expect(statuses).toEqual([401, 401, 200]);
  });

  it('revokes both texts', async () => {
    const client = await tokenClient(t.app, server, 'revoked');
    const next = withKey((await client.post(`/tokens/${client.tokenId}/rotate`)).body.token);
    await owner.post(`/tokens/${client.tokenId}/revoke`);
    expect([(await client.get('/tokens')).status, (await next.get('/tokens')).status]).toEqual([401, 401]);
  });

  it('is refused for the token of the settings, and for one that is not there', async () => {
    const byDefault = withKey('the-token-of-the-operator');
    const { body } = await byDefault.get('/tokens');
    const { id } = body.find(({ created_by: by }: { created_by: string }) => by === 'migration');
    const [rotated, changed, absent] = [
      await owner.post(`/tokens/${id}/rotate`),
      await owner.patch(`/tokens/${id}`, { scopes: ['users:read'] }),
      await owner.post('/tokens/2147000000/rotate'),
    ];
    expect([rotated.status, changed.status, absent.status]).toEqual([409, 409, 404]);
    expect((await byDefault.get('/users')).status).toBe(200);
  });
});
