import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ActorClient, adminClient } from '../support/actors.ts';
import { type ApiClient, type ApiReply, testServer, tokenClient } from '../support/api.ts';
import { FAST } from '../support/broadcast-samples.ts';
import { unique } from '../support/builders.ts';
import { setUser } from '../support/merge-samples.ts';
import { lastPinSend, withoutPinnedMessages } from '../support/pinned-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const WEB = '/pinned-messages';
const ADMIN = '/cabinet/admin/pinned-messages';
const UNKNOWN = 2_147_000_000;
const BEYOND = 9_007_199_254_740_991;
const EMPTY = 'Either content or media must be provided';

let t: TestApp;
let server: FastifyInstance;
let api: ApiClient;
let boss: ActorClient;

beforeAll(async () => {
  t = await testApp({ environment: FAST });
  server = await testServer(t.app);
  api = await tokenClient(t.app, server, 'shop');
  boss = await adminClient(t.app, server, ['pinned_messages:*']);
});
afterAll(() => server.close());
beforeEach(async () => {
  t.clock.advance(1_000);
  await withoutPinnedMessages(t.app);
  await setUser(t.app, boss.user.id, { status: 'active', language: 'en' });
  await t.cache.forget(t.app, [`user:${boss.user.id}`]);
});

/** The same operations of one area; only the place of `broadcast` at the creation differs. */
const AREAS = [
  {
    area: 'Web API',
    base: WEB,
    client: () => api as ApiClient,
    create: (body: object, broadcast = false) => api.post(WEB, { content: 'Hello', ...body }, { query: { broadcast } }),
    language: { 'accept-language': 'en' } as Record<string, string>,
  },
  {
    area: 'administration',
    base: ADMIN,
    client: () => boss as ApiClient,
    create: (body: object, broadcast = false) => boss.post(ADMIN, { content: 'Hello', broadcast, ...body }),
    language: {} as Record<string, string>,
  },
];

const refusalOf = ({ status, body }: ApiReply) => [status, body.detail];
const issueOf = ({ status, body }: ApiReply) => [status, body.detail[0].loc, body.detail[0].type];
const photo = (fileId = `AgACAgIAAxkB${unique()}`) => ({ type: 'photo', file_id: fileId });

