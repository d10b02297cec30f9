import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { previewAudience } from '../../../src/domain/broadcasts/audiences.ts';
import { insertFile } from '../../../src/domain/media/repo.ts';
import { MailError, MessengerError } from '../../../src/domain/messaging/ports.ts';
import { sendStoredFile } from '../../../src/domain/messaging/send-message.ts';
import { aSegment } from '../../support/audience-samples.ts';
import {
  aBroadcast,
  aMailing,
  delivered,
  FAST,
  recipientsOf,
  recordingMessenger,
  runParts,
} from '../../support/broadcast-samples.ts';
import { unique } from '../../support/builders.ts';
import { aPng } from '../../support/media-samples.ts';
import { setUser } from '../../support/merge-samples.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

/** What is lost on the way: answers of the mail server, the storage of files, the token of the bot (spec 05 sections 3.5 and 16). */
let t: TestApp;
beforeAll(async () => {
  t = await testApp({ environment: FAST });
});
beforeEach(() => t.app.db.sql('TRUNCATE send_paces'));

/** The app with a mail server; `send` throws for what it does not take. */
function withMail(send: App['ports']['mail']['send']): App {
  return { ...t.app, ports: { ...t.app.ports, mail: { ...t.app.ports.mail, isConfigured: () => true, send } } };
}

async function aPicture(): Promise<string> {
  const fileId = `file_${unique()}`;
  const storageKey = `key-of-the-file-${unique()}`;
  await t.app.ports.mediaStore.put(storageKey, aPng(), 'image/png');
  const file = { fileId, mediaType: 'photo', uploadedBy: null, fileName: 'a.png', mimeType: 'image/png', sizeBytes: 1 };
  await insertFile(t.app.db, { ...file, storageKey, messengerFileId: null, isPrivate: false }, t.clock.now());
  return fileId;
}

test('spec 05 section 16: a mail whose answer was lost may have arrived, and is not sent a second time', async () => {
  const { users } = await aSegment(t.app, 2);
  const [lost, away] = [`lost${unique()}@example.com`, `away${unique()}@example.com`];
  await setUser(t.app, users[0]!.id, { email: lost, email_verified: true });
  await setUser(t.app, users[1]!.id, { email: away, email_verified: true });
  const tries: string[] = [];
  let isAway = true;
  const app = withMail(async ({ to }: { to: string }) => {
    tries.push(to);
    if (to === lost) throw new MailError('unavailable', 'the answer was lost', { mayHaveArrived: true });
    if (to === away && isAway) throw new MailError('unavailable', 'no connection');
  });
  const { count } = await previewAudience(app, 'email', 'all_email');
  const broadcast = await aMailing(app, 'all_email');
  expect(await runParts(app, broadcast)).toEqual([{ isOver: false, waitMs: 30_000 }]);
  isAway = false;
  expect(await delivered(app, broadcast)).toMatchObject({ status: 'partial', sentCount: count - 1, failedCount: 1 });
  expect(tries.filter((to) => to === lost)).toHaveLength(1);
  expect(tries.filter((to) => to === away)).toHaveLength(4);
});

test('spec 10 G4: a mail that the server rejects is final', async () => {
  const { users } = await aSegment(t.app, 1);
  const rejected = `rejected${unique()}@example.com`;
  await setUser(t.app, users[0]!.id, { email: rejected, email_verified: true });
  const tries: string[] = [];
  const app = withMail(async ({ to }: { to: string }) => {
    tries.push(to);
    if (to === rejected) throw new MailError('rejected', '550 no such user');
  });
  const broadcast = await aMailing(app, 'all_email');
  expect(await delivered(app, broadcast)).toMatchObject({ status: 'partial', failedCount: 1 });
  expect(await runParts(app, broadcast)).toEqual([{ isOver: true }]);
  expect(tries.filter((to) => to === rejected)).toHaveLength(1);
});

