import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { adminClient, userClient } from '../support/actors.ts';
import { clientOf, testServer, tokenClient } from '../support/api.ts';
import { aUser, unique } from '../support/builders.ts';
import { initDataOf } from '../support/init-data.ts';
import { documentOfService } from '../support/served-routes.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const WORDS = {
  INTERFACE_WORDS: 'telegram=messenger,remnawave=vpnpanel',
  INTERFACE_WORDS_HOSTS: 'old.example,with-port.example:8443',
};

let t: TestApp;
let server: FastifyInstance;
let api: Awaited<ReturnType<typeof tokenClient>>;

beforeAll(async () => {
  t = await testApp({ environment: WORDS });
  server = await testServer(t.app);
  await server.listen({ host: '127.0.0.1', port: 0 });
  api = await tokenClient(t.app, server);
});
afterAll(() => server.close());

interface Setting {
  key: string;
  type: string;
  choices: { value: unknown }[] | null;
  is_secret: boolean;
}

const clientKey = (key: string) =>
  key === 'CABINET_VPNPANEL_SUB_CONFIG'
    ? 'CABINET_REMNA_SUB_CONFIG'
    : key.replace('MESSENGER', 'TELEGRAM').replace('VPNPANEL', 'REMNAWAVE');

/** A value with the placeholder of the client. */
const inOurs = (value: unknown) => (typeof value === 'string' ? value.replace('{telegram_id}', '{messenger_id}') : value);

const statusOf = async (url: string, headers: Record<string, string> = {}) =>
  (await server.inject({ method: 'GET', url, headers })).statusCode;

describe('the mount', () => {
  // Spec 09 W7.
  it.each([
    ['/compat/livez', 200],
    ['/compat/livez/', 200],
    ['/compat', 200],
    ['/compat?x=1', 200],
    ['//compat/livez', 404],
    ['/compat%2flivez', 404],
    ['/COMPAT/livez', 404],
    ['/compatx/livez', 404],
    ['/compat/compat/livez', 404],
    ['/compat//livez', 404],
    ['/compat/%6civez', 200],
    ['/compat/trpc/web.health', 404],
    ['/compat/metrics', 404],
    ['/compat/sandbox', 404],
    ['/compat/nothing', 404],
  ])('%s is answered with %i', async (url, status) => {
    const path = url.replace('livez', 'health').replace('%6civez', '%68ealth');
    const headers = { 'x-api-key': api.token };
    expect(await statusOf(path, headers)).toBe(status);
  });

  it.each(['/compat/../health', '/../compat/health', '/compat/./health', '/health/../compat/health'])(
    '%s, which a client library would have resolved, is no path',
    async (path) => {
      const { port } = server.server.address() as AddressInfo;
      const socket = connect(port, '127.0.0.1');
      socket.end(`GET ${path} HTTP/1.1\r\nHost: a.example\r\nX-API-Key: ${api.token}\r\nConnection: close\r\n\r\n`);
      expect((await text(socket)).split('\r\n', 1)).toEqual(['HTTP/1.1 404 Not Found']);
    },
  );

  it.each([
    ['old.example', 200],
    ['OLD.example', 200],
    ['old.example.', 200],
    ['old.example:3000', 200],
    ['with-port.example:8443', 200],
    ['with-port.example', 404],
    ['with-port.example:8444', 404],
    ['very-old.example', 404],
  ])('at the host %s answers a path of the client with %i', async (host, status) => {
    expect(await statusOf('/cabinet/branding/telegram-widget', { host })).toBe(status);
  });

  it('is not chosen by a forwarded host of a stranger', async () => {
    expect(await statusOf('/cabinet/branding/telegram-widget', { 'x-forwarded-host': 'old.example' })).toBe(404);
    const behind = await testServer((await testApp({ environment: { ...WORDS, TRUSTED_PROXIES: '127.0.0.1' } })).app);
    const headers = { host: 'service', 'x-forwarded-host': 'old.example' };
    const reply = await behind.inject({ method: 'GET', url: '/cabinet/branding/telegram-widget', headers });
    await behind.close();
    expect(reply.statusCode).toBe(200);
  });

  it.each(['telegram-widget', 'messenger-widget', '%74elegram-widget', 'telegram-widget/'])(
    'serves the path with %s',
    async (last) => {
      expect(await statusOf(`/compat/cabinet/branding/${last}`)).toBe(200);
    },
  );

  it('names the methods of a path in the words of the client', async () => {
    const reply = await server.inject({ method: 'DELETE', url: '/compat/cabinet/branding/telegram-widget' });
    expect([reply.statusCode, reply.headers.allow]).toEqual([405, 'GET, HEAD']);
    expect((await server.inject({ method: 'HEAD', url: '/compat/cabinet/branding/telegram-widget' })).statusCode).toBe(200);
  });

  it('lets browsers send the header of the client', async () => {
    const preflight = {
      method: 'OPTIONS' as const,
      headers: { origin: 'https://a.example', 'access-control-request-method': 'GET' },
    };
    const onMount = await server.inject({ ...preflight, url: '/compat/miniapp/subscription' });
    const atRoot = await server.inject({ ...preflight, url: '/miniapp/subscription' });
    const allowed = 'access-control-allow-headers';
    expect(onMount.headers[allowed]).toContain('X-Telegram-Init-Data');
    expect(onMount.headers[allowed]).toContain('X-Messenger-Init-Data');
    expect(atRoot.headers[allowed]).not.toContain('Telegram');
  });

  it('puts its prefix before own addresses of redirects', async () => {
    const reply = await server.inject({ method: 'GET', url: '/compat/doc' });
    expect([reply.statusCode, reply.headers.location]).toEqual([307, '/compat/docs']);
  });
});

