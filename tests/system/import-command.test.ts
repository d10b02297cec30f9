/** Spec 07 sections 1.4, 9 and 10: the command of an import, its exit codes, its options and the files that it writes. */
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type MadeSource, makeSource, readSource, writeJsonArchive } from '../support/import-sources.ts';
import { type CliOptions, runCommand } from '../support/run-cli.ts';
import { copiedDatabase, emptyDatabaseOnServer, serverUrl } from '../support/test-database.ts';

const CHOICES = ['--subscriptions', 'keep-latest', '--provider-subscriptions', 'leave'];

/** An empty database and a folder for the files, with the commands of an import into it. */
async function aTarget() {
  const database = await emptyDatabaseOnServer();
  const folder = await mkdtemp(join(tmpdir(), 'import-command-'));
  onTestFinished(async () => {
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });
  const query = async <T extends object>(sql: string): Promise<T[]> => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    return (await client.query<T>(sql).finally(() => client.end())).rows;
  };
  return {
    folder,
    /** @param source empty: the command has none */
    run: (command: string, source: string, words: readonly string[] = CHOICES, options: CliOptions = {}) =>
      runCommand(
        ['import', command, ...(source === '' ? [] : [source]), ...words],
        { DATABASE_URL: database.url, DATA_DIR: folder, ADMIN_EMAILS: '' },
        options,
      ),
    query,
    users: async () => (await query<{ users: number }>('SELECT count(*)::int AS users FROM users'))[0]!.users,
  };
}

interface Report {
  versions: object;
  sums: { name: string; rows: object[] }[];
}

const sumOf = ({ sums }: Report, name: string) => sums.find((sum) => sum.name === name)?.rows;

