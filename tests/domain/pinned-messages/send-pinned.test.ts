import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { continueAbandoned } from '../../../src/domain/mass-sends/control-sends.ts';
import { claimRecipients, findSend, prepareShare, takeSend } from '../../../src/domain/mass-sends/repo.ts';
import { insertFile } from '../../../src/domain/media/repo.ts';
import { MessengerError } from '../../../src/domain/messaging/ports.ts';
import {
  activateMessage,
  broadcastMessage,
  createPinnedMessage,
  deletePinnedMessage,
  unpinMessage,
} from '../../../src/domain/pinned-messages/pinned-messages.ts';
import type { PinnedDraft, PinnedMessage } from '../../../src/domain/pinned-messages/types.ts';
import { FAST, KINDS } from '../../support/broadcast-samples.ts';
import { aUser, type BuiltUser, unique } from '../../support/builders.ts';
import { aPng } from '../../support/media-samples.ts';
import { setUser } from '../../support/merge-samples.ts';
import {
  chats,
  lastPinSend,
  PINNED,
  pinSendDone,
  runPinSend,
  TOKEN,
  withoutPinnedMessages,
} from '../../support/pinned-samples.ts';
import { recordedEventsOf } from '../../support/recorded-events.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp({ environment: FAST });
});
beforeEach(() => withoutPinnedMessages(t.app));

/** In the order of their ids, which is that of sending. */
const someUsers = async (count: number): Promise<BuiltUser[]> =>
  (await Promise.all(Array.from({ length: count }, () => aUser(t.app)))).sort((a, b) => a.id - b.id);
const later = () => t.clock.advance(60_000);

async function aMessage(draft: Partial<PinnedDraft> = {}, broadcast = false): Promise<PinnedMessage> {
  const { message } = await createPinnedMessage(t.app, TOKEN, { ...PINNED, ...draft }, { broadcast, language: null });
  return message;
}

const lastPinned = async (userId: number) => {
  const [row] = await t.app.db.sql<{ id: number | null }>('SELECT last_pinned_message_id AS id FROM users WHERE id = $1::int', [
    userId,
  ]);
  return row!.id;
};
const deliveryOf = async (userId: number) => {
  const [row] = await t.app.db.sql<{ chatId: number; messageId: number; isPinned: boolean }>(
    'SELECT chat_id, message_id, is_pinned FROM pinned_deliveries WHERE user_id = $1::int',
    [userId],
  );
  return row ?? null;
};

