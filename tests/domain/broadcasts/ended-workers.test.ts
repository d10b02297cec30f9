import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { pauseBroadcast, retryBroadcast, stopBroadcast } from '../../../src/domain/broadcasts/broadcasts.ts';
import { continueAbandoned, readSends } from '../../../src/domain/mass-sends/control-sends.ts';
import { claimRecipients, prepareShare, releaseSend, takeOverAbandoned, takeSend } from '../../../src/domain/mass-sends/repo.ts';
import { aSegment } from '../../support/audience-samples.ts';
import {
  aBroadcast,
  delivered,
  FAST,
  KINDS,
  recipientsOf,
  recordingMessenger,
  runParts,
} from '../../support/broadcast-samples.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp({ environment: FAST });
});
beforeEach(() => t.app.db.sql('TRUNCATE send_paces'));

const chatsOf = (users: readonly { messengerId: number }[]) => users.map(({ messengerId }) => messengerId).sort();

describe('a worker that ends', () => {
  /** A broadcast to `size` recipients whose worker was killed while `underWay` of them were sent it; its lease has ended. */
  async function abandoned(size: number, underWay: number) {
    const { target, users } = await aSegment(t.app, size);
    const { app, sent } = recordingMessenger(t.app);
    const broadcast = await aBroadcast(app, target);
    const [part] = await readSends(app, 'broadcast', [broadcast.id]);
    // What a process does before it is killed.
    const taken = (await takeSend(app.db, part!.id, 60_000, t.clock.now()))!;
    while ((await prepareShare(app.db, KINDS.broadcast, taken, 1_000_000)) === false);
    const claimed = await claimRecipients(app.db, taken, underWay);
    expect(claimed).toHaveLength(underWay);
    // While its lease lasts nobody else begins.
    expect(await runParts(app, broadcast)).toEqual([{ isOver: true }]);
    expect(sent).toHaveLength(0);
    await app.db.sql(
      "UPDATE mass_sends SET leased_until = clock_timestamp() - interval '1 second' WHERE id = $1::int RETURNING id",
      [part!.id],
    );
    const chatsUnderWay = chatsOf(users.filter(({ id }) => claimed.some(({ userId }) => userId === id)));
    return { app, sent, users, broadcast, taken, chatsUnderWay };
  }

  test('spec 10 O14: is followed by another, which sends nothing again of what was under way and shows it as unconfirmed', async () => {
    const { app, sent, users, broadcast, taken, chatsUnderWay } = await abandoned(40, 10);
    const after = await delivered(app, broadcast);
    expect(after).toMatchObject({
      status: 'partial',
      totalCount: 40,
      sentCount: 30,
      failedCount: 0,
      unconfirmedCount: 10,
      repeatedCount: 0,
      progressPercent: 100,
      completedAt: t.clock.now(),
    });
    expect(sent.map(({ chatId }) => chatId).sort()).toEqual(chatsOf(users).filter((chat) => !chatsUnderWay.includes(chat)));
    // Nothing that runs later sends it either.
    await continueAbandoned(app);
    await runParts(app, broadcast);
    expect(sent).toHaveLength(30);
    // The first worker was only slow: it can neither claim nor count any more.
    expect(await claimRecipients(app.db, taken, 10)).toEqual([]);
  });

  test('spec 10 O14: an administrator has it sent again to unconfirmed recipients only, who are marked, once', async () => {
    const { app, sent, broadcast, chatsUnderWay } = await abandoned(12, 5);
    await delivered(app, broadcast);
    sent.length = 0;
    expect(await retryBroadcast(app, broadcast.id)).toMatchObject({
      status: 'in_progress',
      unconfirmedCount: 0,
      repeatedCount: 5,
      completedAt: null,
    });
    expect(await delivered(app, broadcast)).toMatchObject({
      status: 'completed',
      totalCount: 12,
      sentCount: 12,
      unconfirmedCount: 0,
      repeatedCount: 5,
    });
    expect(sent.map(({ chatId }) => chatId).sort()).toEqual(chatsUnderWay);
    expect((await recipientsOf(app, broadcast)).filter(({ isRepeated }) => isRepeated)).toHaveLength(5);
    const refusal = { status: 400, message: 'Broadcast has no unconfirmed recipients to send it to again' };
    await expect(retryBroadcast(app, broadcast.id)).rejects.toMatchObject(refusal);
    await expect(retryBroadcast(app, 2_000_000_000)).rejects.toMatchObject({ status: 404 });
  });

  test('spec 10 O14: the same where the broadcast is paused, which resumes it', async () => {
    const { app, sent, users, broadcast } = await abandoned(6, 2);
    await continueAbandoned(app);
    const [part] = await readSends(app, 'broadcast', [broadcast.id]);
    const next = (await takeSend(app.db, part!.id, 60_000, t.clock.now()))!;
    expect(await takeOverAbandoned(app.db, KINDS.broadcast, next)).toBe(2);
    await releaseSend(app.db, next);
    await pauseBroadcast(app, broadcast.id);
    expect(await retryBroadcast(app, broadcast.id)).toMatchObject({ status: 'in_progress', repeatedCount: 2 });
    expect(await delivered(app, broadcast)).toMatchObject({ status: 'completed', sentCount: 6 });
    expect(sent.map(({ chatId }) => chatId).sort()).toEqual(chatsOf(users));
  });

  test('a stop of a broadcast whose worker ended settles what was under way, and nothing starts it again', async () => {
    const { app, sent, broadcast } = await abandoned(5, 2);
    expect(await stopBroadcast(app, broadcast.id)).toMatchObject({ status: 'cancelled', totalCount: 5, unconfirmedCount: 2 });
    await expect(retryBroadcast(app, broadcast.id)).rejects.toMatchObject({ status: 400 });
    await runParts(app, broadcast);
    expect(sent).toHaveLength(0);
  });
});