describe.skipIf(!serverUrl)('the command of an import (left out without a server: TEST_DATABASE_URL)', () => {
  let source: { url: string; drop(): Promise<void> };
  let made: MadeSource;
  beforeAll(async () => {
    source = await emptyDatabaseOnServer();
    made = await makeSource(source.url, ['--version', 'v4', '--users', '60', '--now', new Date().toISOString()]);
  });
  afterAll(() => source.drop());

  test('writes its report and the list of lost subscriptions, which only their owner can read', async () => {
    const { folder, run } = await aTarget();
    const { code, out } = await run('run', source.url, [...CHOICES, '--json', '--throttle', '100000']);
    expect(code).toBe(0);
    const { files, ...answer } = JSON.parse(out) as { files: string[]; lost: unknown };
    const names = ['import-report-1.txt', 'import-report-1.json', 'import-lost-subscriptions-1.csv'];
    expect(files).toEqual(names.map((name) => join(folder, name)));
    for (const file of files) expect([file, (await stat(file)).mode & 0o777]).toEqual([file, 0o600]);
    expect(JSON.parse(await readFile(join(folder, names[1]!), 'utf8'))).toEqual(answer);
    const { users, subscriptions, without_price } = made.several_subscriptions!;
    expect(answer.lost).toMatchObject({ users, subscriptions, without_price });
    const lines = (await readFile(join(folder, names[2]!), 'utf8')).trimEnd().split('\r\n');
    expect(lines[0]).toBe('user_id,subscription_id,tariff_id,tariff,end_date,days,kopeks,traffic_gb,panel_user,autopay');
    const listed = lines.slice(1).map((line) => line.split(',').slice(0, 2).join(' '));
    const expected = made.several_subscriptions!.list.map((one) => `${one.user_id} ${one.subscription_id}`);
    expect(listed.sort()).toEqual(expected.sort());
  });

  test('reports sums of both sides and versions, and the verification every difference, without a person’s data in the text', async () => {
    const { folder, run, query } = await aTarget();
    const ran = await run('run', source.url, [...CHOICES, '--json']);
    const report = JSON.parse(ran.out) as Report;
    const versions = { releases: 'v4.0 to v4.1', service: expect.stringMatching(/^\d+\.\d+\.\d+/), rules: '0106' };
    expect(report.versions).toEqual(versions);
    const money = sumOf(report, 'money on balances against the ledger');
    const { opening_kopeks: kopeks, users_with_balance: rows } = made.sums;
    expect(money).toEqual([{ key: 'all', source_rows: rows, target_rows: rows, source_kopeks: kopeks, target_kopeks: kopeks }]);
    const verified = await run('verify', source.url, ['--json']);
    expect([verified.code, JSON.parse(verified.out)]).toMatchObject([0, { equal: true, sums: report.sums, run_id: 1 }]);
    expect(await readdir(folder)).not.toContain('import-differences.jsonl');

    await query(`UPDATE users SET first_name = 'Somebody else', language = 'fa' WHERE id = 21`);
    const after = await run('verify', source.url, []);
    expect([after.code, after.out]).toEqual([1, expect.stringContaining('  users 21: language, first_name')]);
    const text = await readFile(join(folder, 'import-verify.txt'), 'utf8');
    expect(text).not.toContain('Somebody else');
    const lines = (await readFile(join(folder, 'import-differences.jsonl'), 'utf8')).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
      expect.objectContaining({ table: 'users', id: '21', target: expect.objectContaining({ first_name: 'Somebody else' }) }),
    ]);
    for (const file of ['import-verify.txt', 'import-verify.json', 'import-differences.jsonl'])
      expect([file, (await stat(join(folder, file))).mode & 0o777]).toEqual([file, 0o600]);
  });

  test('lists what was kept aside by table and reason, and says that none of it can be loaded', async () => {
    const { run } = await aTarget();
    expect((await run('run', source.url)).code).toBe(0);
    const { code, out } = await run('unpark', '', ['--json']);
    const kinds = JSON.parse(out) as { table: string; reason: string; whole: boolean; count: number; can_be_loaded: boolean }[];
    expect([code, kinds.filter(({ can_be_loaded: can }) => can)]).toEqual([0, []]);
    const counted: Record<string, number> = {};
    for (const { table, whole, count } of kinds) if (whole) counted[table] = (counted[table] ?? 0) + count;
    const expected = Object.entries(made.parked_rows).filter(([, count]) => count > 0);
    expect(counted).toEqual(Object.fromEntries(expected));
    expect((await run('unpark', '', [])).out).toContain('this release can load none of it');
  });

  test('takes a backup as JSON where that is chosen, and names what it leaves out', async () => {
    const { folder, run } = await aTarget();
    const path = join(folder, 'backup_20261128_090000.tar.gz');
    await readSource(source.url, new Date(), (opened) => writeJsonArchive(opened, path));
    const refused = await run('run', path, [...CHOICES, '--json']);
    expect([refused.code, JSON.parse(refused.out)]).toMatchObject([2, { code: 'backup_incomplete' }]);
    const { code, out } = await run('run', path, [...CHOICES, '--accept-incomplete']);
    expect([code, out]).toEqual([0, expect.stringMatching(/Not in the backup, or without a row there: .*landing_pages/)]);
    expect((await run('delta', path, [...CHOICES, '--accept-incomplete'])).code).toBe(0);
    expect((await run('verify', path, ['--accept-incomplete'])).code).toBe(0);
  });

  test('says as a check what a run would do, and changes nothing', async () => {
    const { folder, run, users } = await aTarget();
    const quick = await run('check', source.url, [...CHOICES, '--quick', '--json']);
    expect([quick.code, JSON.parse(quick.out)]).toMatchObject([0, { minutes_at_most: 1, refusals: [] }]);
    const whole = await run('check', source.url, [...CHOICES, '--json']);
    const { dry_run: tried } = JSON.parse(whole.out) as { dry_run: { source: unknown; issues: unknown } };
    expect([whole.code, await users()]).toEqual([0, 0]);
    expect(await readdir(folder)).toContain('import-report-dry-run.json');
    const ran = await run('run', source.url, [...CHOICES, '--json']);
    expect(JSON.parse(ran.out)).toMatchObject({ source: tried.source, issues: tried.issues });
    const after = await run('check', source.url, [...CHOICES, '--json']);
    expect([after.code, JSON.parse(after.out)]).toMatchObject([0, { dry_run: null }]);
  });

  test('is refused with exit code 2 while nothing is chosen', async () => {
    const { run } = await aTarget();
    for (const command of ['check', 'run']) {
      const { code, out } = await run(command, source.url, []);
      expect([command, code, out]).toEqual([command, 2, expect.stringContaining('--subscriptions keep-latest')]);
    }
  });

  test('is refused for a balance below zero where that is chosen', async () => {
    const { run, users } = await aTarget();
    const words = [...CHOICES, '--negative', 'refuse', '--json'];
    const { code, out } = await run('run', source.url, words);
    const refusal = { code: 'source_has_negative_balances', details: { users: made.issues.balance_negative } };
    expect([code, JSON.parse(out), await users()]).toMatchObject([2, refusal, 0]);
  });

  test('stopped by a signal has exit code 3, and goes on', async () => {
    const { run, users } = await aTarget();
    const stop = { killAt: (line: string) => line === 'payments', signal: 'SIGTERM' } as const;
    const { code, out } = await run('run', source.url, CHOICES, stop);
    expect([code, out, await users()]).toEqual([3, expect.stringContaining('The same command goes on'), 0]);
    const lines: string[] = [];
    const killAt = (line: string) => lines.push(line) < 0;
    expect(await run('run', source.url, CHOICES, { killAt })).toMatchObject({ code: 0 });
    expect(lines).not.toContain('people');
    expect(await users()).toBe(made.kept_rows.users);
  });

  test('says how far it is, and stops while it waits for its next rows', async () => {
    const { run } = await aTarget();
    const lines: string[] = [];
    const killAt = (line: string) => {
      lines.push(line);
      return /^… loading \w+: \d+ rows, \d+ of about \d+ in all, \d+ rows\/s, \d+ (s|min) left, until [\d:]{8} UTC$/.test(line);
    };
    const { code } = await run('run', source.url, [...CHOICES, '--throttle', '5'], { killAt, signal: 'SIGTERM' });
    const stopping = lines.indexOf('Stopping before the next rows or step …');
    // The table that was being read may have been at its end.
    const ended = lines.slice(stopping + 1).filter((line) => /^\w+: \d+ rows$/.test(line));
    expect([code, stopping > 0, ended.length <= 1]).toEqual([3, true, true]);
  });

  test('whose source is lost while it is read has exit code 3', async () => {
    const { run } = await aTarget();
    const lost = await copiedDatabase(source.url);
    onTestFinished(() => lost.drop());
    let isDropped: Promise<void> | undefined;
    const killAt = () => {
      isDropped ??= lost.drop();
      return false;
    };
    // Slow enough to be read for minutes.
    const { code, out } = await run('run', lost.url, [...CHOICES, '--throttle', '20'], { killAt });
    await isDropped;
    expect([code, out]).toEqual([3, expect.stringContaining('Nothing of this pass has reached the service')]);
  });
});
