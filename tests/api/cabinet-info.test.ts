import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { offeredLanguages } from '../../src/domain/content/service-info.ts';
import { readSessionUser } from '../../src/domain/identity/authenticate.ts';
import { putSetting, resetSetting } from '../../src/domain/settings/change-setting.ts';
import { userClient } from '../support/actors.ts';
import { type ApiClient, clientOf, testServer, tokenClient } from '../support/api.ts';
import { initDataOf } from '../support/init-data.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const editor = { kind: 'token' } as const;
const INFO = '/cabinet/info';

let t: TestApp;
let server: FastifyInstance;
let anyone: ApiClient;
let operator: ApiClient;

beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
  anyone = clientOf(server);
  operator = await tokenClient(t.app, server);
});
afterAll(() => server.close());
beforeEach(async () => {
  for (const table of ['legal_documents', 'faq_pages', 'faq_settings', 'service_rules'])
    await t.app.db.sql(`DELETE FROM ${table} WHERE true RETURNING 1 AS deleted`);
  t.cache.clear();
});

const get = async (path: string, query: Record<string, string> = {}) => (await anyone.get(`${INFO}${path}`, { query })).body;

async function withSetting<T>(key: string, value: string, work: () => Promise<T>): Promise<T> {
  await putSetting(t.app, editor, key, value);
  try {
    return await work();
  } finally {
    await resetSetting(t.app, editor, key);
  }
}