describe('a broadcast of a pinned message (spec 05 section 4)', () => {
  test('goes to every active user of the messenger, silently, is pinned and is recorded', async () => {
    const [ann, bob, blocked, mail] = await someUsers(4);
    await setUser(t.app, blocked!.id, { status: 'blocked' });
    await setUser(t.app, mail!.id, { messenger_id: null, email: `mail${unique()}@example.com` });
    await setUser(t.app, bob!.id, { notification_settings: { news_enabled: false } });
    const { app, messages, pinsOf } = chats(t.app);
    const { id } = await aMessage({ content: 'A &lt;b&gt;b&lt;/b&gt;<br>c' }, true);
    expect(await pinSendDone(app)).toMatchObject({ kind: 'pinned', state: 'done', total: 2, sent: 2, failed: 0, blocked: 0 });
    expect(messages.map(({ chatId }) => chatId).sort()).toEqual([ann!.messengerId, bob!.messengerId].sort());
    expect(messages[0]).toMatchObject({ html: 'A <b>b</b>\nc', isSilent: true, isPaced: true });
    for (const { messengerId, id: userId } of [ann!, bob!]) {
      const { messageId } = messages.find(({ chatId }) => chatId === messengerId)!;
      expect(pinsOf(messengerId)).toEqual([messageId]);
      expect(await deliveryOf(userId)).toEqual({ chatId: messengerId, messageId, isPinned: true });
      // Hazard: users got it a second time when they started the chat.
      expect(await lastPinned(userId)).toBe(id);
    }
    expect(await deliveryOf(blocked!.id)).toBeNull();
  });

  test('hazard: the next one unpins our message before it, while every other pin of the chat stays', async () => {
    const [ann] = await someUsers(1);
    const { app, of, pinsOf } = chats(t.app);
    const foreign = (await app.ports.messenger.sendMessage(ann!.messengerId, 'pinned by somebody else')).messageId;
    await app.ports.messenger.pinMessage(ann!.messengerId, foreign);
    await aMessage({}, true);
    await pinSendDone(app);
    later();
    await aMessage({ content: 'Second' }, true);
    await pinSendDone(app);
    const [, first, second] = of(ann!.messengerId);
    expect(second!.html).toBe('Second');
    expect(pinsOf(ann!.messengerId)).toEqual([foreign, second!.messageId]);
    expect(pinsOf(ann!.messengerId)).not.toContain(first!.messageId);
  });

  test('hazard: what follows a failed pin pins the message that is there, and sends none again', async () => {
    const [ann] = await someUsers(1);
    let isAway = true;
    const { app, of, pinsOf } = chats(t.app, (step) => {
      if (step === 'pin' && isAway) throw new MessengerError({ kind: 'unavailable' }, 'away');
    });
    const { id } = await aMessage({}, true);
    const send = await lastPinSend(app);
    expect(await runPinSend(app, send)).toMatchObject({ isOver: false });
    expect([of(ann!.messengerId).length, pinsOf(ann!.messengerId)]).toEqual([1, []]);
    expect(await lastPinned(ann!.id)).toBe(id);
    isAway = false;
    expect(await pinSendDone(app)).toMatchObject({ state: 'done', sent: 1, failed: 0 });
    expect(of(ann!.messengerId)).toHaveLength(1);
    expect(pinsOf(ann!.messengerId)).toEqual([of(ann!.messengerId)[0]!.messageId]);
  });

  test('a pin without an answer is repeated, a message without one is not', async () => {
    const [ann, bob] = await someUsers(2);
    let pins = 0;
    const { app, of } = chats(t.app, (step, chatId) => {
      if (step === 'pin' && pins++ === 0) throw new MessengerError({ kind: 'unavailable', mayHaveArrived: true }, 'no answer');
      if (step === 'send' && chatId === bob!.messengerId) {
        throw new MessengerError({ kind: 'unavailable', mayHaveArrived: true }, 'no answer');
      }
    });
    await aMessage({}, true);
    expect(await pinSendDone(app)).toMatchObject({ sent: 1, failed: 1 });
    expect([of(ann!.messengerId).length, pins]).toEqual([1, 2]);
  });

  test('a pin that is never answered is put off, and the chat keeps its one message', async () => {
    const [ann] = await someUsers(1);
    let tries = 0;
    const { app, of } = chats(t.app, (step) => {
      if (step !== 'pin') return;
      tries += 1;
      throw new MessengerError({ kind: 'unavailable', mayHaveArrived: true }, 'no answer');
    });
    await aMessage({}, true);
    expect(await runPinSend(app, await lastPinSend(app))).toEqual({ isOver: false, waitMs: 30_000 });
    // Each of them may take a whole time-out: more would take longer than the lease of the worker.
    expect([tries, of(ann!.messengerId).length]).toEqual([2, 1]);
  });

  test('a chat that blocked the bot or is gone is recorded and counts as blocked, while a refused pin counts as failed', async () => {
    const [ann, blocker, gone, refuser] = await someUsers(4);
    const { app } = chats(t.app, (step, chatId) => {
      if (chatId === blocker!.messengerId) throw new MessengerError({ kind: 'blocked' }, 'blocked');
      if (chatId === gone!.messengerId && step === 'pin') throw new MessengerError({ kind: 'chat_not_found' }, 'gone');
      if (chatId === refuser!.messengerId && step === 'pin') throw new MessengerError({ kind: 'rejected' }, 'no');
    });
    await aMessage({}, true);
    expect(await pinSendDone(app)).toMatchObject({ total: 4, sent: 1, failed: 1, blocked: 2 });
    const blocks = await t.app.db.sql('SELECT user_id FROM messenger_blocks WHERE user_id = ANY($1::int[]) ORDER BY user_id', [
      [ann, blocker, gone, refuser].map((user) => user!.id),
    ]);
    expect(blocks).toEqual([{ userId: blocker!.id }, { userId: gone!.id }]);
  });

  test('the wait that the messenger asks for puts the recipient off', async () => {
    await someUsers(1);
    const { app } = chats(t.app, (step) => {
      if (step === 'pin') throw new MessengerError({ kind: 'rate_limited', retryAfterSeconds: 7 }, 'slow');
    });
    await aMessage({}, true);
    expect(await runPinSend(app, await lastPinSend(app))).toEqual({ isOver: false, waitMs: 7_000 });
  });

  test('a file is uploaded once, its caption is the text', async () => {
    await someUsers(3);
    const fileId = `file_${unique()}`;
    const storageKey = `pinned-file-${unique()}`;
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
    const { app, messages } = chats(t.app);
    await aMessage({ content: '  ', media: { type: 'photo', fileId } }, true);
    await pinSendDone(app);
    expect(messages).toHaveLength(3);
    expect(messages.filter(({ file }) => 'bytes' in file!)).toHaveLength(1);
    expect(messages[0]).toMatchObject({ kind: 'photo', html: '', isSilent: true });
  });

  test('a worker that was killed between message and pin: the next one only pins', async () => {
    const [ann, bob] = await someUsers(2);
    const { app, of, pinsOf } = chats(t.app);
    await aMessage({}, true);
    const { id } = await lastPinSend(app);
    const dead = await takeSend(app.db, id, 0, t.clock.now());
    while ((await prepareShare(app.db, KINDS.pinned, dead!, 1_000_000)) === false);
    const [first] = await claimRecipients(app.db, dead!, 1);
    expect(first!.userId).toBe(ann!.id);
    const deliver = await KINDS.pinned.open(
      chats(t.app, (step) => {
        if (step === 'pin') throw new MessengerError({ kind: 'unavailable' }, 'killed here');
      }).app,
      dead!,
    );
    if (typeof deliver !== 'function') throw new Error('cannot be opened');
    await deliver(first!);
    // The message of the killed worker is in another fake: what the chat has is its row.
    const row = await deliveryOf(ann!.id);
    const pinning = { ...app.ports.messenger, pinMessage: async () => undefined };
    const next = { ...app, ports: { ...app.ports, messenger: pinning } };
    await continueAbandoned(next);
    expect(await pinSendDone(next)).toMatchObject({ state: 'done', sent: 2, unconfirmed: 0, repeated: 0 });
    expect(of(ann!.messengerId)).toEqual([]);
    expect(await deliveryOf(ann!.id)).toEqual({ ...row, isPinned: true });
    expect([of(bob!.messengerId).length, pinsOf(bob!.messengerId)]).toEqual([1, []]);
  });

  test('the next broadcast ends the one under way, and begins when that has ended', async () => {
    await someUsers(3);
    const { app, messages } = chats(t.app);
    const first = await aMessage({ content: 'first' }, true);
    const old = await lastPinSend(app);
    const leased = await takeSend(app.db, old.id, 60_000, t.clock.now());
    later();
    await broadcastMessage(t.app, first.id);
    const next = await lastPinSend(app);
    expect(await findSend(app.db, old.id)).toMatchObject({ stopRequestedAt: expect.any(Date), finishedAt: null });
    expect(await runPinSend(app, next)).toEqual({ isOver: false, waitMs: 1_000 });
    expect(messages).toEqual([]);
    await app.db.sql('UPDATE mass_sends SET leased_until = NULL WHERE id = $1::int RETURNING id', [leased!.id]);
    expect(await runPinSend(app, old)).toEqual({ isOver: true });
    expect(await findSend(app.db, old.id)).toMatchObject({ state: 'cancelled', sent: 0 });
    expect(await pinSendDone(app)).toMatchObject({ id: next.id, state: 'done', sent: 3 });
  });

  test('a message deleted while it is sent: the broadcast ends, and nobody gets it after that', async () => {
    await someUsers(2);
    const { app, messages } = chats(t.app);
    const { id } = await aMessage({}, true);
    const send = await lastPinSend(app);
    await deletePinnedMessage(t.app, id, { mayBeActive: true });
    expect(await findSend(app.db, send.id)).toMatchObject({ state: 'cancelled', finishedAt: expect.any(Date) });
    expect(await runPinSend(app, send)).toEqual({ isOver: true });
    expect(messages).toEqual([]);
  });

  test('an inactive message can be sent too', async () => {
    await someUsers(1);
    const { app, messages } = chats(t.app);
    const first = await aMessage({ content: 'first' });
    await aMessage({ content: 'second' });
    await broadcastMessage(t.app, first.id);
    await pinSendDone(app);
    expect(messages.map(({ html }) => html)).toEqual(['first']);
  });

  test('without a messenger it has failed', async () => {
    await someUsers(1);
    await aMessage({}, true);
    const ports = { ...t.app.ports, messenger: { ...t.app.ports.messenger, isConfigured: () => false } };
    expect(await pinSendDone({ ...t.app, ports })).toMatchObject({ state: 'failed', total: 0 });
  });
});

