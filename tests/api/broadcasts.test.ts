import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readSends } from '../../src/domain/mass-sends/control-sends.ts';
import { claimRecipients, prepareShare, releaseSend, takeSend } from '../../src/domain/mass-sends/repo.ts';
import { MessengerError } from '../../src/domain/messaging/ports.ts';
import { type ActorClient, adminClient, userClient } from '../support/actors.ts';
import { type ApiClient, testServer, tokenClient } from '../support/api.ts';
import { aSegment } from '../support/audience-samples.ts';
import { FAST, KINDS, runParts } from '../support/broadcast-samples.ts';
import { unique } from '../support/builders.ts';
import { setUser } from '../support/merge-samples.ts';
import { recordedEvents } from '../support/recorded-events.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

let t: TestApp;
let server: FastifyInstance;
let api: ApiClient;
let boss: ActorClient;

const ADMIN = '/cabinet/admin/broadcasts';
const UNKNOWN = 2_147_000_000;
const BEYOND = 9_007_199_254_740_991;

beforeAll(async () => {
  t = await testApp({ environment: FAST });
  server = await testServer(t.app);
  api = await tokenClient(t.app, server, 'shop');
  boss = await adminClient(t.app, server, ['broadcasts:read', 'broadcasts:create', 'broadcasts:send']);
  await setUser(t.app, boss.user.id, { language: 'en', username: 'boss' });
});
afterAll(() => server.close());
beforeEach(() => t.app.db.sql('TRUNCATE send_paces'));

const body = (fields: object = {}) => ({ target: 'all', message_text: 'Hello', ...fields });
const create = (fields: object = {}, headers: Record<string, string> = {}) => boss.post(ADMIN, body(fields), { headers });
const send = (fields: object) => boss.post(`${ADMIN}/send`, { channel: 'messenger', ...body(fields) });
const refusalOf = (reply: { status: number; body: { detail: unknown } }) => [reply.status, reply.body.detail];
const issueOf = (reply: { body: { detail: { loc: string[]; type: string; msg: string }[] } }) => reply.body.detail[0];

const WITHOUT_FILE = { has_media: false, media_type: null, media_file_id: null, media_caption: null };
const NOTHING_SENT = { total_count: 0, sent_count: 0, failed_count: 0, blocked_count: 0, unconfirmed_count: 0 };
const valueError = (text: string, ...loc: string[]) => ({
  loc: ['body', ...loc],
  type: 'value_error',
  msg: `Value error, ${text}`,
});

