import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { DatabaseSharedCache } from '../../../src/core/cache/shared-cache.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { inTransaction } from '../../../src/core/db/transaction.ts';
import { sqlEventRecorder } from '../../../src/core/events/event-recorder.ts';
import { sqlJobSender } from '../../../src/core/jobs/job-sender.ts';
import { createLogger } from '../../../src/core/log.ts';
import { systemRandom } from '../../../src/core/random.ts';
import { putSetting, resetSetting } from '../../../src/domain/settings/change-setting.ts';
import { getSetting } from '../../../src/domain/settings/list-settings.ts';
import { SECRET_MASK } from '../../../src/domain/settings/mask-value.ts';
import { createSettingsStore, followSettings } from '../../../src/domain/settings/settings-store.ts';
import { eventually } from '../../support/eventually.ts';
import { busOf } from '../../support/test-bus.ts';
import { workerDatabase } from '../../support/worker-database.ts';

const token = { kind: 'token' };
const superadmin = { kind: 'admin', isSuperadmin: true };
const log = createLogger({ level: 'silent', format: 'json' });
const stops: (() => void)[] = [];

/** The settings of one instance of the service: its own store over the shared database. */
async function instance(environment: Record<string, string> = {}): Promise<App> {
  const database = await workerDatabase();
  const settings = createSettingsStore({ environment, log });
  const cache = new DatabaseSharedCache();
  const bus = await busOf(database);
  const events = sqlEventRecorder(database.db.sql, systemClock, () => bus.announce());
  const jobs = sqlJobSender(database.db.sql, systemClock);
  const app = { settings, db: database.db, clock: systemClock, random: systemRandom, log, cache, events, jobs } as unknown as App;
  stops.push(await followSettings(app, settings, bus));
  return app;
}

async function storedValues(key: string): Promise<unknown[]> {
  const { db } = await workerDatabase();
  return (await db.sql<{ value: string | null }>('select value from system_settings where key = $1', [key])).map(
    (row) => row.value,
  );
}

beforeEach(async () => {
  await (await workerDatabase()).db.sql('delete from system_settings');
});

afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

