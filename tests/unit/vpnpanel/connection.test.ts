import { describe, expect, it } from 'vitest';
import type { HttpClient, HttpRequest } from '../../../src/core/http/http-client.ts';
import { connectionHeaders, type PanelConnection } from '../../../src/integrations/vpnpanel/panel-connection.ts';
import { createPanelTransport, panelPath } from '../../../src/integrations/vpnpanel/panel-transport.ts';
import { createVpnPanelAdapter } from '../../../src/integrations/vpnpanel/vpnpanel-adapter.ts';

const plain: PanelConnection = {
  baseUrl: 'https://panel.example.com/',
  apiKey: 'key',
  authType: 'api_key',
  username: 'admin',
  password: 'pass:word',
  caddyToken: 'token',
  secretKey: null,
};

/** Answers each call with the next of the given answers, the last one for ever. */
function scripted(...answers: { status: number; text: string }[]): HttpClient & { sent: HttpRequest[] } {
  const sent: HttpRequest[] = [];
  return {
    sent,
    async request(request) {
      sent.push(request);
      return { headers: {}, ...answers[Math.min(sent.length, answers.length) - 1]! };
    },
  };
}

const ok = (response: unknown) => ({ status: 200, text: JSON.stringify({ response }) });
const wireUser = {
  uuid: '9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d',
  shortUuid: 'abc',
  username: 'user_1',
  expireAt: '2026-04-01T12:00:00.000Z',
};

describe('connection headers', () => {
  it.each([
    ['api_key', { authorization: 'Bearer key', 'x-api-key': 'key' }],
    ['bearer', { authorization: 'Bearer key', 'x-api-key': 'key' }],
    ['caddy', { authorization: 'Bearer key', 'x-api-key': 'token' }],
  ])('%s', (authType, expected) => {
    expect(connectionHeaders({ ...plain, authType })).toMatchObject(expected);
  });

  it.each(['basic', 'basic_auth', 'BASIC'])('%s sends the pair and no bearer', (authType) => {
    const headers = connectionHeaders({ ...plain, authType });
    expect(headers['x-api-key']).toBe(`Basic ${Buffer.from('admin:pass:word').toString('base64')}`);
    expect(headers).not.toHaveProperty('authorization');
    expect(connectionHeaders({ ...plain, authType, password: null })).toMatchObject({ authorization: 'Bearer key' });
  });

  it('makes a cookie of the secret', () => {
    expect(connectionHeaders({ ...plain, secretKey: 'name:va:lue' }).cookie).toBe('name=va:lue');
    expect(connectionHeaders({ ...plain, secretKey: 'word' }).cookie).toBe('word=word');
    expect(connectionHeaders(plain)).not.toHaveProperty('cookie');
  });

  it('always looks forwarded, and local hosts name localhost', () => {
    expect(connectionHeaders(plain)).toMatchObject({
      accept: 'application/json',
      'content-type': 'application/json',
      'x-forwarded-proto': 'https',
      'x-forwarded-for': '127.0.0.1',
      'x-real-ip': '127.0.0.1',
    });
    const host = (baseUrl: string) => connectionHeaders({ ...plain, baseUrl })['x-forwarded-host'];
    const local = [
      'http://localhost:3000',
      'http://127.0.0.1',
      'http://panel:3000',
      'http://10.1.2.3',
      'http://172.20.0.2',
      'http://a.local',
    ];
    expect(local.map(host)).toEqual(local.map(() => 'localhost'));
    const foreign = ['https://panel.example.com', 'http://172.32.0.1', 'https://10.example.com', 'https://8.8.8.8'];
    expect(foreign.map(host)).toEqual(foreign.map(() => undefined));
  });
});

