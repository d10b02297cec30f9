import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { previewAudience } from '../../../src/domain/broadcasts/audiences.ts';
import { pauseBroadcast, readBroadcast, resumeBroadcast, stopBroadcast } from '../../../src/domain/broadcasts/broadcasts.ts';
import { continueAbandoned, purgeRecipients, readSends } from '../../../src/domain/mass-sends/control-sends.ts';
import { runSend } from '../../../src/domain/mass-sends/run-send.ts';
import { insertFile } from '../../../src/domain/media/repo.ts';
import { MailError, MessengerError } from '../../../src/domain/messaging/ports.ts';
import { aSegment } from '../../support/audience-samples.ts';
import {
  aBroadcast,
  aMailing,
  delivered,
  FAST,
  KINDS,
  recipientsOf,
  recordingMessenger,
  runParts,
} from '../../support/broadcast-samples.ts';
import { unique } from '../../support/builders.ts';
import { aPng } from '../../support/media-samples.ts';
import { setUser } from '../../support/merge-samples.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp({ environment: FAST });
});
beforeEach(() => t.app.db.sql('TRUNCATE send_paces'));

const chatsOf = (users: readonly { messengerId: number }[]) => users.map(({ messengerId }) => messengerId).sort();
const DAY = 86_400_000;

