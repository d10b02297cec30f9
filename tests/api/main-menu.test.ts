import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ApiClient, testServer, tokenClient } from '../support/api.ts';
import { aUser } from '../support/builders.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

let t: TestApp;
let server: FastifyInstance;
let api: ApiClient;

beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
  const client = await tokenClient(t.app, server);
  api = client;
  // A user with the number of the token (spec 05 section 6, hazard): the token is nobody all the same.
  for (let id = 0; id < client.tokenId; ) id = (await aUser(t.app)).id;
});
afterAll(() => server.close());
beforeEach(async () => {
  for (const table of ['main_menu_buttons', 'user_messages'])
    await t.app.db.sql(`DELETE FROM ${table} WHERE true RETURNING 1 AS deleted`);
});

const timestamp = expect.stringMatching(/Z$/);
const wrong = (field: string, text: string) => ({
  status: 422,
  body: { detail: [{ loc: ['body', field], type: 'value_error', msg: `Value error, ${text}` }] },
});

describe('/main-menu/buttons', () => {
  const path = '/main-menu/buttons';
  const news = { text: ' News ', action_type: 'url', action_value: ' HTTPS://example.com/news ' };
  const add = async (body: object = {}) => (await api.post(path, { ...news, ...body })).body;

  it('adds, lists, changes and deletes links', async () => {
    const first = await add();
    expect(first).toEqual({
      id: expect.any(Number),
      text: 'News',
      action_type: 'url',
      action_value: 'HTTPS://example.com/news',
      visibility: 'all',
      is_active: true,
      display_order: 1,
      created_at: timestamp,
      updated_at: timestamp,
    });
    const second = await add({ display_order: 1, is_active: false, visibility: 'admins' });
    const third = await add({ display_order: null });
    expect(third.display_order).toBe(2);
    const list = (await api.get(path, { query: { limit: 2 } })).body;
    expect(list).toEqual({ items: [first, second], total: 3, limit: 2, offset: 0 });
    expect((await api.get(path, { query: { offset: 2 } })).body.items).toEqual([third]);

    expect((await api.patch(`${path}/${first.id}`, {})).body).toEqual(first);
    expect((await api.patch(`${path}/${first.id}`, { text: null, visibility: null })).body).toEqual(first);
    const change = { text: ' Shop ', visibility: 'subscribers', is_active: false, display_order: 0 };
    expect((await api.patch(`${path}/${first.id}`, change)).body).toMatchObject({ ...change, text: 'Shop' });
    expect((await api.delete(`${path}/${first.id}`)).body).toEqual({ success: true });
    for (const id of [first.id, 2 ** 40]) {
      const replies = [
        await api.delete(`${path}/${id}`),
        await api.patch(`${path}/${id}`, {}),
        await api.patch(`${path}/${id}`, change),
      ];
      for (const reply of replies) expect(reply).toMatchObject({ status: 404, body: { detail: 'Main menu button not found' } });
    }
  });

  it('refuses blank texts and addresses that the messenger would refuse', async () => {
    const post = (body: object) => api.post(path, { ...news, ...body });
    expect(await post({ text: ' ' })).toMatchObject(wrong('text', 'Text cannot be empty'));
    expect(await post({ action_value: ' ' })).toMatchObject(wrong('action_value', 'Action value cannot be empty'));
    const scheme = 'Action value must start with http:// or https://';
    for (const action_value of ['ftp://example.com', 'javascript:alert(1)', 'example.com', 'https://', 'http:// x'])
      expect(await post({ action_value })).toMatchObject(wrong('action_value', scheme));
    const secure = wrong('action_value', 'Action value of a mini app must start with https://');
    expect(await post({ action_type: 'mini_app', action_value: 'http://example.com' })).toMatchObject(secure);
    expect((await api.get(path)).body.total).toBe(0);
  });

  it('checks kind and address together, also when they come one by one', async () => {
    const insecure = await add({ action_value: 'http://example.com' });
    const secure = await add({ action_type: 'mini_app' });
    const problem = 'Action value of a mini app must start with https://';
    expect(await api.patch(`${path}/${insecure.id}`, { action_type: 'mini_app' })).toMatchObject(wrong('action_type', problem));
    expect(await api.patch(`${path}/${secure.id}`, { action_value: 'http://example.com' })).toMatchObject(
      wrong('action_value', problem),
    );
    const both = { action_type: 'mini_app', action_value: 'https://example.com' };
    expect((await api.patch(`${path}/${insecure.id}`, both)).body).toMatchObject(both);
  });
});

