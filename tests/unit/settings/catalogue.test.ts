import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { SettingTypes } from '../../../src/core/app.ts';
import { definitionOf, isSettingKey, settingKeys } from '../../../src/domain/settings/catalogue/catalogue.ts';
import { categories } from '../../../src/domain/settings/catalogue/categories.ts';
import { parseText, storedForm, validateValue } from '../../../src/domain/settings/rules.ts';
import type { SettingValues } from '../../../src/domain/settings/types.ts';

/** Number and SHA-256 of the contract's facts, taken from its settings.json as [key, type, optional, category, default, choices]. */
const CONTRACT_COUNT = 546;
const CONTRACT_SHA256 = '323ae8f6a6ef1e56cbd145ce27c07f62f4cb5a2b93bec1cf75362cb264830475';

/** Settings that the contract does not have, each for a requirement beyond it. */
const OURS: ReadonlySet<string> = new Set([
  // Withdrawals: a hold of earnings, and a second approver above an amount; both off by default.
  'REFERRAL_EARNINGS_HOLD_DAYS',
  'REFERRAL_WITHDRAWAL_SECOND_APPROVAL_KOPEKS',
  // What cannot be undone needs a recent sign-in, and every sign-in a second factor; off by default.
  'APPROVAL_BALANCE_CHANGE_KOPEKS',
  'APPROVAL_EXPIRY_HOURS',
  'APPROVAL_REFUND_KOPEKS',
  'FRESH_SIGN_IN_MINUTES',
  'SECOND_FACTOR_FOR',
  // What users may do with their data themselves; off by default.
  'PERSONAL_DATA_ARCHIVE_DAYS',
  'PERSONAL_DATA_ERASURE_DAYS',
  'PERSONAL_DATA_RECORD_DAYS',
  'PERSONAL_DATA_SELF_SERVICE',
]);

/** Intended differences from the contract: what the contract says instead. */
const CONTRACT_SAYS: Readonly<Record<string, { default?: boolean; choices?: readonly string[] }>> = {
  // Spec 00, Credentials: both default to true.
  WEB_API_ENABLED: { default: false },
  CABINET_ENABLED: { default: false },
  // Spec 06 section 6.5: caddy is offered too, and bearer is known to the client.
  VPNPANEL_AUTH_TYPE: { choices: ['api_key', 'basic_auth'] },
};

/** Keys with one of the secret words that are not secrets: names, public keys, word lists, numbers and durations. */
const NOT_SECRET: ReadonlySet<string> = new Set([
  'CABINET_ACCESS_TOKEN_EXPIRE_MINUTES',
  'CABINET_PASSWORD_RESET_EXPIRE_HOURS',
  'CABINET_REFRESH_TOKEN_EXPIRE_DAYS',
  'DISPLAY_NAME_BANNED_KEYWORDS',
  'EXTERNAL_ADMIN_TOKEN_BOT_ID',
  'WATA_PUBLIC_KEY_CACHE_SECONDS',
  'WATA_PUBLIC_KEY_URL',
  'WEB_API_DEFAULT_TOKEN_NAME',
  'WEB_API_TOKEN_HASH_ALGORITHM',
]);
const SECRET_URLS: ReadonlySet<string> = new Set(['DATABASE_URL', 'REDIS_URL', 'PROXY_URL', 'NALOGO_PROXY_URL']);

/** Knowing or choosing these allows acting as an administrator, or as the messenger, which confirms sign-ins. */
const SUPERADMINS_ONLY = [
  'ADMIN_EMAILS',
  'APPROVAL_BALANCE_CHANGE_KOPEKS',
  'APPROVAL_EXPIRY_HOURS',
  'APPROVAL_REFUND_KOPEKS',
  'CABINET_JWT_SECRET',
  'CABINET_TRUSTED_PROXIES',
  'DATABASE_MODE',
  'DATABASE_URL',
  'FRESH_SIGN_IN_MINUTES',
  'PERSONAL_DATA_SELF_SERVICE',
  'POSTGRES_DB',
  'POSTGRES_HOST',
  'POSTGRES_PASSWORD',
  'POSTGRES_PORT',
  'POSTGRES_USER',
  'REDIS_URL',
  'REFERRAL_WITHDRAWAL_SECOND_APPROVAL_KOPEKS',
  'SECOND_FACTOR_FOR',
  'SQLITE_PATH',
  'TEST_EMAIL',
  'TEST_EMAIL_PASSWORD',
  'WEBHOOK_SECRET_TOKEN',
  'WEB_API_TOKEN_HASH_ALGORITHM',
  'WEB_API_TOKEN_HMAC_SECRET',
];
/** Addresses that users see or that are only read from: no key, money or signed data is sent there. */
const OPEN_ADDRESSES = [
  'BLACKLIST_GITHUB_URL',
  'HAPP_DOWNLOAD_LINK_ANDROID',
  'HAPP_DOWNLOAD_LINK_IOS',
  'HAPP_DOWNLOAD_LINK_MACOS',
  'HAPP_DOWNLOAD_LINK_PC',
  'HAPP_DOWNLOAD_LINK_WINDOWS',
  'MINIAPP_SUPPORT_URL',
];

