import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { definitionOf, type SettingKey, settingKeys } from '../../../src/domain/settings/catalogue/catalogue.ts';
import { maskedValue, SECRET_MASK } from '../../../src/domain/settings/mask-value.ts';
import { displayName, editProblem, parseText, storedForm, typeText, validateValue } from '../../../src/domain/settings/rules.ts';

/** The accepted value, or the status and detail of the refusal. */
function tried(key: SettingKey, value: unknown): unknown {
  const checked = validateValue(definitionOf(key), value);
  return checked.ok ? checked.value : `${checked.refusal.status} ${String(checked.refusal.detail)}`;
}

const WRONG = '400 Invalid value type';

describe('validateValue', () => {
  it.each<[SettingKey, unknown, unknown]>([
    ['DEBUG', true, true],
    ['DEBUG', ' YES ', true],
    ['DEBUG', 'on', true],
    ['DEBUG', '1', true],
    ['DEBUG', 'Да', true],
    ['DEBUG', 'нет', false],
    ['DEBUG', 'off', false],
    ['DEBUG', '0', false],
    ['DEBUG', 1, WRONG],
    ['DEBUG', 0, WRONG],
    ['DEBUG', 'maybe', WRONG],
    ['DEBUG', '', WRONG],
    ['DEBUG', [], WRONG],
    ['DEBUG', null, '400 Value is required'],
    ['DEBUG', undefined, '400 Value is required'],
    ['TRIAL_DURATION_DAYS', 7, 7],
    ['TRIAL_DURATION_DAYS', ' 7 ', 7],
    ['TRIAL_DURATION_DAYS', '+7', 7],
    ['TRIAL_DURATION_DAYS', 7.5, WRONG],
    ['TRIAL_DURATION_DAYS', '7.5', WRONG],
    ['TRIAL_DURATION_DAYS', Number.NaN, WRONG],
    ['TRIAL_DURATION_DAYS', 'NaN', WRONG],
    ['TRIAL_DURATION_DAYS', 'Infinity', WRONG],
    ['TRIAL_DURATION_DAYS', '0x10', WRONG],
    ['TRIAL_DURATION_DAYS', '', WRONG],
    ['TRIAL_DURATION_DAYS', true, WRONG],
    ['TRIAL_DURATION_DAYS', {}, WRONG],
    ['TRIAL_DURATION_DAYS', [7], WRONG],
    ['TRIAL_DURATION_DAYS', -1, '400 Value must be at least 0'],
    ['PRICE_30_DAYS', 2 ** 31, '400 Value must be at most 2147483647'],
    ['HELEKET_MARKUP_PERCENT', '1.5', 1.5],
    ['HELEKET_MARKUP_PERCENT', -0, 0],
    ['HELEKET_MARKUP_PERCENT', Number.POSITIVE_INFINITY, WRONG],
    ['HELEKET_MARKUP_PERCENT', '1e999', WRONG],
    ['SMTP_HOST', null, null],
    ['SMTP_HOST', 25, '25'],
    ['SMTP_HOST', ['a'], WRONG],
    ['SMTP_HOST', 'a\0b', WRONG],
    ['SUPPORT_SYSTEM_MODE', 'tickets', 'tickets'],
    ['SUPPORT_SYSTEM_MODE', 'nope', '400 Value must be one of: tickets, contact, both'],
    ['YOOKASSA_VAT_CODE', '12', 12],
    ['YOOKASSA_VAT_CODE', 13, '400 Value must be one of: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12'],
    ['MAIN_MENU_MODE', 'classic', 'default'],
    ['MAIN_MENU_MODE', 'full', 'default'],
    ['MAIN_MENU_MODE', 'standard', 'default'],
    ['MAIN_MENU_MODE', 'text', 'cabinet'],
    ['MAIN_MENU_MODE', 'TEXT_ONLY', 'cabinet'],
    ['SERVER_STATUS_MODE', 'off', 'disabled'],
    ['SERVER_STATUS_MODE', 'none', 'disabled'],
    ['SERVER_STATUS_MODE', 'external', 'external_link'],
    ['SERVER_STATUS_MODE', 'link', 'external_link'],
    ['SERVER_STATUS_MODE', 'url', 'external_link'],
    ['VPNPANEL_AUTH_TYPE', 'basic', 'basic_auth'],
    ['VPNPANEL_AUTH_TYPE', 'caddy', 'caddy'],
    ['LOG_LEVEL', 'warn', 'WARNING'],
    ['CABINET_BUTTON_STYLE', '', ''],
    ['VPNPANEL_USER_USERNAME_TEMPLATE', '{username_clean}_{identifier}', '{username_clean}_{identifier}'],
    ['VPNPANEL_USER_DESCRIPTION_TEMPLATE', '{full_name} {username_clean}', '{full_name} {username_clean}'],
  ])('%s = %j gives %j', (key, value, expected) => {
    expect(tried(key, value)).toEqual(expected);
  });

  it.each<[SettingKey, unknown[], unknown[]]>([
    ['MESSENGER_WIDGET_RADIUS', [0, 20], [-1, 21]],
    ['BACKUP_TIME', ['00:00', '23:59'], ['24:00', '3:00', '12:60', '', 'noon', '12:00\n']],
    ['ADMIN_REPORTS_SEND_TIME', [null, '', '07:30'], ['7h']],
    ['VPNPANEL_AUTO_SYNC_TIMES', ['03:00', '03:00, 15:00;21:30'], ['03:00,25:00']],
    ['TIMEZONE', ['UTC', 'Europe/Moscow', 'Asia/Kathmandu'], ['Mars/Base', '', '+03:00', 'Europe Moscow']],
    [
      'PROXY_URL',
      [null, 'socks5://user:pw@host:1080', 'socks5h://h:1', 'socks4://h:1', 'http://h:1', 'https://h:1'],
      ['ftp://h:1', 'socks5', 'socks5:x', 'h:1'],
    ],
    ['NALOGO_PROXY_URL', ['socks5://h:1', 'https://h'], ['ftp://h']],
    ['SERVER_STATUS_ITEMS_PER_PAGE', [1], [0]],
    ['SERVER_STATUS_REQUEST_TIMEOUT', [1], [0]],
    ['WEBHOOK_PATH', ['/', '/hook', '/a/b-c_d.e'], ['hook', '', '/a b', '/:x', '/*', '//host', '/a/../b', 'http://x/y', '/a?b']],
    ['WATA_WEBHOOK_PATH', ['/wata'], ['wata']],
    ['TRIAL_USER_TAG', [null, 'TRIAL_1', 'A'.repeat(16)], ['trial', 'A'.repeat(17), 'A-B', 'A\n']],
    ['PAID_SUBSCRIPTION_USER_TAG', ['PAID'], ['ПЛАТНО']],
    [
      'CABINET_URL',
      ['https://my.example/cabinet', 'http://localhost:3000'],
      ['my.example', 'javascript:alert(1)', 'ftp://x', ''],
    ],
    ['MINIAPP_PURCHASE_URL', ['', 'https://x.example', 'tg://resolve?domain=a'], ['javascript:alert(1)', 'data:text/html,x']],
    ['AVAILABLE_SUBSCRIPTION_PERIODS', ['30', '14, 30,60'], ['30;60', 'month', '30,-1', '1.5']],
    ['TRAFFIC_PACKAGES_CONFIG', ['', '5:2000:true,0:100:False'], ['5:2000', '5:x:true', '5:1:yes', '5:1:true:1']],
    ['TRAFFIC_TOPUP_PACKAGES_CONFIG', ['5:2000', '5:2000:true'], ['5']],
    ['BASE_PROMO_GROUP_PERIOD_DISCOUNTS', ['', '30:5,90:100'], ['30', '30:101', '0:5', '30:5:5']],
    ['CABINET_TRUSTED_PROXIES', ['', '10.0.0.0/8, ::1', '127.0.0.1 10.0.0.1'], ['localhost', '10.0.0.0/33']],
    ['WEB_API_TOKEN_HASH_ALGORITHM', ['sha256', 'sha512'], ['md5', 'SHA256 ']],
    ['SIMPLE_SUBSCRIPTION_SQUAD_UUID', [null, '0b7a1f6e-3a52-4c8e-9a38-1f0f5a2b6c7d'], ['squad']],
    ['VPNPANEL_WEBHOOK_SECRET', [null, 'x'.repeat(32)], ['x'.repeat(31)]],
    [
      'BAN_MSG_PUNISHMENT',
      ['', 'seen {ip_count} of {limit}, {ban_minutes} min {node_info}'],
      ['{ip}', '{ip_count', 'a } b', '{}', '{0}'],
    ],
    ['BAN_MSG_ENABLED', ['back again'], ['{limit}']],
    ['PAYMENT_BALANCE_TEMPLATE', ['{service_name}: {description}'], ['{amount}', '{{description}}', '{__class__}']],
    ['EXTERNAL_ADMIN_TOKEN_BOT_ID', [7_000_000_000], [2 ** 53]],
  ])('%s accepts %j and refuses %j', (key, good, bad) => {
    for (const value of good) expect({ value, ok: validateValue(definitionOf(key), value).ok }).toEqual({ value, ok: true });
    for (const value of bad) expect({ value, ok: validateValue(definitionOf(key), value).ok }).toEqual({ value, ok: false });
  });

  it('refuses the mask of a secret as its new value', () => {
    expect(tried('VPNPANEL_API_KEY', SECRET_MASK)).toBe('400 Value is the mask of a secret, not a value');
    expect(tried('SUPPORT_USERNAME', SECRET_MASK)).toBe(SECRET_MASK);
  });

  it('no word that every object knows is an alias', () => {
    for (const word of ['__proto__', 'constructor', 'toString'])
      expect({ word, ok: validateValue(definitionOf('LOG_LEVEL'), word).ok }).toEqual({ word, ok: false });
  });

  it('is total: any JSON gives a value of the type or a 400 without the value in it', () => {
    fc.assert(
      fc.property(fc.constantFrom(...settingKeys), fc.jsonValue(), (key, value) => {
        const definition = definitionOf(key);
        const checked = validateValue(definition, value);
        if (!checked.ok) return checked.refusal.status === 400;
        const type = { bool: 'boolean', int: 'number', float: 'number', str: 'string' }[definition.type];
        return (checked.value === null && definition.optional === true) || typeof checked.value === type;
      }),
      { numRuns: 2_000 },
    );
  });

  it('accepted values are unchanged by storing and reading', () => {
    const input = fc.oneof(
      fc.boolean(),
      fc.integer(),
      fc.double(),
      fc.string(),
      fc.constantFrom('on', 'нет', '12:30', '/p', '5,6'),
      fc.constant(null),
    );
    fc.assert(
      fc.property(fc.constantFrom(...settingKeys), input, (key, value) => {
        const definition = definitionOf(key);
        const checked = validateValue(definition, value);
        if (checked.ok) expect(parseText(definition, storedForm(checked.value))).toEqual(checked);
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('small rules', () => {
  it('names and types', () => {
    expect(displayName('SUPPORT_TICKET_SLA_MINUTES')).toBe('Support Ticket Sla Minutes');
    expect(typeText(definitionOf('ADMIN_REPORTS_TOPIC_ID'))).toBe('optional[int]');
    expect(typeText(definitionOf('DEBUG'))).toBe('bool');
  });

  it('stores booleans, numbers, text and null', () => {
    expect([true, false, 5, 1.5, 'a', '', null].map(storedForm)).toEqual(['true', 'false', '5', '1.5', 'a', '', null]);
  });

  it('reads an empty stored text as null only where that is no text itself', () => {
    expect(parseText(definitionOf('ADMIN_REPORTS_TOPIC_ID'), ' ')).toEqual({ ok: true, value: null });
    expect(parseText(definitionOf('SMTP_HOST'), '')).toEqual({ ok: true, value: '' });
    expect(parseText(definitionOf('TRIAL_DURATION_DAYS'), '').ok).toBe(false);
    expect(parseText(definitionOf('TRIAL_DURATION_DAYS'), null).ok).toBe(false);
  });

  it('brings stored numbers of a clamped setting within its bounds, and refuses them on a write', () => {
    const radius = definitionOf('MESSENGER_WIDGET_RADIUS');
    expect([parseText(radius, '99'), parseText(radius, '-1'), parseText(radius, '7')]).toEqual([
      { ok: true, value: 20 },
      { ok: true, value: 0 },
      { ok: true, value: 7 },
    ]);
    expect(parseText(radius, 'x')).toMatchObject({ ok: false });
    expect([validateValue(radius, 21), validateValue(radius, -1)]).toMatchObject([{ ok: false }, { ok: false }]);
  });

  it('masks set secrets alike and shows unset ones as null', () => {
    const secret = definitionOf('CABINET_JWT_SECRET');
    expect([null, '', 'a', 'much longer'].map((value) => maskedValue(secret, value))).toEqual([
      null,
      null,
      SECRET_MASK,
      SECRET_MASK,
    ]);
    expect(maskedValue(definitionOf('DISPLAY_NAME_BANNED_KEYWORDS'), 'a,b')).toBe('a,b');
  });

  it('admits only superadmins and tokens for guarded settings', () => {
    const token = { kind: 'token' };
    const admin = { kind: 'admin', isSuperadmin: false };
    const superadmin = { kind: 'admin', isSuperadmin: true };
    const who = (key: SettingKey): boolean[] =>
      [token, admin, superadmin, { kind: 'system' }].map((editor) => editProblem(key, definitionOf(key), editor) === null);
    expect(who('TRIAL_DURATION_DAYS')).toEqual([true, true, true, true]);
    expect(who('CABINET_JWT_SECRET')).toEqual([false, false, true, true]);
    expect(who('WEB_API_DEFAULT_TOKEN')).toEqual([true, false, true, true]);
    expect(who('EXTERNAL_ADMIN_TOKEN')).toEqual([false, false, false, true]);
    expect(editProblem('EXTERNAL_ADMIN_TOKEN', definitionOf('EXTERNAL_ADMIN_TOKEN'), superadmin)).toMatchObject({
      status: 403,
      detail: 'Setting EXTERNAL_ADMIN_TOKEN is read-only',
    });
  });
});