describe('/main-menu/messages', () => {
  const path = '/main-menu/messages';
  const add = async (body: object = {}) => (await api.post(path, { message_text: ' <b>Hello</b> ', ...body })).body;

  it('adds, lists, changes, toggles and deletes messages', async () => {
    const first = await add();
    expect(first).toEqual({
      id: expect.any(Number),
      message_text: '<b>Hello</b>',
      is_active: true,
      sort_order: 0,
      created_by: null,
      created_at: timestamp,
      updated_at: timestamp,
    });
    const second = await add({ message_text: '&lt;b&gt;x&lt;/b&gt;', is_active: false, sort_order: 3 });
    expect(second.message_text).toBe('&lt;b&gt;x&lt;/b&gt;');
    expect((await api.get(path)).body).toEqual({ items: [second, first], total: 2, limit: 50, offset: 0 });
    expect((await api.get(path, { query: { include_inactive: false } })).body).toMatchObject({ items: [first], total: 1 });
    const one = `${path}/${first.id}`;
    expect((await api.patch(one, {})).body).toEqual(first);
    expect((await api.patch(one, { message_text: ' new ', sort_order: 9 })).body).toMatchObject({
      message_text: 'new',
      sort_order: 9,
    });
    expect((await api.post(`${one}/toggle`)).body.is_active).toBe(false);
    expect((await api.post(`${one}/toggle`)).body.is_active).toBe(true);
    expect((await api.delete(one)).body).toEqual({ success: true });
    for (const id of [first.id, 2 ** 40]) {
      const at = `${path}/${id}`;
      // A text that the messenger would refuse is not even read for an unknown message.
      const replies = [await api.delete(at), await api.patch(at, { message_text: '<p>' }), await api.post(`${at}/toggle`)];
      for (const reply of replies) expect(reply).toMatchObject({ status: 404, body: { detail: 'User message not found' } });
    }
  });

  it('refuses what the messenger would refuse, in the language of the request', async () => {
    const message = await add();
    for (const send of [
      (body: object, headers: Record<string, string>) => api.post(path, body, { headers }),
      (body: object, headers: Record<string, string>) => api.patch(`${path}/${message.id}`, body, { headers }),
    ]) {
      const refused = async (message_text: string, language = 'en') => {
        const reply = await send({ message_text }, { 'accept-language': language });
        return [reply.status, reply.body.detail];
      };
      expect(await refused('<p>x</p>')).toEqual([
        400,
        'The tag <p> is not supported (position 1). Remove it or use a supported one.',
      ]);
      expect(await refused('x</b>')).toEqual([400, 'The closing tag </b> has no opening tag (position 2).']);
      expect(await refused('<b><i>x</b></i>')).toEqual([
        400,
        'Tags are closed in the wrong order: expected </i>, found </b> (position 8).',
      ]);
      expect(await refused('<b>x')).toEqual([400, 'The tag <b> is not closed (position 1).']);
      expect(await refused('<b>x', 'fr')).toEqual([400, 'Тег <b> не закрыт (позиция 1).']);
      expect(await send({ message_text: ' ' }, {})).toMatchObject(wrong('message_text', 'Message text cannot be empty'));
      // 4000 characters of the contract are twice as many for the messenger.
      expect((await refused('😀'.repeat(2049)))[1]).toContain('4096');
      expect((await send({ message_text: '😀'.repeat(2048) }, {})).status).toBe(200);
      expect((await send({ message_text: `<b>${'x'.repeat(3993)}</b>` }, {})).status).toBe(200);
    }
  });
});
