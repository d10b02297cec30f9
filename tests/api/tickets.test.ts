import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SECOND_MS } from '../../src/core/clock.ts';
import { type ActorClient, adminClient, userClient } from '../support/actors.ts';
import { type ApiClient, testServer, tokenClient } from '../support/api.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const good = { title: 'No connection', message: 'It stopped working today.' };
let t: TestApp;
let server: FastifyInstance;
let user: ActorClient;
let admin: ActorClient;
let api: ApiClient;

beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
  user = await userClient(t.app, server);
  admin = await adminClient(t.app, server, ['tickets:*']);
  api = await tokenClient(t.app, server);
});
afterAll(() => server.close());

const detail = (issue: Record<string, unknown>) => ({ detail: [issue] });
const short = (field: string, input: string, min: number) =>
  detail({
    loc: ['body', field],
    type: 'string_too_short',
    msg: `String should have at least ${min} character${min === 1 ? '' : 's'}`,
    input,
    ctx: { min_length: min },
  });
const long = (field: string, input: string, max: number) =>
  detail({
    loc: ['body', field],
    type: 'string_too_long',
    msg: `String should have at most ${max} characters`,
    input,
    ctx: { max_length: max },
  });
const noText = (field: string, input: unknown) =>
  detail({ loc: ['body', field], type: 'string_type', msg: 'Input should be a valid string', input });

describe('POST /cabinet/tickets (issue 4 row 6)', () => {
  it.each([
    [{ ...good, title: 'abc' }],
    [{ ...good, title: 'a'.repeat(255) }],
    [{ ...good, message: 'm'.repeat(10) }],
    [{ ...good, message: 'm'.repeat(4000) }],
    [{ ...good, media_caption: 'c'.repeat(1000) }],
    [{ ...good, media_type: null, media_file_id: null, media_caption: null }],
  ])('takes %#', async (body) => {
    const reply = await user.post('/cabinet/tickets', body);
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({ title: body.title, status: 'open', priority: 'normal', closed_at: null });
  });

  it.each([
    ['title', 'ab', short('title', 'ab', 3)],
    ['title', '  ab  ', short('title', '  ab  ', 3)],
    ['title', 'a'.repeat(256), long('title', 'a'.repeat(256), 255)],
    ['title', null, noText('title', null)],
    ['title', 7, noText('title', 7)],
    ['message', 'm'.repeat(9), short('message', 'm'.repeat(9), 10)],
    ['message', 'm'.repeat(4001), long('message', 'm'.repeat(4001), 4000)],
    ['message', null, noText('message', null)],
    ['message', ['text'], noText('message', ['text'])],
    ['media_caption', 'c'.repeat(1001), long('media_caption', 'c'.repeat(1001), 1000)],
    ['media_caption', 5, noText('media_caption', 5)],
    ['media_type', 5, noText('media_type', 5)],
    ['media_file_id', {}, noText('media_file_id', {})],
    [
      'media_type',
      'audio',
      detail({
        loc: ['body', 'media_type'],
        type: 'literal_error',
        msg: "Input should be 'photo', 'video' or 'document'",
        input: 'audio',
        ctx: { expected: "'photo', 'video' or 'document'" },
      }),
    ],
    [
      'media_type',
      'photo',
      detail({
        loc: ['body', 'media_file_id'],
        type: 'value_error',
        msg: 'Value error, media_type and media_file_id must be given together',
        input: null,
      }),
    ],
  ])('refuses %s = %j', async (field, value, expected) => {
    const reply = await user.post('/cabinet/tickets', { ...good, [field]: value });
    expect(reply.status).toBe(422);
    expect(reply.body).toEqual(expected);
  });

  it.each(['title', 'message'] as const)('needs %s', async (field) => {
    const { [field]: _left, ...body } = good;
    const reply = await user.post('/cabinet/tickets', body);
    expect(reply.status).toBe(422);
    expect(reply.body).toEqual(detail({ loc: ['body', field], type: 'missing', msg: 'Field required', input: body }));
  });
});

