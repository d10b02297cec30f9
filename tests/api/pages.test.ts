import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ApiClient, testServer, tokenClient } from '../support/api.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

let t: TestApp;
let server: FastifyInstance;
let api: ApiClient;

beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
  api = await tokenClient(t.app, server);
});
afterAll(() => server.close());
beforeEach(async () => {
  for (const table of ['legal_documents', 'faq_pages', 'faq_settings', 'service_rules'])
    await t.app.db.sql(`DELETE FROM ${table} WHERE true RETURNING 1 AS deleted`);
  t.cache.clear();
});

const notFound = (detail: string) => ({ status: 404, body: { detail } });
const timestamp = expect.stringMatching(/Z$/);

describe.each([
  ['/pages/public-offer', 'Public offer'],
  ['/pages/privacy-policy', 'Privacy policy'],
])('%s', (path, name) => {
  const put = (body: object) => api.put(path, body);
  const get = (query: Record<string, string | boolean> = {}) => api.get(path, { query });

  it('is not there at first, and what is written is answered as sent', async () => {
    expect(await get()).toMatchObject(notFound(`${name} not found`));
    const written = await put({ language: 'EN-us', content: ' <b>x</b>\r\n\r\ny ' });
    expect(written.status).toBe(200);
    expect(written.body).toEqual({
      requested_language: 'en',
      language: 'en',
      is_enabled: true,
      content: ' <b>x</b>\r\n\r\ny ',
      content_pages: ['<b>x</b>\n\ny'],
      created_at: timestamp,
      updated_at: timestamp,
    });
    expect((await get({ language: 'en' })).body).toEqual(written.body);
  });

  it('one of a language: writing again changes it, and only it', async () => {
    await put({ content: 'русский' });
    await put({ language: 'en', content: 'one', is_enabled: false });
    expect((await put({ language: 'en', content: '' })).body).toMatchObject({
      content: '',
      content_pages: [],
      is_enabled: false,
    });
    expect((await put({ language: 'en', content: 'two', is_enabled: true })).body.is_enabled).toBe(true);
    expect((await put({ language: 'en', content: 'two', is_enabled: null })).body.is_enabled).toBe(true);
    expect((await get()).body).toMatchObject({ language: 'ru', content: 'русский' });
  });

  it('falls back to the default language unless asked not to, and hides a disabled one on request', async () => {
    await put({ content: 'русский', is_enabled: false });
    expect((await get({ language: 'de' })).body).toMatchObject({ requested_language: 'de', language: 'ru', is_enabled: false });
    expect(await get({ language: 'de', fallback: false })).toMatchObject(notFound(`${name} not found`));
    expect(await get({ language: 'de', include_disabled: false })).toMatchObject(notFound(`${name} disabled`));
  });

  it('is limited in size', async () => {
    const largest = '😀'.repeat(200_000);
    expect((await put({ content: largest })).status).toBe(200);
    expect(await put({ content: `${largest}x` })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'content'], type: 'string_too_long', ctx: { max_length: 200_000 } }] },
    });
  });
});

it('only the offer is cut between its tags', async () => {
  const content = `<b>${'a'.repeat(4000)}</b>`;
  const [offer] = (await api.put('/pages/public-offer', { content })).body.content_pages;
  const [policy] = (await api.put('/pages/privacy-policy', { content })).body.content_pages;
  expect([offer.length, offer.endsWith('</b>')]).toEqual([3500, true]);
  expect([policy.length, policy.endsWith('</b>')]).toEqual([3500, false]);
});