describe('broadcasts (Web API)', () => {
  test('creates one for a segment, in any case and with its alias, and lists it first', async () => {
    const reply = await api.post('/broadcasts', body({ target: ' No_Sub ', message_text: ' <b>Hi</b> ' }));
    expect([reply.status, reply.body]).toEqual([
      200,
      {
        id: expect.any(Number),
        target_type: 'no',
        message_text: '<b>Hi</b>',
        ...WITHOUT_FILE,
        ...NOTHING_SENT,
        status: 'queued',
        admin_id: null,
        admin_name: 'shop',
        created_at: t.clock.now().toISOString(),
        completed_at: null,
        repeated_count: 0,
        unsubscribed_count: 0,
        estimated_end_at: null,
      },
    ]);
    const [row] = await t.app.db.sql('SELECT selected_buttons FROM broadcast_history WHERE id = $1::int', [reply.body.id]);
    expect(row).toEqual({ selectedButtons: ['home'] });
    const list = await api.get('/broadcasts', { query: { limit: 1 } });
    expect(list.body).toMatchObject({ items: [{ id: reply.body.id }], limit: 1, offset: 0 });
    const stopped = await api.post(`/broadcasts/${reply.body.id}/stop`);
    expect(stopped.body).toMatchObject({ status: 'cancelled', completed_at: t.clock.now().toISOString() });
    expect(refusalOf(await api.post(`/broadcasts/${reply.body.id}/stop`))).toEqual([400, 'Broadcast is not running']);
    for (const id of [UNKNOWN, BEYOND])
      expect(refusalOf(await api.post(`/broadcasts/${id}/stop`))).toEqual([404, 'Broadcast not found']);
  });

  test('a list shows a broadcast by e-mail with an empty text', async () => {
    const mailing = await send({
      channel: 'email',
      target: 'all_email',
      message_text: null,
      email_subject: 'S',
      email_html_content: '<p>x</p>',
    });
    expect(mailing.body.message_text).toBeNull();
    expect((await api.get('/broadcasts', { query: { limit: 1 } })).body.items[0]).toMatchObject({
      id: mailing.body.id,
      message_text: '',
    });
  });

  test('buttons: blanks and repeats are dropped, null is none, another word is 422', async () => {
    const buttons = async (selected_buttons: unknown) => {
      const reply = await api.post('/broadcasts', body({ selected_buttons }));
      if (reply.status !== 200) return issueOf(reply);
      const [row] = await t.app.db.sql<{ selectedButtons: string[] }>(
        'SELECT selected_buttons FROM broadcast_history WHERE id = $1::int',
        [reply.body.id],
      );
      return row!.selectedButtons;
    };
    expect(await buttons([' balance ', '', 'home', 'balance'])).toEqual(['balance', 'home']);
    expect(await buttons(null)).toEqual([]);
    expect(await buttons(['wallet'])).toMatchObject({
      loc: ['body', 'selected_buttons'],
      type: 'value_error',
      msg: "Value error, Unsupported button 'wallet'",
    });
    expect(await buttons('home')).toMatchObject({ type: 'list_type' });
  });

  test.each(['everyone', 'all_users', 'tariff_1', 'inactive_30d', 'expiring_subscribers', ''])(
    'refuses the target %j',
    async (target) => {
      expect(issueOf(await api.post('/broadcasts', body({ target })))).toMatchObject(
        valueError('Unsupported target value', 'target'),
      );
    },
  );

  test('refuses a blank text, a long caption and another kind of file', async () => {
    expect(refusalOf(await api.post('/broadcasts', body({ message_text: '   ' })))).toEqual([
      400,
      'Message text must not be empty',
    ]);
    const media = { type: 'photo', file_id: 'AgACAgIAAxkB' };
    const long = await api.post('/broadcasts', body({ message_text: 'x'.repeat(1_025), media }));
    expect(refusalOf(long)).toEqual([400, 'Подпись к файлу слишком длинная: 1025 знаков, допускается не более 1024']);
    expect(issueOf(await api.post('/broadcasts', body({ media: { ...media, type: 'audio' } })))).toMatchObject({
      type: 'string_pattern_mismatch',
    });
    expect((await api.post('/broadcasts', body({ message_text: 'x'.repeat(4_001) }))).status).toBe(422);
  });

  test('spec 10 O7: markup that the messenger refuses and a file that does not exist are refused before anything is sent', async () => {
    const refused = [400, expect.stringMatching(/^Тег <b> не закрыт \(позиция 4\)/)];
    expect(refusalOf(await api.post('/broadcasts', body({ message_text: 'Hi <b>x' })))).toEqual(refused);
    const media = { type: 'photo', file_id: 'AgACAgIAAxkB' };
    for (const channel of [undefined, 'messenger', 'both']) {
      const mail = { email_subject: 'Hi', email_html_content: '<p>x</p>' };
      const ask = (fields: object) => (channel === undefined ? create(fields) : send({ channel, ...mail, ...fields }));
      expect(refusalOf(await ask({ message_text: 'Hi <p>' }))).toEqual([
        400,
        'The tag <p> is not supported (position 4). Remove it or use a supported one.',
      ]);
      expect(refusalOf(await ask({ media: { ...media, caption: '<b>' } }))).toEqual([
        400,
        'The tag <b> is not closed (position 1).',
      ]);
      expect(issueOf(await ask({ media }))).toMatchObject({ loc: ['body', 'media', 'file_id'], type: 'value_error' });
    }
    expect(issueOf(await api.post('/broadcasts', body({ media })))).toMatchObject({ loc: ['body', 'media', 'file_id'] });
    const { messenger } = t.app.ports;
    const { hasFile } = messenger;
    const away = () => Promise.reject(new MessengerError({ kind: 'unavailable' }, 'no answer'));
    Object.assign(messenger, { hasFile: away });
    try {
      for (const reply of [await api.post('/broadcasts', body({ media })), await create({ media }), await send({ media })]) {
        expect(refusalOf(reply)).toEqual([502, 'The messenger does not answer']);
      }
    } finally {
      Object.assign(messenger, { hasFile });
    }
  });

  test('an Idempotency-Key makes one broadcast of two requests, and refuses another body', async () => {
    const headers = { 'idempotency-key': `key-${unique()}` };
    const first = await api.post('/broadcasts', body(), { headers });
    const again = await api.post('/broadcasts', body(), { headers });
    expect(again.body).toEqual(first.body);
    expect((await api.post('/broadcasts', body({ target: 'trial' }), { headers })).status).toBe(422);
  });

  test('an id of the messenger that a bot names is known as a file from then on', async () => {
    const file = { name: `${unique()}.png`, contentType: 'image/png', bytes: Buffer.from(`picture ${unique()}`) };
    const { fileId } = await t.app.ports.messenger.sendFile(1, 'photo', file, '');
    await api.post('/broadcasts', body({ media: { type: 'photo', file_id: fileId, caption: ' See ' } }));
    expect(await t.app.db.sql('SELECT source, messenger_file_id FROM media_files WHERE file_id = $1', [fileId])).toEqual([
      { source: 'broadcast', messengerFileId: fileId },
    ]);
    const [shown] = (await boss.get(ADMIN)).body.items;
    expect(shown).toMatchObject({ has_media: true, media_type: 'photo', media_caption: 'See' });
    expect(shown.media_file_id).toMatch(new RegExp(`^${fileId}\\.\\w+\\.[\\w-]{22}$`));
  });
});

