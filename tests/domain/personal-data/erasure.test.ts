import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { personEraseCommand, personExportCommand } from '../../../src/cli/person-commands.ts';
import type { App } from '../../../src/core/app.ts';
import { addDays, HOUR_MS } from '../../../src/core/clock.ts';
import { takeBackup } from '../../../src/domain/backups/take-backup.ts';
import { readTar } from '../../../src/domain/backups/tar.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { postMovement } from '../../../src/domain/ledger/post-movement.ts';
import { advanceErasure, eraseNow } from '../../../src/domain/personal-data/erase-person.ts';
import { sweepRequests } from '../../../src/domain/personal-data/jobs.ts';
import { listBackupsBefore } from '../../../src/domain/personal-data/remaining-backups.ts';
import { requestExportOf } from '../../../src/domain/personal-data/requests.ts';
import { personArchive, writeArchive } from '../../../src/domain/personal-data/write-archive.ts';
import { PanelError } from '../../../src/domain/provisioning/ports.ts';
import { anAdmin } from '../../support/admins.ts';
import { aUser, unique } from '../../support/builders.ts';
import { dyingAt } from '../../support/dying-app.ts';
import { aPair, merge } from '../../support/merge-samples.ts';
import { withPort } from '../../support/provisioning-setup.ts';
import { aStoredSubscription, rowOf, topUp } from '../../support/sale-samples.ts';
import { storeRow, storeRows } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const OPERATOR = { kind: 'system', name: 'command line' } as const;
const NOTHING = { forfeitsBalance: false, endsSubscription: false };
const { signal } = new AbortController();

let t: TestApp;
let app: App;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'person-'));
  t = await testApp({ environment: { DATA_DIR: folder } });
  app = t.app;
});
afterAll(() => rm(folder, { recursive: true }));

const requestOf = (id: number) =>
  rowOf<{ state: string; remains: unknown; run: number }>(
    app,
    'SELECT state, remains, run FROM data_requests WHERE id = $1::int',
    [id],
  );
const erase = (userId: number) => eraseNow(app, OPERATOR, userId, NOTHING);
const nameOf = async (userId: number) =>
  (await rowOf<{ firstName: string | null }>(app, 'SELECT first_name FROM users WHERE id = $1::int', [userId])).firstName;

async function aFile(userId: number): Promise<string> {
  const key = `key-${unique()}`.padEnd(20, 'x');
  await app.ports.mediaStore.put(key, Buffer.from('content of the file'), 'text/plain');
  await storeRow(app, 'MediaFile', {
    fileId: key,
    mediaType: 'document',
    source: 'upload',
    uploadedBy: userId,
    storageKey: key,
    isPrivate: true,
  });
  return key;
}

async function anExport(userId: number): Promise<number> {
  return (await requestExportOf(app, await anAdmin(app, 900), userId)).id;
}