describe('one ticket through all areas', () => {
  it('is opened, listed, answered, blocked and closed', async () => {
    const made = (await user.post('/cabinet/tickets', { ...good, title: '  Trimmed title ' })).body;
    const stamp = t.clock.now().toISOString();
    const first = {
      id: made.messages[0].id,
      message_text: good.message,
      is_from_admin: false,
      has_media: false,
      media_type: null,
      media_file_id: null,
      media_caption: null,
      created_at: stamp,
    };
    const fields = {
      id: made.id,
      title: 'Trimmed title',
      status: 'open',
      priority: 'normal',
      created_at: stamp,
      updated_at: stamp,
      closed_at: null,
    };
    expect(made).toEqual({ ...fields, is_reply_blocked: false, messages: [first] });

    const owner = { id: user.user.id, messenger_id: user.user.messengerId, email: null, last_name: null };
    const listed = await admin.get('/cabinet/admin/tickets', { query: { user_id: user.user.id, per_page: 1, status: 'open' } });
    expect(listed.body).toMatchObject({ page: 1, per_page: 1, items: [{ ...fields, messages_count: 1, last_message: first }] });
    expect(listed.body.items[0].user).toMatchObject(owner);
    expect(listed.body.pages).toBe(listed.body.total);

    const answer = await admin.post(`/cabinet/admin/tickets/${made.id}/reply`, { message: 'Try again' });
    expect(answer.body).toMatchObject({ message_text: 'Try again', is_from_admin: true });
    t.clock.advance(SECOND_MS);
    const urgent = await admin.post(`/cabinet/admin/tickets/${made.id}/priority`, { priority: 'urgent' });
    expect(urgent.body).toMatchObject({ status: 'answered', priority: 'urgent', user: owner });
    expect(urgent.body.messages).toHaveLength(2);

    const until = '2126-01-01T00:00:00';
    const blocked = await api.post(`/tickets/${made.id}/reply-block`, { until });
    expect(blocked.body).toMatchObject({ user_reply_block_permanent: false, user_reply_block_until: `${until}.000Z` });
    expect((await user.get(`/cabinet/tickets/${made.id}`)).body.is_reply_blocked).toBe(true);
    const refused = await user.post(`/cabinet/tickets/${made.id}/messages`, { message: 'Hey' });
    expect([refused.status, refused.body]).toEqual([403, { detail: 'Replies to this ticket are blocked' }]);
    expect((await api.delete(`/tickets/${made.id}/reply-block`)).body).toMatchObject({ user_reply_block_until: null });
    expect((await user.post(`/cabinet/tickets/${made.id}/messages`, { message: 'Hey' })).status).toBe(200);
    const soon = await user.post(`/cabinet/tickets/${made.id}/messages`, { message: 'Hey' });
    expect([soon.status, soon.headers['retry-after']]).toEqual([429, '2']);

    const closed = await api.post(`/tickets/${made.id}/status`, { status: 'closed' });
    expect(closed.body).toMatchObject({ status: 'closed', user_id: user.user.id, closed_at: t.clock.now().toISOString() });
    expect(closed.body.messages).toHaveLength(3);
    const replied = await api.post(`/tickets/${made.id}/reply`, { message_text: 'Reopened' });
    expect(replied.body).toMatchObject({
      ticket: { status: 'answered', closed_at: null },
      message: { message_text: 'Reopened', user_id: user.user.id, is_from_admin: true },
    });
    const plain = await api.get('/tickets', { query: { user_id: user.user.id, priority: 'urgent', status: 'answered' } });
    expect(plain.body).toMatchObject([{ id: made.id, messages: [] }]);
  });

  it('is not accessible to other users', async () => {
    const { body } = await user.post('/cabinet/tickets', good);
    const stranger = await userClient(t.app, server);
    expect((await stranger.get(`/cabinet/tickets/${body.id}`)).body).toEqual({ detail: 'Ticket not found' });
    expect((await stranger.post(`/cabinet/tickets/${body.id}/messages`, { message: 'x' })).status).toBe(404);
    expect((await stranger.get('/cabinet/tickets')).body).toEqual({ items: [], total: 0, page: 1, per_page: 20, pages: 1 });
    expect((await stranger.get('/cabinet/tickets/notifications')).body).toEqual({ items: [], unread_count: 0 });
    expect((await user.get(`/cabinet/tickets/${body.id}`)).body.messages).toHaveLength(1);
  });

  it('refuses in the form of each area', async () => {
    const { body } = await user.post('/cabinet/tickets', good);
    const replies = [
      await api.post(`/tickets/${body.id}/status`, { status: 'done' }),
      await api.post(`/tickets/${body.id}/priority`, { priority: 'huge' }),
      await api.post(`/tickets/${body.id}/reply-block`, { until: '2001-01-01T00:00:00Z' }),
      await api.post(`/tickets/${body.id}/reply`, { message_text: '  ' }),
      await admin.post(`/cabinet/admin/tickets/${body.id}/status`, { status: 'done' }),
      await admin.post(`/cabinet/admin/tickets/${body.id}/priority`, { priority: 'huge' }),
      await admin.patch('/cabinet/admin/tickets/settings', { support_system_mode: 'phone' }),
      await api.get(`/tickets/${body.id}/messages/2147000000/media`),
      await api.get(`/tickets/${body.id}/messages/${body.messages[0].id}/media`),
    ];
    expect(replies.map((reply) => [reply.status, reply.body.detail])).toEqual([
      [400, 'Invalid ticket status'],
      [400, 'Invalid priority'],
      [400, 'Block expiration must be in the future'],
      [400, 'Message text or media is required'],
      [400, 'Invalid status. Allowed: open, pending, answered, closed'],
      [400, 'Invalid priority. Allowed: low, normal, high, urgent'],
      [400, 'Invalid support_system_mode. Must be: tickets, contact, or both'],
      [404, 'Message not found'],
      [404, 'Media not found for this message'],
    ]);
  });
});