describe('/pages/faq', () => {
  const add = async (body: object) => (await api.post('/pages/faq', { title: 'q', content: 'a', ...body })).body;
  const list = async (query: Record<string, string | boolean> = {}) => (await api.get('/pages/faq', { query })).body;
  const orderOf = (body: { items: { id: number; display_order: number }[] }) =>
    body.items.map(({ id, display_order }) => [id, display_order]);

  it('is empty at first', async () => {
    const empty = { requested_language: 'en', language: 'en', is_enabled: false, total: 0, items: [] };
    expect(await list({ language: 'en' })).toEqual(empty);
    expect((await api.get('/pages/faq/status')).body).toEqual({ requested_language: 'ru', language: 'ru', is_enabled: false });
  });

  it('numbers new pages after the last one, takes given numbers as they are, and switches the language on', async () => {
    const first = await add({ language: 'en', title: ' padded ', content: '' });
    expect(first).toEqual({
      id: expect.any(Number),
      language: 'en',
      title: ' padded ',
      content: '',
      content_pages: [],
      display_order: 1,
      is_active: true,
      created_at: timestamp,
      updated_at: timestamp,
    });
    const given = await add({ language: 'en', display_order: 7, is_active: null });
    const same = await add({ language: 'en', display_order: 7, is_active: false });
    const last = await add({ language: 'en', display_order: null });
    const other = await add({});
    expect([given, same, last, other].map((page) => page.display_order)).toEqual([7, 7, 8, 1]);
    const all = await list({ language: 'en' });
    expect(all).toMatchObject({ is_enabled: true, total: 4 });
    expect(orderOf(all)).toEqual([
      [first.id, 1],
      [given.id, 7],
      [same.id, 7],
      [last.id, 8],
    ]);
    expect((await list({ language: 'en', include_inactive: false })).total).toBe(3);
  });

  it('the greatest number is not exceeded by the next one', async () => {
    await add({ display_order: 2_147_483_647 });
    expect((await add({})).display_order).toBe(2_147_483_647);
    expect((await api.post('/pages/faq', { title: 'q', content: 'a', display_order: 2_147_483_648 })).status).toBe(422);
  });

  it('reads, changes and deletes a page', async () => {
    const page = await add({ language: 'en' });
    const path = `/pages/faq/${page.id}`;
    expect((await api.get(path, { query: { language: 'en' } })).body).toEqual(page);
    expect(await api.get(path)).toMatchObject(notFound('FAQ page not found'));
    expect((await api.put(path, {})).body).toEqual(page);
    expect((await api.put(path, { title: null, content: null })).body).toEqual(page);
    const changed = await api.put(path, { title: 'new', content: '', display_order: 3, is_active: false });
    expect(changed.body).toMatchObject({ title: 'new', content: '', display_order: 3, is_active: false, language: 'en' });
    expect(await api.get(path, { query: { language: 'en', include_inactive: false } })).toMatchObject({ status: 404 });
    const other = await add({ language: 'en' });
    expect((await api.delete(path)).body).toEqual({ success: true });
    for (const reply of [await api.delete(path), await api.put(path, { title: 'x' }), await api.put(path, {})])
      expect(reply).toMatchObject(notFound('FAQ page not found'));
    expect((await list({ language: 'en' })).items).toEqual([other]);
    expect((await api.get(`/pages/faq/${2 ** 40}`)).status).toBe(404);
  });

  it('a page of the default language is found from any language', async () => {
    const page = await add({ language: 'ru' });
    expect((await api.get(`/pages/faq/${page.id}`, { query: { language: 'de' } })).body.id).toBe(page.id);
  });

  it('hides pages whose switch is off from readers of active pages only', async () => {
    await add({ language: 'en' });
    await add({ language: 'ru' });
    await api.put('/pages/faq/status', { language: 'en', is_enabled: false });
    expect(await list({ language: 'en', include_inactive: false })).toMatchObject({ is_enabled: false, total: 0 });
    expect(await list({ language: 'en' })).toMatchObject({ is_enabled: false, total: 1 });
    expect(await list({ language: 'de', include_inactive: false })).toMatchObject({ language: 'ru', is_enabled: true, total: 1 });
    expect(await list({ language: 'de', fallback: false })).toMatchObject({ language: 'de', is_enabled: false, total: 0 });
  });

  it('the switch: the body takes precedence over the query', async () => {
    const path = '/pages/faq/status';
    const put = (body: unknown, query: Record<string, string | boolean> = {}) => api.put(path, body, { query });
    const answer = (language: string, is_enabled: boolean) => ({ requested_language: language, language, is_enabled });
    expect(await put(undefined)).toMatchObject({ status: 400, body: { detail: "Parameter 'is_enabled' is required" } });
    expect((await put(undefined, { language: 'EN', is_enabled: true })).body).toEqual(answer('en', true));
    expect((await put('null', { language: 'en', is_enabled: false })).body).toEqual(answer('en', false));
    expect((await put({ is_enabled: true }, { language: 'en', is_enabled: false })).body).toEqual(answer('ru', true));
    expect((await put({ language: 'de' })).status).toBe(422);
    const get = (query: Record<string, string | boolean>) => api.get(path, { query });
    expect((await get({ language: 'en' })).body).toEqual(answer('en', false));
    expect((await get({ language: 'fr' })).body).toEqual({ requested_language: 'fr', language: 'ru', is_enabled: true });
    expect((await get({ language: 'fr', fallback: false })).body).toEqual(answer('fr', false));
  });

  it('puts named pages first and numbers all from 1', async () => {
    const pages = [];
    for (let n = 0; n < 4; n += 1) pages.push(await add({ language: 'en', display_order: 10 * n, is_active: n !== 1 }));
    const [a, b, c, d] = pages.map((page) => page.id as number);
    const items = [
      { id: d, display_order: 9 },
      { id: b, display_order: 2 },
    ];
    const ordered = await api.post('/pages/faq/reorder', { language: 'en', items });
    expect(ordered.body).toMatchObject({ requested_language: 'en', language: 'en', is_enabled: true, total: 4 });
    expect(orderOf(ordered.body)).toEqual([
      [b, 1],
      [d, 2],
      [a, 3],
      [c, 4],
    ]);
    expect(orderOf((await api.post('/pages/faq/reorder', { language: 'en', items: [] })).body)).toEqual(orderOf(ordered.body));
  });

  it('refuses an order with a page of another language or twice the same, and changes nothing', async () => {
    const english = await add({ language: 'en', display_order: 5 });
    const other = await add({ language: 'ru' });
    const order = (items: object[]) => api.post('/pages/faq/reorder', { language: 'en', items });
    expect(await order([english, other])).toMatchObject(notFound(`FAQ page ${other.id} not found for language en`));
    const twice = [
      { id: english.id, display_order: 1 },
      { id: english.id, display_order: 2 },
    ];
    expect(await order(twice)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'items'], type: 'value_error', input: twice }] },
    });
    expect((await list({ language: 'en' })).items[0].display_order).toBe(5);
  });
});