describe('transport', () => {
  it('encodes every path segment', () => {
    expect(panelPath('users', 'by-email', 'a/b?c#d@x.y')).toBe('/api/users/by-email/a%2Fb%3Fc%23d%40x.y');
    expect(() => panelPath('users', '..')).toThrow('VPN panel call refused');
    expect(() => panelPath('users', '')).toThrow('VPN panel call refused');
  });

  it.each([
    [500, { message: 'Server error', errorCode: 'A001' }, 'unavailable', 'VPN panel: Server error (A001)'],
    [502, '<html>bad gateway</html>', 'unavailable', 'VPN panel answered with status 502'],
    [429, { message: 'Too many' }, 'unavailable', 'VPN panel: Too many'],
    [302, '', 'unavailable', 'VPN panel answered with status 302'],
    [404, '<html>not found</html>', 'unavailable', 'VPN panel answered with status 404'],
    [400, { message: 'connect ECONNREFUSED 10.0.0.3:5432' }, 'rejected', 'VPN panel answered with status 400'],
    [400, { message: 'see https://panel.example.com' }, 'rejected', 'VPN panel answered with status 400'],
    [403, { message: 'Forbidden role error', errorCode: 'A004' }, 'unavailable', 'VPN panel refused the credentials'],
  ] as const)('turns status %i into an error', async (status, body, kind, message) => {
    const http = scripted({ status, text: typeof body === 'string' ? body : JSON.stringify(body) });
    const transport = createPanelTransport({ http, connection: () => plain });
    const call = transport.call({ method: 'GET', path: '/api/x', idempotent: true });
    await expect(call).rejects.toMatchObject({ name: 'PanelError', kind, message, status });
    expect(http.sent[0]?.url).toBe('https://panel.example.com/api/x');
  });

  it.each(['', '{"message":"User not found","errorCode":"A063"}', '{"detail":"not found"}'])(
    'takes 404 %s for absent',
    async (text) => {
      const transport = createPanelTransport({ http: scripted({ status: 404, text }), connection: () => plain });
      expect(await transport.call({ method: 'GET', path: '/api/x', idempotent: true })).toEqual({ found: false });
    },
  );
});

describe('answers of other panel versions', () => {
  const notFound = { status: 404, text: '{"message":"Cannot GET /api/system/metadata","error":"Not Found","statusCode":404}' };
  const adapterOn = (http: HttpClient) => createVpnPanelAdapter({ http, connection: () => plain });

  it('treats a panel without a version as the older generation, and reads it once', async () => {
    const http = scripted(notFound, ok({ ...wireUser, happ: { link: 'l', cryptoLink: 'happ://x' } }));
    const adapter = adapterOn(http);
    expect(await adapter.findByUuid(wireUser.uuid)).toMatchObject({
      cryptoLink: 'happ://x',
      status: 'ACTIVE',
      trafficLimitBytes: 0,
    });
    await adapter.findByUuid(wireUser.uuid);
    expect(http.sent.map((call) => new URL(call.url).pathname)).toEqual([
      '/api/system/metadata',
      `/api/users/${wireUser.uuid}`,
      `/api/users/${wireUser.uuid}`,
    ]);
  });

  it('reads an e-mail look-up that answers one object, and one that answers a list', async () => {
    const found = { ...wireUser, email: 'a@b.cd', happ: { cryptoLink: 'happ://x' } };
    expect((await adapterOn(scripted(notFound, ok(found))).findByEmail('a@b.cd'))?.uuid).toBe(wireUser.uuid);
    expect((await adapterOn(scripted(notFound, ok([found]))).findByEmail('a@b.cd'))?.uuid).toBe(wireUser.uuid);
    expect(await adapterOn(scripted(notFound, ok([]))).findByEmail('a@b.cd')).toBeNull();
  });

  it('takes an unknown status for ACTIVE and a user without an end for unreadable', async () => {
    const odd = { ...wireUser, status: 'FROZEN' };
    expect((await adapterOn(scripted(notFound, ok(odd))).findByUuid(wireUser.uuid))?.status).toBe('ACTIVE');
    const { expireAt: _end, ...endless } = wireUser;
    const read = adapterOn(scripted(notFound, ok(endless))).findByUuid(wireUser.uuid);
    await expect(read).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('counts "already enabled" without a code as success', async () => {
    const refused = { status: 400, text: '{"message":"User already enabled"}' };
    const http = scripted(notFound, refused, ok({ ...wireUser, happ: { cryptoLink: 'x' } }));
    expect((await adapterOn(http).enableUser(wireUser.uuid))?.uuid).toBe(wireUser.uuid);
  });

  it('requests the version again after it got no answer', async () => {
    const http = scripted(
      { status: 503, text: '' },
      ok({ version: '3.4.15' }),
      ok({ users: [], nextCursor: null, hasMore: false }),
    );
    const adapter = adapterOn(http);
    await expect(adapter.findByMessengerId(5)).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await adapter.findByMessengerId(5)).toBeNull();
    expect(http.sent[2]?.url).toBe('https://panel.example.com/api/users/stream?telegramId=5&size=100');
  });

  it('fails a device reset only when half or more failed', async () => {
    const device = (hwid: string) => ({ hwid, userUuid: wireUser.uuid });
    const list = ok({ total: 3, devices: [device('a'), device('b'), device('c')] });
    const left = ok({ total: 0, devices: [] });
    const broken = { status: 500, text: '' };
    const uuid = wireUser.uuid;
    expect(await adapterOn(scripted(notFound, list, left, broken, left)).resetDevices(uuid)).toEqual({ deleted: 2, failed: 1 });
    const mostly = adapterOn(scripted(notFound, list, broken, broken, left)).resetDevices(uuid);
    await expect(mostly).rejects.toMatchObject({ kind: 'unavailable' });
  });
});
