import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addDays, HOUR_MS } from '../../src/core/clock.ts';
import { clickChange } from '../../src/domain/content/menu-layout/click-stats.ts';
import { purgeOldRows } from '../../src/domain/ops/purge.ts';
import { type ApiClient, testServer, tokenClient } from '../support/api.ts';
import { aUser, type BuiltUser } from '../support/builders.ts';
import { storeRow } from '../support/stored-rows.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

// Wednesday.
const NOW = new Date('2031-03-12T15:30:00Z');
let t: TestApp;
let server: FastifyInstance;
let api: ApiClient;
let anna: BuiltUser;
let boris: BuiltUser;

beforeAll(async () => {
  t = await testApp();
  t.clock.set(NOW);
  server = await testServer(t.app);
  api = await tokenClient(t.app, server);
  [anna, boris] = [await aUser(t.app), await aUser(t.app)];
});
afterAll(() => server.close());
beforeEach(() => t.app.db.sql('DELETE FROM button_click_logs'));

const stats = async (path: string, query: Record<string, string | number> = {}) =>
  (await api.get(`/menu-layout/stats${path}`, { query })).body;
const press = (query: Record<string, string | number>) => api.post('/menu-layout/stats/log-click', undefined, { query });

async function clicked(button: string, at: Date, user: BuiltUser | null = null, type: string | null = null) {
  await storeRow(t.app, 'ButtonClickLog', { buttonId: button, userId: user?.id ?? null, buttonType: type, clickedAt: at });
}

const hoursAgo = (hours: number) => new Date(NOW.getTime() - hours * HOUR_MS);

describe('log-click', () => {
  it('finds the user by either id, and accepts a click without a user', async () => {
    for (const user_id of [anna.id, anna.messengerId, 2_140_000_000]) {
      expect((await press({ button_id: 'balance', user_id, button_type: 'builtin', button_text: 'Balance' })).body).toEqual({
        success: true,
      });
    }
    const rows = await t.app.db.sql('SELECT user_id, clicked_at FROM button_click_logs ORDER BY id');
    expect(rows).toEqual([anna.id, anna.id, null].map((userId) => ({ userId, clickedAt: NOW })));
  });

  it('refuses over-long values, and is not troubled by a failing insert', async () => {
    for (const [key, length] of [
      ['button_id', 100],
      ['callback_data', 255],
      ['button_type', 20],
      ['button_text', 255],
    ] as const) {
      const query = { button_id: 'b', [key]: 'x'.repeat(length) };
      expect((await press(query)).status, key).toBe(200);
      const reply = await press({ ...query, [key]: 'x'.repeat(length + 1) });
      expect(reply.body.detail[0]).toMatchObject({ loc: ['query', key], type: 'string_too_long', ctx: { max_length: length } });
    }
    expect((await api.post('/menu-layout/stats/log-click')).status).toBe(422);
    expect(await press({ button_id: 'nul\u0000' })).toMatchObject({ status: 200, body: { success: true } });
  });
});

