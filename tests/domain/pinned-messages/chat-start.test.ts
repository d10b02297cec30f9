import { beforeAll, beforeEach, expect, test } from 'vitest';
import { MessengerError, type MessengerUpdate } from '../../../src/domain/messaging/ports.ts';
import { type ChatStart, deliverAtStart, receiveChatStart } from '../../../src/domain/pinned-messages/deliver.ts';
import { createPinnedMessage } from '../../../src/domain/pinned-messages/pinned-messages.ts';
import type { PinnedDraft } from '../../../src/domain/pinned-messages/types.ts';
import { parseUpdate } from '../../../src/integrations/messenger/updates.ts';
import { FAST } from '../../support/broadcast-samples.ts';
import { aUser, unique } from '../../support/builders.ts';
import { setUser } from '../../support/merge-samples.ts';
import { chats, PINNED, pinSendDone, TOKEN, withoutPinnedMessages } from '../../support/pinned-samples.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp({ environment: FAST });
});
beforeEach(async () => {
  await withoutPinnedMessages(t.app);
  await t.app.db.sql("DELETE FROM jobs.job WHERE name = 'pinned.start' RETURNING id");
});

const aMessage = async (draft: Partial<PinnedDraft> = {}, broadcast = false) =>
  (await createPinnedMessage(t.app, TOKEN, { ...PINNED, ...draft }, { broadcast, language: null })).message;

const update = (messengerId: number, text = '/start', chatId = messengerId): MessengerUpdate =>
  parseUpdate(
    JSON.stringify({
      update_id: unique(),
      message: {
        message_id: unique(),
        date: 0,
        chat: { id: chatId, type: chatId === messengerId ? 'private' : 'supergroup' },
        from: { id: messengerId, is_bot: false, first_name: 'Ann' },
        text,
      },
    }),
  )!;

const queued = () =>
  t.app.db.sql<{ data: ChatStart }>("SELECT data FROM jobs.job WHERE name = 'pinned.start' ORDER BY created_on, ctid");

test('a /start in the own chat is queued once, but groups, other texts and sign-ins are not', async () => {
  const { messengerId } = await aUser(t.app);
  const group = -1_000_000_000_000 - unique();
  await receiveChatStart(t.app, update(messengerId, '/start', group));
  await receiveChatStart(t.app, update(messengerId, '/started'));
  await receiveChatStart(t.app, update(messengerId, 'hello'));
  await receiveChatStart(t.app, update(messengerId, `/start webauth_${'a'.repeat(32)}`));
  expect(await queued()).toEqual([]);
  const first = update(messengerId, '/start@test_bot spring');
  await receiveChatStart(t.app, first);
  await receiveChatStart(t.app, update(messengerId));
  expect(await queued()).toEqual([{ data: { updateId: first.updateId, messengerId } }]);
});

test('spec 05 section 4: the active message is delivered at every start, pinned and recorded', async () => {
  const { id, messengerId } = await aUser(t.app);
  const { app, of, pinsOf } = chats(t.app);
  await deliverAtStart(app, { updateId: 1, messengerId });
  expect(of(messengerId)).toEqual([]);
  const message = await aMessage();
  await deliverAtStart(app, { updateId: 2, messengerId });
  await deliverAtStart(app, { updateId: 3, messengerId });
  const [first, second] = of(messengerId);
  expect([first!.html, first!.isSilent, second!.html]).toEqual(['<b>Hello</b>', true, '<b>Hello</b>']);
  expect(pinsOf(messengerId)).toEqual([second!.messageId]);
  const [row] = await t.app.db.sql('SELECT last_pinned_message_id FROM users WHERE id = $1::int', [id]);
  expect(row).toEqual({ lastPinnedMessageId: message.id });
  // The messenger repeats an update that it believes lost.
  await deliverAtStart(app, { updateId: 3, messengerId });
  expect(of(messengerId)).toHaveLength(2);
});

test('not on every start: only who got another message last gets it, and who got the broadcast does not', async () => {
  const { messengerId } = await aUser(t.app);
  const { app, of } = chats(t.app);
  await aMessage({ sendOnEveryStart: false });
  await deliverAtStart(app, { updateId: 1, messengerId });
  await deliverAtStart(app, { updateId: 2, messengerId });
  expect(of(messengerId)).toHaveLength(1);
  await aMessage({ content: 'next', sendOnEveryStart: false }, true);
  await pinSendDone(app);
  await deliverAtStart(app, { updateId: 3, messengerId });
  expect(of(messengerId).map(({ html }) => html)).toEqual(['<b>Hello</b>', 'next']);
});

test('hazard: a start whose pin failed is pinned by the retry of the job, without another message', async () => {
  const { messengerId } = await aUser(t.app);
  let isAway = true;
  const { app, of, pinsOf } = chats(t.app, (step) => {
    if (step === 'pin' && isAway) throw new MessengerError({ kind: 'unavailable' }, 'away');
  });
  await aMessage({ sendOnEveryStart: false });
  await expect(deliverAtStart(app, { updateId: 1, messengerId })).rejects.toThrow('does not accept');
  isAway = false;
  await deliverAtStart(app, { updateId: 1, messengerId });
  expect(of(messengerId)).toHaveLength(1);
  expect(pinsOf(messengerId)).toEqual([of(messengerId)[0]!.messageId]);
});

test('nobody without an account gets it, nor a blocked account, and a refusal of the messenger is no failure of the job', async () => {
  const blocked = await aUser(t.app);
  await setUser(t.app, blocked.id, { status: 'blocked' });
  const refuser = await aUser(t.app);
  const { app, messages } = chats(t.app, (_step, chatId) => {
    if (chatId === refuser.messengerId) throw new MessengerError({ kind: 'blocked' }, 'blocked');
  });
  await aMessage();
  for (const messengerId of [blocked.messengerId, refuser.messengerId, 6_900_000_000 + unique()]) {
    await deliverAtStart(app, { updateId: unique(), messengerId });
  }
  expect(messages).toEqual([]);
});

test('a chat start and a broadcast at once: one message stays pinned, and its row knows it', async () => {
  const { id, messengerId } = await aUser(t.app);
  let meet: (() => Promise<unknown>) | null = null;
  const { app, of, pinsOf } = chats(t.app, async (step) => {
    if (step !== 'pin') return;
    const other = meet;
    meet = null;
    await other?.();
  });
  await aMessage({}, true);
  // The broadcast reaches the chat between the message of the start and its pin.
  meet = () => pinSendDone(app);
  await deliverAtStart(app, { updateId: 1, messengerId });
  expect(of(messengerId)).toHaveLength(2);
  const [row] = await t.app.db.sql<{ messageId: number; isPinned: boolean }>(
    'SELECT message_id, is_pinned FROM pinned_deliveries WHERE user_id = $1::int',
    [id],
  );
  expect(row).toEqual({ messageId: of(messengerId)[1]!.messageId, isPinned: true });
  expect(pinsOf(messengerId)).toEqual([row!.messageId]);
});