describe('answers and requests', () => {
  it('have the words of the client on the mount and ours at the root', async () => {
    const user = await aUser(t.app);
    const atRoot = (await api.get(`/users/${user.id}`)).body;
    const onMount = (await api.get(`/compat/users/${user.id}`)).body;
    expect(atRoot.messenger_id).toBe(user.messengerId);
    expect(onMount.telegram_id).toBe(user.messengerId);
    expect(Object.keys(onMount)).toEqual(
      Object.keys(atRoot).map((key) => key.replace('messenger', 'telegram').replace('vpnpanel', 'remnawave')),
    );
    expect((await api.get(`/compat/users/by-telegram-id/${user.messengerId}`)).body.id).toBe(user.id);
    expect((await api.get(`/compat/users/by-messenger-id/${user.messengerId}`)).body.id).toBe(user.id);
  });

  it('leave people, titles and texts as they are', async () => {
    const names = { username: `messenger_stars${unique()}`, first_name: 'telegram', last_name: 'vpnpanel' };
    const { id } = (await api.post('/compat/users', { telegram_id: 70_000_000 + unique(), ...names })).body;
    expect((await api.get(`/users/${id}`)).body).toMatchObject(names);
    expect((await api.get(`/compat/users/${id}`)).body).toMatchObject(names);
  });

  it('leave titles, codes, HTML and names of servers as they are (spec 09 W4)', async () => {
    const content = '<b title="messenger" data-vpnpanel="telegram">{messenger_id} telegram_id</b>';
    const faq = { title: 'remnawave', content };
    const promocode = { code: `TELEGRAM${unique()}`, type: 'balance', balance_bonus_kopeks: 100 };
    const squad = { squadUuid: crypto.randomUUID(), displayName: 'vpnpanel' };
    const made = [
      ['/pages/faq', faq, { title: 'remnawave', content }],
      ['/promo-codes', promocode, { code: promocode.code }],
      ['/servers', squad, { display_name: 'vpnpanel' }],
    ] as const;
    for (const [path, body, texts] of made) {
      const { id } = (await api.post(`/compat${path}`, body)).body;
      const read = [await api.get(`${path}/${id}`), await api.get(`/compat${path}/${id}`)].map((reply) => reply.body);
      for (const answer of read) expect(Object.values(answer)).toEqual(expect.arrayContaining(Object.values(texts)));
    }
  });

  it('have names in the braces of e-mail templates in the words of the reader', async () => {
    const boss = await adminClient(t.app, server, ['*:*'], 900);
    const path = '/cabinet/admin/email-templates/ban_notification';
    const theirs = {
      subject: 'telegram {telegram_id}',
      body_html: '<p class="messenger">{{remnawave_uuid}} {remnawave} telegram_id</p>',
    };
    const ours = {
      subject: 'telegram {messenger_id}',
      body_html: '<p class="messenger">{{vpnpanel_uuid}} {remnawave} telegram_id</p>',
    };
    const saved = await boss.put(`/compat${path}/en`, theirs);
    expect(saved.body.template).toMatchObject(theirs);
    expect((await boss.get(path)).body.languages.en).toMatchObject(ours);
    expect((await boss.get(`/compat${path}`)).body.languages.en).toMatchObject(theirs);
    const preview = { language: 'en', subject: '{telegram_id}', body_html: '{telegram_id}' };
    expect((await boss.post(`/compat${path}/preview`, preview)).body.subject).toBe('{telegram_id}');
  });

  it('may be as large as at the root (spec 09 W9)', async () => {
    const { id } = await aUser(t.app);
    const statuses = [];
    for (const prefix of ['', '/compat']) {
      for (const length of [900_000, 2_000_000]) {
        const reply = await api.patch(`${prefix}/users/${id}`, { first_name: 'A', unknown: 'x'.repeat(length) });
        statuses.push(reply.status);
      }
    }
    expect(statuses).toEqual([200, 413, 200, 413]);
  });

  it('refuse in the words of the client', async () => {
    const { status, body } = await api.post('/compat/users', { telegram_id: 'telegram' });
    expect(status).toBe(422);
    expect(body.detail).toContainEqual(expect.objectContaining({ loc: ['body', 'telegram_id'], input: 'telegram' }));
  });

  it('are not read in the words of the client at the root', async () => {
    const { status, body } = await api.get('/promo-offers', { query: { telegram_id: 'x' } });
    expect([status, body.items]).toEqual([200, expect.any(Array)]);
    expect((await api.get('/users/by-telegram-id/5')).status).toBe(404);
  });

  it('find what a query names', async () => {
    const user = await aUser(t.app);
    const { parameters } = documentOfService.paths['/promo-offers']!.get!;
    expect(parameters).toContainEqual(expect.objectContaining({ name: 'messenger_id' }));
    const { status } = await api.get('/compat/promo-offers', { query: { telegram_id: user.messengerId! } });
    const wrong = await api.get('/compat/promo-offers', { query: { telegram_id: 'x' } });
    expect([status, wrong.status, wrong.body.detail[0].loc]).toEqual([200, 422, ['query', 'telegram_id']]);
  });

  it('take the signed data of the messenger from the header of the client, byte for byte', async () => {
    const user = await aUser(t.app);
    const initData = initDataOf(t, user);
    const { status, body } = await clientOf(server).post('/compat/cabinet/auth/telegram', { init_data: initData });
    expect(status).toBe(200);
    expect(body.user).toMatchObject({ telegram_id: user.messengerId, auth_type: 'telegram' });
  });

  it('name the kind of a person', async () => {
    const owner = await userClient(t.app, server);
    const [me, mine] = [await owner.get('/cabinet/auth/me'), await owner.get('/compat/cabinet/auth/me')];
    expect([me.body.auth_type, mine.body.auth_type]).toEqual(['messenger', 'telegram']);
  });

  it('make a role as at the root (spec 09 W13)', async () => {
    const boss = await adminClient(t.app, server, ['*:*'], 900);
    const role = { name: `role ${unique()}`, level: 5, permissions: ['remnawave:read', 'users:read'] };
    const made = await boss.post('/compat/cabinet/admin/rbac/roles', role);
    expect([made.status < 300, made.body.permissions]).toEqual([true, role.permissions]);
    const [stored] = await t.app.db.sql<{ permissions: string[] }>('SELECT permissions FROM admin_roles WHERE name = $1', [
      role.name,
    ]);
    expect(stored!.permissions).toEqual(['vpnpanel:read', 'users:read']);
  });

  it('make a policy as at the root (spec 09 W13)', async () => {
    const boss = await adminClient(t.app, server, ['*:*'], 999);
    const policy = { name: `policy ${unique()}`, effect: 'deny', resource: 'remnawave', actions: ['sync'] };
    const made = await boss.post('/compat/cabinet/admin/rbac/policies', { ...policy, conditions: {}, priority: 1 });
    expect([made.status, made.body]).toEqual([200, expect.objectContaining(policy)]);
    const atRoot = (await boss.get('/cabinet/admin/rbac/policies')).body as { id: number }[];
    expect(atRoot.find(({ id }) => id === made.body.id)).toMatchObject({ ...policy, resource: 'vpnpanel' });
    await boss.delete(`/compat/cabinet/admin/rbac/policies/${made.body.id}`);
  });

  it('name the permission that is missing', async () => {
    const clerk = await adminClient(t.app, server, ['roles:create']);
    const role = (permission: string) => ({ name: `role ${unique()}`, level: 5, permissions: [permission] });
    const atRoot = await clerk.post('/cabinet/admin/rbac/roles', role('vpnpanel:read'));
    const onMount = await clerk.post('/compat/cabinet/admin/rbac/roles', role('remnawave:read'));
    expect([atRoot.status, onMount.status]).toEqual([403, 403]);
    expect(atRoot.body.detail).toContain('vpnpanel:read');
    expect(onMount.body.detail).toBe(atRoot.body.detail.replace('vpnpanel:read', 'remnawave:read'));
  });
});

