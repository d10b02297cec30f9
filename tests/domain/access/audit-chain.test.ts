import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { addDays } from '../../../src/core/clock.ts';
import {
  type AuditContent,
  type AuditDay,
  CONTENT_COLUMNS,
  contentHash,
  isSignatureValid,
  linkAuditLog,
  linkHash,
} from '../../../src/domain/access/audit-chain.ts';
import { purgeAuditLog } from '../../../src/domain/access/purge-audit-log.ts';
import { type AuditVerification, verifyAuditLog } from '../../../src/domain/access/verify-audit-log.ts';
import { anAuditEntry, settleAuditLog, tamper } from '../../support/audit-chain.ts';
import { aUser } from '../../support/builders.ts';
import { recordedEvents } from '../../support/recorded-events.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { emptyDatabase, freshDatabase, type TestDatabase } from '../../support/test-database.ts';
import { workerDatabase } from '../../support/worker-database.ts';

let t: TestApp;
let app: App;
/** Three entries that are linked. */
let ids: number[];
beforeEach(async () => {
  const database = await workerDatabase();
  await emptyDatabase(database);
  await begin(database);
});

async function begin(database: TestDatabase): Promise<void> {
  t = await testApp({ database });
  app = t.app;
  ids = [];
  for (const resourceId of ['1', '2', '3']) ids.push(await anAuditEntry(app, { resourceId }));
  await linkAuditLog(app);
}

const problemsOf = ({ findings }: AuditVerification) => findings.map(({ problem, position }) => [problem, position]);
/** Ends today, and makes and links the first entry of the next day. */
async function closeToday(): Promise<void> {
  t.clock.set(addDays(t.clock.now(), 1));
  await anAuditEntry(app);
  await linkAuditLog(app);
}
const storedDays = () =>
  app.db.sql<AuditDay & { closedAt: Date }>(
    "SELECT to_char(day, 'YYYY-MM-DD') AS day, position, hash, public_key, signature, closed_at FROM audit_days ORDER BY audit_days.day",
  );

describe('the chain of an untouched log', () => {
  it('has each entry once, however often entries are linked', async () => {
    expect(await linkAuditLog(app)).toBe(0);
    const rows = await app.db.sql<{ position: number; id: number }>(
      'SELECT position, entry_id AS id FROM audit_links ORDER BY position',
    );
    expect(rows).toEqual(ids.map((id, at) => ({ position: at + 1, id })));
    expect(await verifyAuditLog(app)).toMatchObject({ findings: [], links: 3, firstPosition: 1, lastPosition: 3, waiting: 0 });
  });

  it('is intact when the actor of an entry is deleted', async () => {
    const { id } = await aUser(app);
    await anAuditEntry(app, { userId: id });
    await linkAuditLog(app);
    await app.db.sql('DELETE FROM users WHERE id = $1::int RETURNING id', [id]);
    expect(problemsOf(await verifyAuditLog(app))).toEqual([]);
  });

  it('does not count what is not linked yet as added', async () => {
    await anAuditEntry(app);
    expect(await verifyAuditLog(app)).toMatchObject({ findings: [], links: 3, waiting: 1 });
  });

  it('is checked from a position on', async () => {
    await tamper(app, "UPDATE admin_audit_log SET action = 'x' WHERE id = $1::bigint RETURNING id", [ids[0]]);
    expect(await verifyAuditLog(app, { from: 2 })).toMatchObject({ findings: [], links: 2, firstPosition: 2 });
  });

  it('refuses a time that has no text, and goes on where somebody has lifted the constraint', async () => {
    const database = await freshDatabase();
    onTestFinished(() => database.drop());
    await begin(database);
    const times = ['infinity', '-infinity', '294276-01-01Z', '10000-01-01Z', '1969-12-31Z'];
    // Raw SQL: no use case writes such a time.
    const write = (time: string) =>
      app.db.sql(
        "INSERT INTO admin_audit_log (action, status, created_at) VALUES ('x', 'success', $1::timestamptz) RETURNING id",
        [time],
      );
    for (const time of times) await expect(write(time), time).rejects.toMatchObject({ code: '23514' });
    await app.db.sql('ALTER TABLE admin_audit_log DROP CONSTRAINT admin_audit_log_created_at_check');
    let links = 3;
    for (const time of times) {
      await write(time);
      await anAuditEntry(app);
      expect(await linkAuditLog(app), time).toBe(2);
      links += 2;
      expect(await verifyAuditLog(app), time).toMatchObject({ findings: [], links, waiting: 0 });
    }
  });

  it('cannot be changed by any code', async () => {
    for (const change of ['UPDATE audit_links SET user_id = 1', 'DELETE FROM audit_links'])
      await expect(app.db.sql(`${change} RETURNING position`), change).rejects.toThrow('audit_links is append-only');
  });
});