describe('an erasure', () => {
  test('deletes the contents of files, and goes on after a failure until everything is gone', async () => {
    const { id: userId } = await aUser(app);
    const key = await aFile(userId);
    const panelUuid = '7f1c2f8e-6a53-4bb1-9f0e-0c8e6f3d9a22';
    await app.db.sql('UPDATE users SET vpnpanel_uuid = $2::uuid WHERE id = $1::int', [userId, panelUuid]);
    const { id } = await erase(userId);
    expect(await requestOf(id)).toMatchObject({ state: 'running', remains: { storageKeys: [key] } });
    const away = () => Promise.reject(new PanelError('unavailable', 'VPN panel did not answer'));
    const withoutPanel = withPort(app, Object.assign(Object.create(app.ports.panel), { deleteUser: away }));
    await expect(advanceErasure(withoutPanel, id)).rejects.toThrow('VPN panel did not answer');
    for (const part of [/DELETE FROM outgoing_mails/, /UPDATE transactions/, /FROM data_requests/])
      await expect(advanceErasure(dyingAt(app, part, 'after'), id), String(part)).rejects.toThrow('killed');
    expect(await requestOf(id)).toMatchObject({ state: 'running' });
    await sweepRequests(app);
    await advanceErasure(app, id);
    await advanceErasure(app, id);
    expect(await requestOf(id)).toMatchObject({ state: 'done', remains: null });
    expect(await app.ports.mediaStore.look(key)).toBeNull();
    const steps = await app.db.sql<{ step: string }>(
      "SELECT details -> 'after' ->> 'step' AS step FROM admin_audit_log WHERE resource_type = 'personal_data' AND resource_id = $1 ORDER BY id",
      [String(userId)],
    );
    expect(steps.map(({ step }) => step)).toEqual(['erased', 'done']);
  });

  test('deletes an archive that was written before, and ends one that is being written', async () => {
    const { id: userId } = await aUser(app);
    const ready = await anExport(userId);
    await writeArchive(app, ready, false, signal);
    const waiting = await anExport(userId);
    await erase(userId);
    await writeArchive(app, waiting, false, signal);
    expect([(await requestOf(ready)).state, (await requestOf(waiting)).state]).toEqual(['expired', 'expired']);
    expect(await app.db.sql('SELECT part FROM data_archive_parts WHERE request_id = ANY($1::int[])', [[ready, waiting]])).toEqual(
      [],
    );
  });

  test('includes accounts that were merged into it, and the name in the rewards of the referrer', async () => {
    const pair = await aPair(app);
    await merge(app, pair);
    const referrer = await aUser(app);
    const name = `Zoe ${unique()}`;
    await app.db.sql('UPDATE users SET first_name = $2, last_name = NULL WHERE id = $1::int', [pair.primaryId, name]);
    const earning = {
      userId: referrer.id,
      referralId: pair.primaryId,
      amountKopeks: 0,
      reason: 'referral_registration_pending',
    } as const;
    await storeRow(app, 'ReferralEarning', earning);
    const reward = { userId: referrer.id, type: 'referral_reward', amountKopeks: 100, paymentMethod: null } as const;
    const description = `Reward for ${name}`;
    await postMovement(app, Object.assign({ contra: { kind: 'referral_expense' } as const, description }, reward));
    const { id } = await erase(pair.primaryId);
    await advanceErasure(app, id);
    expect([await nameOf(pair.primaryId), await nameOf(pair.secondaryId)]).toEqual([null, null]);
    const texts = await app.db.sql('SELECT description FROM transactions WHERE user_id = $1::int', [referrer.id]);
    expect(texts).toEqual([{ description: 'Reward for —' }]);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('is executed again when a restore has brought the account back, and only then', async () => {
    const { id: userId } = await aUser(app);
    const before = await rowOf<{ referralCode: string }>(app, 'SELECT referral_code FROM users WHERE id = $1::int', [userId]);
    const { id } = await erase(userId);
    await advanceErasure(app, id);
    const restore = (referralCode: string) =>
      app.db.sql("UPDATE users SET status = 'active', first_name = 'Back', referral_code = $2 WHERE id = $1::int", [
        userId,
        referralCode,
      ]);
    await restore(`other${unique()}`);
    await sweepRequests(app);
    expect((await requestOf(id)).state).toBe('done');
    await restore(before.referralCode);
    await sweepRequests(app);
    expect((await requestOf(id)).state).toBe('requested');
    await advanceErasure(app, id);
    expect(await requestOf(id)).toMatchObject({ state: 'done' });
    expect(await nameOf(userId)).toBeNull();
  });
});

describe('an erasure after a restore', () => {
  test('is not put off by the balance and the subscription of the backup', async () => {
    const { id: userId } = await aUser(app);
    const { referralCode } = await rowOf<{ referralCode: string }>(app, 'SELECT referral_code FROM users WHERE id = $1::int', [
      userId,
    ]);
    const { id } = await erase(userId);
    await advanceErasure(app, id);
    await app.db.sql("UPDATE users SET status = 'active', first_name = 'Back', referral_code = $2 WHERE id = $1::int", [
      ...[userId, referralCode],
    ]);
    await topUp(app, userId, 50_000);
    await aStoredSubscription(app, userId);
    await sweepRequests(app);
    await advanceErasure(app, id);
    expect([(await requestOf(id)).state, await nameOf(userId)]).toEqual(['done', null]);
    expect(await checkLedger(app)).toEqual([]);
  });
});

test('what belongs to a new account with the same address stays, while the rest of the erasure goes on', async () => {
  const email = `again${unique()}@example.com`;
  const { id: userId } = await aUser(app, { email });
  const mail = { recipient: email, subject: 'Hello', template: 'x' };
  const before = await storeRow(app, 'OutgoingMail', Object.assign({ createdAt: t.clock.now() }, mail));
  const { id } = await erase(userId);
  t.clock.advance(1_000);
  await aUser(app, { email });
  const after = await storeRow(app, 'OutgoingMail', Object.assign({ createdAt: t.clock.now() }, mail));
  await advanceErasure(app, id);
  const left = await app.db.sql('SELECT id FROM outgoing_mails WHERE id = ANY($1::int[])', [[before.id, after.id]]);
  expect([left, (await requestOf(id)).state]).toEqual([[{ id: after.id }], 'done']);
});

describe('an archive', () => {
  test('has pages of 500 rows, and uploaded files', async () => {
    const { id: userId } = await aUser(app);
    const other = await aUser(app);
    await aFile(userId);
    const events = Array.from({ length: 1_001 }, (_, n) => ({
      userId,
      eventType: 'renewal' as const,
      message: `m${n}`,
      occurredAt: t.clock.now(),
    }));
    await storeRows(app, 'SubscriptionEvent', events);
    await storeRow(app, 'SubscriptionEvent', {
      userId: other.id,
      eventType: 'renewal',
      message: 'of another',
      occurredAt: t.clock.now(),
    });
    const members = new Map<string, string>();
    for await (const { name, content } of readTar(personArchive(app, userId)))
      members.set(name, (await buffer(content)).toString());
    const pages = ['00001', '00002', '00003'].map(
      (page) => members.get(`data/subscription_events-${page}.ndjson`)!.trim().split('\n').length,
    );
    expect(pages).toEqual([500, 500, 1]);
    expect([...members.values()].join('')).not.toContain('of another');
    expect(JSON.parse(members.get('contents.json')!)).toMatchObject({
      user_id: userId,
      files: 1,
      rows: { subscription_events: 1_001 },
    });
    expect([...members].find(([name]) => name.startsWith('files/'))?.[1]).toBe('content of the file');
  });

  test('that was killed in the middle is written again from the start, and the last try ends the request', async () => {
    const { id: userId } = await aUser(app);
    const id = await anExport(userId);
    await expect(writeArchive(dyingAt(app, /FROM tickets/, 'after'), id, false, signal)).rejects.toThrow('killed');
    expect(await requestOf(id)).toMatchObject({ state: 'requested', run: 1 });
    t.clock.advance(2 * HOUR_MS);
    await sweepRequests(app);
    await writeArchive(app, id, false, signal);
    expect(await requestOf(id)).toMatchObject({ state: 'ready', run: 2 });
    const next = await anExport(userId);
    await expect(writeArchive(dyingAt(app, /FROM tickets/, 'after'), next, true, signal)).rejects.toThrow('killed');
    expect((await requestOf(next)).state).toBe('failed');
  });
});

describe('the command line', () => {
  const call = (options: Record<string, string | boolean>) => {
    const terminal = { source: {}, out: () => undefined, err: () => undefined, input: process.stdin };
    return { words: [], options, terminal, isVerbose: false, isJson: false, app, progress: () => undefined };
  };

  test('exports to a new file, and refuses one that exists', async () => {
    const { id: userId } = await aUser(app);
    const to = join(folder, 'person.tar.gz');
    const result = await personExportCommand.run(call({ user: String(userId), to }));
    expect(result.text).toBe(`The archive of user ${userId} is ${to}.`);
    expect(gunzipSync(await readFile(to)).toString()).toContain('contents.json');
    await expect(personExportCommand.run(call({ user: String(userId), to }))).rejects.toThrow('exists already');
    const other = join(folder, 'nobody.tar.gz');
    await expect(personExportCommand.run(call({ user: '2147483647', to: other }))).rejects.toThrow('User not found');
    await expect(readFile(other)).rejects.toThrow('ENOENT');
  });

  test('erases after a confirmation and names the backups that still have the person', async () => {
    const { id: userId } = await aUser(app);
    await expect(async () => personEraseCommand.run(call({ user: String(userId) }))).rejects.toThrow('--confirm is needed');
    const result = await personEraseCommand.run(call({ user: String(userId), confirm: true }));
    expect(result.text).toContain(`User ${userId} is erased`);
    expect(result.data).toMatchObject({ user_id: userId, state: 'done', backups: [] });
    const taken = (await app.db.long!.alone((session) => takeBackup(app, session, { origin: 'cli', createdBy: null })))!.result;
    const [backup] = await listBackupsBefore(app, addDays(new Date(), 1));
    expect(backup).toEqual({ name: taken.name, deletedAt: addDays(t.clock.now(), 7), furtherBackups: 7 });
    expect(await listBackupsBefore(app, addDays(new Date(), -1))).toEqual([]);
  });
});
