/** Spec 07 I3: an import as a process that is killed again and again ends as one that was not, and the service is empty until then. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeSource, SOURCE_TIME } from '../support/import-sources.ts';
import { amountOf } from '../support/matrix-sample.ts';
import { runCommand } from '../support/run-cli.ts';
import { killsAmong, sentStatements, watchStatements } from '../support/statement-kills.ts';
import { emptyDatabaseOnServer, serverUrl } from '../support/test-database.ts';

const KILLS = 20;
/** The last line of the progress: behind it everything is one transaction. */
const MOVING = 'moving the rows into the service';

describe.skipIf(!serverUrl)('an import (left out without a server: TEST_DATABASE_URL)', () => {
  test(`killed ${KILLS} times, while it loads, prepares and moves`, async () => {
    const source = await emptyDatabaseOnServer();
    onTestFinished(() => source.drop());
    await makeSource(source.url, ['--users', '300', '--now', SOURCE_TIME.toISOString()]);
    const [whole, killed] = [await aTarget(), await aTarget()];
    const steps: string[] = [];
    await whole.importFrom(source.url, (line) => {
      // Lines that say every few seconds how far it is come or not.
      if (!line.startsWith('…')) steps.push(line);
      return false;
    });
    // A line is written before what it names: killed there, the process has begun it at most.
    const loaded = steps.findIndex((line) => !/^\S+: \d+ rows$/.test(line));
    const places = [steps[2]!, steps[loaded - 1]!, ...steps.slice(loaded)];
    let kills = 0;
    for (const [at, place] of places.entries()) {
      // On a busy machine the process before may have gone further than its line: what it has done is not said again.
      const { code } = await killed.importFrom(source.url, (line) => places.indexOf(line) >= at);
      expect([place, code]).toEqual([place, null]);
      expect([place, await killed.users()]).toEqual([place, 0]);
      kills += 1;
    }
    for (; kills < KILLS; kills += 1) {
      // In the transaction that moves the rows, a little later each time.
      const wait = (kills - places.length) * 200;
      const { code } = await killed.importFrom(source.url, (line) => line === MOVING, wait);
      // Killed between its commit and its end, it has moved everything: what that is, is compared below.
      if (code === 0 || (await killed.users()) > 0) break;
    }
    await killed.importFrom(source.url);
    expect(await killed.contents()).toEqual(await whole.contents());
    const verified = await killed.cli('verify', source.url);
    expect(JSON.parse(verified.out)).toMatchObject({ equal: true, differing: 0 });
  });

  test('killed at a statement by its number, ends as one that was not', async () => {
    const source = await emptyDatabaseOnServer();
    onTestFinished(() => source.drop());
    await makeSource(source.url, ['--users', '50', '--now', SOURCE_TIME.toISOString()]);
    const folder = await mkdtemp(join(tmpdir(), 'import-kills-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const record = join(folder, 'statements');
    const whole = await aTarget();
    expect((await whole.watchedImport(source.url, watchStatements(record, null))).code).toBe(0);
    const contents = await whole.contents();
    for (const kill of killsAmong((await sentStatements(record)).length, amountOf(6, 2))) {
      await rm(record);
      const killed = await aTarget();
      const { code } = await killed.watchedImport(source.url, watchStatements(record, kill));
      const point = [kill, (await sentStatements(record)).at(-1)];
      expect([point, code]).toEqual([point, null]);
      const isMoved = (await killed.users()) > 0;
      if (isMoved) expect([point, await killed.contents()]).toEqual([point, contents]);
      await killed.importFrom(source.url);
      expect([point, await killed.contents()]).toEqual([point, contents]);
    }
  });
});

/** An empty database with the commands of an import into it. */
async function aTarget() {
  const database = await emptyDatabaseOnServer();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await database.drop();
  });
  const cli = (command: string, source: string, options = {}, watched: Record<string, string> = {}) => {
    const environment = Object.assign({ DATABASE_URL: database.url, ADMIN_EMAILS: '' }, watched);
    return runCommand(['import', command, source, '--json'], environment, options);
  };
  const value = async (text: string) => (await client.query<{ value: unknown }>(text)).rows[0]!.value;
  const digest = (row: string, table: string) => `(SELECT md5(string_agg((${row})::text, ',' ORDER BY id)) FROM ${table} r)`;
  return {
    cli,
    importFrom: (source: string, killAt: (line: string) => boolean = () => false, wait = 0) =>
      cli('run', source, { killAt, wait }),
    watchedImport: (source: string, watched: Record<string, string>) => cli('run', source, { program: 'src/cli.ts' }, watched),
    // A process that is killed in the migrations leaves no table of users.
    users: async () =>
      (await value("SELECT to_regclass('users') AS value")) ? Number(await value('SELECT count(*) AS value FROM users')) : 0,
    // Codes that were drawn, and the times of the runs, are those of each; a user without a time of creation has that of the run.
    contents: () =>
      value(
        `SELECT jsonb_build_object('users', ${digest("to_jsonb(r) - 'referral_code'", `(SELECT * FROM users WHERE NOT EXISTS (SELECT 1 FROM import_issues WHERE code = 'created_at_null' AND subject = users.id::text))`)},
           'transactions', ${digest("to_jsonb(r) - ARRAY['imported_at', 'created_at', 'completed_at']", 'transactions')},
           'payments', ${digest("to_jsonb(r) - 'imported_at'", 'payments')}, 'entries', (SELECT count(*) || ' ' || sum(abs(kopeks)) FROM ledger_entries),
           'issues', (SELECT md5(string_agg(code || ' ' || subject, ',' ORDER BY code, subject)) FROM import_issues)) AS value`,
      ),
  };
}