test('a recipient whom the mail server puts off holds up nobody, comes after the others, and has failed after twenty times', async () => {
  const { users } = await aSegment(t.app, 3);
  const emails = users.map(() => `later${unique()}@example.com`);
  for (const [index, { id }] of users.entries()) await setUser(t.app, id, { email: emails[index], email_verified: true });
  const tries: string[] = [];
  let putOff = emails.slice(0, 2);
  const app = withMail(async ({ to }: { to: string }) => {
    tries.push(to);
    if (putOff.includes(to)) throw new MailError('put_off', '450 try again later');
  });
  const broadcast = await aMailing(app, 'all_email');
  const { count } = await previewAudience(app, 'email', 'all_email');
  const statesOf = async () => {
    const rows = await recipientsOf(app, broadcast);
    return users.map(({ id }) => rows.find(({ userId }) => userId === id)!).map(({ state, attempts }) => [state, attempts]);
  };
  expect(await runParts(app, broadcast)).toEqual([{ isOver: false, waitMs: 600_000 }]);
  expect(tries).toHaveLength(count);
  expect(await statesOf()).toEqual([...Array(2).fill(['queued', 1]), ['sent', 0]]);
  putOff = emails.slice(0, 1);
  expect(await runParts(app, broadcast)).toEqual([{ isOver: false, waitMs: 600_000 }]);
  expect(await statesOf()).toEqual([
    ['queued', 2],
    ['sent', 1],
    ['sent', 0],
  ]);
  await app.db.sql('UPDATE mass_send_recipients SET attempts = 19 WHERE user_id = $1::int RETURNING user_id', [users[0]!.id]);
  expect(await delivered(app, broadcast)).toMatchObject({ status: 'partial', sentCount: count - 1, failedCount: 1 });
  expect(tries.filter((to) => to === emails[0])).toHaveLength(3);
});

test('a mail server that puts off everybody is away: the mailing waits, and most recipients are not even tried', async () => {
  await aSegment(t.app, 400);
  await t.app.db.sql(
    "UPDATE users SET email = 'many' || id || '@example.com', email_verified = true WHERE email IS NULL RETURNING id",
  );
  let tries = 0;
  const app = withMail(async () => {
    tries += 1;
    throw new MailError('put_off', '452 limit of the hour');
  });
  const broadcast = await aMailing(app, 'all_email');
  const { count } = await previewAudience(app, 'email', 'all_email');
  expect(count).toBeGreaterThan(400);
  expect(await runParts(app, broadcast)).toEqual([{ isOver: false, waitMs: 30_000 }]);
  expect(tries).toBeLessThan(300);
});

test('the text of a mail is made of its HTML in one pass, with the addresses of its links', async () => {
  const { users } = await aSegment(t.app, 1);
  const email = `text${unique()}@example.com`;
  await setUser(t.app, users[0]!.id, { email, email_verified: true });
  const texts = new Map<string, string>();
  const app = withMail(async (one: { to: string; text: string }) => void texts.set(one.to, one.text));
  // A hundred thousand brackets took seconds for each recipient, in which the process did nothing else.
  const brackets = '<'.repeat(99_900);
  const emailHtmlContent = `<p>See <a href="https://example.com/x">this</a></p>${brackets}`;
  await delivered(app, await aMailing(app, 'all_email', { emailHtmlContent }));
  expect(texts.get(email)?.split('\n\n')[0]).toBe(`See this (https://example.com/x)\n${brackets}`);
});

test('a token that was revoked meanwhile costs nobody the message', async () => {
  const { target } = await aSegment(t.app, 2);
  let isRevoked = true;
  const { app, sent } = recordingMessenger(t.app, () => {
    if (isRevoked) throw new MessengerError({ kind: 'unavailable', isTokenRefused: true }, 'sendMessage was answered 401');
  });
  const warnings: unknown[] = [];
  const log = Object.assign(Object.create(app.log), {
    warn: (details: unknown, message: string) => warnings.push([details, message]),
  });
  const broadcast = await aBroadcast(app, target);
  expect(await runParts({ ...app, log }, broadcast)).toEqual([{ isOver: false, waitMs: 30_000 }]);
  // Once for a run, whatever the number of recipients.
  const reason = expect.objectContaining({ waitMs: 30_000, reason: 'sendMessage was answered 401' });
  expect(warnings).toEqual([[reason, 'a mass send waits: nothing is accepted']]);
  isRevoked = false;
  expect(await delivered(app, broadcast)).toMatchObject({ status: 'completed', sentCount: 2, failedCount: 0, repeatedCount: 0 });
  expect(sent).toHaveLength(2);
});