describe.each([
  ['at the root', '', '/compat'],
  ['on the mount', '/compat', ''],
])('spec 09 W12: what was answered %s', (_where, first, second) => {
  it('is repeated elsewhere under the same key in the words of the reader', async () => {
    const { id, messengerId } = await aUser(t.app);
    const pay = async (prefix: string) => {
      const keyed = clientOf(server, { 'x-api-key': api.token, 'idempotency-key': `words-${id}` });
      return keyed.post(`${prefix}/users/${id}/balance`, { amount_kopeks: 500 });
    };
    const answers = { [first]: await pay(first), [second]: await pay(second) };
    expect(answers['']).toMatchObject({ status: 200, body: { messenger_id: messengerId, balance_kopeks: 500 } });
    expect(answers['/compat']).toMatchObject({ status: 200, body: { telegram_id: messengerId, balance_kopeks: 500 } });
  });
});

describe('settings', () => {
  it('have the keys of the client, each with the key of ours', async () => {
    const atRoot = (await api.get('/settings')).body as { key: string }[];
    const onMount = (await api.get('/compat/settings')).body as { key: string }[];
    expect(onMount.map(({ key }) => key)).toEqual(atRoot.map(({ key }) => clientKey(key)));
    expect(onMount.filter(({ key }) => /TELEGRAM|REMNA/.test(key)).length).toBeGreaterThan(20);
  });

  it.each(['CABINET_REMNA_SUB_CONFIG', 'CABINET_REMNAWAVE_SUB_CONFIG', 'CABINET_VPNPANEL_SUB_CONFIG'])(
    'are found as %s',
    async (key) => {
      const { status, body } = await api.get(`/compat/settings/${key}`);
      expect([status, body.key]).toEqual([200, 'CABINET_REMNA_SUB_CONFIG']);
    },
  );

  it('are read, written and reset by each key of the client (spec 09 W14)', async () => {
    const renamed = ((await api.get('/settings')).body as Setting[]).filter(({ key }) => /MESSENGER|VPNPANEL/.test(key));
    expect(renamed.length).toBeGreaterThan(20);
    for (const { key, type, choices, is_secret: isSecret } of renamed) {
      const path = `/compat/settings/${clientKey(key)}`;
      const read = await api.get(path);
      expect([key, read.status, read.body.key]).toEqual([key, 200, clientKey(key)]);
      // Secrets are never returned, and a value that the environment sets cannot be compared.
      const value = choices?.[0]?.value ?? { bool: true, int: 7, float: 7 }[type] ?? read.body.current ?? 'https://a.example';
      const written = await api.put(path, { value });
      if (written.status !== 200) {
        expect([key, (await api.put(`/settings/${key}`, { value })).status]).toEqual([key, written.status]);
        continue;
      }
      const atRoot = (await api.get(`/settings/${key}`)).body;
      expect([key, atRoot.current]).toEqual([key, isSecret ? atRoot.current : inOurs(written.body.current)]);
      expect([key, (await api.delete(path)).body.current]).toEqual([key, read.body.current]);
    }
  });

  it('have the choices of the client', async () => {
    const { status, body } = await api.put('/compat/settings/TRIAL_DISABLED_FOR', { value: 'telegram' });
    expect([status, body.current]).toEqual([200, 'telegram']);
    expect(body.choices.map(({ value }: { value: string }) => value)).toEqual(['none', 'email', 'telegram', 'all']);
    expect((await api.get('/settings/TRIAL_DISABLED_FOR')).body.current).toBe('messenger');
    await api.delete('/compat/settings/TRIAL_DISABLED_FOR');
  });
});

