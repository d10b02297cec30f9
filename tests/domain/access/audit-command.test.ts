import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { auditVerifyCommand } from '../../../src/cli/audit-command.ts';
import { type CommandResult, EXIT } from '../../../src/cli/command.ts';
import { addDays } from '../../../src/core/clock.ts';
import { linkAuditLog } from '../../../src/domain/access/audit-chain.ts';
import { anAuditEntry, tamper } from '../../support/audit-chain.ts';
import { recordedEvents } from '../../support/recorded-events.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { freshDatabase, type TestDatabase } from '../../support/test-database.ts';

let database: TestDatabase;
let t: TestApp;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'audit-command-'));
  database = await freshDatabase();
  t = await testApp({ database });
  await anAuditEntry(t.app);
  await linkAuditLog(t.app);
  t.clock.set(addDays(t.clock.now(), 1));
  await anAuditEntry(t.app);
  await linkAuditLog(t.app);
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});

/** Runs the command in the service, as on the embedded database. */
async function verify(options: Record<string, string> = {}): Promise<CommandResult> {
  const call = {
    words: [],
    options,
    isVerbose: false,
    isJson: false,
    app: t.app,
    progress: () => undefined,
    terminal: { source: {}, out: () => undefined, err: () => undefined, input: process.stdin },
  };
  return auditVerifyCommand.run(Object.assign(call, { options: await auditVerifyCommand.prepare!(call) }));
}

async function keptFile(lines: readonly object[]): Promise<string> {
  const path = join(folder, `${lines.length}-${Math.random()}.ndjson`);
  await writeFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return path;
}

it('says that the log is intact, and what was compared', async () => {
  const [closed] = await recordedEvents(t.app, 'audit.day_closed');
  const { text, exitCode } = await verify({ kept: await keptFile([closed!, { payload: closed! }]) });
  expect(exitCode).toBeUndefined();
  expect(text).toMatch(
    /^The audit log is intact \((\d+) entries, positions 1 to \1\)\.\n1 days, .*: 1 signed by the present key/,
  );
  expect(text).toContain('2 days that were kept elsewhere were compared.');
});

it('ends with 1 and names the first difference', async () => {
  const [closed] = await recordedEvents(t.app, 'audit.day_closed');
  const kept = await keptFile([Object.assign({}, closed, { hash: '0'.repeat(64), signature: null, public_key: null })]);
  const { text, exitCode, data } = await verify({ kept });
  expect(exitCode).toBe(EXIT.failed);
  expect(text).toMatch(/^The audit log is NOT intact: 1 differences\. The first one:\n\n.*\nmissing_day +1 +—/);
  expect(data).toMatchObject({ ok: false, counts: { missing_day: 1 } });
});

it('names a position behind the end as nothing to check', async () => {
  expect((await verify({ from: '50' })).data).toMatchObject({ ok: true, links: 0, firstPosition: null });
});

it('refuses a file that has no ends of days', async () => {
  await expect(verify({ kept: await keptFile([{ day: 'yesterday' }]) })).rejects.toThrow('line 1 is not the end of a day');
  await expect(verify({ kept: await keptFile([]) })).rejects.toThrow('has no line');
  await expect(verify({ kept: join(folder, 'absent') })).rejects.toThrow('ENOENT');
});

it('lists a changed entry by its id', async () => {
  const id = await anAuditEntry(t.app);
  await linkAuditLog(t.app);
  await tamper(t.app, "UPDATE admin_audit_log SET action = 'x' WHERE id = $1::bigint RETURNING id", [id]);
  expect((await verify()).text).toMatch(new RegExp(`changed_entry +\\d+ +${id} `));
  await tamper(t.app, "UPDATE admin_audit_log SET action = 'users:edit' WHERE id = $1::bigint RETURNING id", [id]);
});
