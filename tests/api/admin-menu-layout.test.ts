import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ActorClient, adminClient } from '../support/actors.ts';
import { testServer } from '../support/api.ts';
import { storeRow } from '../support/stored-rows.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const PATH = '/cabinet/admin/menu-layout';
let t: TestApp;
let server: FastifyInstance;
let admin: ActorClient;

beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
  admin = await adminClient(t.app, server, ['settings:*']);
});
afterAll(() => server.close());
beforeEach(() => t.app.db.sql('DELETE FROM menu_layouts'));

const home = { id: 'home', type: 'builtin' };
const custom = { id: 'custom_shop', type: 'custom', url: 'https://example.com' };
const put = (...buttons: object[]) => admin.put(PATH, { rows: [{ id: 'main', max_per_row: 3, buttons }] });
const ids = (body: { rows: { buttons: { id: string }[] }[] }) => body.rows.map((row) => row.buttons.map((each) => each.id));

describe('the menu of the cabinet mode', () => {
  it('starts with the default', async () => {
    const { body } = await admin.get(PATH);
    expect(ids(body)).toEqual([['home'], ['subscription', 'balance'], ['referral', 'support'], ['info', 'language'], ['admin']]);
    expect(body.rows.map((row: { max_per_row: number }) => row.max_per_row)).toEqual([1, 2, 2, 2, 1]);
    expect(body.rows[1].buttons[0]).toEqual({
      id: 'subscription',
      type: 'builtin',
      style: 'success',
      icon_custom_emoji_id: '',
      enabled: true,
      labels: {},
      url: null,
      open_in: 'external',
    });
  });

  it('keeps what is sent, with the ids of the rows, and the looks of sections that are not mentioned', async () => {
    const look = { style: 'danger', icon_custom_emoji_id: '77', enabled: false, labels: { ru: ' Главная ', en: '  ' } };
    const { body } = await put({ ...home, ...look }, { ...custom, open_in: 'webapp' });
    expect(body).toEqual({
      rows: [
        {
          id: 'main',
          max_per_row: 3,
          buttons: [
            { ...home, ...look, labels: { ru: 'Главная' }, url: null, open_in: 'external' },
            { ...custom, style: 'primary', icon_custom_emoji_id: '', enabled: true, labels: {}, open_in: 'webapp' },
          ],
        },
      ],
    });
    expect((await admin.get(PATH)).body).toEqual(body);
    await put(custom);
    expect((await put(custom, { id: 'admin', type: 'builtin', style: 'default' })).status).toBe(200);
    const [row] = await t.app.db.sql<{ document: { styles: Record<string, { style: string }> } }>(
      "SELECT document FROM menu_layouts WHERE name = 'cabinet'",
    );
    expect(row!.document.styles).toMatchObject({ home: { style: 'danger' }, admin: { style: 'default' } });
    const reset = (await admin.post(`${PATH}/reset`)).body;
    expect(reset.rows[0].buttons[0]).toMatchObject({ id: 'home', style: 'primary', enabled: true, labels: {} });
    expect(reset.rows).toHaveLength(5);
  });

  it.each([
    [[], 'At least one row with a button is required.'],
    [[home, home], 'Duplicate button ID: "home". Each button can only appear once.'],
    [[{ ...home, id: 'shop' }], 'Unknown built-in section: "shop".'],
    [[{ ...custom, id: 'shop' }], 'Custom button id must start with "custom_": "shop".'],
    [[{ ...custom, url: null }], 'Custom button "custom_shop" must have a URL starting with http:// or https://.'],
    [[{ ...custom, url: 'javascript:1' }], 'Custom button "custom_shop" must have a URL starting with http:// or https://.'],
    [
      [{ ...custom, url: 'http://example.com', open_in: 'webapp' }],
      'Custom button "custom_shop" with webapp mode requires an https:// URL.',
    ],
    [[{ ...home, style: 'loud' }], 'Invalid style "loud" for button "home". Allowed: danger, default, primary, success.'],
    [[{ ...home, labels: { de: 'x' } }], 'Invalid locale "de" for button "home". Allowed: ru, en, ua, zh, fa.'],
    [[{ ...home, labels: { ru: 'x'.repeat(101) } }], 'Label for locale "ru" on button "home" exceeds 100 characters.'],
  ])('refuses %j', async (buttons, detail) => {
    expect(await put(...buttons)).toMatchObject({ status: 400, body: { detail } });
    expect(await t.app.db.sql('SELECT name FROM menu_layouts')).toEqual([]);
  });

  it('bounds rows, buttons and labels', async () => {
    const rows = (count: number) => ({
      rows: Array.from({ length: count }, (_none, n) => ({ id: `r${n}`, buttons: n ? [] : [home] })),
    });
    expect((await admin.put(PATH, rows(20))).status).toBe(200);
    expect((await admin.put(PATH, rows(21))).body.detail[0]).toMatchObject({ loc: ['body', 'rows'], type: 'too_long' });
    const many = ['home', 'info', 'admin', 'balance'].map((id) => ({ id, type: 'builtin' }));
    expect((await put(...many)).body.detail[0]).toMatchObject({ loc: ['body', 'rows', '0', 'buttons'], type: 'too_long' });
    const labels = Object.fromEntries(Array.from({ length: 11 }, (_none, n) => [`l${n}`, 'x']));
    expect((await put({ ...home, labels })).body.detail[0]).toMatchObject({
      loc: ['body', 'rows', '0', 'buttons', '0', 'labels'],
      type: 'too_long',
    });
    expect((await put({ ...home, labels: { ru: 'x'.repeat(100) } })).status).toBe(200);
  });

  it('cleans unusable buttons, widths and styles from what is stored, and shows the default when nothing is left', async () => {
    const store = async (document: object) => {
      await t.app.db.sql('DELETE FROM menu_layouts');
      await storeRow(t.app, 'MenuLayout', { name: 'cabinet', document });
    };
    await store({
      rows: [
        { id: 'a', max_per_row: 9, buttons: ['home', 'gone', 'custom_bad', 'custom_plain'] },
        { id: 'b', max_per_row: 2, buttons: ['custom_bad'] },
      ],
      custom: { custom_bad: { url: '' }, custom_plain: { url: 'http://example.com', open_in: 'webapp', style: 'loud' } },
      styles: { home: { style: 'loud' } },
    });
    const { body } = await admin.get(PATH);
    expect(ids(body)).toEqual([['home', 'custom_plain']]);
    expect(body.rows[0]).toMatchObject({
      id: 'a',
      max_per_row: 1,
      buttons: [{ style: 'primary' }, { style: 'primary', open_in: 'external' }],
    });
    await store({ rows: [{ id: 'b', buttons: ['gone'] }] });
    expect(ids((await admin.get(PATH)).body)).toHaveLength(5);
  });

  it('requires settings:edit, and records before and after in the audit log', async () => {
    const reader = await adminClient(t.app, server, ['settings:read']);
    expect((await reader.get(PATH)).status).toBe(200);
    expect((await reader.put(PATH, { rows: [] })).status).toBe(403);
    expect((await reader.post(`${PATH}/reset`)).status).toBe(403);
    await put(home);
    await t.app.ports.audit.flush();
    const [row] = await t.app.db.sql<{ resourceId: string; details: { before: { rows: object[] }; after: { rows: object[] } } }>(
      'SELECT resource_id, details FROM admin_audit_log WHERE user_id = $1::int ORDER BY id DESC LIMIT 1',
      [admin.user.id],
    );
    expect(row!.resourceId).toBe('menu-layout');
    expect([row!.details.before.rows.length, row!.details.after.rows.length]).toEqual([5, 1]);
  });
});