describe('statistics', () => {
  it('count per button: ever, today, the week, the asked days', async () => {
    await clicked('a', hoursAgo(1), anna);
    await clicked('a', hoursAgo(16), anna);
    await clicked('a', addDays(NOW, -6), boris);
    await clicked('a', addDays(NOW, -20));
    await clicked('a', addDays(NOW, -300));
    await clicked('b', hoursAgo(2), boris);
    expect(await stats('')).toEqual({
      items: [
        {
          button_id: 'a',
          clicks_total: 5,
          clicks_today: 1,
          clicks_week: 3,
          clicks_month: 4,
          last_click_at: '2031-03-12T14:30:00.000Z',
          unique_users: 2,
        },
        expect.objectContaining({ button_id: 'b', clicks_total: 1, unique_users: 1 }),
      ],
      total_clicks: 5,
      period_start: addDays(NOW, -30).toISOString(),
      period_end: NOW.toISOString(),
    });
    expect((await stats('', { days: 365 })).total_clicks).toBe(6);
    const one = await stats('/buttons/a', { days: 10 });
    expect(one).toMatchObject({ button_id: 'a', stats: { clicks_total: 5, clicks_month: 3 } });
    expect(one.clicks_by_day).toEqual([
      { date: '2031-03-06', count: 1 },
      { date: '2031-03-11', count: 1 },
      { date: '2031-03-12', count: 1 },
    ]);
    expect(await stats('/buttons/nobody')).toMatchObject({
      stats: { button_id: 'nobody', clicks_total: 0, last_click_at: null, unique_users: 0 },
      clicks_by_day: [],
    });
  });

  it('count by type, hour and weekday, in UTC', async () => {
    await clicked('a', new Date('2031-03-10T00:05:00Z'), anna, 'builtin');
    await clicked('a', new Date('2031-03-10T23:55:00Z'), anna, 'builtin');
    await clicked('b', new Date('2031-03-09T23:55:00Z'), boris, 'url');
    await clicked('b', new Date('2031-03-09T23:56:00Z'), boris);
    expect(await stats('/by-type')).toEqual({
      items: [
        { button_type: 'builtin', clicks_total: 2, unique_users: 1 },
        { button_type: 'url', clicks_total: 1, unique_users: 1 },
      ],
      total_clicks: 3,
    });
    const hours = await stats('/by-hour');
    expect(hours.items.map((item: { hour: number }) => item.hour)).toEqual(Array.from({ length: 24 }, (_none, hour) => hour));
    expect(hours.items.filter((item: { count: number }) => item.count > 0)).toEqual([
      { hour: 0, count: 1 },
      { hour: 23, count: 3 },
    ]);
    const weekdays = await stats('/by-weekday', { button_id: 'a' });
    expect(weekdays.button_id).toBe('a');
    expect(weekdays.items).toHaveLength(7);
    expect(weekdays.items[0]).toEqual({ weekday: 0, weekday_name: 'Понедельник', count: 2 });
    expect((await stats('/by-weekday')).items[6]).toEqual({ weekday: 6, weekday_name: 'Воскресенье', count: 2 });
  });

  it('name the users who press most, and what one pressed', async () => {
    for (const hours of [1, 2, 3]) await clicked('a', hoursAgo(hours), boris);
    await clicked('b', hoursAgo(4), anna);
    await clicked('b', hoursAgo(5));
    expect(await stats('/top-users')).toMatchObject({
      items: [
        { user_id: boris.id, clicks_count: 3, last_click_at: hoursAgo(1).toISOString() },
        { user_id: anna.id, clicks_count: 1 },
      ],
      limit: 10,
      button_id: null,
    });
    expect((await stats('/top-users', { limit: 1, button_id: 'b' })).items).toHaveLength(1);
    const sequence = await stats(`/users/${boris.id}/sequences`, { limit: 2 });
    expect(sequence).toMatchObject({ user_id: boris.id, total: 2 });
    expect(sequence.items[0].clicked_at).toBe(hoursAgo(1).toISOString());
    expect(await stats('/users/9999999999/sequences')).toEqual({ user_id: 9_999_999_999, items: [], total: 0 });
  });

  it('compare adjacent periods', async () => {
    for (const days of [-1, -2, -3]) await clicked('a', addDays(NOW, days));
    for (const days of [-7.5, -8]) await clicked('a', addDays(NOW, days));
    expect(await stats('/compare')).toEqual({
      current_period: { clicks: 3, days: 7, start: addDays(NOW, -7).toISOString(), end: NOW.toISOString() },
      previous_period: { clicks: 2, days: 7, start: addDays(NOW, -14).toISOString(), end: addDays(NOW, -7).toISOString() },
      change: { absolute: 1, percent: 50, trend: 'up' },
      button_id: null,
    });
    expect(clickChange(1, 3)).toEqual({ absolute: -2, percent: -66.67, trend: 'down' });
    expect(clickChange(4, 0)).toEqual({ absolute: 4, percent: 0, trend: 'up' });
    expect(clickChange(4, 4)).toEqual({ absolute: 0, percent: 0, trend: 'stable' });
  });

  it('stay within bounds, and are kept 400 days', async () => {
    for (const query of [{ days: 0 }, { days: 366 }]) {
      for (const path of ['', '/by-type', '/by-hour', '/by-weekday', '/top-users', '/buttons/a']) {
        expect((await api.get(`/menu-layout/stats${path}`, { query })).status, path).toBe(422);
      }
    }
    expect((await api.get('/menu-layout/stats/top-users', { query: { limit: 501 } })).status).toBe(422);
    await clicked('old', addDays(NOW, -401));
    await clicked('young', addDays(NOW, -399));
    expect((await purgeOldRows(t.app)).button_click_logs).toBe(1);
    expect((await stats('')).items.map((item: { button_id: string }) => item.button_id)).toEqual(['young']);
  });
});
