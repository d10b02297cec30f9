import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { settingReaders } from '../../../scripts/setting-readers.ts';
import { renderSettingsPage, SETTINGS_PAGE } from '../../../scripts/settings-doc.ts';
import type { App } from '../../../src/core/app.ts';
import { definitionOf, settingKeys } from '../../../src/domain/settings/catalogue/catalogue.ts';
import {
  environmentOnly,
  roundIntervals,
  usedByClients,
  withoutEffect,
} from '../../../src/domain/settings/catalogue/not-read.ts';
import { unitOf } from '../../../src/domain/settings/catalogue/units.ts';
import { getSetting } from '../../../src/domain/settings/list-settings.ts';
import { createSettingsStore } from '../../../src/domain/settings/settings-store.ts';
import { allJobs } from '../../../src/jobs/all-jobs.ts';

const START = 'src/core/env.ts';
const settings = createSettingsStore({ environment: {}, log: { warn: () => undefined, error: () => undefined } });
const app = { settings } as unknown as App;

/** Numbers that count or name something. */
const NO_UNIT =
  /_ID$|_MID$|_PORT$|_WORKERS$|_ATTEMPTS$|_VAT_CODE$|_PAYMENT_(MODE|SUBJECT)$|_KEEP$|_PAYMENTS$|_PER_MONTH$|_RATIO$|_PER_PAGE$|_SIZE$|_CONCURRENCY$/;

describe('spec 10 O4: the readers of settings', () => {
  const readers = settingReaders();

  it('each key has a reader in the code, or stands on one list that says why it has none', () => {
    const wrong = settingKeys.flatMap((key) => {
      const reads = (readers.get(key) ?? []).filter((path) => path !== START);
      const lists = [key in usedByClients, key in withoutEffect, environmentOnly.has(key)].filter(Boolean).length;
      if (reads.length > 0) return lists === 0 ? [] : [`${key} is read by ${reads.join(', ')}: take it off the list`];
      return lists === 1 ? [] : [`${key} has no reader and stands on ${lists} lists`];
    });
    expect(wrong).toEqual([]);
  });

  it('what only the start reads is listed as such', () => {
    const atStart = settingKeys.filter(
      (key) => readers.get(key)?.every((path) => path === START) && readers.get(key)!.length > 0,
    );
    expect([...environmentOnly].sort()).toEqual(atStart);
  });

  it('are found in texts, templates and tables, not in comments', () => {
    expect(readers.get('MAINTENANCE_MODE')).not.toEqual([]);
    expect(readers.get('OAUTH_VK_ENABLED')).toEqual(['src/composition/outside-systems.ts']);
    expect(readers.get('KASSA_AI_ENABLED')).toContain('src/composition/payment-providers.ts');
    // Its name is in a comment of the reminders.
    expect(readers.get('TRIAL_WARNING_HOURS')).toEqual([]);
    // `DEBUG` is a level of the log, too.
    expect(readers.get('DEBUG')).toEqual([]);
  });

  it('the intervals of jobs are those that the schedules read', () => {
    const read = new Set<string>();
    // Checks that are off by default read their interval only when they are on.
    const switchedOn = (key: never) => (definitionOf(key).type === 'bool' ? true : settings.get(key));
    const recording = { settings: { get: (key: never) => read.add(key) && switchedOn(key) } } as unknown as App;
    for (const { every } of allJobs()) every?.(recording);
    expect([...read].filter((key) => key.includes('INTERVAL')).sort()).toEqual([...roundIntervals].sort());
  });

  it.each([
    ['SUPPORT_TOPUP_ENABLED', 'Used by clients: whether a top-up through support is offered.'],
    ['REDIS_URL', 'Has no effect in this service: queues, caches and locks are in PostgreSQL.'],
    ['LOG_LEVEL', 'Only the environment sets it, at start: a stored value has no effect.'],
  ])('the hint of %s says it', (key, reason) => {
    expect(getSetting(app, key).hint.description.endsWith(` ${reason}`)).toBe(true);
  });

  it('the hint of a setting that works says nothing of it', () => {
    expect(getSetting(app, 'TRIAL_DURATION_DAYS').hint.description).not.toMatch(/Used by clients|no effect/);
  });
});

describe('docs/settings.md', () => {
  it('is what catalogue and source say (run: node scripts/on-runtime.mjs scripts/settings-doc.ts --write)', () => {
    expect(readFileSync(SETTINGS_PAGE, 'utf8')).toBe(renderSettingsPage());
  });

  it('has a row for every setting, with who reads it', () => {
    const rows = [...readFileSync(SETTINGS_PAGE, 'utf8').matchAll(/^\| `([A-Z0-9_]+)`.*$/gm)];
    expect(rows.map(([, key]) => key).sort()).toEqual([...settingKeys]);
    for (const [text] of rows) expect(text.split(' | ')).toHaveLength(7);
    for (const [text] of rows) expect([text, text.split(' | ')[5]?.trim()]).not.toEqual([text, '']);
  });

  it('shows no secret', () => {
    expect(readFileSync(SETTINGS_PAGE, 'utf8')).not.toContain(String(definitionOf('POSTGRES_PASSWORD').default));
  });

  it('every number has a unit, unless it counts or names something', () => {
    const bare = settingKeys.filter(
      (key) => ['int', 'float'].includes(definitionOf(key).type) && unitOf(key, definitionOf(key)) === null,
    );
    expect(bare.filter((key) => !NO_UNIT.test(key))).toEqual([]);
  });
});
