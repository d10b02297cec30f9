import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isGiftEnabled } from '../../src/domain/storefront/gifts/is-gift-enabled.ts';
import { type ActorClient, adminClient, userClient } from '../support/actors.ts';
import { type ApiClient, type ApiReply, clientOf, testServer } from '../support/api.ts';
import { storeRow } from '../support/stored-rows.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const PATH = '/cabinet/branding';
const COLORS = {
  accent: '#3b82f6',
  darkBackground: '#0a0f1a',
  darkSurface: '#0f172a',
  darkText: '#f1f5f9',
  darkTextSecondary: '#94a3b8',
  lightBackground: '#F7E7CE',
  lightSurface: '#FEF9F0',
  lightText: '#1F1A12',
  lightTextSecondary: '#7D6B48',
  success: '#22c55e',
  warning: '#f59e0b',
  error: '#ef4444',
};
const ANIMATION = { enabled: true, type: 'aurora', settings: {}, opacity: 1, blur: 0, reducedOnMobile: true };
const COUNTERS = { yandex_metrika_id: '', google_ads_id: '', google_ads_label: '' };

let t: TestApp;
let server: FastifyInstance;
let open: ApiClient;
let admin: ActorClient;

beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
  open = clientOf(server);
  admin = await adminClient(t.app, server, ['settings:edit']);
});
afterAll(() => server.close());
beforeEach(async () => {
  await t.app.db.sql("DELETE FROM system_settings WHERE key LIKE 'CABINET\\_%'");
  await t.app.db.sql('DELETE FROM branding_images');
  t.cache.clear();
});

/** Stores a row as an import would, past the endpoints. */
async function stored(key: string, value: string): Promise<void> {
  await storeRow(t.app, 'SystemSetting', { key, value });
  t.cache.clear();
}
const read = async (path: string) => (await open.get(`${PATH}${path}`)).body;
const refused = async (path: string, body: unknown): Promise<[status: number, detail: ApiReply['body']]> => {
  const reply = await admin.patch(`${PATH}${path}`, body);
  return [reply.status, reply.body.detail];
};

describe('a fresh installation', () => {
  it.each([
    ['', { name: 'Cabinet', logo_url: null, logo_letter: 'C', has_custom_logo: false }],
    ['/colors', COLORS],
    ['/themes', { dark: true, light: true }],
    ['/animation', { enabled: true }],
    ['/animation-config', ANIMATION],
    ['/fullscreen', { enabled: false }],
    ['/lite-mode', { enabled: false }],
    ['/gift-enabled', { enabled: false }],
    ['/email-auth', { enabled: true, verification_enabled: true }],
    ['/analytics', COUNTERS],
    [
      '/messenger-widget',
      {
        bot_username: 'test_bot',
        size: 'large',
        radius: 8,
        userpic: true,
        request_access: true,
        oidc_enabled: false,
        oidc_client_id: '',
      },
    ],
  ])('answers the defaults at %s, to anybody', async (path, body) => {
    expect(await read(path)).toEqual(body);
  });

  it('has its name from the environment', async () => {
    const named = await testApp({ environment: { VITE_APP_NAME: 'ünique' } });
    const other = await testServer(named.app);
    expect((await clientOf(other).get(PATH)).body).toMatchObject({ name: 'ünique', logo_letter: 'Ü' });
    await other.close();
    const both = await testApp({ environment: { VITE_APP_NAME: 'old', CABINET_BRANDING_NAME: 'new' } });
    expect(both.app.env.cabinetBrandingName).toBe('new');
  });
});

describe('who may change it', () => {
  it('only an administrator with settings:edit', async () => {
    const writes: [Parameters<ApiClient['send']>[0], string, unknown][] = [
      ['PUT', '/name', { name: 'x' }],
      ['DELETE', '/logo', undefined],
      ['POST', '/colors/reset', undefined],
      ['PATCH', '/analytics', {}],
      ['PATCH', '/email-auth', { enabled: false }],
    ];
    const reader = await adminClient(t.app, server, ['settings:read']);
    const user = await userClient(t.app, server);
    for (const [method, path, body] of writes) {
      expect((await open.send(method, `${PATH}${path}`, body)).status, path).toBe(401);
      expect((await user.send(method, `${PATH}${path}`, body)).status, path).toBe(403);
      expect((await reader.send(method, `${PATH}${path}`, body)).status, path).toBe(403);
    }
  });
});

