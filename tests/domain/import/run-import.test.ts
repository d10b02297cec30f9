/** Spec 07 section 9: an import into a service that is in use, a dry run, and one that is interrupted. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { aUser } from '../../support/builders.ts';
import { anEmptyService, importFrom, makeSource, SOURCE_TIME } from '../../support/import-sources.ts';
import { emptyDatabaseOnServer, serverUrl } from '../../support/test-database.ts';

async function aServiceOfThisTest(): Promise<App> {
  const { app, drop } = await anEmptyService();
  onTestFinished(drop);
  return app;
}

/** Everything that an import has made, so that two of them can be compared; codes that were drawn are left out. */
async function contentsOf(app: App): Promise<unknown> {
  const [row] = await app.db.sql<{ contents: unknown }>(
    `SELECT jsonb_build_object(
       'users', (SELECT md5(string_agg((to_jsonb(u) - 'referral_code')::text, ',' ORDER BY id)) FROM users u),
       'transactions', (SELECT md5(string_agg(to_jsonb(t)::text, ',' ORDER BY id)) FROM transactions t),
       'payments', (SELECT md5(string_agg(to_jsonb(p)::text, ',' ORDER BY id)) FROM payments p),
       'entries', (SELECT md5(string_agg(e.transaction_id || ' ' || a.key || ' ' || e.kopeks, ',' ORDER BY e.transaction_id, a.key, e.kopeks))
         FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.account_id),
       'issues', (SELECT md5(string_agg(code || ' ' || subject, ',' ORDER BY code, subject)) FROM import_issues)) AS contents`,
  );
  return row!.contents;
}

describe.skipIf(!serverUrl)('an import (left out without a server: TEST_DATABASE_URL)', () => {
  let source: { url: string; drop(): Promise<void> };
  beforeAll(async () => {
    source = await emptyDatabaseOnServer();
    await makeSource(source.url, ['--users', '60', '--now', SOURCE_TIME.toISOString()]);
  });
  afterAll(() => source.drop());

  test('into a service with a user is refused and changes nothing', async () => {
    const app = await aServiceOfThisTest();
    await aUser(app);
    await expect(importFrom(app, source.url)).rejects.toMatchObject({ code: 'target_not_empty' });
    expect(await app.db.sql('SELECT count(*) AS rows FROM users')).toEqual([{ rows: 1 }]);
  });

  test('I3: that is interrupted before any step goes on, and ends as one that was not', async () => {
    const whole = await aServiceOfThisTest();
    const lines: string[] = [];
    const dry = await importFrom(whole, source.url, { isDryRun: true });
    expect(await whole.db.sql('SELECT (SELECT count(*) FROM users) + (SELECT count(*) FROM import_runs) AS rows')).toEqual([
      { rows: 0 },
    ]);
    const { source: fates, issues } = await importFrom(whole, source.url, { progress: (line) => void lines.push(line) });
    expect({ source: dry.source, issues: dry.issues }).toEqual({ source: fates, issues });
    const interrupted = await aServiceOfThisTest();
    const importUpTo = (step: string) => {
      const progress = (line: string) => {
        if (line === step) throw new Error('interrupted');
      };
      return importFrom(interrupted, source.url, { progress });
    };
    for (const step of [lines[3]!, ...lines.slice(lines.indexOf('values'))]) {
      await expect(importUpTo(step)).rejects.toThrow('interrupted');
      expect(await interrupted.db.sql('SELECT count(*) AS rows FROM users')).toEqual([{ rows: 0 }]);
    }
    await importFrom(interrupted, source.url);
    expect(await contentsOf(interrupted)).toEqual(await contentsOf(whole));
  });
});