describe('unpinning (spec 05 section 4)', () => {
  test('takes our own message off every chat, and nothing else', async () => {
    const [ann, bob, eve] = await someUsers(3);
    const { app, of, pinsOf } = chats(t.app);
    const foreign = (await app.ports.messenger.sendMessage(ann!.messengerId, 'pinned by somebody else')).messageId;
    await app.ports.messenger.pinMessage(ann!.messengerId, foreign);
    await aMessage({}, true);
    await pinSendDone(app);
    // She has removed it herself.
    await app.ports.messenger.unpinMessage(eve!.messengerId, of(eve!.messengerId)[0]!.messageId);
    later();
    expect(await unpinMessage(t.app)).toEqual({ unpinnedCount: 0, failedCount: 0, wasActive: true });
    expect(await pinSendDone(app)).toMatchObject({ kind: 'unpin', state: 'done', total: 3, sent: 3 });
    expect([pinsOf(ann!.messengerId), pinsOf(bob!.messengerId)]).toEqual([[foreign], []]);
    expect(await deliveryOf(bob!.id)).toMatchObject({ isPinned: false });
    later();
    expect(await unpinMessage(t.app)).toEqual({ unpinnedCount: 0, failedCount: 0, wasActive: false });
  });

  test('a chat without the message fails once, a chat that cannot be reached is recorded, and chats without a pin are left alone', async () => {
    const [ann, bob] = await someUsers(2);
    const first = chats(t.app, (_step, chatId) => {
      if (chatId === bob!.messengerId) throw new MessengerError({ kind: 'blocked' }, 'blocked');
    });
    const message = await aMessage({}, true);
    await pinSendDone(first.app);
    // Another fake messenger: it knows none of the messages.
    const second = chats(t.app);
    later();
    await unpinMessage(t.app);
    expect(await pinSendDone(second.app)).toMatchObject({ total: 1, sent: 0, failed: 1 });
    expect(await deliveryOf(ann!.id)).toMatchObject({ isPinned: false });
    later();
    await activateMessage(t.app, message.id, { broadcast: false });
    await unpinMessage(t.app);
    expect(await pinSendDone(second.app)).toMatchObject({ total: 0, state: 'done' });
  });

  test('it ends the broadcast that is under way', async () => {
    await someUsers(1);
    const { app, messages } = chats(t.app);
    await aMessage({}, true);
    const send = await lastPinSend(app);
    later();
    await unpinMessage(t.app);
    expect(await findSend(app.db, send.id)).toMatchObject({ state: 'cancelled' });
    await pinSendDone(app);
    expect(messages).toEqual([]);
  });
});