describe('tampering', () => {
  it.each([
    ['an action', "UPDATE admin_audit_log SET action = 'x' WHERE id = $1::bigint RETURNING id", ['changed_entry', 2]],
    ['details', `UPDATE admin_audit_log SET details = '{"a": 1}' WHERE id = $1::bigint RETURNING id`, ['changed_entry', 2]],
    [
      'a time by a millisecond',
      "UPDATE admin_audit_log SET created_at = created_at + interval '1 ms' WHERE id = $1::bigint RETURNING id",
      ['changed_entry', 2],
    ],
    ['an entry removed', 'DELETE FROM admin_audit_log WHERE id = $1::bigint RETURNING id', ['missing_entry', 2]],
    ['a link removed', 'DELETE FROM audit_links WHERE entry_id = $1::bigint RETURNING position', ['missing_links', 2]],
    [
      'a hash',
      "UPDATE audit_links SET hash = decode(repeat('00', 32), 'hex') WHERE entry_id = $1::bigint RETURNING position",
      ['changed_link', 2],
    ],
    [
      'the time of a link, so that its entry seems past its retention',
      "UPDATE audit_links SET entry_at = entry_at - interval '10 years' WHERE entry_id = $1::bigint RETURNING position",
      ['changed_link', 2],
    ],
  ])('%s is found where it begins', async (_name, change, expected) => {
    await tamper(app, change, [ids[1]]);
    expect(problemsOf(await verifyAuditLog(app))[0]).toEqual(expected);
  });

  it('finds that an entry was given another actor, or loses one who still exists', async () => {
    const [one, other] = [await aUser(app), await aUser(app)];
    const [first, second] = [await anAuditEntry(app, { userId: one.id }), await anAuditEntry(app, { userId: one.id })];
    await linkAuditLog(app);
    await tamper(app, 'UPDATE admin_audit_log SET user_id = $2::int WHERE id = $1::bigint RETURNING id', [first, other.id]);
    await tamper(app, 'UPDATE admin_audit_log SET user_id = NULL WHERE id = $1::bigint RETURNING id', [second]);
    const expected = [
      ['changed_entry', 4],
      ['changed_entry', 5],
    ];
    expect(problemsOf(await verifyAuditLog(app))).toEqual(expected);
  });

  it('finds an entry that was put below those that are settled', async () => {
    await app.db.sql("SELECT setval('admin_audit_log_id_seq', $1::bigint) AS done", [ids[2]! + 10]);
    await anAuditEntry(app);
    await settleAuditLog(app);
    const added = ids[2]! + 5;
    // Raw SQL: no use case gives an id that was left out.
    await tamper(app, "INSERT INTO admin_audit_log (id, action, status) VALUES ($1::bigint, 'x', 'success') RETURNING id", [
      added,
    ]);
    const { findings } = await verifyAuditLog(app);
    expect(findings).toEqual([{ problem: 'added_entry', position: null, entryId: added, day: null }]);
  });

  it('finds an entry above every id that was given', async () => {
    const added = ids[2]! + 1_000_000;
    // Raw SQL: no use case gives such an id.
    await tamper(app, "INSERT INTO admin_audit_log (id, action, status) VALUES ($1::bigint, 'x', 'success') RETURNING id", [
      added,
    ]);
    expect(await verifyAuditLog(app)).toMatchObject({ findings: [{ problem: 'added_entry', entryId: added }] });
  });

  it('finds that the oldest part is gone, where entries are kept for ever, and that days have gone with it', async () => {
    await closeToday();
    const [kept] = await storedDays();
    await tamper(app, 'DELETE FROM admin_audit_log WHERE id <= $1::bigint RETURNING id', [ids[2]]);
    await tamper(app, 'DELETE FROM audit_links WHERE position <= 3 RETURNING position');
    await tamper(app, 'DELETE FROM audit_days RETURNING position');
    expect(problemsOf(await verifyAuditLog(app, { keptDays: [kept!] }))).toEqual([
      ['missing_links', 1],
      ['missing_day', 3],
    ]);
  });
});

