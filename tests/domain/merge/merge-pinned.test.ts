import { beforeAll, describe, expect, test } from 'vitest';
import { addMs, HOUR_MS } from '../../../src/core/clock.ts';
import { unique } from '../../support/builders.ts';
import { aPair, merge, type Pair, setUser, userRow } from '../../support/merge-samples.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

interface Delivery {
  chatId: number;
  isPinned: boolean;
  hoursAgo: number;
}

/** @returns the id of the message */
async function deliver(userId: number, { chatId, isPinned, hoursAgo }: Delivery): Promise<number> {
  const messageId = unique();
  await storeRow(t.app, 'PinnedDelivery', {
    userId,
    chatId,
    messageId,
    isPinned,
    sentAt: addMs(t.clock.now(), -hoursAgo * HOUR_MS),
  });
  return messageId;
}

const messagesOf = async ({ primaryId, secondaryId }: Pair): Promise<Record<string, number[]>> => {
  const rows = await t.app.db.sql<{ userId: number; messageId: number }>(
    'SELECT user_id, message_id FROM pinned_deliveries WHERE user_id = ANY($1::int[])',
    [[primaryId, secondaryId]],
  );
  const of = (id: number) => rows.filter(({ userId }) => userId === id).map(({ messageId }) => messageId);
  return { primary: of(primaryId), secondary: of(secondaryId) };
};

describe('01 8: the pinned message in the chat of two accounts that become one', () => {
  test('is the one in the chat of the messenger account that remains, although the other one is newer', async () => {
    const pair = await aPair(t.app);
    const { messengerId } = await userRow(t.app, pair.secondaryId);
    // The primary had a messenger account once.
    await setUser(t.app, pair.primaryId, { messenger_id: null, google_id: `g${unique()}` });
    await deliver(pair.primaryId, { chatId: 4_000_000_000 + unique(), isPinned: true, hoursAgo: 1 });
    const messageId = await deliver(pair.secondaryId, { chatId: messengerId!, isPinned: false, hoursAgo: 90 });
    await merge(t.app, pair);
    expect(await messagesOf(pair)).toEqual({ primary: [messageId], secondary: [] });
    expect((await userRow(t.app, pair.primaryId)).messengerId).toBe(messengerId);
  });

  test("stays the primary's where the primary keeps its messenger account", async () => {
    const pair = await aPair(t.app);
    const [primary, secondary] = [await userRow(t.app, pair.primaryId), await userRow(t.app, pair.secondaryId)];
    const messageId = await deliver(pair.primaryId, { chatId: primary.messengerId!, isPinned: false, hoursAgo: 90 });
    await deliver(pair.secondaryId, { chatId: secondary.messengerId!, isPinned: true, hoursAgo: 1 });
    await merge(t.app, pair);
    expect(await messagesOf(pair)).toEqual({ primary: [messageId], secondary: [] });
  });

  test.each([
    ['pinned before unpinned', { isPinned: false, hoursAgo: 1 }, { isPinned: true, hoursAgo: 50 }, 'secondary'],
    ['newer before older', { isPinned: true, hoursAgo: 50 }, { isPinned: true, hoursAgo: 1 }, 'secondary'],
    ['the newer of the primary', { isPinned: true, hoursAgo: 1 }, { isPinned: true, hoursAgo: 50 }, 'primary'],
    ['the pinned one of the primary', { isPinned: true, hoursAgo: 50 }, { isPinned: false, hoursAgo: 1 }, 'primary'],
  ])('of two in one chat: %s', async (_, ofPrimary, ofSecondary, expected) => {
    const pair = await aPair(t.app);
    const chatId = (await userRow(t.app, pair.secondaryId)).messengerId!;
    await setUser(t.app, pair.primaryId, { messenger_id: null, google_id: `g${unique()}` });
    const primary = await deliver(pair.primaryId, { chatId, ...ofPrimary });
    const secondary = await deliver(pair.secondaryId, { chatId, ...ofSecondary });
    await merge(t.app, pair);
    expect(await messagesOf(pair)).toEqual({ primary: [expected === 'primary' ? primary : secondary], secondary: [] });
  });

  test('moves where the primary has none', async () => {
    const pair = await aPair(t.app);
    const messageId = await deliver(pair.secondaryId, { chatId: 4_000_000_000 + unique(), isPinned: true, hoursAgo: 1 });
    await merge(t.app, pair);
    expect(await messagesOf(pair)).toEqual({ primary: [messageId], secondary: [] });
  });
});
