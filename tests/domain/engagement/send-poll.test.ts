import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { MINUTE_MS } from '../../../src/core/clock.ts';
import { runJob } from '../../../src/core/jobs/define-job.ts';
import { deliverPollInvitations } from '../../../src/domain/engagement/jobs.ts';
import { deliverPoll, sendPoll } from '../../../src/domain/engagement/polls/send-poll.ts';
import { MessengerError } from '../../../src/domain/messaging/ports.ts';
import { aCrowd, aSegment, withMessenger } from '../../support/audience-samples.ts';
import { aUser } from '../../support/builders.ts';
import { aPoll, lastSend } from '../../support/poll-samples.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});
afterEach(() => {
  vi.restoreAllMocks();
});

const limited = (retryAfterSeconds: number) => new MessengerError({ kind: 'rate_limited', retryAfterSeconds }, 'slow');

/** A poll whose invitations all wait in the queue, as after a request that the messenger held up. */
async function aWaitingPoll(count: number) {
  const { target, users } = await aSegment(t.app, count);
  const poll = await aPoll(t.app);
  const state = { isHurried: true, tried: 0 };
  const { app, sent } = withMessenger(t.app, () => {
    state.tried += 1;
    if (state.isHurried) throw limited(90);
  });
  const answer = await sendPoll(app, poll.id, target);
  const { id: sendId } = await lastSend(t.app, poll.id);
  return { app, sent, state, answer, poll, users, sendId };
}

/** Jobs of a call by the seconds from now at which they begin. */
async function jobsOf(sendId: number): Promise<number[]> {
  const rows = await t.app.db.sql<{ seconds: number }>(
    `SELECT extract(epoch FROM start_after - now())::float8 AS seconds FROM jobs.job
     WHERE name = 'games.deliver-poll' AND data ->> 'sendId' = $1 ORDER BY 1`,
    [String(sendId)],
  );
  return rows.map(({ seconds }) => seconds);
}

/** The monotonic clock leaps at each look, so that whoever has a bound in time is over it at the second one. */
const hurryTime = () => {
  let reading = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (reading += 10 * MINUTE_MS));
};