describe('the name', () => {
  const put = (name: unknown) => admin.put(`${PATH}/name`, { name });

  it('is trimmed and shown with its first letter, and may be empty', async () => {
    expect((await put('  ёлка ')).body).toEqual({ name: 'ёлка', logo_url: null, logo_letter: 'Ё', has_custom_logo: false });
    expect(await read('')).toMatchObject({ name: 'ёлка' });
    expect((await put('   ')).body).toMatchObject({ name: '', logo_letter: 'V' });
    expect(await read('')).toMatchObject({ name: '', logo_letter: 'V' });
    expect((await put('😀 shop')).body).toMatchObject({ logo_letter: '😀' });
  });

  it('has at most 50 characters after trimming', async () => {
    expect((await put(` ${'я'.repeat(50)} `)).status).toBe(200);
    const long = await put('😀'.repeat(51));
    expect([long.status, long.body.detail]).toEqual([400, 'Name too long (max 50 characters)']);
    expect((await put(null)).status).toBe(422);
    expect((await read('')).name).toBe('я'.repeat(50));
  });
});

describe('colours', () => {
  it('are merged over the current ones, with their case', async () => {
    expect((await admin.patch(`${PATH}/colors`, { accent: '#aBc', error: null })).body).toEqual({ ...COLORS, accent: '#aBc' });
    expect((await admin.patch(`${PATH}/colors`, { success: '#000000' })).body).toEqual({
      ...COLORS,
      accent: '#aBc',
      success: '#000000',
    });
    expect(await read('/colors')).toEqual({ ...COLORS, accent: '#aBc', success: '#000000' });
    expect((await admin.post(`${PATH}/colors/reset`)).body).toEqual(COLORS);
    expect(await read('/colors')).toEqual(COLORS);
  });

  it.each(['red', '#12', '#1234', '#12345678', '#12345g', ' #123456', '#123456\n', '', 'url(x)'])('refuse %j', async (value) => {
    expect(await refused('/colors', { accent: '#111', warning: value, darkText: value })).toEqual([
      400,
      `Invalid hex color for darkText: ${value}`,
    ]);
    expect(await read('/colors')).toEqual(COLORS);
  });

  it('that are stored otherwise are read field by field', async () => {
    await stored('CABINET_THEME_COLORS', '{"accent": "#fff", "error": "expression(alert(1))", "warning": 5}');
    expect(await read('/colors')).toEqual({ ...COLORS, accent: '#fff' });
  });
});

describe('themes', () => {
  it('can be switched, but not all off', async () => {
    expect((await admin.patch(`${PATH}/themes`, { dark: false })).body).toEqual({ dark: false, light: true });
    expect(await refused('/themes', { light: false })).toEqual([400, 'At least one theme must be enabled']);
    expect((await admin.patch(`${PATH}/themes`, { dark: true, light: false })).body).toEqual({ dark: true, light: false });
    expect((await admin.patch(`${PATH}/themes`, { light: null })).body).toEqual({ dark: true, light: false });
    expect(await read('/themes')).toEqual({ dark: true, light: false });
  });
});

describe('the animation', () => {
  it('has one switch for both of its addresses', async () => {
    expect((await admin.patch(`${PATH}/animation`, { enabled: false })).body).toEqual({ enabled: false });
    expect(await read('/animation-config')).toEqual({ ...ANIMATION, enabled: false });
    expect((await admin.patch(`${PATH}/animation-config`, { enabled: true, blur: 5 })).body).toEqual({ ...ANIMATION, blur: 5 });
    expect(await read('/animation')).toEqual({ enabled: true });
  });

  it('is changed field by field, its settings as a whole', async () => {
    const settings = { speed: 1.5, color: '#fff', loop: true, none: null };
    await admin.patch(`${PATH}/animation-config`, { settings, type: 'meteors' });
    const { body } = await admin.patch(`${PATH}/animation-config`, { opacity: 0.5, type: null, settings: null });
    expect(body).toEqual({ ...ANIMATION, type: 'meteors', settings, opacity: 0.5 });
    expect((await admin.patch(`${PATH}/animation-config`, { settings: { x: 1 } })).body.settings).toEqual({ x: 1 });
    expect((await admin.patch(`${PATH}/animation-config`, {})).body).toEqual(await read('/animation-config'));
  });

  it('follows the old switch while it has no configuration, and a read stores nothing', async () => {
    await stored('CABINET_ANIMATION_ENABLED', 'FALSE');
    expect(await read('/animation-config')).toEqual({ ...ANIMATION, enabled: false });
    const rows = await t.app.db.sql("SELECT key FROM system_settings WHERE key LIKE 'CABINET\\_ANIMATION%'");
    expect(rows).toEqual([{ key: 'CABINET_ANIMATION_ENABLED' }]);
    expect((await admin.patch(`${PATH}/animation-config`, { blur: 1 })).body).toEqual({ ...ANIMATION, enabled: false, blur: 1 });
  });

  it.each([
    [Object.fromEntries(Array.from({ length: 21 }, (_none, at) => [`k${at}`, at])), 'Settings must have at most 20 keys'],
    [{ ['k'.repeat(51)]: 1 }, 'Setting keys must be strings under 50 characters'],
    [{ a: { b: 1 } }, 'Nested objects/arrays not allowed in settings'],
    [{ a: [1] }, 'Nested objects/arrays not allowed in settings'],
    [{ a: 'x'.repeat(201) }, 'String setting values must be under 200 characters'],
  ])('refuses settings: %#', async (settings, problem) => {
    const [status, detail] = await refused('/animation-config', { settings });
    expect(status).toBe(422);
    expect(detail).toEqual([
      { type: 'value_error', loc: ['body', 'settings'], msg: `Value error, ${problem}`, input: expect.anything() },
    ]);
  });

  it('takes settings at their limits', async () => {
    const settings = Object.fromEntries(Array.from({ length: 20 }, (_none, at) => [`${at}`.padEnd(50, 'k'), '😀'.repeat(200)]));
    expect((await admin.patch(`${PATH}/animation-config`, { settings })).body.settings).toEqual(settings);
  });

  it.each([
    [{ opacity: 1.1 }, 'less_than_equal'],
    [{ blur: -1 }, 'greater_than_equal'],
    [{ type: 'fireworks' }, 'enum'],
  ])('refuses %j', async (body, type) => {
    const [status, detail] = await refused('/animation-config', body);
    expect([status, detail[0].type]).toEqual([422, type]);
  });

  it('that is stored otherwise is read field by field', async () => {
    await stored('CABINET_ANIMATION_CONFIG', '{"type": "x", "opacity": 7, "blur": 3, "settings": {"a": []}, "enabled": "yes"}');
    expect(await read('/animation-config')).toEqual({ ...ANIMATION, blur: 3 });
  });
});