describe.each(AREAS)('pinned messages, $area (spec 05 section 4)', ({ base, client, create, language }) => {
  const made = async (body: object = {}) => {
    t.clock.advance(1_000);
    const reply = await create(body);
    expect(reply.status, reply.text).toBe(200);
    return reply.body.message;
  };

  test('a fresh installation has an empty list and no active message', async () => {
    expect((await client().get(base)).body).toEqual({ items: [], total: 0, limit: 20, offset: 0 });
    const active = await client().get(`${base}/active`);
    expect([active.status, active.text]).toEqual([200, 'null']);
  });

  test('a new message takes the place of the active one in a list that is newest first and can show the active one only', async () => {
    const first = await create({ content: ' <b>One</b> ' });
    expect(first.body).toEqual({
      sent_count: 0,
      failed_count: 0,
      message: {
        id: expect.any(Number),
        content: '<b>One</b>',
        media_type: null,
        media_file_id: null,
        is_active: true,
        send_before_menu: true,
        send_on_every_start: true,
        created_by: base === WEB ? null : boss.user.id,
        created_at: t.clock.now().toISOString(),
        updated_at: t.clock.now().toISOString(),
      },
    });
    const second = await made({ send_before_menu: false, send_on_every_start: false });
    expect(second).toMatchObject({ is_active: true, send_before_menu: false, send_on_every_start: false });
    const list = (await client().get(base)).body;
    expect(list).toMatchObject({ total: 2, limit: 20, offset: 0 });
    // What only loses its place keeps its date.
    expect(list.items).toEqual([second, { ...first.body.message, is_active: false }]);
    expect((await client().get(base, { query: { active_only: true } })).body).toMatchObject({
      items: [{ id: second.id }],
      total: 1,
    });
    expect((await client().get(base, { query: { limit: 1, offset: 1 } })).body).toMatchObject({
      items: [{ id: first.body.message.id }],
      total: 2,
      limit: 1,
      offset: 1,
    });
    expect((await client().get(`${base}/active`)).body).toEqual(second);
    expect((await client().get(`${base}/${second.id}`)).body).toEqual(second);
  });

  test('an unknown id is 404 everywhere, and takes nothing of the minute', async () => {
    for (const id of [UNKNOWN, BEYOND]) {
      const replies = [
        await client().get(`${base}/${id}`),
        await client().patch(`${base}/${id}`, { content: 'x' }),
        await client().patch(`${base}/${id}/settings`, {}),
        await client().post(`${base}/${id}/activate`, undefined, { query: { broadcast: true } }),
        await client().post(`${base}/${id}/broadcast`),
        await client().delete(`${base}/${id}`),
      ];
      expect(replies.map(refusalOf)).toEqual(Array(6).fill([404, 'Pinned message not found']));
    }
    const { id } = await made();
    expect((await client().post(`${base}/${id}/broadcast`)).status).toBe(200);
  });

  test('neither text nor file, and what the messenger would refuse, is 400 and changes nothing', async () => {
    const { id } = await made({ content: 'stays' });
    const asked = async (content: string) => {
      const reply = await client().with(language).post(base, { content });
      return refusalOf(reply);
    };
    expect(await asked('   ')).toEqual([400, EMPTY]);
    // It would show nothing.
    expect(await asked('<b></b><hr>')).toEqual([400, EMPTY]);
    expect(await asked('<script>x</script>')).toEqual([
      400,
      'The tag <script> is not supported (position 1). Remove it or use a supported one.',
    ]);
    expect(await asked('x</b>')).toEqual([400, 'The closing tag </b> has no opening tag (position 2).']);
    expect(await asked('<b><i>x</b></i>')).toEqual([
      400,
      'Tags are closed in the wrong order: expected </i>, found </b> (position 8).',
    ]);
    expect(await asked('<b>x')).toEqual([400, 'The tag <b> is not closed (position 1).']);
    expect(await asked('😀'.repeat(2_049))).toEqual([
      400,
      'The message is too long: it may have 4098 characters, and the messenger accepts 4096.',
    ]);
    expect((await client().get(`${base}/active`)).body).toMatchObject({ id, content: 'stays' });
    expect((await client().get(base)).body.total).toBe(1);
  });

  test('hazard: the caption of a file has 1024 characters at most, without tags', async () => {
    const bold = '<b>'.repeat(300) + 'x'.repeat(1_024) + '</b>'.repeat(300);
    expect((await create({ content: bold, media: photo() })).status).toBe(200);
    const reply = await client()
      .with(language)
      .post(base, { content: 'x'.repeat(1_025), media: photo() });
    expect(refusalOf(reply)).toEqual([400, 'The caption of the file is too long: 1025 characters, at most 1024 are allowed']);
    const { id } = await made({ content: 'x'.repeat(1_025) });
    const change = await client().with(language).patch(`${base}/${id}`, { media: photo() });
    expect(change.status).toBe(400);
    expect((await client().get(`${base}/${id}`)).body.media_file_id).toBeNull();
  });

  test('a file alone is a message, and its id is known as a file from then on', async () => {
    const media = photo();
    const message = await made({ content: '  ', media });
    expect(message).toMatchObject({ content: '', media_type: 'photo' });
    expect(message.media_file_id.startsWith(media.file_id)).toBe(true);
    expect(await t.app.db.sql('SELECT source FROM media_files WHERE file_id = $1', [media.file_id])).toEqual([
      { source: 'pinned' },
    ]);
    const listed = (await client().get(base)).body.items[0];
    expect(listed.media_file_id).toBe(message.media_file_id);
    // The id as this area shows it can be sent back.
    const again = await made({ media: { type: 'photo', file_id: message.media_file_id } });
    expect(again.media_file_id).toBe(message.media_file_id);
  });

  test('wrong fields are 422', async () => {
    expect(issueOf(await create({ content: '' }))).toEqual([422, ['body', 'content'], 'string_too_short']);
    expect(issueOf(await create({ content: 'x'.repeat(4_001) }))).toEqual([422, ['body', 'content'], 'string_too_long']);
    const file = ['body', 'media', 'file_id'];
    expect(issueOf(await create({ media: photo('x'.repeat(256)) }))).toEqual([422, file, 'string_too_long']);
    expect(issueOf(await create({ media: photo('') }))).toEqual([422, file, 'string_too_short']);
    expect(issueOf(await create({ media: photo('  ') }))).toEqual([422, file, 'string_too_short']);
    expect(issueOf(await create({ media: { ...photo(), type: 'document' } }))).toEqual([
      ...[422, ['body', 'media', 'type'], 'string_pattern_mismatch'],
    ]);
    const { id } = await made({ media: photo('x'.repeat(255)) });
    expect(issueOf(await client().patch(`${base}/${id}`, { media: photo('x'.repeat(256)) }))).toEqual([
      422,
      file,
      'string_too_long',
    ]);
    expect(issueOf(await client().get(base, { query: { limit: 101 } }))).toEqual([422, ['query', 'limit'], 'less_than_equal']);
  });

  test('changes the given fields, null is no change, and does not send again', async () => {
    const before = await made({ content: 'one', media: photo() });
    t.clock.advance(1_000);
    const path = `${base}/${before.id}`;
    expect((await client().patch(path, {})).body).toEqual(before);
    expect((await client().patch(path, { content: null, media: null, send_before_menu: null })).body).toEqual(before);
    const now = t.clock.now().toISOString();
    expect((await client().patch(path, { content: ' two ', send_on_every_start: false })).body).toEqual({
      ...before,
      content: ' two ',
      send_on_every_start: false,
      updated_at: now,
    });
    expect((await client().patch(path, { content: '' })).body).toMatchObject({ content: '', media_type: 'photo' });
    expect((await client().patch(path, { media: { ...photo(), type: 'video' } })).body.media_type).toBe('video');
    expect((await client().patch(`${path}/settings`, { send_before_menu: false })).body).toMatchObject({
      send_before_menu: false,
      send_on_every_start: false,
      content: '',
    });
    const [row] = await t.app.db.sql("SELECT count(*)::int AS n FROM mass_sends WHERE kind = 'pinned' AND source_id = $1::int", [
      before.id,
    ]);
    expect(row).toEqual({ n: 0 });
  });

  test('spec 10 O12: handlers and script addresses are not stored', async () => {
    const dirty = '<b onclick="x()">Hi</b> <a href="javascript:x()">a</a> <a href="https://example.com" onclick=x>b</a> 1 < 2';
    const clean = '<b>Hi</b> <a>a</a> <a href="https://example.com">b</a> 1 < 2';
    const { id } = await made({ content: dirty });
    expect((await client().get(`${base}/${id}`)).body.content).toBe(clean);
    expect((await client().patch(`${base}/${id}`, { content: `${dirty} ` })).body.content).toBe(`${clean} `);
  });

  test('ours: a change that leaves neither text nor file is 400, as at the creation', async () => {
    const { id } = await made();
    for (const content of ['', '  ']) {
      expect(refusalOf(await client().patch(`${base}/${id}`, { content }))).toEqual([400, EMPTY]);
    }
    expect((await client().patch(`${base}/${id}`, { content: '<b>x' })).status).toBe(400);
    expect((await client().get(`${base}/${id}`)).body.content).toBe('Hello');
  });

  test('activating, deactivating: at most one is active, and both can be repeated', async () => {
    const first = await made();
    const second = await made();
    for (let time = 0; time < 2; time++) {
      const reply = await client().post(`${base}/${first.id}/activate`);
      expect([reply.status, reply.body]).toMatchObject([
        200,
        { message: { id: first.id, is_active: true }, sent_count: 0, failed_count: 0 },
      ]);
    }
    expect((await client().get(`${base}/${second.id}`)).body.is_active).toBe(false);
    const off = await client().post(`${base}/active/deactivate`);
    expect(off.body).toMatchObject({ id: first.id, is_active: false });
    const none = await client().post(`${base}/active/deactivate`);
    expect([none.status, none.text]).toEqual([200, 'null']);
  });

  test('ours: what reaches everyone is possible once a minute, and only a success counts', async () => {
    const { id } = await made();
    const paths = [`${base}/${id}/activate?broadcast=true`, `${base}/${id}/broadcast`, `${base}/active/unpin`];
    // A refused call takes nothing of the minute.
    expect((await create({ content: '<b>' }, true)).status).toBe(400);
    const first = await create({}, true);
    expect(first.body).toMatchObject({ sent_count: 0, failed_count: 0 });
    expect(await lastPinSend(t.app)).toMatchObject({ kind: 'pinned', sourceId: first.body.message.id });
    t.clock.advance(18_500);
    const replies = [await create({ content: '<b>' }, true), ...(await Promise.all(paths.map((path) => client().post(path))))];
    for (const reply of [...replies, await client().post(`${base}/${UNKNOWN}/broadcast`)]) {
      expect(refusalOf(reply)).toEqual([429, 'Broadcast cooldown active. Try again in 42 seconds.']);
      expect(reply.headers['retry-after']).toBe('42');
    }
    // What reaches nobody is not limited.
    expect((await create({})).status).toBe(200);
    expect((await client().post(`${base}/${id}/activate`)).status).toBe(200);
    // The other area has the same minute.
    expect((await api.post(`${WEB}/${id}/broadcast`)).status).toBe(429);
    expect((await boss.post(`${ADMIN}/${id}/broadcast`)).status).toBe(429);
    t.clock.advance(41_500);
    expect((await client().post(paths[2]!)).body).toEqual({ unpinned_count: 0, failed_count: 0, was_active: true });
    // Spec 10 R4.
    const again = await client().post(paths[2]!);
    expect(refusalOf(again)).toEqual([429, 'Broadcast cooldown active. Try again in 60 seconds.']);
    t.clock.advance(60_000);
    expect((await client().post(paths[0]!)).body).toMatchObject({ message: { id, is_active: true } });
    t.clock.advance(60_000);
    expect((await client().post(paths[1]!)).status).toBe(200);
  });

  test('unpinning without an active message does nothing', async () => {
    const { id } = await made();
    await client().post(`${base}/active/deactivate`);
    expect((await client().post(`${base}/active/unpin`)).body).toEqual({ unpinned_count: 0, failed_count: 0, was_active: false });
    const [row] = await t.app.db.sql("SELECT count(*)::int AS n FROM mass_sends WHERE kind = 'unpin' AND source_id = $1::int", [
      id,
    ]);
    expect(row).toEqual({ n: 0 });
  });

  test('deletes an inactive message', async () => {
    const first = await made();
    await made();
    expect((await client().delete(`${base}/${first.id}`)).body).toEqual({ success: true });
    expect(refusalOf(await client().get(`${base}/${first.id}`))).toEqual([404, 'Pinned message not found']);
  });

  test('a change is recorded in the audit log with what was and what is', async () => {
    const { id } = await made();
    await client().patch(`${base}/${id}`, { content: 'two' });
    const [row] = await t.app.db.sql(
      `SELECT action, details->'before'->>'content' AS before, details->'after'->>'content' AS after FROM admin_audit_log
       WHERE request_path = $1 ORDER BY id DESC LIMIT 1`,
      [`${base}/${id}`],
    );
    expect(row).toEqual({ action: 'pinned_messages:edit', before: 'Hello', after: 'two' });
  });
});