describe('public information of the cabinet', () => {
  it('needs no credential, ignores a bad one and is not cached by clients', async () => {
    for (const path of ['/faq', '/rules', '/privacy-policy', '/public-offer', '/service', '/languages', '/support-config']) {
      const reply = await anyone.get(`${INFO}${path}`, { headers: { authorization: 'Bearer nonsense' } });
      expect(reply.status).toBe(200);
      expect(reply.headers).not.toHaveProperty('cache-control');
    }
  });

  it('answers questions and one question as browsers may show them', async () => {
    expect(await get('/faq')).toEqual([]);
    const add = async (body: object) => (await operator.post('/pages/faq', { title: 'q', content: 'a', ...body })).body;
    const second = await add({ content: '<b>safe</b><script>alert(1)</script>', display_order: 2 });
    const first = await add({ title: 'First', content: 'a < b & c', display_order: 1 });
    const inactive = await add({ is_active: false });
    const other = await add({ language: 'de' });
    expect(await get('/faq', { language: 'en' })).toEqual([
      { id: first.id, title: 'First', content: 'a < b & c', order: 1 },
      { id: second.id, title: 'q', content: '<b>safe</b>', order: 2 },
    ]);
    expect(await get(`/faq/${second.id}`)).toEqual({ id: second.id, title: 'q', content: '<b>safe</b>', order: 2 });
    for (const id of [inactive.id, other.id, 2 ** 40]) expect(await get(`/faq/${id}`)).toEqual({ detail: 'FAQ page not found' });
    expect((await anyone.get(`${INFO}/faq`, { query: { language: 'x' } })).status).toBe(422);
    expect((await anyone.get(`${INFO}/faq`, { query: { language: 'x'.repeat(11) } })).status).toBe(422);
  });

  it('answers documents by the rule of the chat: enabled, not blank, else of the default language', async () => {
    const write = (body: object) => operator.put('/pages/public-offer', body);
    await write({ language: 'ru', content: 'оферта' });
    const shown = await get('/public-offer', { language: 'en' });
    expect(shown).toEqual({ content: 'оферта', updated_at: expect.stringMatching(/^\d{4}-.*Z$/) });
    await write({ language: 'en', content: ' ' });
    expect((await get('/public-offer', { language: 'en' })).content).toBe('оферта');
    await write({ language: 'en', content: 'hidden', is_enabled: false });
    const placeholder = await get('/public-offer', { language: 'en' });
    expect(placeholder).toMatchObject({ content: expect.stringMatching(/^# Public offer\n\n/), updated_at: null });
    expect((await get('/privacy-policy')).content).toMatch(/^# Политика/);
  });

  it('answers rules of the language, of the default one, or built-in ones', async () => {
    expect(await get('/rules', { language: 'en' })).toMatchObject({
      content: expect.stringMatching(/^<b>Rules/),
      updated_at: null,
    });
    await operator.put('/pages/service-rules', { content: 'наши<iframe></iframe>' });
    expect(await get('/rules', { language: 'en' })).toEqual({ content: 'наши', updated_at: expect.stringMatching(/Z$/) });
  });

  it('answers name and contacts', async () => {
    expect(await get('/service')).toEqual({
      name: 'VPN Service',
      description: null,
      support_email: null,
      support_messenger: '@support',
      website: null,
    });
    const environment = {
      BOT_NAME: 'Falcon',
      SERVICE_DESCRIPTION: 'Fast',
      SUPPORT_EMAIL: 'help@example.com',
      WEBSITE_URL: 'https://example.com',
      SUPPORT_USERNAME: '@falcon_help',
    };
    const named = await testServer((await testApp({ environment })).app);
    expect((await clientOf(named).get(`${INFO}/service`)).body).toEqual({
      name: 'Falcon',
      description: 'Fast',
      support_email: 'help@example.com',
      support_messenger: '@falcon_help',
      website: 'https://example.com',
    });
    await named.close();
    await expect(testApp({ environment: { WEBSITE_URL: 'javascript:alert(1)' } })).rejects.toThrow('WEBSITE_URL');
  });

  it.each([
    ['tickets', true, 'tickets'],
    ['contact', false, 'profile'],
    ['both', true, 'both'],
  ])('support mode %s', async (mode, ticketsEnabled, type) => {
    const config = { tickets_enabled: ticketsEnabled, support_type: type, support_url: null, support_username: '@support' };
    await withSetting('SUPPORT_SYSTEM_MODE', mode, async () => expect(await get('/support-config')).toEqual(config));
  });

  it('answers the languages of the setting, without repeats and in its order', async () => {
    const five = await get('/languages');
    expect(five.default).toBe('ru');
    expect(five.languages.map((one: { code: string }) => one.code)).toEqual(['ru', 'en', 'ua', 'zh', 'fa']);
    expect(five.languages[1]).toEqual({ code: 'en', name: 'English', flag: '🇬🇧' });
    await withSetting('AVAILABLE_LANGUAGES', ' DE, en-US,,en , constructor', async () => {
      expect((await get('/languages')).languages).toEqual([
        { code: 'de', name: 'DE', flag: '🌐' },
        { code: 'en', name: 'English', flag: '🇬🇧' },
        { code: 'const', name: 'CONST', flag: '🌐' },
      ]);
    });
    const { app } = await testApp({ environment: { AVAILABLE_LANGUAGES: ' , ' } });
    expect(offeredLanguages(app)).toEqual(five.languages);
    await withSetting('DEFAULT_LANGUAGE', 'EN-us', async () => expect((await get('/languages')).default).toBe('en'));
  });
});

describe('the own language', () => {
  it('is read and changed, and what is known of the session follows', async () => {
    const user = await userClient(t.app, server, { language: 'ru' });
    const path = `${INFO}/user/language`;
    expect((await user.get(path)).body).toEqual({ language: 'ru' });
    expect((await user.patch(path, { language: 'EN-us', other: 'ignored' })).body).toEqual({ language: 'en' });
    expect((await user.get(path)).body).toEqual({ language: 'en' });
    expect((await readSessionUser(t.app, user.user.id))?.language).toBe('en');
    expect((await user.patch(path, {})).body).toEqual({ language: 'ru' });
    for (const language of ['', ' ', '-', 'de', 'russian'])
      expect(await user.patch(path, { language })).toMatchObject({
        status: 400,
        body: { detail: 'Invalid language. Supported: ru, en, ua, zh, fa' },
      });
    for (const body of [{ language: 1 }, { language: null }, { language: 'en', more: true }, [], undefined])
      expect((await user.patch(path, body)).status).toBe(422);
    expect((await user.get(path)).body).toEqual({ language: 'ru' });
  });

  it('needs a session', async () => {
    expect((await anyone.get(`${INFO}/user/language`)).status).toBe(401);
    expect((await anyone.patch(`${INFO}/user/language`, { language: 'en' })).status).toBe(401);
  });
});

it('the first page of the mini-app has questions and documents', async () => {
  const { user } = await userClient(t.app, server, { language: 'en' });
  const open = async () => (await anyone.post('/miniapp/subscription', { initData: initDataOf(t, user) })).body;
  expect(await open()).toMatchObject({ faq: null, legal_documents: null });
  const { id } = (await operator.post('/pages/faq', { language: 'en', title: 'How?', content: '<b>So</b>' })).body;
  await operator.put('/pages/privacy-policy', { content: 'политика' });
  const { faq, legal_documents } = await open();
  expect(faq).toEqual({
    requested_language: 'en',
    language: 'en',
    is_enabled: true,
    total: 1,
    items: [{ id, title: 'How?', content: '<b>So</b>', display_order: 1 }],
  });
  expect(legal_documents).toEqual({
    public_offer: null,
    service_rules: null,
    privacy_policy: {
      requested_language: 'en',
      language: 'ru',
      title: null,
      is_enabled: true,
      content: 'политика',
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    },
  });
});
