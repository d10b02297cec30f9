import { describe, expect, it } from 'vitest';
import { createSettingsStore, type SettingsLog, type SettingsStore } from '../../../src/domain/settings/settings-store.ts';

interface Lines {
  warned: string[];
  failed: string[];
}

function store(environment: Record<string, string> = {}): SettingsStore & Lines {
  const lines: Lines = { warned: [], failed: [] };
  const log: SettingsLog = {
    warn: (fields, message) => void lines.warned.push(`${fields.key} ${message}`),
    error: (fields) => void lines.failed.push(fields.key),
  };
  return { ...createSettingsStore({ environment, log }), ...lines };
}

describe('settings store', () => {
  it('puts the environment over the override over the default', () => {
    const settings = store({ TRIAL_DURATION_DAYS: '9' });
    expect(settings.get('TRIAL_DEVICE_LIMIT')).toBe(2);
    settings.applyOverrides([
      { key: 'TRIAL_DURATION_DAYS', value: '5' },
      { key: 'TRIAL_DEVICE_LIMIT', value: '5' },
    ]);
    expect(settings.get('TRIAL_DURATION_DAYS')).toBe(9);
    expect(settings.get('TRIAL_DEVICE_LIMIT')).toBe(5);
    expect(settings.describe('TRIAL_DURATION_DAYS')).toEqual({
      original: 9,
      current: 9,
      hasOverride: false,
      fromEnvironment: true,
    });
    expect(settings.describe('TRIAL_DEVICE_LIMIT')).toEqual({
      original: 2,
      current: 5,
      hasOverride: true,
      fromEnvironment: false,
    });
  });

  it('drops overrides whose rows were deleted, one by one and all at once', () => {
    const settings = store();
    settings.applyOverrides([
      { key: 'TRIAL_DURATION_DAYS', value: '5' },
      { key: 'TRIAL_DEVICE_LIMIT', value: '5' },
    ]);
    settings.applyOne('TRIAL_DURATION_DAYS', null);
    expect([settings.get('TRIAL_DURATION_DAYS'), settings.get('TRIAL_DEVICE_LIMIT')]).toEqual([3, 5]);
    settings.applyOverrides([]);
    expect(settings.describe('TRIAL_DEVICE_LIMIT')).toMatchObject({ current: 2, hasOverride: false });
  });

  it('distinguishes a stored null from a missing row', () => {
    const settings = store();
    settings.applyOne('SMTP_HOST', { key: 'SMTP_HOST', value: 'mail.example' });
    settings.applyOne('SMTP_HOST', { key: 'SMTP_HOST', value: null });
    expect(settings.describe('SMTP_HOST')).toMatchObject({ current: null, hasOverride: true });
    settings.applyOne('SMTP_HOST', null);
    expect(settings.describe('SMTP_HOST')).toMatchObject({ current: null, hasOverride: false });
  });

  it('prefers stored values to the environment where the branding of the cabinet sets them, and only there', () => {
    const settings = store({ CABINET_EMAIL_AUTH_ENABLED: 'true', CABINET_EMAIL_VERIFICATION_ENABLED: 'true' });
    const rows = ['CABINET_EMAIL_AUTH_ENABLED', 'CABINET_EMAIL_VERIFICATION_ENABLED'].map((key) => ({ key, value: 'false' }));
    settings.applyOverrides(rows);
    expect(settings.describe('CABINET_EMAIL_AUTH_ENABLED')).toEqual({
      original: true,
      current: false,
      hasOverride: true,
      fromEnvironment: true,
    });
    expect(settings.describe('CABINET_EMAIL_VERIFICATION_ENABLED')).toMatchObject({ current: true, hasOverride: false });
    settings.applyOne('CABINET_EMAIL_AUTH_ENABLED', null);
    expect(settings.get('CABINET_EMAIL_AUTH_ENABLED')).toBe(true);
  });

  it('uses the environment where such a stored value is invalid', () => {
    const settings = store({ MESSENGER_WIDGET_SIZE: 'small', MESSENGER_WIDGET_RADIUS: '5' });
    settings.applyOverrides([
      { key: 'MESSENGER_WIDGET_SIZE', value: 'huge' },
      { key: 'MESSENGER_WIDGET_RADIUS', value: 'round' },
    ]);
    expect([settings.get('MESSENGER_WIDGET_SIZE'), settings.get('MESSENGER_WIDGET_RADIUS')]).toEqual(['small', 5]);
    settings.applyOne('MESSENGER_WIDGET_RADIUS', { key: 'MESSENGER_WIDGET_RADIUS', value: '25' });
    expect(settings.get('MESSENGER_WIDGET_RADIUS')).toBe(20);
  });

  it('ignores private rows, unknown keys and rows of excluded keys', () => {
    const settings = store();
    settings.applyOverrides([
      { key: 'PRIVATE_ROW', value: '{}' },
      { key: '__proto__', value: 'x' },
      { key: 'BOT_TOKEN', value: 'stolen' },
    ]);
    settings.applyOne('constructor', { key: 'constructor', value: 'x' });
    expect(settings.get('BOT_TOKEN')).toBeNull();
    expect(settings.warned).toEqual([]);
  });

  it('skips a bad stored value with one warning that does not show it', () => {
    const settings = store();
    const rows = [{ key: 'BACKUP_TIME', value: 'quarter past hidden' }];
    settings.applyOverrides(rows);
    settings.applyOverrides(rows);
    expect(settings.describe('BACKUP_TIME')).toEqual({
      original: '03:00',
      current: '03:00',
      hasOverride: false,
      fromEnvironment: false,
    });
    expect(settings.warned).toHaveLength(1);
    expect(settings.warned[0]).toMatch(/^BACKUP_TIME /);
    expect(settings.warned.join()).not.toContain('hidden');
    settings.applyOne('BACKUP_TIME', { key: 'BACKUP_TIME', value: 'another hidden' });
    expect(settings.warned).toHaveLength(2);
  });

  it('collects all problems of the environment without values and uses the defaults', () => {
    const settings = store({
      PRICE_30_DAYS: 'hidden',
      TIMEZONE: 'Hidden/Zone',
      DEBUG: 'on',
      LOG_LEVEL: 'info',
      WEBHOOK_URL: ' ',
    });
    expect(settings.problems).toEqual(['PRICE_30_DAYS: Invalid value type', 'TIMEZONE: Value must be a known time zone']);
    expect(settings.get('PRICE_30_DAYS')).toBe(99_000);
    expect(settings.get('DEBUG')).toBe(true);
    expect(settings.get('LOG_LEVEL')).toBe('INFO');
    expect(settings.describe('WEBHOOK_URL').fromEnvironment).toBe(false);
    expect(settings.describe('PRICE_30_DAYS').fromEnvironment).toBe(false);
  });

  it('notifies listeners of effective changes only, after all of them are in effect, once for each load', () => {
    const settings = store({ PRICE_60_DAYS: '1' });
    const changes: string[] = [];
    const stop = settings.onChange(['PRICE_30_DAYS', 'PRICE_60_DAYS', 'PRICE_90_DAYS'], () =>
      changes.push(`${settings.get('PRICE_30_DAYS')} ${settings.get('PRICE_90_DAYS')}`),
    );
    settings.applyOverrides([
      { key: 'PRICE_30_DAYS', value: '10' },
      { key: 'PRICE_60_DAYS', value: '20' },
      { key: 'PRICE_90_DAYS', value: '30' },
    ]);
    expect(changes).toEqual(['10 30']);
    settings.applyOne('PRICE_30_DAYS', { key: 'PRICE_30_DAYS', value: '10' });
    settings.applyOne('PRICE_60_DAYS', null);
    expect(changes).toHaveLength(1);
    settings.applyOne('PRICE_30_DAYS', null);
    expect(changes).toEqual(['10 30', '99000 30']);
    stop();
    settings.applyOverrides([]);
    expect(changes).toHaveLength(2);
  });

  it('continues after a listener throws', () => {
    const settings = store();
    let calls = 0;
    settings.onChange('DEBUG', () => {
      throw new Error('broken');
    });
    settings.onChange('DEBUG', () => calls++);
    settings.applyOne('DEBUG', { key: 'DEBUG', value: 'true' });
    expect({ calls, failed: settings.failed, value: settings.get('DEBUG') }).toEqual({
      calls: 1,
      failed: ['DEBUG'],
      value: true,
    });
  });
});
