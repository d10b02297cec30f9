import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ButtonConditions } from '../../src/routers/web/menu-layout.schemas.ts';
import { type ApiClient, testServer, tokenClient } from '../support/api.ts';
import { storeRow } from '../support/stored-rows.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

let t: TestApp;
let server: FastifyInstance;
let api: ApiClient;

beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
  api = await tokenClient(t.app, server, 'menu editor');
});
afterAll(() => server.close());
beforeEach(() => t.app.db.sql('DELETE FROM menu_layouts'));

const layout = async () => (await api.get('/menu-layout')).body;
const rowIds = async () => (await layout()).rows.map((row: { id: string }) => row.id);
const news = { id: 'news', type: 'url', text: { ru: 'Новости' }, action: 'https://example.com/news' };

async function storedText(): Promise<string> {
  const [row] = await t.app.db.sql<{ text: string }>("SELECT document::text AS text FROM menu_layouts WHERE name = 'chat'");
  return row!.text;
}

async function historyOf(): Promise<{ id: number; action: string; changes_summary: string; user_info: string }[]> {
  return (await api.get('/menu-layout/history')).body.items;
}

describe('reading', () => {
  it('reads the default layout back, which nobody has stored (spec 05 section 16, invariant 6)', async () => {
    const body = await layout();
    expect(body).toMatchObject({ version: 1, is_enabled: false, updated_at: null });
    expect(body.rows).toHaveLength(13);
    expect(Object.keys(body.buttons)).toHaveLength(17);
    expect(body.rows[0]).toEqual({
      id: 'connect_row',
      buttons: ['connect'],
      conditions: { has_active_subscription: true, subscription_is_active: true },
      max_per_row: 1,
    });
    expect(body.buttons.balance).toMatchObject({
      type: 'builtin',
      action: 'menu_balance',
      dynamic_text: true,
      visibility: 'all',
    });
    expect(await t.app.db.sql('SELECT name FROM menu_layouts')).toEqual([]);
  });

  it('drops unknown keys of a stored document, and falls back to the default for an unreadable one', async () => {
    const store = async (document: unknown) => {
      await t.app.db.sql('DELETE FROM menu_layouts');
      await storeRow(t.app, 'MenuLayout', { name: 'chat', document });
    };
    await store({ version: 1, rows: [{ id: 'r', buttons: [], conditions: { traffic_topup_enabled: true } }], buttons: {} });
    expect((await layout()).rows).toEqual([{ id: 'r', buttons: [], conditions: {}, max_per_row: 2 }]);
    await store('nonsense');
    expect((await layout()).rows).toHaveLength(13);
  });

  it('lists built-in buttons, callbacks and placeholders', async () => {
    const builtins = (await api.get('/menu-layout/builtin-buttons')).body;
    expect(builtins.total).toBe(17);
    const find = (id: string) => builtins.items.find((item: { id: string }) => item.id === id);
    // Spec 10 R2: every key is there, null where unset.
    const conditions = find('happ_download').default_conditions;
    expect(Object.keys(conditions).sort()).toEqual(Object.keys(ButtonConditions.shape).sort());
    expect(conditions).toMatchObject({ has_active_subscription: true, happ_enabled: true, is_admin: null, min_referrals: null });
    expect(Object.values(conditions).filter((value) => value !== null)).toEqual([true, true]);
    expect(find('balance')).toMatchObject({ supports_dynamic_text: true, supports_direct_open: false, default_conditions: null });
    expect(find('connect')).toMatchObject({ supports_direct_open: true, callback_data: 'subscription_connect' });

    await api.post('/menu-layout/buttons', { ...news, id: 'faq', type: 'callback', action: 'menu_faq' });
    const callbacks = (await api.get('/menu-layout/available-callbacks')).body;
    const inMenu = callbacks.items.filter((item: { is_in_menu: boolean }) => item.is_in_menu);
    expect(inMenu.map((item: { callback_data: string }) => item.callback_data)).toEqual(['menu_faq']);
    expect(callbacks.categories).toEqual([...callbacks.categories].sort());
    expect(callbacks.total).toBe(39);
    expect((await api.get('/menu-layout/placeholders')).body.total).toBe(7);
  });

  it('previews for somebody, with the features that are on', async () => {
    const preview = async (body: object) => (await api.post('/menu-layout/preview', body)).body;
    const actions = (body: { rows: { buttons: { action: string }[] }[] }) =>
      body.rows.flatMap((row) => row.buttons.map((each) => each.action));
    const stranger = await preview({ balance_kopeks: 15_000, language: 'en' });
    expect(actions(stranger)).toEqual([
      ...['menu_balance', 'menu_trial', 'menu_buy', 'menu_promocode', 'menu_referrals', 'menu_support', 'menu_info'],
      'menu_language',
    ]);
    expect(stranger.rows[0].buttons[0].text).toContain('150 ₽');
    expect(stranger.total_buttons).toBe(8);
    const customer = await preview({
      has_active_subscription: true,
      subscription_is_active: true,
      is_admin: true,
      is_moderator: true,
    });
    expect(actions(customer)).toEqual(expect.arrayContaining(['subscription_connect', 'menu_subscription', 'admin_panel']));
    for (const gone of ['menu_trial', 'menu_buy', 'moderator_panel', 'subscription_happ_download']) {
      expect(actions(customer)).not.toContain(gone);
    }
  });
});

