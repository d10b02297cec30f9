import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type ApiClient, testServer, tokenClient } from '../support/api.ts';
import { aUser } from '../support/builders.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const PATH = '/welcome-texts';
let t: TestApp;
let server: FastifyInstance;
let api: ApiClient;

beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
  const client = await tokenClient(t.app, server);
  api = client;
  for (let id = 0; id < client.tokenId; ) id = (await aUser(t.app)).id;
});
afterAll(() => server.close());
beforeEach(() => t.app.db.sql('DELETE FROM welcome_texts WHERE true RETURNING 1 AS deleted'));

const add = async (body: object = {}) => {
  t.clock.advance(1000);
  return (await api.post(PATH, { text: ' Hello, <b>{user_name}</b> ', ...body })).body;
};
const patch = async (id: number, body: object) => {
  t.clock.advance(1000);
  return (await api.patch(`${PATH}/${id}`, body)).body;
};
const activeIds = async () =>
  (await api.get(PATH, { query: { include_inactive: false } })).body.items.map((one: { id: number }) => one.id);

it('none at first, then one text is active at most, whoever activates it', async () => {
  expect((await api.get(PATH)).body).toEqual({ items: [], total: 0, limit: 50, offset: 0 });
  const first = await add();
  const timestamp = expect.stringMatching(/Z$/);
  expect(first).toEqual({
    id: expect.any(Number),
    text: 'Hello, <b>{user_name}</b>',
    is_active: true,
    is_enabled: true,
    created_by: null,
    created_at: timestamp,
    updated_at: timestamp,
  });
  const second = await add({ is_enabled: false });
  const third = await add({ is_active: false });
  expect(await activeIds()).toEqual([second.id]);
  await patch(third.id, { is_active: true });
  expect(await activeIds()).toEqual([third.id]);
  await patch(third.id, { is_active: true });
  expect(await activeIds()).toEqual([third.id]);
  await patch(third.id, { is_active: false });
  expect(await activeIds()).toEqual([]);
  await patch(first.id, { is_active: true });
  expect((await api.delete(`${PATH}/${first.id}`)).body).toEqual({ success: true });
  expect(await activeIds()).toEqual([]);
});

it('lists what was changed last first, where a text that only loses its place keeps its date', async () => {
  const first = await add();
  const second = await add({ text: 'two' });
  const list = (await api.get(PATH)).body;
  expect(list.items.map((one: { id: number }) => one.id)).toEqual([second.id, first.id]);
  expect(list.items[1]).toEqual({ ...first, is_active: false });
  expect(await patch(first.id, {})).toEqual({ ...first, is_active: false });
  expect(await patch(first.id, { text: null, is_enabled: null, is_active: null })).toEqual({ ...first, is_active: false });
  const changed = await patch(first.id, { text: ' new ', is_enabled: false });
  expect(changed).toMatchObject({ text: 'new', is_enabled: false, created_at: first.created_at });
  expect(changed.updated_at > second.updated_at).toBe(true);
  const page = (await api.get(PATH, { query: { limit: 1, offset: 1 } })).body;
  expect(page).toMatchObject({ items: [{ id: second.id }], total: 2, limit: 1, offset: 1 });
  expect((await api.get(`${PATH}/${first.id}`)).body).toEqual(changed);
});

it('does not know other texts', async () => {
  const { id } = await add();
  await api.delete(`${PATH}/${id}`);
  for (const unknown of [id, 2 ** 40]) {
    const at = `${PATH}/${unknown}`;
    const replies = [await api.get(at), await api.delete(at), await api.patch(at, { text: '<p>' }), await api.patch(at, {})];
    for (const reply of replies) expect(reply).toMatchObject({ status: 404, body: { detail: 'Welcome text not found' } });
  }
});

it('refuses what the messenger would refuse, with the longest names filled in', async () => {
  const { id } = await add();
  const headers = { 'accept-language': 'en' };
  for (const send of [
    (text: string) => api.post(PATH, { text }, { headers }),
    (text: string) => api.patch(`${PATH}/${id}`, { text }, { headers }),
  ]) {
    expect(await send('  ')).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'text'], type: 'value_error', msg: 'Value error, Text cannot be empty' }] },
    });
    expect(await send('<b>x')).toMatchObject({ status: 400, body: { detail: 'The tag <b> is not closed (position 1).' } });
    const twoNames = '{user_name}{username_clean}';
    const filler = 'x'.repeat(4096 - 2 * 64);
    expect((await send(`${twoNames}${filler}`)).status).toBe(200);
    expect(await send(`${twoNames}${filler}x`)).toMatchObject({
      status: 400,
      body: {
        detail: 'The message is too long: it may have 4097 characters, and the messenger accepts 4096.',
      },
    });
    // Other braces are no placeholders, and text is counted without its tags.
    expect((await send(`{other}${'x'.repeat(3986)}<b></b>`)).status).toBe(200);
  }
});
