import type { FastifyInstance } from 'fastify';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DatabaseSharedCache } from '../../src/core/cache/shared-cache.ts';
import { recordMembership } from '../../src/domain/safety/channel-gate.ts';
import { type ActorClient, adminClient, userClient } from '../support/actors.ts';
import { testServer } from '../support/api.ts';
import { unique } from '../support/builders.ts';
import { cachesStayFresh, eventually } from '../support/eventually.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { busOf } from '../support/test-bus.ts';
import { workerSandbox } from '../support/test-sandbox.ts';

const PATH = '/cabinet/admin/channel-subscriptions';
const ME = '/cabinet/auth/me';
let t: TestApp;
let server: FastifyInstance;
let admin: ActorClient;
beforeAll(async () => {
  t = await testApp({ environment: { CHANNEL_IS_REQUIRED_SUB: 'true' } });
  server = await testServer(t.app);
  admin = await adminClient(t.app, server, ['channels:read', 'channels:edit']);
  await t.app.db.sql('DELETE FROM required_channels RETURNING id');
});
afterEach(async () => {
  for (const { id } of (await admin.get(PATH)).body.items) await admin.delete(`${PATH}/${id}`);
});
afterAll(() => server.close());

const digits = () => String(unique()).padStart(10, '1');
const defaults = {
  channel_link: null,
  title: null,
  is_active: true,
  sort_order: 0,
  disable_trial_on_leave: true,
  disable_paid_on_leave: false,
};