describe('editing', () => {
  it('replaces halves, keeps the other, and resets', async () => {
    const buttons = { days: { type: 'callback', text: { ru: 'Осталось {subscription_days}' }, action: 'menu_subscription' } };
    const replaced = (await api.put('/menu-layout', { buttons, rows: null })).body;
    expect(replaced.rows).toHaveLength(13);
    expect(replaced.buttons).toEqual({
      days: {
        ...buttons.days,
        builtin_id: null,
        icon: null,
        enabled: true,
        visibility: 'all',
        conditions: null,
        dynamic_text: true,
        open_mode: 'callback',
        webapp_url: null,
        description: null,
        sort_order: null,
      },
    });
    expect(replaced.updated_at).toMatch(/Z$/);
    expect((await api.put('/menu-layout', { rows: [{ id: 'only', buttons: ['days'] }] })).body.rows).toEqual([
      { id: 'only', buttons: ['days'], conditions: null, max_per_row: 2 },
    ]);
    const reset = (await api.post('/menu-layout/reset')).body;
    expect(reset.rows).toHaveLength(13);
    expect(reset.updated_at).not.toBeNull();
  });

  it('adds, changes and deletes buttons and rows', async () => {
    expect((await api.post('/menu-layout/rows', { id: 'news_row', buttons: [], max_per_row: 1, position: 0 })).body).toEqual({
      id: 'news_row',
      buttons: [],
      conditions: null,
      max_per_row: 1,
    });
    expect((await rowIds())[0]).toBe('news_row');
    const added = await api.post('/menu-layout/buttons', {
      ...news,
      row_id: 'news_row',
      dynamic_text: true,
      conditions: { min_balance_kopeks: 0 },
    });
    expect(added.body).toMatchObject({ type: 'url', dynamic_text: true, conditions: { min_balance_kopeks: 0 } });
    const patched = await api.patch('/menu-layout/buttons/news', {
      icon: '📰',
      visibility: null,
      enabled: false,
      conditions: null,
    });
    expect(patched.body).toMatchObject({ icon: '📰', visibility: 'all', enabled: false, conditions: null, action: news.action });
    expect((await api.delete('/menu-layout/buttons/news')).body).toEqual({ success: true });
    expect((await layout()).rows[0]).toMatchObject({ id: 'news_row', buttons: [] });
    expect((await api.delete('/menu-layout/rows/news_row')).body).toEqual({ success: true });
    expect(await rowIds()).not.toContain('news_row');
  });

  it('moves, swaps and reorders', async () => {
    expect((await api.post('/menu-layout/buttons/balance/move-up')).body).toMatchObject({
      button_id: 'balance',
      new_row_index: 2,
    });
    expect((await layout()).rows[2].buttons).toEqual(['subscription', 'buy_traffic', 'balance']);
    expect(await rowIds()).not.toContain('balance_row');
    expect((await api.post('/menu-layout/buttons/connect/move-down')).body.new_row_index).toBe(0);
    expect(
      (await api.post('/menu-layout/buttons/info/move-to-row', { target_row_id: 'happ_row', position: 99 })).body,
    ).toMatchObject({ button_id: 'info', target_row_id: 'happ_row', position: 2 });
    expect(
      (await api.post('/menu-layout/rows/happ_row/reorder-buttons', { ordered_button_ids: ['info', 'connect', 'happ_download'] }))
        .body,
    ).toEqual({ row_id: 'happ_row', buttons: ['info', 'connect', 'happ_download'] });
    expect((await api.post('/menu-layout/buttons/swap', { button_id_1: 'info', button_id_2: 'language' })).body).toEqual({
      button_1: { id: 'info', new_row: 8, new_position: 0 },
      button_2: { id: 'language', new_row: 0, new_position: 0 },
    });
    const rows = (await api.post('/menu-layout/rows/reorder', { ordered_ids: ['admin_row'] })).body;
    expect(rows[0].id).toBe('admin_row');
    expect(rows).toHaveLength(11);
  });

  it.each([
    ['patch', '/buttons/nope', {}, 404, "Button 'nope' not found"],
    ['delete', '/buttons/nope', undefined, 404, "Button 'nope' not found"],
    ['delete', '/buttons/connect', undefined, 400, 'Cannot delete builtin buttons'],
    ['post', '/buttons', { ...news, type: 'builtin' }, 400, "Only ('url', 'mini_app', 'callback') buttons can be added"],
    ['post', '/buttons', { ...news, id: 'connect' }, 400, "Button with id 'connect' already exists"],
    ['post', '/buttons', { ...news, id: '__proto__' }, 400, "Button id '__proto__' is reserved"],
    ['post', '/buttons', { ...news, row_id: 'nope' }, 404, "Row 'nope' not found"],
    ['post', '/buttons', { ...news, action: 'news' }, 400, 'Action of a url button must be an http or https address'],
    [
      'post',
      '/buttons',
      { ...news, type: 'mini_app', action: 'http://a.b' },
      400,
      'Action of a mini_app button must be an https address',
    ],
    [
      'post',
      '/buttons',
      { ...news, type: 'callback', action: 'я'.repeat(33) },
      400,
      'Action of a callback button must have 1 to 64 bytes',
    ],
    [
      ...(['patch', '/buttons/connect', { open_mode: 'direct', action: 'x'.repeat(65) }, 400] as const),
      'Action of a builtin button must have 1 to 64 bytes',
    ],
    [
      ...(['post', '/rows/happ_row/reorder-buttons', { ordered_button_ids: ['happ_download', 'happ_download'] }, 400] as const),
      "Duplicate button IDs: {'happ_download'}",
    ],
    ['post', '/rows', { id: 'connect_row', buttons: [] }, 400, "Row with id 'connect_row' already exists"],
    ['delete', '/rows/nope', undefined, 404, "Row 'nope' not found"],
    ['post', '/rows/reorder', { ordered_ids: ['nope'] }, 404, "Row 'nope' not found"],
    ['post', '/buttons/connect/move-up', undefined, 400, 'Button is already in the top row'],
    ['post', '/buttons/moderator_panel/move-down', undefined, 400, 'Button is already in the bottom row'],
    ['post', '/buttons/nope/move-up', undefined, 404, "Button 'nope' not found in any row"],
    ['post', '/buttons/nope/move-to-row', { target_row_id: 'happ_row' }, 404, "Button 'nope' not found"],
    ['post', '/buttons/connect/move-to-row', { target_row_id: 'nope' }, 404, "Row 'nope' not found"],
    ['post', '/rows/nope/reorder-buttons', { ordered_button_ids: ['x'] }, 404, "Row 'nope' not found"],
    [
      ...(['post', '/rows/happ_row/reorder-buttons', { ordered_button_ids: ['x'] }, 400] as const),
      "Button mismatch: missing: {'happ_download'}, extra: {'x'}",
    ],
    ['post', '/buttons/swap', { button_id_1: 'nope', button_id_2: 'info' }, 404, "Button 'nope' not found"],
    ['post', '/buttons/swap', { button_id_1: 'info', button_id_2: 'info' }, 400, 'A button cannot be swapped with itself'],
    ['post', '/history/999999/rollback', undefined, 404, 'History entry 999999 not found'],
  ] as const)('%s %s refuses and changes nothing', async (method, path, body, status, detail) => {
    const url = `/menu-layout${path}`;
    const reply = method === 'delete' ? await api.delete(url) : await api[method](url, body);
    expect(reply).toMatchObject({ status, body: { detail } });
    expect(await t.app.db.sql('SELECT id FROM menu_layout_history')).toEqual([]);
    expect(await layout()).toMatchObject({ updated_at: null });
  });

  it('validates without saving', async () => {
    const validate = async (body?: object) => (await api.post('/menu-layout/validate', body)).body;
    expect(await validate()).toEqual({ is_valid: true, errors: [], warnings: [] });
    expect(await validate({})).toEqual({ is_valid: true, errors: [], warnings: [] });
    const rows = [
      { id: 'r', buttons: ['x'] },
      { id: 'r', buttons: [] },
    ];
    expect(await validate({ rows })).toEqual({
      is_valid: false,
      errors: [
        { field: 'rows', message: "Duplicate row IDs: {'r'}", severity: 'error' },
        { field: 'rows.r.buttons', message: "Button 'x' not found", severity: 'error' },
      ],
      warnings: [{ field: 'rows.r', message: 'Row has no buttons', severity: 'warning' }],
    });
    const buttons = { x: { ...news, enabled: false } };
    expect((await validate({ rows: [rows[0]], buttons })).warnings).toEqual([
      { field: 'buttons', message: '1 buttons are disabled', severity: 'warning' },
    ]);
    expect(await t.app.db.sql('SELECT name FROM menu_layouts')).toEqual([]);
  });
});