describe('switches', () => {
  it.each(['/fullscreen', '/lite-mode', '/gift-enabled'])('%s', async (path) => {
    expect((await admin.patch(`${PATH}${path}`, { enabled: true })).body).toEqual({ enabled: true });
    expect(await read(path)).toEqual({ enabled: true });
    expect((await admin.patch(`${PATH}${path}`, {})).status).toBe(422);
    expect((await admin.patch(`${PATH}${path}`, { enabled: false })).body).toEqual({ enabled: false });
  });

  it('of gifts is the one that purchases ask', async () => {
    await admin.patch(`${PATH}/gift-enabled`, { enabled: true });
    expect(await isGiftEnabled(t.app)).toBe(true);
    await admin.patch(`${PATH}/gift-enabled`, { enabled: false });
    expect(await isGiftEnabled(t.app)).toBe(false);
  });

  it('that are stored as another text are off', async () => {
    await stored('CABINET_FULLSCREEN_ENABLED', '1');
    await stored('CABINET_LITE_MODE_ENABLED', 'True');
    expect([await read('/fullscreen'), await read('/lite-mode')]).toEqual([{ enabled: false }, { enabled: true }]);
  });
});

describe('sign-in by e-mail', () => {
  const login = () => open.post('/cabinet/auth/email/login', { email: 'nobody@example.com', password: 'password1' });

  it('is off for sign-in as soon as it is off here, even where the environment says on', async () => {
    const given = await testApp({ environment: { CABINET_EMAIL_AUTH_ENABLED: 'true' } });
    const other = await testServer(given.app);
    const boss = await adminClient(given.app, other, ['settings:edit']);
    expect((await boss.patch(`${PATH}/email-auth`, { enabled: false })).body).toEqual({
      enabled: false,
      verification_enabled: true,
    });
    expect((await clientOf(other).get(`${PATH}/email-auth`)).body.enabled).toBe(false);
    const body = { email: 'nobody@example.com', password: 'password1' };
    expect((await clientOf(other).post('/cabinet/auth/email/login', body)).status).toBe(403);
    await boss.patch(`${PATH}/email-auth`, { enabled: true });
    expect((await clientOf(other).post('/cabinet/auth/email/login', body)).status).toBe(401);
    await other.close();
  });

  it('needs no row', async () => {
    expect((await login()).status).toBe(401);
  });
});