describe('the document', () => {
  it('is served in the words of the client below the prefix', async () => {
    const onMount = (await clientOf(server).get('/compat/openapi.json')).body;
    const atRoot = (await clientOf(server).get('/openapi.json')).body;
    expect(Object.keys(onMount.paths)).toHaveLength(Object.keys(atRoot.paths).length);
    expect(onMount.paths).toHaveProperty(['/cabinet/auth/telegram']);
    expect(onMount.servers[0].url).toBe('/compat');
    expect(atRoot).toEqual(JSON.parse(JSON.stringify(documentOfService)));
  });

  it.each(['/docs', '/redoc'])('has the page %s, whose files are below the prefix', async (page) => {
    const { text } = await clientOf(server).get(`/compat${page}`);
    const files = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]!);
    expect(files.length).toBeGreaterThan(1);
    for (const file of files) {
      expect(file).toMatch(/^\/compat\//);
      expect(await statusOf(file)).toBe(200);
    }
    expect((await clientOf(server).get(`/compat${page}/start.js`)).text).toContain(`'/compat/openapi.json'`);
  });
});

describe('spec 09 W6: the mount opens nothing', () => {
  it('attempts below the prefix and at the root are counted together', async () => {
    const { app } = await testApp({ environment: WORDS });
    const limited = await testServer(app);
    onTestFinished(() => limited.close());
    const attempt = async (prefix: string) =>
      (
        await limited.inject({
          method: 'POST',
          url: `${prefix}/cabinet/auth/email/login`,
          remoteAddress: '203.0.113.77',
          payload: { email: 'nobody@example.com', password: 'wrong-password' },
        })
      ).statusCode;
    const statuses: number[] = [];
    for (let index = 0; !statuses.includes(429) && index < 100; index += 1)
      statuses.push(await attempt(index % 2 === 0 ? '' : '/compat'));
    expect(statuses.at(-1)).toBe(429);
    expect([await attempt(''), await attempt('/compat')]).toEqual([429, 429]);
  });

  it.each([
    ['WEB_API_ENABLED', '/users'],
    ['CABINET_ENABLED', '/cabinet/branding'],
    ['IS_DOCS_ENABLED', '/openapi.json'],
  ])('what %s closes is closed at both', async (key, path) => {
    const { app } = await testApp({ environment: { ...WORDS, [key]: 'false' } });
    const closed = await testServer(app);
    onTestFinished(() => closed.close());
    const { token } = await tokenClient(app, closed);
    const statuses = ['', '/compat'].map(
      async (prefix) => (await clientOf(closed, { 'x-api-key': token }).get(`${prefix}${path}`)).status,
    );
    expect(await Promise.all(statuses)).toEqual([404, 404]);
    const open = ['', '/compat'].map(async (prefix) => (await api.get(`${prefix}${path}`)).status);
    expect(await Promise.all(open)).toEqual([200, 200]);
  });
});