describe('spec 05 section 13: administration of required channels', () => {
  it('creates, lists by place and id, changes what is sent, toggles and deletes', async () => {
    const [first, second] = [digits(), digits()];
    const made = await admin.post(PATH, { channel_id: ` ${first} `, channel_link: '@news', title: 'News' });
    expect(made.status).toBe(200);
    expect(made.body).toEqual({
      ...defaults,
      id: expect.any(Number),
      channel_id: `-100${first}`,
      channel_link: 'https://t.me/news',
      title: 'News',
    });
    const other = await admin.post(PATH, { channel_id: `-100${second}`, disable_paid_on_leave: true });
    expect(other.body).toEqual({ ...defaults, id: expect.any(Number), channel_id: `-100${second}`, disable_paid_on_leave: true });
    const one = `${PATH}/${made.body.id}`;
    const changed = await admin.patch(one, { sort_order: 5, channel_link: null, title: null, is_active: false });
    expect(changed).toMatchObject({
      status: 200,
      body: { ...made.body, sort_order: 5, channel_link: null, title: null, is_active: false },
    });
    expect((await admin.patch(one, {})).body).toEqual(changed.body);
    expect((await admin.get(PATH)).body).toEqual({ items: [other.body, changed.body], total: 2 });
    expect((await admin.post(`${one}/toggle`)).body).toEqual({ ...changed.body, is_active: true });
    expect((await admin.post(`${one}/toggle`)).body.is_active).toBe(false);
    expect(await admin.delete(one)).toMatchObject({ body: { success: true } });
    expect((await admin.get(PATH)).body.total).toBe(1);
  });

  it.each([
    ['http://t.me/news', 'https://t.me/news'],
    ['HTTPS://T.ME/+AbCd', 'https://t.me/+AbCd'],
    [' @Some_Name ', 'https://t.me/Some_Name'],
  ])('stores the link %s as %s', async (link, stored) => {
    expect((await admin.post(PATH, { channel_id: digits(), channel_link: link })).body.channel_link).toBe(stored);
  });

  it.each([
    '',
    ' ',
    'news',
    '@',
    'https://example.com/news',
    'https://t.me.example.com/x',
    'https://user@t.me/x',
    'ftp://t.me/x',
    'https://t.me/',
    'javascript:alert(1)',
    `https://t.me/${'x'.repeat(500)}`,
  ])('refuses the link %j', async (link) => {
    const reply = await admin.post(PATH, { channel_id: digits(), channel_link: link });
    const msg = 'Value error, channel_link must be a t.me URL or @username';
    expect(reply).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'channel_link'], type: 'value_error', msg }] } });
  });

  it.each(['', 'news', '123456789', '12345678901234', '-1001', '-100123456789x', '-1234567890'])(
    'refuses the channel id %j',
    async (channelId) => {
      const reply = await admin.post(PATH, { channel_id: channelId });
      const msg = `Value error, Invalid channel_id format: '${channelId}'. Enter numeric channel ID (e.g. 1234567890) — prefix -100 is added automatically`;
      expect(reply).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'channel_id'], type: 'value_error', msg }] } });
    },
  );

  it('refuses null where a value is needed and numbers that a column cannot store before the record is looked up', async () => {
    const nulls = {
      channel_id: null,
      is_active: null,
      sort_order: null,
      disable_trial_on_leave: null,
      disable_paid_on_leave: null,
    };
    const reply = await admin.patch(`${PATH}/2000000000`, nulls);
    expect(reply.status).toBe(422);
    expect(reply.body.detail.map(({ loc }: { loc: string[] }) => loc[1])).toEqual(Object.keys(nulls));
    expect((await admin.patch(`${PATH}/2000000000`, { sort_order: 3_000_000_000 })).status).toBe(422);
    expect((await admin.patch(`${PATH}/2000000000`, { title: 'x'.repeat(256) })).status).toBe(422);
  });

  it('answers 404 for an unknown record', async () => {
    for (const id of ['2000000000', '99999999999']) {
      const gone = { status: 404, body: { detail: 'Channel not found' } };
      expect(await admin.patch(`${PATH}/${id}`, { title: 'x' })).toMatchObject(gone);
      expect(await admin.post(`${PATH}/${id}/toggle`)).toMatchObject(gone);
      expect(await admin.delete(`${PATH}/${id}`)).toMatchObject(gone);
    }
  });

  it('refuses a channel that is listed already with 409, on creation and on a change', async () => {
    const [taken, free] = [digits(), digits()];
    await admin.post(PATH, { channel_id: taken });
    const other = await admin.post(PATH, { channel_id: free });
    expect((await admin.post(PATH, { channel_id: `-100${taken}` })).status).toBe(409);
    expect((await admin.patch(`${PATH}/${other.body.id}`, { channel_id: taken })).status).toBe(409);
    expect((await admin.get(PATH)).body.total).toBe(2);
  });

  it('deletes the known members with another channel id, and with the channel', async () => {
    const [before, after] = [digits(), digits()].map((text) => `-100${text}`) as [string, string];
    const { body } = await admin.post(PATH, { channel_id: before });
    const count = async (channelId: string) =>
      (
        await t.app.db.sql('SELECT 1 AS found FROM user_channel_subscriptions WHERE messenger_id = 77 AND channel_id = $1', [
          channelId,
        ])
      ).length;
    await recordMembership(t.app, { messengerId: 77, channelId: before, isMember: true });
    await admin.patch(`${PATH}/${body.id}`, { title: 'kept' });
    expect(await count(before)).toBe(1);
    expect((await admin.patch(`${PATH}/${body.id}`, { channel_id: after })).body.channel_id).toBe(after);
    expect(await count(before)).toBe(0);
    await recordMembership(t.app, { messengerId: 77, channelId: after, isMember: true });
    await admin.delete(`${PATH}/${body.id}`);
    expect(await count(after)).toBe(0);
  });

  it('every write reaches the gate of every instance by its notice', async () => {
    const cache = new DatabaseSharedCache();
    const unfollow = cache.follow(await busOf(t.database));
    const elsewhere = await testServer({ ...t.app, cache });
    const user = await userClient(t.app, elsewhere);
    const channelId = `-100${digits()}`;
    await (await workerSandbox()).servers.messenger.setMembership(channelId, user.user.messengerId, 'left');
    const statusOf = async () => (await user.get(ME)).status;
    expect(await statusOf()).toBe(200);
    cachesStayFresh();
    const soon = (status: number) => eventually(async () => expect(await statusOf()).toBe(status));
    const { body } = await admin.post(PATH, { channel_id: channelId });
    await soon(403);
    await admin.post(`${PATH}/${body.id}/toggle`);
    await soon(200);
    await admin.patch(`${PATH}/${body.id}`, { is_active: true });
    await soon(403);
    await admin.delete(`${PATH}/${body.id}`);
    await soon(200);
    unfollow();
    await elsewhere.close();
  });

  it('needs channels:read and channels:edit', async () => {
    const reader = await adminClient(t.app, server, ['channels:read']);
    expect((await reader.get(PATH)).status).toBe(200);
    expect((await reader.post(PATH, { channel_id: digits() })).status).toBe(403);
    expect((await (await adminClient(t.app, server, ['users:read'])).get(PATH)).status).toBe(403);
  });
});
