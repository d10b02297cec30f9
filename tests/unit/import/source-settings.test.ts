/** Spec 07 section 5: settings and environment of the existing product. */
import { parseEnv } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { environmentLine, translateEnvironment, translateSetting } from '../../../src/domain/import/source-settings.ts';

describe('a setting', () => {
  test.each([
    ['TELEGRAM_STARS_RATE_RUB', '1.79', 'MESSENGER_STARS_RATE_RUB', '1.79'],
    ['REMNAWAVE_API_URL', 'https://panel.example', 'VPNPANEL_API_URL', 'https://panel.example'],
    ['LOG_ROTATION_SEND_TO_TELEGRAM', 'true', null, null],
    ['CABINET_REMNA_SUB_CONFIG', 'x', 'CABINET_VPNPANEL_SUB_CONFIG', 'x'],
    ['TRIAL_DISABLED_FOR', 'Telegram', 'TRIAL_DISABLED_FOR', 'messenger'],
    ['REMNAWAVE_USER_USERNAME_TEMPLATE', 'u_{telegram_id}', 'VPNPANEL_USER_USERNAME_TEMPLATE', 'u_{messenger_id}'],
    ['SUPPORT_USERNAME', '@telegram', 'SUPPORT_USERNAME', '@telegram'],
    ['YOOKASSA_ENABLED', 'да', 'YOOKASSA_ENABLED', 'true'],
  ])('%s = %s', (sourceKey, text, key, stored) => {
    const expected = key === null ? { outcome: 'setting_refused' } : { outcome: 'kept', key, text: stored };
    expect(translateSetting(sourceKey, text)).toMatchObject(expected);
  });

  test.each([
    ['POSTGRES_HOST', 'db', 'setting_refused'],
    ['WEBHOOK_SECRET_TOKEN', 'x', 'setting_refused'],
    ['EXTERNAL_ADMIN_TOKEN', 'x', 'setting_refused'],
    ['BACKUP_LOCATION', '/backups', 'setting_refused'],
    ['MULTI_TARIFF_ENABLED', 'true', 'setting_unknown'],
    ['REMNAWAVE_USERNAME_MIN_LENGTH', '3', 'setting_unknown'],
    ['YOOKASSA_ENABLED', 'perhaps', 'setting_value_invalid'],
    ['TRIAL_DURATION_DAYS', 'three', 'setting_value_invalid'],
  ])('%s = %s is %s', (key, text, outcome) => {
    expect(translateSetting(key, text).outcome).toBe(outcome);
  });
});

describe('an environment', () => {
  test('keeps what customers and outside systems see, and names what a person should look at', () => {
    const variables = {
      BOT_TOKEN: '1:a',
      ADMIN_EMAILS: 'boss@example.com',
      YOOKASSA_WEBHOOK_PATH: '/pay',
      REDIS_URL: 'redis://r',
    };
    const rows = new Map([
      ['YOOKASSA_WEBHOOK_PATH', '/other'],
      ['BOT_TOKEN', '1:a'],
    ]);
    const found = translateEnvironment(variables, rows);
    expect(Object.fromEntries(found.kept)).toEqual({
      BOT_TOKEN: '1:a',
      ADMIN_EMAILS: 'boss@example.com',
      YOOKASSA_WEBHOOK_PATH: '/pay',
      VPNPANEL_WEBHOOK_PATH: '/remnawave-webhook',
      MESSENGER_STARS_DISPLAY_NAME: 'Telegram Stars',
    });
    expect(found.leftOut).toEqual([{ key: 'REDIS_URL', reason: 'setting_refused' }]);
    expect(found.staleRows).toEqual(['YOOKASSA_WEBHOOK_PATH']);
    expect(found.toReview).toContain('ADMIN_EMAILS');
  });

  test('has no default of the old product where its database or environment sets another value', () => {
    const rows = new Map([['REMNAWAVE_WEBHOOK_PATH', '/hook']]);
    const { kept } = translateEnvironment({ TELEGRAM_STARS_DISPLAY_NAME: 'Stars' }, rows);
    expect(Object.fromEntries(kept)).toEqual({ MESSENGER_STARS_DISPLAY_NAME: 'Stars' });
  });

  test('any value that a line can hold is read back by Node', () => {
    const texts = fc.oneof(
      fc.string(),
      fc.string({ unit: fc.constantFrom('a', ' ', '#', "'", '"', '`', '\\', '\n', '$', '=', 'я') }),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const line = environmentLine('KEY', text);
        const isImpossible = text.includes('\r') || (["'", '`'].every((mark) => text.includes(mark)) && /["\\]/.test(text));
        expect(line === null).toBe(isImpossible);
        if (line !== null) expect(parseEnv(`${line}\nNEXT=1`)).toEqual({ KEY: text, NEXT: '1' });
      }),
      { numRuns: 500 },
    );
  });
});