describe('a broadcast through the messenger', () => {
  test('reaches exactly the members of its segment, once, and the preview says so before', async () => {
    const { target, users } = await aSegment(t.app, 5);
    // Not reachable, not wanted, not active: nobody of them counts.
    await setUser(t.app, users[3]!.id, { messenger_id: null, email: `none${unique()}@example.com` });
    await setUser(t.app, users[4]!.id, { notification_settings: { news_enabled: false } });
    const preview = await previewAudience(t.app, 'messenger', target);
    expect(preview.count).toBe(3);
    expect(preview.sample.map(({ userId }) => userId)).toEqual(users.slice(0, 3).map(({ id }) => id));
    expect(preview.sample[0]!.name).toMatch(/^User \d+$/);

    const { app, sent } = recordingMessenger(t.app);
    const broadcast = await aBroadcast(app, target, { messageText: '  <b>Maintenance</b> tonight ' });
    expect(broadcast).toMatchObject({
      status: 'queued',
      totalCount: 0,
      messageText: '<b>Maintenance</b> tonight',
      completedAt: null,
    });
    expect(await delivered(app, broadcast)).toMatchObject({
      status: 'completed',
      totalCount: 3,
      sentCount: 3,
      failedCount: 0,
      blockedCount: 0,
      progressPercent: 100,
      completedAt: t.clock.now(),
      estimatedEndAt: null,
    });
    expect(sent.map(({ chatId }) => chatId).sort()).toEqual(chatsOf(users.slice(0, 3)));
    expect(sent[0]).toMatchObject({ html: '<b>Maintenance</b> tonight', buttons: [], isPaced: true });
    expect((await recipientsOf(app, broadcast)).map(({ messageId }) => messageId)).toEqual([
      expect.any(Number),
      expect.any(Number),
      expect.any(Number),
    ]);
    // Whatever runs again sends nothing.
    expect(await runParts(app, broadcast)).toEqual([{ isOver: true }]);
    expect(sent).toHaveLength(3);
  });

  test('without recipients is completed', async () => {
    const { target } = await aSegment(t.app, 0);
    const { app } = recordingMessenger(t.app);
    expect(await delivered(app, await aBroadcast(app, target))).toMatchObject({
      status: 'completed',
      totalCount: 0,
      progressPercent: 0,
    });
  });

  test('without a messenger has failed, and says so', async () => {
    const { target } = await aSegment(t.app, 1);
    const ports = { ...t.app.ports, messenger: { ...t.app.ports.messenger, isConfigured: () => false } };
    const broadcast = await aBroadcast(t.app, target);
    expect(await delivered({ ...t.app, ports }, broadcast)).toMatchObject({ status: 'failed', completedAt: t.clock.now() });
  });

  test('spec 05 section 3.5: who blocked the bot is recorded until a message arrives again, while what is refused has failed', async () => {
    const { target, users } = await aSegment(t.app, 4);
    const [blocker, gone, refuser] = users;
    const { app } = recordingMessenger(t.app, (chatId) => {
      if (chatId === blocker!.messengerId) throw new MessengerError({ kind: 'blocked' }, 'blocked');
      if (chatId === gone!.messengerId) throw new MessengerError({ kind: 'chat_not_found' }, 'gone');
      if (chatId === refuser!.messengerId) throw new MessengerError({ kind: 'rejected' }, 'no');
    });
    const broadcast = await delivered(app, await aBroadcast(app, target));
    expect(broadcast).toMatchObject({ status: 'partial', sentCount: 1, blockedCount: 2, failedCount: 1, totalCount: 4 });
    const blocks = () =>
      app.db.sql('SELECT user_id FROM messenger_blocks WHERE user_id = ANY($1::int[]) ORDER BY user_id', [
        users.map(({ id }) => id),
      ]);
    expect(await blocks()).toEqual([{ userId: blocker!.id }, { userId: gone!.id }]);
    // A block costs nobody the account or the subscription.
    const [row] = await app.db.sql(
      'SELECT u.status, s.status AS subscription FROM users u JOIN subscriptions s ON s.user_id = u.id WHERE u.id = $1::int',
      [blocker!.id],
    );
    expect(row).toEqual({ status: 'active', subscription: 'active' });
    const open = recordingMessenger(t.app);
    await delivered(open.app, await aBroadcast(open.app, target));
    expect(await blocks()).toEqual([]);
  });

  test('a message without an answer may have arrived: it is not sent again', async () => {
    const { target } = await aSegment(t.app, 1);
    let calls = 0;
    const { app } = recordingMessenger(t.app, () => {
      calls += 1;
      throw new MessengerError({ kind: 'unavailable', mayHaveArrived: true }, 'no answer');
    });
    expect(await delivered(app, await aBroadcast(app, target))).toMatchObject({ status: 'partial', failedCount: 1 });
    expect(calls).toBe(1);
  });

  test('a messenger that is away costs nobody the message: it is sent when the messenger is back', async () => {
    const { target } = await aSegment(t.app, 3);
    let isAway = true;
    const { app, sent } = recordingMessenger(t.app, () => {
      if (isAway) throw new MessengerError({ kind: 'unavailable' }, 'away');
    });
    const broadcast = await aBroadcast(app, target);
    expect(await runParts(app, broadcast)).toEqual([{ isOver: false, waitMs: 30_000 }]);
    expect((await recipientsOf(app, broadcast)).map(({ state, attempts }) => [state, attempts])).toEqual(
      Array(3).fill(['queued', 1]),
    );
    isAway = false;
    expect(await delivered(app, broadcast)).toMatchObject({ status: 'completed', sentCount: 3, repeatedCount: 0 });
    expect(sent).toHaveLength(3);
  });

  test('spec 10 G3: who was blocked or deleted after the recipients were prepared gets nothing', async () => {
    const { target, users } = await aSegment(t.app, 3);
    let isAway = true;
    const { app, sent } = recordingMessenger(t.app, () => {
      if (isAway) throw new MessengerError({ kind: 'unavailable' }, 'away');
    });
    const broadcast = await aBroadcast(app, target);
    await runParts(app, broadcast);
    await setUser(t.app, users[0]!.id, { status: 'blocked' });
    await setUser(t.app, users[1]!.id, { status: 'deleted' });
    isAway = false;
    expect(await delivered(app, broadcast)).toMatchObject({ status: 'partial', sentCount: 1, failedCount: 2 });
    expect(sent.map(({ chatId }) => chatId)).toEqual(chatsOf([users[2]!]));
  });

  test('the wait that the messenger asks for is kept by every instance', async () => {
    const { target } = await aSegment(t.app, 2);
    let isLimited = true;
    const { app, sent } = recordingMessenger(t.app, () => {
      if (isLimited) throw new MessengerError({ kind: 'rate_limited', retryAfterSeconds: 40 }, 'slow');
    });
    const broadcast = await aBroadcast(app, target);
    expect(await runParts(app, broadcast)).toEqual([{ isOver: false, waitMs: 40_000 }]);
    isLimited = false;
    // What the adapter of the messenger does with each 429.
    await t.app.db.sql("UPDATE send_paces SET paused_until = clock_timestamp() + interval '40 seconds' RETURNING channel");
    const [again] = await runParts(app, broadcast);
    expect(again).toMatchObject({ isOver: false });
    expect((again as { waitMs: number }).waitMs).toBeGreaterThan(30_000);
    expect(sent).toHaveLength(0);
  });

  test('a file is uploaded with one message, and everyone else gets it by its id, also in the next broadcast', async () => {
    const { target, users } = await aSegment(t.app, 30);
    const fileId = `file_${unique()}`;
    const storageKey = `key-of-the-file-${unique()}`;
    await t.app.ports.mediaStore.put(storageKey, aPng(), 'image/png');
    await insertFile(
      t.app.db,
      {
        fileId,
        mediaType: 'photo',
        uploadedBy: null,
        fileName: 'a.png',
        mimeType: 'image/png',
        sizeBytes: 1,
        storageKey,
        messengerFileId: null,
        isPrivate: false,
      },
      t.clock.now(),
    );
    const isFirst = users[0]!.messengerId;
    const { app, sent } = recordingMessenger(t.app, (chatId) => {
      // The one who would have got the upload blocks the bot.
      if (chatId === isFirst) throw new MessengerError({ kind: 'blocked' }, 'blocked');
    });
    const media = { type: 'photo', fileId, caption: null } as const;
    expect(await delivered(app, await aBroadcast(app, target, { media }))).toMatchObject({ sentCount: 29, blockedCount: 1 });
    expect(sent.filter(({ file }) => 'bytes' in file!)).toHaveLength(1);
    expect(sent[0]).toMatchObject({ kind: 'photo', html: 'Maintenance tonight', file: { bytes: aPng(), name: 'a.png' } });
    sent.length = 0;
    await delivered(app, await aBroadcast(app, target, { media: { ...media, caption: 'See' } }));
    expect(sent.every(({ file, html }) => 'fileId' in file! && html === 'See')).toBe(true);
  });

  test('buttons are in the language of the recipient, in their rows, and links in the cabinet mode', async () => {
    const { target, users } = await aSegment(t.app, 2);
    await setUser(t.app, users[1]!.id, { language: 'ru' });
    const draft = {
      selectedButtons: ['home', 'connect', 'balance', 'referrals'],
      customButtons: [{ label: 'Site', actionType: 'url', actionValue: 'https://x.example' } as const],
    };
    const { app, sent } = recordingMessenger(t.app);
    await delivered(app, await aBroadcast(app, target, draft));
    const of = (user: number) => sent.find(({ chatId }) => chatId === users[user]!.messengerId)!.buttons;
    expect(of(0)).toEqual([
      [
        { text: '💳 Top up', callbackData: 'balance_topup' },
        { text: '🤝 Invitations', callbackData: 'menu_referrals' },
      ],
      [{ text: '🔌 Connect', callbackData: 'subscription_connect' }],
      [{ text: '🏠 Main menu', callbackData: 'back_to_menu' }],
      [{ text: 'Site', url: 'https://x.example' }],
    ]);
    expect(of(1)![0]![0]).toEqual({ text: '💳 Пополнить баланс', callbackData: 'balance_topup' });
    const cabinet = await testApp({
      environment: { ...FAST, MAIN_MENU_MODE: 'cabinet', MINIAPP_CUSTOM_URL: 'https://app.example/' },
    });
    const second = recordingMessenger(cabinet.app);
    await delivered(second.app, await aBroadcast(second.app, target, draft));
    expect(second.sent[0]!.buttons!.slice(1, 3)).toEqual([
      [expect.objectContaining({ webAppUrl: 'https://app.example/subscription' })],
      [expect.objectContaining({ callbackData: 'back_to_menu' })],
    ]);
  });
});

