/** Archives and erasures whose process is killed in the middle, as by `kill -9` (spec 01 section 4.9). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { App } from '../../src/core/app.ts';
import { HOUR_MS } from '../../src/core/clock.ts';
import { checkLedger } from '../../src/domain/ledger/check-ledger.ts';
import { linkTo, openArchiveLink } from '../../src/domain/personal-data/archive-link.ts';
import { advanceErasure, eraseNow } from '../../src/domain/personal-data/erase-person.ts';
import { sweepRequests } from '../../src/domain/personal-data/jobs.ts';
import { requestExportOf, requireRequest } from '../../src/domain/personal-data/requests.ts';
import { writeArchive } from '../../src/domain/personal-data/write-archive.ts';
import { anAdmin } from '../support/admins.ts';
import { aUser, unique } from '../support/builders.ts';
import { findText } from '../support/filled-person.ts';
import { setUser } from '../support/merge-samples.ts';
import { topUp } from '../support/sale-samples.ts';
import { type StatementKill, sentStatements, watchStatements } from '../support/statement-kills.ts';
import { storeRow, storeRows } from '../support/stored-rows.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { freshDatabase, serverUrl, type TestDatabase } from '../support/test-database.ts';

const SCRIPT = join(import.meta.dirname, '..', 'support', 'data-request-worker.ts');

type Work = 'archive' | 'erasure';
/** Only for a process that hangs. */
const LIMIT_MS = 600_000;