describe('closed days', () => {
  it('are not kept open by a clock that was far ahead for a while', async () => {
    const tomorrow = addDays(t.clock.now(), 1);
    t.clock.set(tomorrow);
    await linkAuditLog(app);
    for (const clock of [addDays(tomorrow, 36_500), tomorrow]) {
      t.clock.set(clock);
      await anAuditEntry(app);
      await linkAuditLog(app);
    }
    expect((await storedDays()).map(({ position }) => position)).toEqual([3]);
    t.clock.set(addDays(tomorrow, 1));
    await linkAuditLog(app);
    expect((await storedDays()).map(({ position }) => position)).toEqual([3, 5]);
  });

  it('are signed, sent to webhooks and checked', async () => {
    const day = t.clock.now().toISOString().slice(0, 10);
    await closeToday();
    const [closed] = await storedDays();
    expect(closed).toMatchObject({ day, position: 3 });
    expect(isSignatureValid(closed!)).toBe(true);
    expect(isSignatureValid(Object.assign({}, closed, { position: 4 }))).toBe(false);
    const { hash, publicKey, signature, closedAt } = closed!;
    const expected = { day, position: 3, hash, closed_at: closedAt.toISOString(), public_key: publicKey, signature };
    expect(await recordedEvents(app, 'audit.day_closed')).toEqual([expected]);
    const { findings, signed, days } = await verifyAuditLog(app, { keptDays: [closed!] });
    expect([findings, signed, days]).toEqual([[], { byPresentKey: 1, byOtherKey: 0, unsigned: 0 }, 1]);
  });

  it('are signed with the time at which they were closed', async () => {
    await closeToday();
    const [kept] = await storedDays();
    await tamper(app, "UPDATE audit_days SET closed_at = closed_at - interval '1 hour' RETURNING position");
    expect(problemsOf(await verifyAuditLog(app))).toEqual([['wrong_signature', 3]]);
    expect(isSignatureValid(kept!)).toBe(true);
    expect(isSignatureValid(Object.assign({}, kept, { closedAt: null }))).toBe(false);
  });

  it('that a former release has signed without that time still verify', async () => {
    const seed = Buffer.alloc(32, 7);
    const key = createPrivateKey({
      key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]),
      format: 'der',
      type: 'pkcs8',
    });
    const publicKey = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex');
    const day = { day: '2026-11-01', position: 9, hash: 'ab'.repeat(32) };
    const signature = sign(null, Buffer.from(`audit-day\n2026-11-01\n9\n${day.hash}`), key).toString('hex');
    for (const closedAt of [null, t.clock.now()])
      expect(isSignatureValid(Object.assign({ publicKey, signature, closedAt }, day))).toBe(true);
    expect(isSignatureValid(Object.assign({ publicKey, signature, closedAt: null }, day, { position: 8 }))).toBe(false);
  });

  it('are closed once when the clock of an instance was a day ahead', async () => {
    t.clock.set(addDays(t.clock.now(), 1));
    await linkAuditLog(app);
    expect(await storedDays()).toMatchObject([{ position: 3 }]);
    t.clock.set(addDays(t.clock.now(), -1));
    await anAuditEntry(app);
    await linkAuditLog(app);
    t.clock.set(addDays(t.clock.now(), 1));
    await linkAuditLog(app);
    expect(await storedDays()).toMatchObject([{ position: 4 }]);
    expect(await verifyAuditLog(app)).toMatchObject({ findings: [], days: 1 });
  });

  it('have no signature where the installation has no key', async () => {
    app = (await testApp({ clock: t.clock, environment: { CABINET_JWT_SECRET: '' } })).app;
    await closeToday();
    expect(await verifyAuditLog(app)).toMatchObject({ findings: [], signed: { unsigned: 1 }, publicKey: null });
  });

  it('betray a chain that was computed again without the key', async () => {
    await closeToday();
    const [kept] = await storedDays();
    await tamper(app, "UPDATE admin_audit_log SET action = 'x' WHERE id = $1::bigint RETURNING id", [ids[2]]);
    await computeAgain();
    expect(problemsOf(await verifyAuditLog(app))).toEqual([['wrong_signature', 3]]);
    expect(problemsOf(await verifyAuditLog(app, { keptDays: [kept!] }))).toEqual([
      ['wrong_signature', 3],
      ['missing_day', 3],
    ]);
  });

  /** Makes hashes and days fit the entries as they are now. */
  async function computeAgain(): Promise<void> {
    const entries = await app.db.sql<AuditContent>(`SELECT ${CONTENT_COLUMNS} FROM admin_audit_log l ORDER BY l.id`);
    let hash = '';
    for (const entry of entries) {
      const content = contentHash(entry, entry.userId);
      hash = linkHash(hash, entry.createdAt, content);
      await tamper(
        app,
        "UPDATE audit_links SET content_hash = decode($2, 'hex'), hash = decode($3, 'hex') WHERE entry_id = $1::bigint RETURNING position",
        [entry.id, content, hash],
      );
    }
    await tamper(
      app,
      "UPDATE audit_days d SET hash = encode(k.hash, 'hex') FROM audit_links k WHERE k.position = d.position RETURNING d.position",
    );
  }
});

describe('retention', () => {
  const keepingDays = async (days: string) =>
    (await testApp({ clock: t.clock, environment: { AUDIT_LOG_RETENTION_DAYS: days } })).app;

  it('leaves the chain intact, with its last link without an entry', async () => {
    t.clock.set(addDays(t.clock.now(), 31));
    await anAuditEntry(app);
    await linkAuditLog(app);
    const keeping = await keepingDays('30');
    expect(await purgeAuditLog(keeping)).toBe(3);
    expect(await verifyAuditLog(keeping)).toMatchObject({ findings: [], links: 2, firstPosition: 3 });
    expect(await purgeAuditLog(keeping)).toBe(0);
  });

  it('deletes an old entry that was linked behind younger ones', async () => {
    await anAuditEntry(app, { at: addDays(t.clock.now(), -31) });
    await linkAuditLog(app);
    const keeping = await keepingDays('30');
    expect(await purgeAuditLog(keeping)).toBe(1);
    expect(problemsOf(await verifyAuditLog(keeping))).toEqual([]);
  });

  it('is no excuse for a younger entry that is gone', async () => {
    await tamper(app, 'DELETE FROM admin_audit_log WHERE id = $1::bigint RETURNING id', [ids[1]]);
    expect(problemsOf(await verifyAuditLog(await keepingDays('30')))).toEqual([['missing_entry', 2]]);
  });
});