test('only the Web API deletes the active message', async () => {
  const { id } = (await api.post(WEB, { content: 'x' })).body.message;
  expect(refusalOf(await boss.delete(`${ADMIN}/${id}`))).toEqual([
    ...[409, 'Cannot delete active pinned message. Deactivate it first.'],
  ]);
  expect((await api.delete(`${WEB}/${id}`)).body).toEqual({ success: true });
  expect((await boss.get(`${ADMIN}/active`)).text).toBe('null');
});

test('a private file has a signed id in the administration, the stored one in the Web API', async () => {
  const media = photo();
  await api.post(WEB, { content: 'x', media });
  expect((await api.get(`${WEB}/active`)).body.media_file_id).toBe(media.file_id);
  expect((await boss.get(`${ADMIN}/active`)).body.media_file_id).toMatch(new RegExp(`^${media.file_id}\\.\\w+\\.[\\w-]{22}$`));
});

test('refusals of the Web API are in Russian unless the client asks for another language', async () => {
  expect(refusalOf(await api.post(WEB, { content: '<p>x' }))).toEqual([400, expect.stringMatching(/^Тег <p> /)]);
});

test('each permission opens what it names', async () => {
  const { id } = (await api.post(WEB, { content: 'x' })).body.message;
  const reader = await adminClient(t.app, server, ['pinned_messages:read']);
  expect((await reader.get(ADMIN)).status).toBe(200);
  const refused = [
    await reader.post(ADMIN, { content: 'x' }),
    await reader.patch(`${ADMIN}/${id}`, {}),
    await reader.post(`${ADMIN}/${id}/activate`),
    await reader.post(`${ADMIN}/${id}/broadcast`),
    await reader.post(`${ADMIN}/active/unpin`),
    await reader.delete(`${ADMIN}/${id}`),
  ];
  expect(refused.map(({ status }) => status)).toEqual(Array(6).fill(403));
});