describe('export and import', () => {
  it('give the same bytes back', async () => {
    await api.post('/menu-layout/buttons', { ...news, row_id: 'balance_row', description: 'd' });
    await api.patch('/menu-layout/buttons/news', { sort_order: 5, conditions: { promo_group_ids: ['1'], has_autopay: false } });
    const before = await storedText();
    const exported = (await api.get('/menu-layout/export')).body;
    expect(exported).toMatchObject({ exported_at: expect.stringMatching(/Z$/), bot_version: '0.0.0-test' });
    expect(exported.buttons.news.sort_order).toBe(5);
    await api.post('/menu-layout/reset');
    expect((await api.post('/menu-layout/import', exported)).body).toEqual({
      success: true,
      imported_rows: 13,
      imported_buttons: 18,
      warnings: [],
    });
    expect(await storedText()).toBe(before);
  });

  it('merge adds what is new and reports what it skipped', async () => {
    const { id: _id, ...button } = news;
    const payload = {
      version: 9,
      rows: [
        { id: 'happ_row', buttons: [] },
        { id: 'news_row', buttons: ['news'] },
      ],
      buttons: { connect: button, news: button },
      merge_mode: 'merge',
    };
    expect((await api.post('/menu-layout/import', payload)).body).toEqual({
      success: true,
      imported_rows: 2,
      imported_buttons: 2,
      warnings: ["Button 'connect' already exists, skipped", "Row 'happ_row' already exists, skipped"],
    });
    const body = await layout();
    expect(body).toMatchObject({ version: 1, buttons: { connect: { type: 'builtin' }, news: { type: 'url' } } });
    expect(body.rows).toHaveLength(14);
    expect((await api.post('/menu-layout/import', { ...payload, merge_mode: 'both' })).status).toBe(422);
  });
});