describe('putSetting and resetSetting', () => {
  it('the change is in effect here on return and soon on every other instance (spec 05 section 16, invariant 9)', async () => {
    const [one, two] = [await instance(), await instance()];
    const view = await putSetting(one, token, 'TRIAL_DURATION_DAYS', '7');
    expect(view).toMatchObject({ current: 7, original: 3, hasOverride: true });
    expect(one.settings.get('TRIAL_DURATION_DAYS')).toBe(7);
    expect(await storedValues('TRIAL_DURATION_DAYS')).toEqual(['7']);
    await eventually(() => expect(two.settings.get('TRIAL_DURATION_DAYS')).toBe(7));

    expect(await resetSetting(two, token, 'TRIAL_DURATION_DAYS')).toMatchObject({ current: 3, hasOverride: false });
    expect(await storedValues('TRIAL_DURATION_DAYS')).toEqual([]);
    await eventually(() => expect(one.settings.get('TRIAL_DURATION_DAYS')).toBe(3));
    expect(await resetSetting(two, token, 'TRIAL_DURATION_DAYS')).toMatchObject({ current: 3, hasOverride: false });
  });

  it('keeps overrides after a restart (spec 05 section 16, invariant 9)', async () => {
    const first = await instance();
    await putSetting(first, token, 'DEBUG', 'on');
    await putSetting(first, token, 'SMTP_HOST', null);
    const second = await instance();
    expect(second.settings.get('DEBUG')).toBe(true);
    expect(await storedValues('DEBUG')).toEqual(['true']);
    expect(await storedValues('SMTP_HOST')).toEqual([null]);
    expect(getSetting(second, 'SMTP_HOST')).toMatchObject({ current: null, hasOverride: true });
  });

  it('stores a key that the environment sets without putting it into effect', async () => {
    const app = await instance({ TRIAL_DURATION_DAYS: '9' });
    expect(await putSetting(app, token, 'TRIAL_DURATION_DAYS', 4)).toMatchObject({ current: 9, original: 9, hasOverride: false });
    expect(await storedValues('TRIAL_DURATION_DAYS')).toEqual(['4']);
  });

  it('applies nothing before the commit and nothing after a rollback', async () => {
    const app = await instance();
    const seen: unknown[] = [];
    await expect(
      inTransaction(app, async (t) => {
        seen.push((await putSetting(t, token, 'TRIAL_DURATION_DAYS', 7)).current);
        throw new Error('changed my mind');
      }),
    ).rejects.toThrow('changed my mind');
    expect(seen).toEqual([3]);
    expect(await storedValues('TRIAL_DURATION_DAYS')).toEqual([]);
    expect(app.settings.get('TRIAL_DURATION_DAYS')).toBe(3);

    await inTransaction(app, async (t) => void (await putSetting(t, token, 'TRIAL_DURATION_DAYS', 8)));
    await eventually(() => expect(app.settings.get('TRIAL_DURATION_DAYS')).toBe(8));
  });

  it.each([
    ['NO_SUCH_KEY', 1, 404, 'Setting not found'],
    ['BOT_TOKEN', 'x', 404, 'Setting not found'],
    ['EXTERNAL_ADMIN_TOKEN', 'x', 403, 'Setting EXTERNAL_ADMIN_TOKEN is read-only'],
    ['TRIAL_DURATION_DAYS', null, 400, 'Value is required'],
    ['TRIAL_DURATION_DAYS', 1.5, 400, 'Invalid value type'],
    ['TRIAL_DURATION_DAYS', {}, 400, 'Invalid value type'],
    ['SALES_MODE', 'other', 400, 'Value must be one of: classic, tariffs'],
    ['SIMPLE_SUBSCRIPTION_PERIOD_DAYS', 31, 400, 'Value must be one of: 14, 30, 60, 90, 180, 360'],
    ['SMTP_PASSWORD', SECRET_MASK, 400, 'Value is the mask of a secret, not a value'],
    ['CABINET_JWT_SECRET', 'x'.repeat(40), 403, 'Setting CABINET_JWT_SECRET can only be changed by a superadmin'],
  ])('refuses %s = %j with %i and leaves no row', async (key, value, status, detail) => {
    const app = await instance();
    await expect(putSetting(app, token, key, value)).rejects.toMatchObject({ status, detail });
    expect(await storedValues(key)).toEqual([]);
  });

  it.each([
    ['SMTP_HOST', 'mail.example.com'],
    ['SMTP_PORT', 2525],
    ['SMTP_USER', 'mailer'],
    ['SMTP_PASSWORD', 'a-mail-box-secret'],
    ['SMTP_USE_TLS', false],
    ['CABINET_URL', 'https://elsewhere.example.com'],
  ])('leaves %s, by which links that sign people in can be led astray, to superadmins and API tokens', async (key, value) => {
    const app = await instance();
    const editor = { kind: 'admin', isSuperadmin: false } as const;
    await expect(putSetting(app, editor, key, value)).rejects.toMatchObject({ status: 403 });
    for (const trusted of [superadmin, token] as const) expect(await putSetting(app, trusted, key, value)).toMatchObject({ key });
    await resetSetting(app, token, key);
  });

  it('answers a secret masked also to the one who set it', async () => {
    const app = await instance();
    const view = await putSetting(app, superadmin, 'CABINET_JWT_SECRET', 'a-new-secret-of-enough-length-0123456789');
    expect(view).toMatchObject({ current: SECRET_MASK, original: null, hasOverride: true });
    expect(app.settings.get('CABINET_JWT_SECRET')).toBe('a-new-secret-of-enough-length-0123456789');
  });

  it.each([
    ['VERSION_CHECK_REPO', 'https://github.com/owner/name', 'owner/name'],
    ['AVAILABLE_LANGUAGES', ' , ', 'ru, en'],
    ['DEFAULT_LANGUAGE', 'de', 'en'],
    ['SMTP_FROM_NAME', 'Shop\r\nBcc: somebody@example.com', 'Shop'],
    ['BACKUP_LOCATION', '/tmp', '/srv/backups/shop'],
    ['BACKUP_LOCATION', '/srv/backups/../../etc', '/srv/backups'],
    ['BACKUP_LOCATION', '/srv/backups-of-others', '/data/backups'],
    ['BACKUP_LOCATION', '..', '/app/data/backups'],
  ])('spec 10 O6 and O10: refuses %s = %j and accepts %j', async (key, refused, accepted) => {
    const env = { dataDir: '/data', backups: { roots: ['/srv/backups'] } };
    const app = { ...(await instance()), env } as unknown as App;
    await expect(putSetting(app, token, key, refused)).rejects.toMatchObject({ status: 400, code: 'setting_bad_format' });
    expect(await storedValues(key)).toEqual([]);
    expect(await putSetting(app, token, key, accepted)).toMatchObject({ current: accepted });
  });

  it('does not reset what it may not change', async () => {
    const app = await instance();
    await expect(resetSetting(app, superadmin, 'EXTERNAL_ADMIN_TOKEN')).rejects.toMatchObject({ status: 403 });
    await expect(resetSetting(app, token, 'ADMIN_EMAILS')).rejects.toMatchObject({ status: 403 });
    await expect(resetSetting(app, token, 'ADMIN_IDS')).rejects.toMatchObject({ status: 404 });
  });

  it('has the values of the database after many concurrent changes on two instances', async () => {
    const [one, two] = [await instance(), await instance()];
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => putSetting(index % 2 ? one : two, token, 'TRIAL_DURATION_DAYS', index + 1)),
    );
    const [stored] = await storedValues('TRIAL_DURATION_DAYS');
    await eventually(() => {
      expect(String(one.settings.get('TRIAL_DURATION_DAYS'))).toBe(stored);
      expect(String(two.settings.get('TRIAL_DURATION_DAYS'))).toBe(stored);
    });
  });
});