describe('counters of visits', () => {
  it('are trimmed, left by null and cleared by an empty text', async () => {
    const counters = { yandex_metrika_id: '12345', google_ads_id: 'AW-1-2', google_ads_label: 'a_B-9' };
    expect((await admin.patch(`${PATH}/analytics`, { ...counters, yandex_metrika_id: ' 12345 ' })).body).toEqual(counters);
    expect((await admin.patch(`${PATH}/analytics`, { google_ads_id: ' ', google_ads_label: null })).body).toEqual({
      ...counters,
      google_ads_id: '',
    });
    expect(await read('/analytics')).toEqual({ ...counters, google_ads_id: '' });
  });

  it.each([
    [{ yandex_metrika_id: '12a' }, 'Yandex Metrika counter ID must be numeric'],
    [{ yandex_metrika_id: '١٢٣' }, 'Yandex Metrika counter ID must be numeric'],
    [{ yandex_metrika_id: '1'.repeat(21) }, 'Yandex Metrika counter ID must be numeric'],
    [{ google_ads_id: '123' }, 'Google Ads conversion ID must start with AW-'],
    [{ google_ads_id: 'AW-' }, 'Google Ads conversion ID must start with AW-'],
    [{ google_ads_id: "AW-1');alert(1)//" }, 'Google Ads conversion ID must start with AW-'],
    [{ google_ads_id: `AW-${'1'.repeat(41)}` }, 'Google Ads conversion ID must start with AW-'],
    [{ google_ads_label: '</script>' }, 'Google Ads conversion label contains invalid characters'],
    [{ google_ads_label: 'x'.repeat(101) }, 'Google Ads conversion label contains invalid characters'],
    [{ google_ads_label: '"', google_ads_id: 'x' }, 'Google Ads conversion ID must start with AW-'],
  ])('refuse %j and store nothing', async (bad, problem) => {
    expect(await refused('/analytics', { yandex_metrika_id: '7', ...bad })).toEqual([400, problem]);
    expect(await read('/analytics')).toEqual(COUNTERS);
  });

  it('that are stored otherwise never reach a page', async () => {
    await stored('CABINET_YANDEX_METRIKA_ID', "1');alert(1)//");
    await stored('CABINET_GOOGLE_ADS_LABEL', 'good');
    expect(await read('/analytics')).toEqual({ ...COUNTERS, google_ads_label: 'good' });
  });
});

describe("the messenger's button", () => {
  const widgetOf = async (environment: Record<string, string>, rows: Record<string, string> = {}) => {
    const given = await testApp({ environment });
    const boss = await adminClient(given.app, server, ['settings:edit'], 999);
    const other = await testServer(given.app);
    const editor = clientOf(other, { authorization: `Bearer ${boss.accessToken}` });
    for (const [key, value] of Object.entries(rows)) {
      expect((await editor.put(`/cabinet/admin/settings/${key}`, { value })).status, key).toBe(200);
    }
    const { body } = await clientOf(other).get(`${PATH}/messenger-widget`);
    for (const key of Object.keys(rows)) await editor.delete(`/cabinet/admin/settings/${key}`);
    await other.close();
    return body;
  };

  it('has stored values before those of the environment', async () => {
    const environment = { MESSENGER_WIDGET_SIZE: 'small', MESSENGER_WIDGET_RADIUS: '3', MESSENGER_WIDGET_USERPIC: 'false' };
    expect(await widgetOf(environment)).toMatchObject({ size: 'small', radius: 3, userpic: false });
    expect(await widgetOf(environment, { MESSENGER_WIDGET_SIZE: 'medium', MESSENGER_WIDGET_RADIUS: '12' })).toMatchObject({
      size: 'medium',
      radius: 12,
      userpic: false,
    });
  });

  it('has a radius of at most 20', async () => {
    expect(await widgetOf({ MESSENGER_WIDGET_RADIUS: '99' })).toMatchObject({ radius: 20 });
    expect(await widgetOf({ MESSENGER_WIDGET_RADIUS: 'round' })).toMatchObject({ radius: 8 });
  });

  it('shows a client id only while sign-in with it is possible', async () => {
    expect(await widgetOf({ MESSENGER_OIDC_ENABLED: 'true' })).toMatchObject({ oidc_enabled: false, oidc_client_id: '' });
    expect(await widgetOf({ MESSENGER_OIDC_CLIENT_ID: '42' })).toMatchObject({ oidc_enabled: false, oidc_client_id: '' });
    const both = { MESSENGER_OIDC_ENABLED: 'true', MESSENGER_OIDC_CLIENT_ID: '42' };
    expect(await widgetOf(both)).toMatchObject({ oidc_enabled: true, oidc_client_id: '42' });
  });
});

describe('what every page reads', () => {
  it('has a tag, and is not sent again while it is the same', async () => {
    const first = await open.get(PATH);
    const tag = String(first.headers.etag);
    expect(tag).toMatch(/^"[\w-]{22}"$/);
    expect(first.headers['cache-control']).toBeUndefined();
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const again = await open.get(PATH, { headers: { 'if-none-match': known } });
      expect([again.status, again.text, again.headers.etag], known).toEqual([304, '', tag]);
    }
    await admin.put(`${PATH}/name`, { name: 'Other' });
    const changed = await open.get(PATH, { headers: { 'if-none-match': tag } });
    expect([changed.status, changed.body.name]).toEqual([200, 'Other']);
  });

  it('is closed with the cabinet', async () => {
    const closed = await testApp({ environment: { CABINET_ENABLED: 'false' } });
    const other = await testServer(closed.app);
    expect((await clientOf(other).get(PATH)).status).toBe(404);
    await other.close();
  });
});