it('ids and offsets beyond every column are unknown or empty, never a failure', async () => {
  const huge = 99_999_999_999;
  const replies = [
    await user.get(`/cabinet/tickets/${huge}`),
    await user.post(`/cabinet/tickets/${huge}/messages`, { message: 'x' }),
    await api.get(`/tickets/${huge}`),
    await api.post(`/tickets/${huge}/status`, { status: 'open' }),
    await api.get(`/tickets/${huge}/messages/${huge}/media`),
    await admin.post(`/cabinet/admin/tickets/${huge}/reply`, { message: 'x' }),
    await admin.post(`/cabinet/admin/tickets/notifications/${huge}/read`),
  ];
  expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 404));
  expect((await api.get('/tickets', { query: { user_id: huge, offset: huge } })).body).toEqual([]);
  expect((await admin.get('/cabinet/admin/tickets', { query: { page: huge } })).body.items).toEqual([]);
  expect((await user.get('/cabinet/tickets/notifications', { query: { offset: huge } })).body.items).toEqual([]);
  expect((await user.post(`/cabinet/tickets/notifications/ticket/${huge}/read`)).body).toEqual({
    success: true,
    marked_count: 0,
  });
});

describe('GET /cabinet/admin/tickets (issue 4 row 7)', () => {
  const bound = (name: string, input: number, type: string, ctx: Record<string, number>) => ({
    loc: ['query', name],
    type,
    msg: `Input should be ${type.replaceAll('_', ' ').replace('equal', 'or equal')} to ${Object.values(ctx)[0]}`,
    input: String(input),
    ctx,
  });
  it.each([
    ['page', 0, bound('page', 0, 'greater_than_equal', { ge: 1 })],
    ['per_page', 0, bound('per_page', 0, 'greater_than_equal', { ge: 1 })],
    ['per_page', 101, bound('per_page', 101, 'less_than_equal', { le: 100 })],
  ])('refuses %s = %s', async (name, value, issue) => {
    const reply = await admin.get('/cabinet/admin/tickets', { query: { [name]: value } });
    expect(reply.status).toBe(422);
    expect(reply.body).toEqual({ detail: [issue] });
  });

  it('takes both ends of its bounds, and answers a page past the end and an unknown word with an empty list', async () => {
    const bounds: Record<string, number>[] = [{ page: 1, per_page: 1 }, { per_page: 100 }];
    for (const query of bounds) {
      expect((await admin.get('/cabinet/admin/tickets', { query })).status).toBe(200);
    }
    const nothing: Record<string, string | number>[] = [
      { page: 100_000 },
      { status: 'unheard' },
      { priority: 'unheard' },
      { user_id: 0 },
    ];
    for (const query of nothing) {
      expect((await admin.get('/cabinet/admin/tickets', { query })).body.items).toEqual([]);
    }
  });

  it('pages stably by the last change, and combines its filters (spec 05 section 1.3)', async () => {
    const writer = await userClient(t.app, server);
    const ids: number[] = [];
    for (let n = 0; n < 5; n++) ids.push((await writer.post('/cabinet/tickets', good)).body.id);
    await api.post(`/tickets/${ids[0]}/priority`, { priority: 'low' });
    const seen: number[] = [];
    for (let page = 1; page <= 3; page++) {
      const query = { page, per_page: 2, user_id: writer.user.id };
      const { body } = await admin.get('/cabinet/admin/tickets', { query });
      expect(body).toMatchObject({ total: 5, pages: 3 });
      seen.push(...body.items.map((item: { id: number }) => item.id));
    }
    expect(seen).toEqual([...ids].reverse());
    const low = { user_id: writer.user.id, priority: 'low' };
    expect((await api.get('/tickets', { query: low })).body.map((item: { id: number }) => item.id)).toEqual([ids[0]]);
    expect((await api.get('/tickets', { query: { user_id: 0 } })).body).toEqual([]);
    const { body: stats } = await admin.get('/cabinet/admin/tickets/stats');
    expect(stats.total).toBe(stats.open + stats.pending + stats.answered + stats.closed);
  });
});