describe('a broadcast by e-mail', () => {
  test('goes to verified addresses, with escaped values in it', async () => {
    const { users } = await aSegment(t.app, 3);
    const mark = unique();
    await setUser(t.app, users[0]!.id, { email: `one${mark}@example.com`, email_verified: true, username: '<b>Eve</b>' });
    await setUser(t.app, users[1]!.id, { email: `two${mark}@example.com`, email_verified: false });
    const mails: { to: string; subject: string; html: string; text: string }[] = [];
    const mail = {
      ...t.app.ports.mail,
      isConfigured: () => true,
      send: async (one: (typeof mails)[number]) => void mails.push(one),
    };
    const app = { ...t.app, ports: { ...t.app.ports, mail } };
    const draft = { emailSubject: 'For {{user_name}}', emailHtmlContent: '<p>Dear {{ user_name }},</p><p>{{email}}</p>' };
    const broadcast = await aMailing(app, 'all_email', draft);
    const { count } = await previewAudience(app, 'email', 'all_email');
    expect(await delivered(app, broadcast)).toMatchObject({
      status: 'completed',
      sentCount: count,
      channel: 'email',
      messageText: 'Maintenance tonight',
    });
    expect(mails).toHaveLength(count);
    expect(mails.find(({ to }) => to === `one${mark}@example.com`)).toMatchObject({
      to: `one${mark}@example.com`,
      subject: 'For <b>Eve</b>',
      html: expect.stringMatching(new RegExp(`^<p>Dear &lt;b&gt;Eve&lt;/b&gt;,</p><p>one${mark}@example.com</p>\n`)),
      text: expect.stringMatching(new RegExp(`^Dear <b>Eve</b>,\none${mark}@example.com\n\n`)),
    });
    expect(mails.some(({ to }) => to === `two${mark}@example.com`)).toBe(false);
  });

  test('both channels are counted together, and the end comes with the later one', async () => {
    const { target, users } = await aSegment(t.app, 2);
    const email = `both${unique()}@example.com`;
    await setUser(t.app, users[0]!.id, { email, email_verified: true });
    const mail = {
      ...t.app.ports.mail,
      isConfigured: () => true,
      send: async ({ to }: { to: string }) => {
        if (to === email) throw new MailError('rejected', 'no such mailbox');
      },
    };
    const recording = recordingMessenger(t.app);
    const app = { ...recording.app, ports: { ...recording.app.ports, mail } };
    const mails = (await previewAudience(app, 'email', 'all_email')).count;
    const broadcast = await aMailing(app, target, { channel: 'both' });
    const [message] = await readSends(app, 'broadcast', [broadcast.id]);
    expect(message!.channel).toBe('messenger');
    await runSend(app, KINDS, message!.id, { signal: new AbortController().signal });
    const first = await readBroadcast(app, broadcast.id);
    expect(first).toMatchObject({ status: 'in_progress', totalCount: 2, sentCount: 2, completedAt: null });
    expect(await delivered(app, broadcast)).toMatchObject({
      status: 'partial',
      totalCount: 2 + mails,
      sentCount: 1 + mails,
      failedCount: 1,
    });
  });
});