test('hazard: the answer waits for the counts, at most as long as PINNED_ANSWER_WAIT_MS says', async () => {
  await someUsers(1);
  const { app } = chats(t.app, (step) => {
    if (step === 'pin') throw new MessengerError({ kind: 'rejected' }, 'no');
  });
  const waiting = { ...app, env: { ...app.env, pinnedAnswerWaitMs: 60_000 } };
  const { id } = await aMessage();
  const [answer] = await Promise.all([
    broadcastMessage(waiting, id),
    (async () => {
      for (;;) {
        const send = await lastPinSend(app).catch(() => null);
        if (send?.sourceId === id) return runPinSend(app, send);
      }
    })(),
  ]);
  expect(answer).toMatchObject({ message: { id }, sentCount: 0, failedCount: 1 });
  later();
  // Nobody works on it: the answer comes all the same.
  expect(await broadcastMessage({ ...app, env: { ...app.env, pinnedAnswerWaitMs: 150 } }, id)).toMatchObject({
    sentCount: 0,
    failedCount: 0,
  });
});

test('progress goes to administrators', async () => {
  await someUsers(2);
  const { app } = chats(t.app);
  const { id } = await aMessage({}, true);
  await pinSendDone(app);
  const events = await recordedEventsOf(t.app, null, { audience: 'staff', prefix: 'pinned_message.progress' });
  expect(events.map(({ payload }) => payload).at(-1)).toEqual({
    message_id: id,
    action: 'broadcast',
    status: 'done',
    total_count: 2,
    sent_count: 2,
    failed_count: 0,
  });
});
