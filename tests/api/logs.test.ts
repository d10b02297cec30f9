import { mkdir, mkdtemp, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../src/core/app.ts';
import { recordMonitoring } from '../../src/domain/monitoring/monitoring-log.ts';
import { refreshSettings } from '../../src/domain/settings/settings-store.ts';
import { adminClient } from '../support/actors.ts';
import { type ApiClient, testServer, tokenClient } from '../support/api.ts';
import { type TestClock, testApp } from '../support/test-app.ts';
import { aPerson, aTicket } from '../support/ticket-fixture.ts';

/** Spec 06 section 8. */
let app: App;
let clock: TestClock;
let server: FastifyInstance;
let api: ApiClient & { tokenId: number };
let root: string;
let file: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'logs-api-'));
  file = join(root, 'logs', 'bot.log');
  const made = await testApp({ environment: { LOG_ROOT: root } });
  ({ app, clock } = made);
  server = await testServer(app);
  api = await tokenClient(app, server);
});
afterAll(async () => {
  await server.close();
  await rm(root, { recursive: true });
});
beforeEach(async () => {
  await rm(join(root, 'logs'), { recursive: true, force: true });
  await mkdir(join(root, 'logs'));
  await app.db.sql('DELETE FROM monitoring_logs');
  await app.db.sql('DELETE FROM support_audit_logs');
  await app.db.sql('DELETE FROM system_settings');
  await refreshSettings(app);
});

describe('the system log', () => {
  test('a file that does not exist is empty and cannot be read whole or downloaded', async () => {
    expect((await api.get('/logs/system')).body).toEqual({
      path: 'logs/bot.log',
      exists: false,
      updated_at: null,
      size_bytes: 0,
      size_chars: 0,
      preview: '',
      preview_chars: 0,
      preview_truncated: false,
      download_url: '/logs/system/download',
    });
    for (const path of ['/logs/system/full', '/logs/system/download']) {
      expect(await api.get(path)).toMatchObject({ status: 404, body: { detail: 'Файл журнала не найден' } });
      const english = await api.get(path, { headers: { 'accept-language': 'en' } });
      expect(english).toMatchObject({ status: 404, body: { detail: 'The log file was not found' } });
    }
  });

  test('a file that cannot be read is 500 with its text', async () => {
    await mkdir(file);
    for (const path of ['/logs/system', '/logs/system/full', '/logs/system/download']) {
      expect(await api.get(path)).toMatchObject({ status: 500, body: { detail: 'Не удалось прочитать файл журнала' } });
    }
  });

  test('the preview is the last characters, and sizes are in bytes and in characters', async () => {
    const text = `${'ж'.repeat(600)}😀конец`;
    await writeFile(file, text);
    const timestamp = new Date('2025-01-31T12:00:00Z');
    await utimes(file, timestamp, timestamp);
    expect((await api.get('/logs/system', { query: { preview_limit: 500 } })).body).toEqual({
      path: 'logs/bot.log',
      exists: true,
      updated_at: '2025-01-31T12:00:00.000Z',
      size_bytes: Buffer.byteLength(text),
      size_chars: 606,
      preview: Array.from(text).slice(-500).join(''),
      preview_chars: 500,
      preview_truncated: true,
      download_url: '/logs/system/download',
    });
    const { body } = await api.get('/logs/system');
    expect(body).toMatchObject({ preview: text, preview_chars: 606, preview_truncated: false });
  });

  test.each([499, 20_001, 'x'])('preview_limit=%s is 422', async (preview_limit) => {
    expect((await api.get('/logs/system', { query: { preview_limit } })).status).toBe(422);
  });

  test('the whole file as JSON and as a download', async () => {
    const text = '2025-01-31 12:00:00 [INFO] [service] строка 😀\n';
    await writeFile(file, text);
    const full = await api.get('/logs/system/full');
    expect(full.body).toMatchObject({ path: 'logs/bot.log', exists: true, size_chars: Array.from(text).length, content: text });
    const { bytes, headers } = await api.get('/logs/system/download');
    expect(bytes.toString()).toBe(text);
    expect(headers['content-type']).toMatch(/^text\/plain/);
    expect(headers['content-disposition']).toBe('attachment; filename="bot.log"');
    expect(headers['content-length']).toBe(String(bytes.length));
  });

  test('spec 06 hazard 16: above 10 MiB only as a download, above 20 MiB without a count of characters', async () => {
    await writeFile(file, 'ж');
    await truncate(file, 10 * 1024 * 1024 + 1);
    expect(await api.get('/logs/system/full')).toMatchObject({
      status: 413,
      body: { detail: 'Log file is too large, use /logs/system/download' },
    });
    expect((await api.get('/logs/system')).body.size_chars).toBe(10 * 1024 * 1024);
    await truncate(file, 20 * 1024 * 1024 + 1);
    expect((await api.get('/logs/system')).body.size_chars).toBe(20 * 1024 * 1024 + 1);
    expect((await api.get('/logs/system/download')).bytes.length).toBe(20 * 1024 * 1024 + 1);
  });

  test('an empty file can be downloaded', async () => {
    await writeFile(file, '');
    expect(await api.get('/logs/system/download')).toMatchObject({ status: 200, text: '' });
  });

  test('with rotation the current main file is read', async () => {
    expect((await api.put('/settings/LOG_ROTATION_ENABLED', { value: true })).status).toBe(200);
    await mkdir(join(root, 'logs', 'current'));
    await writeFile(join(root, 'logs', 'current', 'bot.log'), 'current\n');
    expect((await api.get('/logs/system')).body).toMatchObject({ path: 'logs/current/bot.log', preview: 'current\n' });
  });

  test.each([
    '/etc/passwd',
    '../outside.log',
    'logs/../../outside.log',
    '.env',
    'package.json',
    'a/.hidden.log',
    '/tmp/x.log',
    'C:\\x.log',
  ])('spec 06 hazard 3: LOG_FILE cannot be set to %s', async (value) => {
    expect((await api.put('/settings/LOG_FILE', { value })).status).toBe(400);
    expect((await api.get('/logs/system')).body.path).toBe('logs/bot.log');
  });

  test.each(['LOG_FILE', 'LOG_DIR', 'LOG_INFO_FILE', 'LOG_ERROR_FILE'])('%s is not for every editor of settings', async (key) => {
    const editor = await adminClient(app, server, ['settings:*'], 100);
    expect((await editor.put(`/cabinet/admin/settings/${key}`, { value: 'other.log' })).status).toBe(403);
  });

  test('without a token nothing is shown', async () => {
    const anyone = api.with({ 'x-api-key': 'sst_wrong' });
    for (const path of ['/logs/system', '/logs/system/full', '/logs/system/download', '/logs/monitoring', '/logs/support']) {
      expect((await anyone.get(path)).status).toBe(401);
    }
  });
});