describe('/pages/service-rules', () => {
  const path = '/pages/service-rules';
  const put = async (body: object) => (await api.put(path, body)).body;
  const history = async (query: Record<string, string | number> = {}) => (await api.get(`${path}/history`, { query })).body;

  it('has one version in force and keeps the others', async () => {
    expect(await api.get(path)).toMatchObject(notFound('Service rules not found'));
    expect(await history({ language: 'en' })).toEqual({ language: 'en', total: 0, items: [] });
    const first = await put({ language: 'en', content: 'one' });
    expect(first).toEqual({
      id: expect.any(Number),
      title: 'Terms of service',
      content: 'one',
      language: 'en',
      is_active: true,
      created_at: timestamp,
      updated_at: timestamp,
    });
    const second = await put({ language: 'en', title: 'Rules', content: 'two' });
    const third = await put({ language: 'en', title: null, content: 'three' });
    expect(third.title).toBe('Terms of service');
    expect((await api.get(path, { query: { language: 'en' } })).body).toEqual(third);
    const all = await history({ language: 'en' });
    expect(all.items.map((one: { id: number; is_active: boolean }) => [one.id, one.is_active])).toEqual([
      [third.id, true],
      [second.id, false],
      [first.id, false],
    ]);
    expect(all.total).toBe(3);
    expect(await history({ language: 'en', limit: 1 })).toMatchObject({ total: 1, items: [{ id: third.id }] });
  });

  it('spec 10 R5: have a title in their language when they are sent without one', async () => {
    expect((await put({ language: 'ru', content: 'one' })).title).toBe('Правила сервиса');
    expect((await put({ language: 'en', content: 'one' })).title).toBe('Terms of service');
  });

  it('restores a copy of a version of the same language', async () => {
    const old = await put({ language: 'en', title: 'Old', content: 'one' });
    await put({ language: 'en', content: 'two' });
    const restore = (id: number, language: string) =>
      api.post(`${path}/history/${id}/restore`, undefined, { query: { language } });
    const restored = await restore(old.id, 'EN');
    expect(restored.body).toMatchObject({ title: 'Old', content: 'one', language: 'en', is_active: true });
    expect(restored.body.id).toBeGreaterThan(old.id);
    expect((await history({ language: 'en' })).total).toBe(3);
    expect(await restore(old.id, 'ru')).toMatchObject(notFound('Rules version not found'));
    expect(await restore(2 ** 40, 'en')).toMatchObject(notFound('Rules version not found'));
  });

  it('falls back to the default language, and a deletion leaves the history', async () => {
    await put({ content: 'русский' });
    await put({ language: 'en', content: 'English' });
    for (let n = 0; n < 2; n += 1)
      expect((await api.delete(path, { query: { language: 'en' } })).body).toEqual({ success: true });
    expect((await api.get(path, { query: { language: 'en' } })).body).toMatchObject({ language: 'ru', content: 'русский' });
    expect(await api.get(path, { query: { language: 'en', fallback: false } })).toMatchObject({ status: 404 });
    expect(await history({ language: 'en' })).toMatchObject({ total: 1, items: [{ is_active: false }] });
  });
});