describe('history', () => {
  it('stores every edit with its document and the name of its token, and a rollback restores the same bytes (row 19)', async () => {
    await api.post('/menu-layout/buttons', { ...news, row_id: 'balance_row' });
    const wanted = await storedText();
    const [entry] = await historyOf();
    expect(entry).toEqual({
      id: expect.any(Number),
      created_at: expect.stringMatching(/Z$/),
      action: 'update',
      changes_summary: "Added button 'news'",
      user_info: 'menu editor',
    });
    await api.delete('/menu-layout/buttons/news');
    await api.post('/menu-layout/reset');
    const current = await storedText();
    const rolledBack = await api.post(`/menu-layout/history/${entry!.id}/rollback`);
    expect(rolledBack.body).toEqual(await layout());
    expect(rolledBack.body.buttons.news).toMatchObject({ type: 'url' });
    expect(Object.keys(rolledBack.body).sort()).toEqual(['buttons', 'is_enabled', 'rows', 'updated_at', 'version']);
    expect(await storedText()).toBe(wanted);
    const entries = await historyOf();
    expect(entries.map((each) => each.action)).toEqual(['rollback', 'rollback_backup', 'reset', 'update', 'update']);
    const [backup] = await t.app.db.sql<{ text: string }>(
      'SELECT document::text AS text FROM menu_layout_history WHERE id = $1::int',
      [entries[1]!.id],
    );
    expect(backup!.text).toBe(current);
    const detail = (await api.get(`/menu-layout/history/${entry!.id}`)).body;
    expect(detail).toMatchObject({ id: entry!.id, action: 'update', user_info: 'menu editor' });
    expect(JSON.stringify(detail.config)).toBe(wanted);
  });

  it('gives every condition key back after a rollback', async () => {
    const { components } = (await api.get('/openapi.json')).body;
    const schema = components.schemas.ButtonConditions ?? components.schemas.ButtonConditionsOutput;
    const conditions = Object.fromEntries(
      Object.keys(schema.properties).map((name) => [
        name,
        name.endsWith('group_ids') ? ['1', '2'] : /^(min|max)_|days_left$/.test(name) ? 7 : true,
      ]),
    );
    expect(Object.keys(conditions)).toHaveLength(26);
    await api.patch('/menu-layout/buttons/info', { conditions });
    const [entry] = await historyOf();
    await api.post('/menu-layout/reset');
    const { body } = await api.post(`/menu-layout/history/${entry!.id}/rollback`);
    expect(body.buttons.info.conditions).toEqual(conditions);
  });

  it('keeps the newest 200 entries and pages through them', async () => {
    for (let n = 0; n < 203; n++) await api.post('/menu-layout/rows/reorder', { ordered_ids: ['happ_row'] });
    const page = (await api.get('/menu-layout/history', { query: { limit: 200, offset: 150 } })).body;
    expect(page.total).toBe(200);
    expect(page.items).toHaveLength(50);
    expect((await api.get('/menu-layout/history', { query: { offset: 500 } })).body.items).toEqual([]);
    expect((await api.get('/menu-layout/history', { query: { limit: 201 } })).status).toBe(422);
  });
});
