import { describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { definitionOf, secretKeys, settingKeys } from '../../../src/domain/settings/catalogue/catalogue.ts';
import { getSetting, humanValue, listCategories, listChoices, listSettings } from '../../../src/domain/settings/list-settings.ts';
import { SECRET_MASK } from '../../../src/domain/settings/mask-value.ts';
import { createSettingsStore } from '../../../src/domain/settings/settings-store.ts';

/** Reading uses only the settings of the app. */
function appWith(environment: Record<string, string> = {}): App {
  const settings = createSettingsStore({ environment, log: { warn: () => undefined, error: () => undefined } });
  return { settings } as unknown as App;
}

const values = (
  key: 'SIMPLE_SUBSCRIPTION_PERIOD_DAYS' | 'SIMPLE_SUBSCRIPTION_DEVICE_LIMIT' | 'SIMPLE_SUBSCRIPTION_TRAFFIC_GB',
  env = {},
) => listChoices(key, appWith(env).settings).map((choice) => choice.value);

describe('lists of settings', () => {
  it('shows every setting but the excluded ones, categories by label, keys alphabetical inside', () => {
    const app = appWith();
    const all = listSettings(app);
    expect(all).toHaveLength(555);
    expect(all.map((view) => view.key)).not.toContain('BOT_TOKEN');
    const labels = all.map((view) => view.category.label.toLowerCase());
    expect(labels).toEqual([...labels].sort());
    for (const category of listCategories(app)) {
      const keys = listSettings(app, category.key).map((view) => view.key);
      expect(keys).toHaveLength(category.items);
      expect(keys).toEqual([...keys].sort());
    }
    expect(listCategories(app).reduce((sum, category) => sum + category.items, 0)).toBe(555);
    expect(listSettings(app, 'NO_SUCH')).toEqual([]);
  });

  it('labels two categories by the display name of their provider', () => {
    const app = appWith({ PLATEGA_DISPLAY_NAME: 'Our pay' });
    const labels = new Map(listCategories(app).map((category) => [category.key, category.label]));
    expect([labels.get('PLATEGA'), labels.get('MULENPAY'), labels.get('NALOGO'), labels.get('TRIAL')]).toEqual([
      'Our pay',
      'Mulen Pay',
      'Nalogo',
      'Trial period',
    ]);
  });

  it('masks every secret, wherever it comes from', () => {
    const plain = 'plain-secret-value-0123456789-abcdef';
    const environment = Object.fromEntries(
      secretKeys.map((key) => [key, key.endsWith('PROXY_URL') ? `socks5://u:${plain}@h:1` : plain]),
    );
    const app = appWith(environment);
    expect(JSON.stringify(listSettings(app))).not.toContain(plain);
    expect(getSetting(app, 'CABINET_JWT_SECRET')).toMatchObject({ current: SECRET_MASK, original: SECRET_MASK });
    // A default that is a password is masked, too.
    expect(getSetting(appWith(), 'POSTGRES_PASSWORD').current).toBe(SECRET_MASK);
    expect(getSetting(appWith(), 'CABINET_JWT_SECRET').current).toBeNull();
  });

  it('describes one setting', () => {
    expect(getSetting(appWith(), 'ADMIN_REPORTS_SEND_TIME')).toEqual({
      key: 'ADMIN_REPORTS_SEND_TIME',
      name: 'Admin Reports Send Time',
      category: { key: 'ADMIN_REPORTS', label: 'Automatic reports' },
      type: 'optional[str]',
      isOptional: true,
      current: null,
      original: null,
      hasOverride: false,
      readOnly: false,
      choices: [],
      hint: {
        description: 'The parameter "Admin Reports Send Time" controls: Automatic reports. Chat and time of the daily reports.',
        format: 'a time HH:MM; may be empty',
        example: '—',
        warning: 'Wrong values may break the service.',
      },
    });
    expect(getSetting(appWith(), 'EXTERNAL_ADMIN_TOKEN').readOnly).toBe(true);
  });

  it.each([
    ['AUTOPAY_WARNING_DAYS', 'whole numbers separated by commas'],
    ['SUPPORT_MENU_ENABLED', 'boolean: true or false'],
    ['SUPPORT_SYSTEM_MODE', 'one of tickets, contact, both'],
  ])('spec 10 X24: the hint of %s says what a value must be', (key, format) => {
    expect(getSetting(appWith(), key).hint.format).toBe(format);
  });

  it('spec 10 X24: the hint of a text names its placeholders', () => {
    const { key, placeholders } = settingKeys
      .map((name) => ({ key: name, placeholders: definitionOf(name).placeholders ?? [] }))
      .find((found) => found.placeholders.length > 1)!;
    for (const name of placeholders) expect(getSetting(appWith(), key).hint.format).toContain(`{${name}}`);
  });

  it.each(['NO_SUCH', 'BOT_TOKEN', 'ADMIN_IDS', '__proto__', 'constructor'])('answers 404 for %s', (key) => {
    expect(() => getSetting(appWith(), key)).toThrow(expect.objectContaining({ status: 404, detail: 'Setting not found' }));
  });

  it('gives every choice a label', () => {
    for (const key of settingKeys) {
      for (const choice of listChoices(key, appWith().settings)) expect(choice.label).not.toBe('');
    }
  });
});

describe('choices that follow from other settings', () => {
  it('offers the available periods and the current one, with prices', () => {
    const env = { AVAILABLE_SUBSCRIPTION_PERIODS: '90,30,30,7', SIMPLE_SUBSCRIPTION_PERIOD_DAYS: '45', PRICE_30_DAYS: '99050' };
    expect(listChoices('SIMPLE_SUBSCRIPTION_PERIOD_DAYS', appWith(env).settings).map((choice) => choice.label)).toEqual([
      '7 days (500 RUB)',
      '30 days (990.50 RUB)',
      '45 days (500 RUB)',
      '90 days (2690 RUB)',
    ]);
  });

  it('offers devices up to the largest limit, at most 50', () => {
    expect(values('SIMPLE_SUBSCRIPTION_DEVICE_LIMIT')).toHaveLength(20);
    expect(values('SIMPLE_SUBSCRIPTION_DEVICE_LIMIT', { MAX_DEVICES_LIMIT: '0', DEFAULT_DEVICE_LIMIT: '0' })).toEqual([1]);
    expect(values('SIMPLE_SUBSCRIPTION_DEVICE_LIMIT', { MAX_DEVICES_LIMIT: '0', SIMPLE_SUBSCRIPTION_DEVICE_LIMIT: '3' })).toEqual(
      [1, 2, 3],
    );
    expect(values('SIMPLE_SUBSCRIPTION_DEVICE_LIMIT', { MAX_DEVICES_LIMIT: '1000' })).toHaveLength(50);
  });

  it('offers unlimited, the enabled packages, the default and the current traffic', () => {
    expect(values('SIMPLE_SUBSCRIPTION_TRAFFIC_GB')).toEqual([0, 5, 10, 25, 50, 100, 250, 500, 1000]);
    const env = {
      TRAFFIC_PACKAGES_CONFIG: '20:100:true,30:100:false,40:100:TRUE',
      DEFAULT_TRAFFIC_LIMIT_GB: '15',
      SIMPLE_SUBSCRIPTION_TRAFFIC_GB: '7',
    };
    expect(values('SIMPLE_SUBSCRIPTION_TRAFFIC_GB', env)).toEqual([0, 7, 15, 20, 40]);
  });
});

describe('values for people', () => {
  it.each([
    ['DEBUG', true, 'on'],
    ['DEBUG', false, 'off'],
    ['SMTP_HOST', null, '—'],
    ['MINIAPP_CUSTOM_URL', '', '—'],
    ['PRICE_30_DAYS', 99_000, '990 RUB'],
    ['YOOKASSA_MIN_AMOUNT_KOPEKS', 5_001, '50.01 RUB'],
    ['REFERRAL_COMMISSION_PERCENT', 25, '25%'],
    ['TRIAL_DURATION_DAYS', 3, '3 days'],
    ['TRIAL_TRAFFIC_LIMIT_GB', 10, '10 GB'],
    ['CART_TTL_SECONDS', 3600, '3600 s'],
    ['SMTP_PASSWORD', 'x', SECRET_MASK],
  ] as const)('%s = %j reads %s', (key, value, expected) => {
    expect(humanValue(key, definitionOf(key), value)).toBe(expected);
  });
});