describe('who sends an invitation (spec 04 sections 12.4 and 15)', () => {
  test('a rate limit ends the run after the messages being sent, and the next run starts after the delay', async () => {
    const { answer, state, app, sent, sendId, poll } = await aWaitingPoll(33);
    expect(answer).toEqual({ sent: 0, failed: 0, skipped: 0, total: 33 });
    expect(state.tried).toBe(30);
    await deliverPoll(app, { sendId });
    expect(state.tried).toBe(60);
    const [wait, background] = await jobsOf(sendId);
    expect(wait).toBeGreaterThan(80);
    expect(wait).toBeLessThanOrEqual(90);
    expect(background).toBeGreaterThan(100);
    state.isHurried = false;
    await deliverPoll(app, { sendId });
    expect(new Set(sent.map(({ chatId }) => chatId)).size).toBe(33);
    expect(await lastSend(t.app, poll.id)).toMatchObject({ sent: 33, total: 33, finished: true });
    expect(await jobsOf(sendId)).toHaveLength(2);
  });

  test('an unreachable messenger gets the message again, unless it may have received it', async () => {
    const { target, users } = await aSegment(t.app, 2);
    const poll = await aPoll(t.app);
    let isDown = true;
    const { app, sent } = withMessenger(t.app, (chatId) => {
      if (!isDown) return;
      const mayHaveArrived = chatId === users[0]!.messengerId && { mayHaveArrived: true as const };
      throw new MessengerError({ kind: 'unavailable', ...mayHaveArrived }, 'down');
    });
    expect(await sendPoll(app, poll.id, target)).toEqual({ sent: 0, failed: 1, skipped: 0, total: 2 });
    isDown = false;
    await deliverPoll(app, { sendId: (await lastSend(t.app, poll.id)).id });
    expect(sent.map(({ chatId }) => chatId)).toEqual([users[1]!.messengerId]);
  });

  test('messages claimed by a run are not sent by another one until it must have crashed', async () => {
    const { app, sent, state, users, sendId, poll } = await aWaitingPoll(3);
    state.isHurried = false;
    // As after a process that was killed between taking an invitation and noting what became of it.
    await t.app.db.sql(
      `UPDATE poll_responses SET delivery_state = 'sending', claimed_at = $3::timestamptz WHERE send_id = $1::int AND user_id = $2::int
       RETURNING id`,
      [sendId, users[1]!.id, t.app.clock.now()],
    );
    await deliverPoll(app, { sendId });
    await deliverPoll(app, { sendId });
    const chats = () => sent.map(({ chatId }) => chatId).sort();
    expect(chats()).toEqual([users[0]!.messengerId, users[2]!.messengerId].sort());
    expect(await lastSend(t.app, poll.id)).toMatchObject({ sent: 2, finished: false });
    // Somebody comes back for it.
    expect((await jobsOf(sendId)).at(-1)).toBeGreaterThan(600);
    t.clock.advance(11 * MINUTE_MS);
    await deliverPoll(app, { sendId });
    expect(chats()).toEqual(users.map(({ messengerId }) => messengerId).sort());
    expect(await lastSend(t.app, poll.id)).toMatchObject({ sent: 3, finished: true });
  });

  test('a run has a time limit, and the next job continues', async () => {
    const { app, sent, state, sendId } = await aWaitingPoll(2);
    state.isHurried = false;
    const before = (await jobsOf(sendId)).length;
    hurryTime();
    await deliverPoll(app, { sendId });
    expect(sent).toEqual([]);
    expect(await jobsOf(sendId)).toHaveLength(before + 1);
    expect((await jobsOf(sendId))[0]).toBeLessThanOrEqual(0);
  });

  test('a stopping process starts no further message, and the next job continues', async () => {
    const { app, sent, state, sendId } = await aWaitingPoll(2);
    state.isHurried = false;
    await runJob(app, deliverPollInvitations, { id: 'job', data: { sendId }, signal: AbortSignal.abort() });
    expect(sent).toEqual([]);
    expect((await jobsOf(sendId))[0]).toBeLessThanOrEqual(0);
  });

  test('a sent message is recorded although the database was unavailable for a short time: it is not sent again', async () => {
    const { app, sent, state, sendId, poll } = await aWaitingPoll(1);
    state.isHurried = false;
    let isAway = true;
    const sql: typeof app.db.sql = async (text, values) => {
      if (isAway && text.includes("delivery_state = 'sending' RETURNING r.send_id")) {
        isAway = false;
        throw Object.assign(new Error('Connection terminated'), { code: 'ECONNRESET' });
      }
      return app.db.sql(text, values);
    };
    await deliverPoll({ ...app, db: { ...app.db, sql } }, { sendId });
    expect(isAway).toBe(false);
    expect(sent).toHaveLength(1);
    expect(await lastSend(t.app, poll.id)).toMatchObject({ sent: 1, finished: true });
  });
});

describe('a large audience (12.2)', () => {
  test('is written one batch per transaction, and the job writes what the request could not, each member once', async () => {
    const referrer = await aUser(t.app);
    await aCrowd(t.app, 2_001, { referred_by_id: referrer.id });
    const poll = await aPoll(t.app);
    hurryTime();
    expect(await sendPoll(t.app, poll.id, 'custom_referrals')).toEqual({ sent: 0, failed: 0, skipped: 2_000, total: 2_001 });
    vi.restoreAllMocks();
    const { id: sendId } = await lastSend(t.app, poll.id);
    const count = async () => {
      const [row] = await t.app.db.sql<{ n: number }>('SELECT count(*)::int AS n FROM poll_responses WHERE poll_id = $1::int', [
        poll.id,
      ]);
      return row!.n;
    };
    expect(await count()).toBe(2_000);
    await deliverPoll(t.app, { sendId });
    await deliverPoll(t.app, { sendId });
    expect(await count()).toBe(2_001);
    expect(await lastSend(t.app, poll.id)).toMatchObject({ skipped: 2_001, total: 2_001, finished: true });
    // Again to everybody: nobody gets a second row.
    expect(await sendPoll(t.app, poll.id, 'custom_referrals')).toEqual({ sent: 0, failed: 0, skipped: 2_001, total: 2_001 });
    expect(await count()).toBe(2_001);
  });
});