describe('Cabinet Admin Broadcasts', () => {
  test('segments with their sizes: the number of a segment is that of its preview', async () => {
    await aSegment(t.app, 3);
    const fresh = await testApp();
    const other = await testServer(fresh.app);
    const { body: shown } = await (await adminClient(fresh.app, other, ['broadcasts:read'])).get(`${ADMIN}/filters`);
    expect(shown.filters.map(({ key, group }: { key: string; group: string }) => `${key} ${group}`)).toEqual([
      ...[
        'all basic',
        'active subscription',
        'trial subscription',
        'no subscription',
        'expiring subscription',
        'expired subscription',
      ],
      ...['zero traffic', 'active_zero traffic', 'trial_zero traffic'],
    ]);
    expect(shown.custom_filters.map(({ key, group }: { key: string; group: string }) => `${key} ${group}`)).toEqual([
      ...['custom_today registration', 'custom_week registration', 'custom_month registration', 'custom_active_today activity'],
      ...['custom_inactive_week activity', 'custom_inactive_month activity', 'custom_referrals source', 'custom_direct source'],
    ]);
    for (const { key, count } of [...shown.filters, ...shown.custom_filters, ...shown.tariff_filters]) {
      // The administrator of this test was made before the counts.
      const preview = await boss.post(`${ADMIN}/preview`, { target: key });
      expect([key, preview.status, preview.body.count]).toEqual([key, 200, count]);
      expect(preview.body.sample.length).toBe(Math.min(10, count));
    }
    const { body: mails } = await boss.get(`${ADMIN}/email-filters`);
    expect(mails.filters.map(({ key }: { key: string }) => key)).toEqual([
      'all_email',
      'email_only',
      'messenger_with_email',
      'active_email',
      'expired_email',
    ]);
    expect(mails.total_with_email).toBe(mails.filters[0].count);
    for (const { key, count } of mails.filters) {
      expect((await boss.post(`${ADMIN}/email-preview`, { target: key })).body).toMatchObject({ target: key, count });
    }
    await other.close();
  });

  test('tariffs by name, and buttons in their order', async () => {
    const { target } = await aSegment(t.app, 2);
    const { body: shown } = await boss.get(`${ADMIN}/tariffs`);
    const names = shown.tariffs.map(({ name }: { name: string }) => name);
    expect(shown.tariffs.find((tariff: { filter_key: string }) => tariff.filter_key === target)).toMatchObject({
      id: Number(target.split('_')[1]),
    });
    expect(names.length).toBeGreaterThan(0);
    const { body: buttons } = await boss.get(`${ADMIN}/buttons`);
    expect(buttons.buttons.map(({ key, default: isDefault }: { key: string; default: boolean }) => [key, isDefault])).toEqual(
      ['balance', 'referrals', 'promocode', 'connect', 'subscription', 'support', 'home'].map((key) => [key, key === 'home']),
    );
    expect(buttons.buttons[0].label).toBe('💳 Top up');
  });

  test('sends to a tariff, shows the progress and the end', async () => {
    const { target } = await aSegment(t.app, 4);
    const made = await create({ target });
    expect(made.body).toMatchObject({
      target_type: target,
      status: 'queued',
      admin_id: boss.user.id,
      admin_name: 'boss',
      channel: 'messenger',
      progress_percent: 0,
      email_subject: null,
      email_html_content: null,
    });
    await runParts(t.app, made.body);
    const shown = await boss.get(`${ADMIN}/${made.body.id}`);
    expect(shown.body).toMatchObject({ status: 'completed', total_count: 4, sent_count: 4, progress_percent: 100 });
    expect((await boss.get(ADMIN, { query: { limit: 1 } })).body).toMatchObject({
      items: [{ id: made.body.id }],
      limit: 1,
      offset: 0,
    });
    for (const id of [UNKNOWN, BEYOND]) expect(refusalOf(await boss.get(`${ADMIN}/${id}`))).toEqual([404, 'Broadcast not found']);
    const events = (await recordedEvents(t.app, 'broadcast.progress')).filter((event) => event.broadcast_id === made.body.id);
    expect(events.map(({ status }) => status)).toEqual(['in_progress', 'completed']);
    const counts = { ...NOTHING_SENT, total_count: 4, sent_count: 4, progress_percent: 100, estimated_end_at: null };
    expect(events.at(-1)).toEqual({ broadcast_id: made.body.id, status: 'completed', ...counts });
  });

  test('refuses in the order target, buttons, text, caption', async () => {
    const media = { type: 'photo', file_id: 'AgACAgIAAxkB', caption: 'y'.repeat(1_030) };
    const wrong = { target: 'ALL', selected_buttons: ['wallet'], message_text: '  ', media };
    expect(refusalOf(await create(wrong))).toEqual([400, 'Invalid target: ALL']);
    expect(refusalOf(await create({ ...wrong, target: 'all' }))).toEqual([400, 'Invalid button key']);
    expect(refusalOf(await create({ ...wrong, target: 'all', selected_buttons: [] }))).toEqual([
      400,
      'Message text must not be empty',
    ]);
    expect(refusalOf(await create({ media }))).toEqual([
      400,
      'The caption of the file is too long: 1030 characters, at most 1024 are allowed',
    ]);
    expect((await create({ selected_buttons: null })).status).toBe(422);
    for (const target of ['tariff_0', 'tariff_2000000000', 'tariff_1x', 'tariff_99999999999', 'no_sub', ' all', 'low_balance']) {
      expect(refusalOf(await create({ target }))).toEqual([400, `Invalid target: ${target}`]);
      expect(refusalOf(await boss.post(`${ADMIN}/preview`, { target }))).toEqual([400, `Invalid target: ${target}`]);
    }
    expect(refusalOf(await boss.post(`${ADMIN}/email-preview`, { target: 'all' }))).toEqual([400, 'Invalid email target: all']);
  });

  test('checks its own buttons', async () => {
    const button = (fields: object) => create({ custom_buttons: [{ label: 'Site', ...fields }] });
    expect((await button({ action_type: 'url', action_value: 'https://x.example' })).status).toBe(200);
    expect((await button({ action_type: 'url', action_value: 'tg://resolve?domain=x' })).status).toBe(200);
    for (const action_value of ['http://x.example', 'javascript:alert(1)', ' https://x.example']) {
      expect(issueOf(await button({ action_type: 'url', action_value }))).toMatchObject(
        valueError('URL must start with https:// or tg://', 'custom_buttons', '0', 'action_value'),
      );
    }
    expect(issueOf(await button({ action_value: 'я'.repeat(33) }))).toMatchObject({
      msg: 'Value error, Callback data must be at most 64 bytes',
    });
    expect((await button({ action_value: 'я'.repeat(32) })).status).toBe(200);
    expect((await create({ custom_buttons: Array(11).fill({ label: 'A', action_value: 'b' }) })).status).toBe(422);
  });

  test('send: what each channel needs, in its order', async () => {
    const mail = { email_subject: 'Hi', email_html_content: '<p>x</p>' };
    expect(refusalOf(await send({ target: 'x' }))).toEqual([400, 'Invalid target: x']);
    expect(refusalOf(await send({ message_text: ' ' }))).toEqual([400, 'Message text is required for Messenger broadcast']);
    expect(refusalOf(await send({ selected_buttons: ['x'] }))).toEqual([400, 'Invalid button key']);
    const media = { type: 'photo', file_id: 'AgACAgIAAxkB' };
    expect((await send({ message_text: 'x'.repeat(1_025), media })).status).toBe(400);
    expect(refusalOf(await send({ channel: 'email', ...mail }))).toEqual([400, 'Invalid email target: all']);
    expect(refusalOf(await send({ channel: 'both', target: 'all_email', ...mail }))).toEqual([400, 'Invalid target: all_email']);
    for (const channel of ['email', 'both']) {
      const target = channel === 'email' ? 'all_email' : 'all';
      expect(refusalOf(await send({ channel, target }))).toEqual([400, 'Email subject is required for email broadcast']);
      expect(refusalOf(await send({ channel, target, email_subject: 'Hi', email_html_content: ' ' }))).toEqual([
        400,
        'Email HTML content is required for email broadcast',
      ]);
    }
    const both = await send({ channel: 'both', ...mail });
    expect(both.body).toMatchObject({ channel: 'both', target_type: 'all', email_subject: 'Hi', message_text: 'Hello' });
    expect(
      await t.app.db.sql(
        "SELECT channel, audience FROM mass_sends WHERE kind = 'broadcast' AND source_id = $1::int ORDER BY id",
        [both.body.id],
      ),
    ).toEqual([
      { channel: 'messenger', audience: 'all' },
      { channel: 'email', audience: 'all_email' },
    ]);
    expect((await boss.post(`${ADMIN}/${both.body.id}/stop`)).body.status).toBe('cancelled');
    expect((await send({ channel: 'pigeon' })).status).toBe(422);
  });

  test('pause, resume and stop', async () => {
    const { target } = await aSegment(t.app, 1);
    const { id } = (await create({ target })).body;
    const act = async (action: string) => {
      const reply = await boss.post(`${ADMIN}/${id}/${action}`);
      return reply.status === 200 ? reply.body.status : refusalOf(reply);
    };
    expect(await act('resume')).toEqual([400, 'Broadcast is not paused']);
    expect(await act('pause')).toBe('paused');
    expect(await act('pause')).toEqual([400, 'Broadcast is not running']);
    expect(await act('resume')).toBe('queued');
    expect(await act('pause')).toBe('paused');
    expect(await act('stop')).toBe('cancelled');
    expect(await act('resume')).toEqual([400, 'Broadcast is not paused']);
    for (const action of ['pause', 'resume', 'stop']) expect((await boss.post(`${ADMIN}/${UNKNOWN}/${action}`)).status).toBe(404);
  });

  test('spec 10 O14: resume with retry_unconfirmed sends it again to unconfirmed recipients of a broadcast that has ended', async () => {
    const { target, users } = await aSegment(t.app, 3);
    const { id } = (await create({ target })).body;
    const [part] = await readSends(t.app, 'broadcast', [id]);
    const taken = (await takeSend(t.app.db, part!.id, 60_000, t.clock.now()))!;
    while ((await prepareShare(t.app.db, KINDS.broadcast, taken, 1_000_000)) === false);
    expect(await claimRecipients(t.app.db, taken, 1)).toHaveLength(1);
    await releaseSend(t.app.db, taken);
    await runParts(t.app, { id });
    expect((await boss.get(`${ADMIN}/${id}`)).body).toMatchObject({ status: 'partial', sent_count: 2, unconfirmed_count: 1 });
    const resume = (body?: object) => boss.post(`${ADMIN}/${id}/resume`, body);
    expect(refusalOf(await resume())).toEqual([400, 'Broadcast is not paused']);
    expect(refusalOf(await resume({ retry_unconfirmed: false }))).toEqual([400, 'Broadcast is not paused']);
    expect((await resume({ retry_unconfirmed: true })).body).toMatchObject({ status: 'in_progress', unconfirmed_count: 0 });
    await runParts(t.app, { id });
    const done = { status: 'completed', sent_count: users.length, unconfirmed_count: 0, repeated_count: 1 };
    expect((await boss.get(`${ADMIN}/${id}`)).body).toMatchObject(done);
    const refusal = 'Broadcast has no unconfirmed recipients to send it to again';
    expect(refusalOf(await resume({ retry_unconfirmed: true }))).toEqual([400, refusal]);
  });

  test('each permission opens its operations only', async () => {
    const reader = await adminClient(t.app, server, ['broadcasts:read']);
    const author = await adminClient(t.app, server, ['broadcasts:create']);
    expect([(await reader.get(ADMIN)).status, (await reader.post(ADMIN, body())).status]).toEqual([200, 403]);
    expect((await author.post(ADMIN, body())).status).toBe(200);
    expect((await author.post(`${ADMIN}/send`, { channel: 'messenger', ...body() })).status).toBe(403);
    expect((await author.post(`${ADMIN}/1/pause`)).status).toBe(403);
    expect((await (await userClient(t.app, server)).get(ADMIN)).status).toBe(403);
  });

  test('an Idempotency-Key of an administrator', async () => {
    const headers = { 'idempotency-key': `key-${unique()}` };
    expect((await create({}, headers)).body.id).toBe((await create({}, headers)).body.id);
  });
});