describe('settings catalogue', () => {
  it('contains the facts of the contract', () => {
    const published = settingKeys.filter((key) => !OURS.has(key));
    const facts = published.map((key) => {
      const definition = definitionOf(key);
      const said = CONTRACT_SAYS[key];
      return [
        key,
        definition.type,
        definition.optional === true,
        definition.category,
        definition.localised ? '<localised text>' : (said?.default ?? definition.default),
        said?.choices ?? definition.choices ?? null,
      ];
    });
    expect(published.length).toBe(CONTRACT_COUNT);
    expect(settingKeys.length).toBe(CONTRACT_COUNT + OURS.size);
    expect(createHash('sha256').update(JSON.stringify(facts)).digest('hex')).toBe(CONTRACT_SHA256);
  });

  it('marks every secret of the rule and nothing else', () => {
    const expected = settingKeys.filter(
      (key) => (/TOKEN|SECRET|PASSWORD|KEY/.test(key) && !NOT_SECRET.has(key)) || SECRET_URLS.has(key),
    );
    expect(settingKeys.filter((key) => definitionOf(key).secret)).toEqual(expected);
  });

  it('excludes, locks and guards the keys that grant access', () => {
    const keysWith = (test: (key: (typeof settingKeys)[number]) => boolean): string[] => settingKeys.filter(test);
    expect(keysWith((key) => definitionOf(key).excluded === true)).toEqual(['ADMIN_IDS', 'BOT_TOKEN']);
    expect(keysWith((key) => definitionOf(key).readOnly === true)).toEqual([
      'EXTERNAL_ADMIN_TOKEN',
      'EXTERNAL_ADMIN_TOKEN_BOT_ID',
    ]);
    expect(keysWith((key) => definitionOf(key).guard === 'superadmin')).toEqual(SUPERADMINS_ONLY);
  });

  it('guards every secret, every address to which keys, money or users are sent, and every id of a merchant or client', () => {
    const open = settingKeys.filter((key) => {
      const { guard, secret, format, readOnly, excluded } = definitionOf(key);
      const isDestination = ['http-url', 'link', 'proxy-url'].includes(format ?? '');
      const isAccountId = /_(CLIENT|SHOP|MERCHANT|PUBLIC)_ID$|_MID$/.test(key);
      return (secret || isDestination || isAccountId) && !guard && !readOnly && !excluded;
    });
    expect(open).toEqual(OPEN_ADDRESSES);
  });

  it.each([
    'BACKUP_LOCATION',
    'BACKUP_SEND_CHAT_ID',
    'BOT_USERNAME',
    'CLOUDPAYMENTS_TEST_MODE',
    'CRYPTOBOT_TESTNET',
    'HAPP_CRYPTOLINK_REDIRECT_TEMPLATE',
    'LOG_ROTATION_CHAT_ID',
    'MINIAPP_STATIC_PATH',
    'NALOGO_INN',
    'NALOGO_STORAGE_PATH',
    'SERVER_STATUS_METRICS_USERNAME',
    'SERVER_STATUS_METRICS_VERIFY_SSL',
    'SMTP_HOST',
    'VPNPANEL_AUTH_TYPE',
    'VPNPANEL_USERNAME',
    'YOOKASSA_TRUSTED_PROXY_NETWORKS',
  ] as const)('guards %s, which no rule of names finds', (key) => {
    expect(definitionOf(key).guard).toBe('full-access');
  });

  it('has defaults that are valid and unchanged by storing', () => {
    for (const key of settingKeys) {
      const definition = definitionOf(key);
      // Two texts have no default; they are null until they are set.
      if (definition.default === null && !definition.optional) {
        expect(['BOT_TOKEN', 'VERSION_CHECK_REPO']).toContain(key);
        continue;
      }
      expect({ key, checked: validateValue(definition, definition.default) }).toEqual({
        key,
        checked: { ok: true, value: definition.default },
      });
      expect(parseText(definition, storedForm(definition.default))).toEqual({ ok: true, value: definition.default });
    }
  });

  it('uses every category', () => {
    expect([...new Set(settingKeys.map((key) => definitionOf(key).category))].sort()).toEqual(Object.keys(categories).sort());
  });

  it('does not have keys that every JavaScript object has', () => {
    expect(['constructor', '__proto__', 'toString', ''].filter(isSettingKey)).toEqual([]);
  });

  it('gives each key the type of its value', () => {
    const typed = {
      days: 3 satisfies SettingTypes['TRIAL_DURATION_DAYS'],
      mode: 'classic' satisfies SettingTypes['SALES_MODE'],
      vat: 12 satisfies SettingTypes['YOOKASSA_VAT_CODE'],
      host: null satisfies SettingTypes['SMTP_HOST'],
      token: null satisfies SettingTypes['BOT_TOKEN'],
    };
    // @ts-expect-error a required number is never null
    const wrong: SettingValues['TRIAL_DURATION_DAYS'] = null;
    // @ts-expect-error a choice outside of the list
    const outside: SettingValues['SALES_MODE'] = 'other';
    expect(Object.keys({ ...typed, wrong, outside })).toHaveLength(7);
  });
});
