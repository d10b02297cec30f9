import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ActorClient, adminClient } from '../support/actors.ts';
import { testServer } from '../support/api.ts';
import { storeRow } from '../support/stored-rows.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const PATH = '/cabinet/admin/button-styles';
const LAYOUT = '/cabinet/admin/menu-layout';
const look = (style: string) => ({ style, icon_custom_emoji_id: '', enabled: true, labels: {} });
const DEFAULTS = {
  home: look('primary'),
  subscription: look('success'),
  balance: look('primary'),
  referral: look('success'),
  support: look('primary'),
  info: look('primary'),
  admin: look('danger'),
};

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

const styles = async () => (await admin.get(PATH)).body;
const languageLook = async () => {
  const { rows } = (await admin.get(LAYOUT)).body;
  return rows.flatMap((row: { buttons: { id: string }[] }) => row.buttons).find((each: { id: string }) => each.id === 'language');
};

describe('styles of the menu buttons', () => {
  it('start with the defaults of seven sections', async () => {
    expect(await styles()).toEqual(DEFAULTS);
  });

  it('change by section and field, while null leaves and labels are replaced as a whole', async () => {
    const first = { home: { style: 'danger', labels: { ru: ' Дом ', en: 'Home', fa: '  ' } }, admin: { enabled: false } };
    const home = { style: 'danger', icon_custom_emoji_id: '', enabled: true, labels: { ru: 'Дом', en: 'Home' } };
    const { body } = await admin.patch(PATH, first);
    expect(body).toEqual({ ...DEFAULTS, home, admin: { ...look('danger'), enabled: false } });
    const second = { home: { style: null, icon_custom_emoji_id: ' 77 ', labels: { en: 'Start' } }, admin: null };
    expect((await admin.patch(PATH, second)).body.home).toEqual({ ...home, icon_custom_emoji_id: '77', labels: { en: 'Start' } });
    expect((await admin.patch(PATH, { home: { labels: {} } })).body.home.labels).toEqual({});
    expect((await admin.patch(PATH, {})).body).toEqual(await styles());
    expect((await styles()).admin).toEqual({ ...look('danger'), enabled: false });
  });

  it.each([
    [
      { home: { style: 'red' }, balance: { style: 'blue' } },
      'Invalid style "red" for section "home". Allowed: danger, default, primary, success',
    ],
    [
      { info: { labels: { de: 'x' } }, subscription: { labels: { uk: 'x' } } },
      'Invalid locale "uk" for section "subscription". Allowed: ru, en, ua, zh, fa',
    ],
    [
      { home: { style: 'default' }, admin: { labels: { ru: '😀'.repeat(101) } } },
      'Label for locale "ru" exceeds 100 characters.',
    ],
    // The menu that shows it bounds it.
    [{ home: { icon_custom_emoji_id: '5'.repeat(101) } }, 'The custom emoji of section "home" exceeds 100 characters.'],
  ])('refuse %j and change nothing', async (body, problem) => {
    const reply = await admin.patch(PATH, body);
    expect([reply.status, reply.body.detail]).toEqual([400, problem]);
    expect(await styles()).toEqual(DEFAULTS);
  });

  it('take a label of 100 characters, and no other value than text', async () => {
    const ru = '😀'.repeat(100);
    expect((await admin.patch(PATH, { home: { labels: { ru } } })).body.home.labels).toEqual({ ru });
    const reply = await admin.patch(PATH, { home: { labels: { ru: 5 } } });
    expect([reply.status, reply.body.detail[0].loc]).toEqual([422, ['body', 'home', 'labels', 'ru']]);
  });

  it('are those of the menu, and neither change its rows nor the language button', async () => {
    const buttons = [
      { id: 'language', type: 'builtin', style: 'danger' },
      { id: 'home', type: 'builtin', style: 'success' },
    ];
    await admin.put(LAYOUT, { rows: [{ id: 'only', max_per_row: 2, buttons }] });
    expect((await styles()).home.style).toBe('success');
    await admin.patch(PATH, { home: { style: 'default' } });
    const { rows } = (await admin.get(LAYOUT)).body;
    expect(rows).toMatchObject([
      {
        id: 'only',
        buttons: [
          { id: 'language', style: 'danger' },
          { id: 'home', style: 'default' },
        ],
      },
    ]);
    expect((await admin.post(`${PATH}/reset`)).body).toEqual(DEFAULTS);
    expect((await languageLook()).style).toBe('primary');
    expect((await admin.get(LAYOUT)).body.rows).toHaveLength(1);
  });

  it('that are stored otherwise are read part by part', async () => {
    const bad = { style: 'red', icon_custom_emoji_id: 5, enabled: 'no', labels: { de: 'x', en: 3, ru: 'Да' } };
    const home = { icon_custom_emoji_id: '5'.repeat(101) };
    await storeRow(t.app, 'MenuLayout', { name: 'cabinet', document: { styles: { home, subscription: bad, referral: 'x' } } });
    expect(await styles()).toEqual({ ...DEFAULTS, subscription: { ...look('success'), labels: { ru: 'Да' } } });
    expect((await admin.get(LAYOUT)).status).toBe(200);
  });

  it('are read with settings:read and changed with settings:edit', async () => {
    const reader = await adminClient(t.app, server, ['settings:read']);
    expect((await reader.get(PATH)).status).toBe(200);
    expect((await reader.patch(PATH, {})).status).toBe(403);
    expect((await reader.post(`${PATH}/reset`)).status).toBe(403);
  });
});