describe('stop, pause and resume', () => {
  test('a stop before anything was sent ends it at once', async () => {
    const { target } = await aSegment(t.app, 2);
    const { app, sent } = recordingMessenger(t.app);
    const broadcast = await aBroadcast(app, target);
    expect(await stopBroadcast(app, broadcast.id)).toMatchObject({ status: 'cancelled', completedAt: t.clock.now() });
    await runParts(app, broadcast);
    expect(sent).toHaveLength(0);
    await expect(stopBroadcast(app, broadcast.id)).rejects.toMatchObject({ status: 400, message: 'Broadcast is not running' });
    await expect(stopBroadcast(app, 2_000_000_000)).rejects.toMatchObject({ status: 404, message: 'Broadcast not found' });
  });

  test('spec 05 section 3.5: a stop while it is sent is never undone by progress, and nothing follows the shares under way', async () => {
    const { target } = await aSegment(t.app, 120);
    let broadcastId = 0;
    const seen: string[] = [];
    const { app, sent } = recordingMessenger(t.app, async () => {
      if (seen.length > 0) return;
      seen.push('asked');
      seen.push((await stopBroadcast(t.app, broadcastId)).status);
      seen.push((await stopBroadcast(t.app, broadcastId)).status);
    });
    const broadcast = await aBroadcast(app, target);
    broadcastId = broadcast.id;
    const after = await delivered(app, broadcast);
    expect(seen).toEqual(['asked', 'cancelling', 'cancelling']);
    expect(after).toMatchObject({ status: 'cancelled', totalCount: 120, sentCount: sent.length });
    expect(sent.length).toBeLessThanOrEqual(75);
    expect((await recipientsOf(app, broadcast)).filter(({ state }) => state === 'queued')).toHaveLength(120 - sent.length);
    await runParts(app, broadcast);
    expect(await readBroadcast(app, broadcast.id)).toEqual(after);
  });

  test('a pause holds it until it is resumed', async () => {
    const { target } = await aSegment(t.app, 100);
    let broadcastId = 0;
    const { app, sent } = recordingMessenger(t.app, async () => {
      if (broadcastId !== 0) await pauseBroadcast(t.app, broadcastId).catch(() => undefined);
    });
    const broadcast = await aBroadcast(app, target);
    broadcastId = broadcast.id;
    expect(await runParts(app, broadcast)).toEqual([{ isOver: false, waitMs: 0 }]);
    expect(await readBroadcast(app, broadcast.id)).toMatchObject({ status: 'paused', totalCount: 100, estimatedEndAt: null });
    const before = sent.length;
    expect(before).toBeLessThanOrEqual(75);
    await expect(pauseBroadcast(app, broadcast.id)).rejects.toMatchObject({ status: 400 });
    expect(await runParts(app, broadcast)).toEqual([{ isOver: true }]);
    await continueAbandoned(app);
    expect(sent).toHaveLength(before);
    broadcastId = 0;
    expect(await resumeBroadcast(app, broadcast.id)).toMatchObject({ status: 'in_progress', estimatedEndAt: expect.any(Date) });
    await expect(resumeBroadcast(app, broadcast.id)).rejects.toMatchObject({ status: 400, message: 'Broadcast is not paused' });
    expect(await delivered(app, broadcast)).toMatchObject({ status: 'completed', sentCount: 100 });
    expect(new Set(sent.map(({ chatId }) => chatId)).size).toBe(100);
  });
});

describe('after the end', () => {
  test('the rows of recipients are deleted 30 days after the end, the numbers stay', async () => {
    const { target } = await aSegment(t.app, 3);
    const { app } = recordingMessenger(t.app);
    const after = await delivered(app, await aBroadcast(app, target));
    await purgeRecipients({ ...app, clock: { now: () => new Date(t.clock.now().getTime() + 29 * DAY) } });
    expect(await recipientsOf(app, after)).toHaveLength(3);
    await purgeRecipients({ ...app, clock: { now: () => new Date(t.clock.now().getTime() + 31 * DAY) } });
    expect(await recipientsOf(app, after)).toHaveLength(0);
    expect(await readBroadcast(app, after.id)).toMatchObject({ sentCount: 3, totalCount: 3 });
  });
});