describe('support by mode and permission', () => {
  it('is off for users while the mode is contact', async () => {
    const changed = await admin.patch('/cabinet/admin/tickets/settings', { support_system_mode: 'contact', sla_minutes: null });
    expect(changed.body).toMatchObject({
      support_system_mode: 'contact',
      sla_minutes: 5,
      cabinet_user_notifications_enabled: true,
    });
    for (const reply of [await user.get('/cabinet/tickets'), await user.post('/cabinet/tickets', good)]) {
      expect([reply.status, reply.body]).toEqual([403, { detail: 'Support tickets are disabled' }]);
    }
    expect((await user.get('/cabinet/tickets/notifications')).status).toBe(200);
    await admin.patch('/cabinet/admin/tickets/settings', { support_system_mode: 'both' });
    expect((await user.get('/cabinet/tickets')).status).toBe(200);
  });

  it('lets readers read and not mark', async () => {
    const reader = await adminClient(t.app, server, ['tickets:read']);
    await user.post('/cabinet/tickets', good);
    const list = await reader.get('/cabinet/admin/tickets/notifications', { query: { unread_only: true } });
    expect(list.body.unread_count).toBeGreaterThan(0);
    expect(list.body.items.every((row: { is_read: boolean }) => !row.is_read)).toBe(true);
    expect((await reader.post('/cabinet/admin/tickets/notifications/read-all')).status).toBe(403);
    const marked = await admin.post('/cabinet/admin/tickets/notifications/read-all');
    expect(marked.body).toEqual({ success: true, marked_count: list.body.unread_count });
    expect((await reader.get('/cabinet/admin/tickets/notifications/unread-count')).body).toEqual({ unread_count: 0 });
  });
});

describe('refusals of what a user or an administrator may not do', () => {
  it('refuses a new ticket of a user whose replies are blocked', async () => {
    const writer = await userClient(t.app, server);
    const { id } = (await writer.post('/cabinet/tickets', good)).body;
    await api.post(`/tickets/${id}/reply-block`, { until: '2126-01-01T00:00:00' });
    const { status, body } = await writer.post('/cabinet/tickets', good);
    expect([status, body.detail]).toEqual([403, 'Support requests are blocked']);
  });

  it('refuses a message to a closed ticket', async () => {
    const writer = await userClient(t.app, server);
    const { id } = (await writer.post('/cabinet/tickets', good)).body;
    await api.post(`/tickets/${id}/status`, { status: 'closed' });
    const { status, body } = await writer.post(`/cabinet/tickets/${id}/messages`, { message: 'Hey' });
    expect([status, body.detail]).toEqual([400, 'Cannot add message to closed ticket']);
  });

  it("refuses to mark a user's notification read for the administrators", async () => {
    const writer = await userClient(t.app, server);
    const { id } = (await writer.post('/cabinet/tickets', good)).body;
    await admin.post(`/cabinet/admin/tickets/${id}/reply`, { message: 'Try again' });
    const [notification] = (await writer.get('/cabinet/tickets/notifications')).body.items;
    const { status, body } = await admin.post(`/cabinet/admin/tickets/notifications/${notification.id}/read`);
    expect([status, body.detail]).toEqual([403, 'This is not an admin notification']);
  });
});