// The worker is another process: it needs a server.
describe.runIf(serverUrl)('a process that is killed', () => {
  let database: TestDatabase;
  let killed = 0;
  let folder: string;
  let t: TestApp;
  let app: App;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'data-kills-'));
    database = await freshDatabase({ poolSize: 5 });
    t = await testApp({ database });
    app = t.app;
  });
  afterAll(async () => {
    await database?.drop();
    await rm(folder, { recursive: true });
  });

  const mails = () => join(folder, 'mails');
  const statements = () => join(folder, 'statements');

  /**
   * What was read once is not read again, so that the last statements of a later process may have lower numbers: it may end before the kill.
   * @returns what the process sent, one line for each statement
   */
  async function run(work: Work, id: number, kill?: StatementKill): Promise<string[]> {
    await writeFile(statements(), '');
    await writeFile(mails(), '');
    const words = [SCRIPT, database.url!, mails(), work, String(id)];
    const child = spawn(process.execPath, words, {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, ...watchStatements(statements(), kill ?? null, { after: 'work_begins' }) },
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const [code, signal] = await once(child, 'exit');
    expect(signal ?? code, kill && JSON.stringify(kill)).toBeOneOf(kill ? ['SIGKILL', 0] : [0]);
    if (signal === 'SIGKILL') killed += 1;
    return sentStatements(statements());
  }

  /** Number of the statement in the middle of two. */
  const between = (from: number, to: number) => Math.floor((from + to) / 2);

  /** With more rows than a page of the archive, a movement, and no messenger. */
  async function aFullPerson() {
    const email = `kill${unique()}@example.com`;
    const { id: userId } = await aUser(app, { email });
    await setUser(app, userId, { messenger_id: null, email_verified: true });
    await topUp(app, userId, 100);
    const event = { userId, eventType: 'renewal', message: email, occurredAt: t.clock.now() } as const;
    await storeRows(
      app,
      'SubscriptionEvent',
      Array.from({ length: 600 }, () => event),
    );
    await storeRow(app, 'OutgoingMail', { recipient: email, subject: 'Hello', template: 'x', createdAt: t.clock.now() });
    return { userId, email };
  }

  async function anExport() {
    const person = await aFullPerson();
    return { ...person, id: (await requestExportOf(app, await anAdmin(app, 900), person.userId)).id };
  }

  it(
    'leaves no archive or a whole one, and the next instance writes it once',
    async () => {
      const all = await run('archive', (await anExport()).id);
      killed = 0;
      const kills: StatementKill[] = [
        { at: between(1, all.length), when: 'before' },
        { at: between(all.length / 2, all.length), when: 'answered' },
        { at: all.length, when: 'sent' },
      ];
      for (const kill of kills) {
        const { at } = kill;
        const { id, userId, email } = await anExport();
        await run('archive', id, kill);
        const left = await requireRequest(app, id);
        if (left.state !== 'ready') await expect(linkTo(app, left, null)).rejects.toMatchObject({ status: 409 });
        t.clock.advance(2 * HOUR_MS);
        await sweepRequests(app);
        await writeArchive(app, id, false, new AbortController().signal);
        const request = await requireRequest(app, id);
        expect(request.state, all[at - 1]).toBe('ready');
        const { url } = await linkTo(app, request, 'http://service.example');
        const { content, sizeBytes } = await openArchiveLink(app, url.split('/').at(-1)!);
        const archive = await buffer(content);
        expect(archive).toHaveLength(sizeBytes);
        expect(gunzipSync(archive).toString()).toContain(`"user_id": ${userId}`);
        const runs = await app.db.sql('SELECT DISTINCT run FROM data_archive_parts WHERE request_id = $1::int', [id]);
        expect(runs, all[at - 1]).toEqual([{ run: request.run }]);
        const notices = await app.db.sql("SELECT id FROM outgoing_mails WHERE recipient = $1 AND template = 'personal_data'", [
          email,
        ]);
        expect(notices.length, all[at - 1]).toBeLessThanOrEqual(1);
      }
      expect(killed).toBeGreaterThanOrEqual(kills.length - 1);
    },
    LIMIT_MS,
  );

  it(
    'leaves nobody half erased, and the next instance ends it with at most one mail',
    async () => {
      const all = await run('erasure', (await aFullPerson()).userId);
      const commit = all.findIndex((statement) => statement.endsWith(': COMMIT')) + 1;
      expect(commit).toBeGreaterThan(1);
      killed = 0;
      const kills: StatementKill[] = [
        { at: between(1, commit), when: 'answered' },
        { at: commit, when: 'sent' },
        { at: between(commit, all.length), when: 'before' },
        { at: all.length, when: 'answered' },
      ];
      for (const kill of kills) {
        const { at } = kill;
        const { userId, email } = await aFullPerson();
        await run('erasure', userId, kill);
        const [account] = await app.db.sql<{ email: string | null; balanceKopeks: number }>(
          'SELECT email, balance_kopeks FROM users WHERE id = $1::int',
          [userId],
        );
        const requests = () =>
          app.db.sql<{ id: number; state: string }>(
            "SELECT id, state FROM data_requests WHERE user_id = $1::int AND kind = 'erasure'",
            [userId],
          );
        const isErased = account!.email === null;
        expect([account, (await requests()).length], all[at - 1]).toEqual(
          isErased ? [{ email: null, balanceKopeks: 0 }, 1] : [{ email, balanceKopeks: 100 }, 0],
        );
        // Whoever had no answer asks again.
        const confirmed = { forfeitsBalance: true, endsSubscription: true };
        if (!isErased) await eraseNow(app, { kind: 'system', name: 'command line' }, userId, confirmed);
        await sweepRequests(app);
        const [request] = await requests();
        await advanceErasure(app, request!.id);
        expect(await requests(), all[at - 1]).toEqual([{ id: request!.id, state: 'done' }]);
        expect(await findText(app, email), all[at - 1]).toEqual([]);
        expect((await readFile(mails(), 'utf8')).split('\n').slice(0, -1).length).toBeLessThanOrEqual(1);
        const done = await app.db.sql(
          "SELECT id FROM admin_audit_log WHERE resource_id = $1 AND details -> 'after' ->> 'step' = 'done'",
          [String(userId)],
        );
        expect(done, all[at - 1]).toHaveLength(1);
      }
      expect(killed).toBeGreaterThanOrEqual(kills.length - 1);
      expect(await checkLedger(app)).toEqual([]);
    },
    LIMIT_MS,
  );
});