test('an outage of hours fails nobody, but who alone is put off twenty times has failed', async () => {
  const { target, users } = await aSegment(t.app, 3);
  const chats = users.map(({ messengerId }) => messengerId);
  let away: number[] = chats;
  const { app } = recordingMessenger(t.app, (chatId) => {
    if (away.includes(chatId)) throw new MessengerError({ kind: 'unavailable' }, 'away');
  });
  const broadcast = await aBroadcast(app, target);
  const statesOf = async () => (await recipientsOf(app, broadcast)).map(({ state, attempts }) => [state, attempts]);
  await runParts(app, broadcast);
  expect(await statesOf()).toEqual(Array(3).fill(['queued', 1]));
  const setAttempts = 'UPDATE mass_send_recipients SET attempts = $1::int WHERE user_id = ANY($2::int[]) RETURNING user_id';
  const ids = users.map(({ id }) => id);
  await app.db.sql(setAttempts, [400, ids]);
  expect(await runParts(app, broadcast)).toEqual([{ isOver: false, waitMs: 30_000 }]);
  expect(await statesOf()).toEqual(Array(3).fill(['queued', 401]));

  await app.db.sql(setAttempts, [19, ids]);
  away = chats.slice(0, 1);
  await runParts(app, broadcast);
  expect(await delivered(app, broadcast)).toMatchObject({ status: 'partial', sentCount: 2, failedCount: 1 });
});

test('a storage of files that is away holds the broadcast, and nobody counts as sent to twice', async () => {
  const { target } = await aSegment(t.app, 3);
  const media = { type: 'photo', fileId: await aPicture(), caption: null } as const;
  let isAway = true;
  const recording = recordingMessenger(t.app);
  const mediaStore = {
    ...t.app.ports.mediaStore,
    get: async (key: string) => {
      if (isAway) throw new Error('the storage is away');
      return t.app.ports.mediaStore.get(key);
    },
  };
  const app = { ...recording.app, ports: { ...recording.app.ports, mediaStore } };
  const broadcast = await aBroadcast(app, target, { media });
  expect(await runParts(app, broadcast)).toEqual([{ isOver: false, waitMs: 30_000 }]);
  expect((await recipientsOf(app, broadcast)).map(({ state }) => state)).toEqual(Array(3).fill('queued'));
  isAway = false;
  expect(await delivered(app, broadcast)).toMatchObject({ status: 'completed', sentCount: 3, repeatedCount: 0 });
  expect(recording.sent).toHaveLength(3);
});

test("a message is not sent again because the messenger's id of its file could not be stored", async () => {
  const { target, users } = await aSegment(t.app, 2);
  const media = { type: 'photo', fileId: await aPicture(), caption: null } as const;
  const recording = recordingMessenger(t.app);
  const messengerFiles = {
    ...t.app.ports.messengerFiles,
    remember: async () => {
      throw new Error('the database is away');
    },
  };
  const app = { ...recording.app, ports: { ...recording.app.ports, messengerFiles } };
  expect(await delivered(app, await aBroadcast(app, target, { media }))).toMatchObject({ status: 'completed', sentCount: 2 });
  expect(recording.sent.map(({ chatId }) => chatId).sort()).toEqual(users.map(({ messengerId }) => messengerId).sort());
  const chat = { messengerId: users[0]!.messengerId, kind: 'photo', fileId: media.fileId } as const;
  expect(await sendStoredFile(app, chat, 'x')).toEqual({ messageId: expect.any(Number) });
});

test('spec 05 section 3.5: a stored text that the messenger would refuse is repaired, so that it is not lost for everybody', async () => {
  const { target, users } = await aSegment(t.app, 2);
  const { app, sent } = recordingMessenger(t.app);
  const broadcast = await aBroadcast(app, target);
  // From before texts were checked (spec 10 O7).
  await app.db.sql("UPDATE broadcast_history SET message_text = 'Speed <b>5 < 6' WHERE id = $1::int", [broadcast.id]);
  expect(await delivered(app, broadcast)).toMatchObject({
    status: 'completed',
    sentCount: users.length,
    messageText: 'Speed <b>5 < 6',
  });
  expect(sent.map(({ html }) => html)).toEqual(Array(2).fill('Speed <b>5 &lt; 6</b>'));
});