describe('the monitoring log', () => {
  test('newest first, a page by plain limit and offset, filtered by the exact type, also in the total', async () => {
    for (let n = 1; n <= 5; n++) {
      clock.advance(1_000);
      await recordMonitoring(app, 'expired_subscriptions_processed', { count: n });
    }
    await recordMonitoring(app, 'vpnpanel_sync_error', { error: 'no answer' });
    const { body } = await api.get('/logs/monitoring', {
      query: { limit: 2, offset: 1, event_type: 'expired_subscriptions_processed' },
    });
    expect(body).toMatchObject({ total: 5, limit: 2, offset: 1 });
    expect(body.items.map((item: { data: object }) => item.data)).toEqual([{ count: 4 }, { count: 3 }]);
    expect(body.items[0]).toMatchObject({ message: 'Закончившихся подписок обработано: 4', is_success: true });
    const all = await api.get('/logs/monitoring', { query: { event_type: '' } });
    expect(all.body).toMatchObject({ total: 6, limit: 50, offset: 0 });
    expect(all.body.items[0]).toMatchObject({
      event_type: 'vpnpanel_sync_error',
      is_success: false,
      data: { error: 'no answer' },
    });
    expect((await api.get('/logs/monitoring', { query: { event_type: 'expired' } })).body.total).toBe(0);
    expect((await api.get('/logs/monitoring/event-types')).body).toEqual({
      items: ['expired_subscriptions_processed', 'vpnpanel_sync_error'],
    });
  });

  test('an empty log has no types', async () => {
    expect((await api.get('/logs/monitoring/event-types')).body).toEqual({ items: [] });
    expect((await api.get('/logs/support/actions')).body).toEqual({ items: [] });
  });
});

describe('the log of support', () => {
  test('what an API token does with a ticket, newest first and by action', async () => {
    const person = await aPerson(app);
    const { id } = await aTicket(app, person);
    const until = new Date(clock.now().getTime() + 90_000).toISOString();
    await api.post(`/tickets/${id}/status`, { status: 'closed' });
    await api.post(`/tickets/${id}/reply-block`, { permanent: false, until });
    await api.post(`/tickets/${id}/reply-block`, { permanent: true, until: null });
    await api.delete(`/tickets/${id}/reply-block`);
    const { body } = await api.get('/logs/support');
    expect(body).toMatchObject({ total: 4, limit: 50, offset: 0 });
    expect(body.items.map((item: { action: string }) => item.action)).toEqual([
      ...['unblock_user', 'block_user_perm', 'block_user_timed', 'close_ticket'],
    ]);
    const user = {
      target_messenger_id: person.messengerId,
      target_username: expect.toSatisfy((name) => name === null || typeof name === 'string'),
    };
    expect(body.items[3]).toMatchObject({
      actor_user_id: null,
      actor_messenger_id: null,
      is_moderator: false,
      ticket_id: id,
      target_user_id: person.userId,
      details: { ...user, token_id: api.tokenId },
    });
    expect(body.items[2].details).toEqual({ minutes: 2, token_id: api.tokenId });
    expect(body.items[0].details).toEqual({ ...user, token_id: api.tokenId });
    const filtered = await api.get('/logs/support', { query: { action: 'close_ticket', limit: 1 } });
    expect(filtered.body).toMatchObject({ total: 1, items: [{ action: 'close_ticket' }] });
    expect((await api.get('/logs/support/actions')).body.items).toEqual([
      ...['block_user_perm', 'block_user_timed', 'close_ticket', 'unblock_user'],
    ]);
  });
});
