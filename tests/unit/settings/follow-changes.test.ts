import { describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { createSettingsStore, followSettings } from '../../../src/domain/settings/settings-store.ts';
import type { StoredSetting } from '../../../src/domain/settings/types.ts';
import { eventually } from '../../support/eventually.ts';

const CHANGE = {
  id: 1,
  type: 'setting.changed',
  audience: 'instance',
  userId: null,
  createdAt: new Date(),
  positionText: '',
} as const;

/** Rows, a bus and an app over them; a read can be delayed or made to fail. */
function setup() {
  const rows = new Map<string, string | null>();
  const gates: Promise<void>[] = [];
  const state = { failures: 0, reads: 0, stopped: 0, errors: 0, loadedBeforeListen: false };
  let say: (key: string, type?: string) => void = () => undefined;
  let isListening = false;
  const log = { warn: () => undefined, error: () => void state.errors++ };
  const store = createSettingsStore({ environment: {}, log });
  const read = async (): Promise<StoredSetting[]> => {
    state.reads++;
    if (!isListening) state.loadedBeforeListen = true;
    // Like a real read: the rows are those of the time at which the read began.
    const seen = [...rows].map(([key, value]) => ({ key, value }));
    await gates.shift();
    if (state.failures > 0) {
      state.failures--;
      throw new Error('connection lost');
    }
    return seen;
  };
  const systemSetting = {
    findMany: read,
    findUnique: async ({ where }: { where: { key: string } }) => (await read()).find(({ key }) => key === where.key) ?? null,
  };
  const app = { settings: store, db: { prisma: { systemSetting }, inTransaction: false }, log } as unknown as App;
  const follow = () =>
    followSettings(app, store, {
      subscribe: (listener) => {
        isListening = true;
        say = (key, type = CHANGE.type) => listener({ ...CHANGE, type, payload: { key } });
        return () => void state.stopped++;
      },
    });
  return { rows, gates, state, store, follow, say: (key: string, type?: string) => say(key, type) };
}

const days = (value: number) => ({ key: 'TRIAL_DURATION_DAYS', value: String(value) });

describe('followSettings', () => {
  it('listens first, loads all, then reloads the row of each event', async () => {
    const t = setup();
    t.rows.set('TRIAL_DURATION_DAYS', '5');
    const stop = await t.follow();
    expect(t.state.loadedBeforeListen).toBe(false);
    expect(t.store.get('TRIAL_DURATION_DAYS')).toBe(5);
    t.rows.set('TRIAL_DURATION_DAYS', '6');
    t.rows.set('TRIAL_DEVICE_LIMIT', '4');
    t.say('TRIAL_DURATION_DAYS');
    await eventually(() => expect(t.store.get('TRIAL_DURATION_DAYS')).toBe(6));
    expect(t.store.get('TRIAL_DEVICE_LIMIT')).toBe(2);
    t.rows.delete('TRIAL_DURATION_DAYS');
    t.say('TRIAL_DURATION_DAYS');
    await eventually(() => expect(t.store.describe('TRIAL_DURATION_DAYS')).toMatchObject({ current: 3, hasOverride: false }));
    stop();
    expect(t.state.stopped).toBe(1);
  });

  it('keeps the newest value when an older read is slow', async () => {
    const t = setup();
    await t.follow();
    const slow = Promise.withResolvers<void>();
    t.gates.push(slow.promise);
    t.rows.set(days(5).key, days(5).value);
    t.say('TRIAL_DURATION_DAYS');
    await eventually(() => expect(t.state.reads).toBe(2));
    t.rows.set(days(6).key, days(6).value);
    t.say('TRIAL_DURATION_DAYS');
    slow.resolve();
    await eventually(() => expect(t.state.reads).toBe(3));
    await eventually(() => expect(t.store.get('TRIAL_DURATION_DAYS')).toBe(6));
  });

  it('reads all again until a failed read succeeds', async () => {
    const t = setup();
    await t.follow();
    t.rows.set('TRIAL_DURATION_DAYS', '5');
    t.state.failures = 2;
    t.say('TRIAL_DURATION_DAYS');
    await eventually(() => expect(t.store.get('TRIAL_DURATION_DAYS')).toBe(5));
    expect(t.state.errors).toBe(2);
  });

  it('ignores events of another type', async () => {
    const t = setup();
    await t.follow();
    t.say('TRIAL_DURATION_DAYS', 'cache.forgotten');
    t.say('TRIAL_DURATION_DAYS');
    await eventually(() => expect(t.state.reads).toBe(2));
  });

  it('does not start on a database that cannot be read', async () => {
    const t = setup();
    t.state.failures = 1;
    await expect(t.follow()).rejects.toThrow('connection lost');
    expect(t.state.stopped).toBe(1);
  });
});
