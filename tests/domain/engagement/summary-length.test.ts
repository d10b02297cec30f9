import { beforeAll, expect, it } from 'vitest';
import { addMs, DAY_MS, HOUR_MS } from '../../../src/core/clock.ts';
import { sendContestSummaries } from '../../../src/domain/engagement/referral-contests/send-summaries.ts';
import { withMessenger } from '../../support/audience-samples.ts';
import { aContest, jobsOf } from '../../support/contest-samples.ts';
import { storeRows } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

/** Characters of a message of the messenger; what stands for a character in HTML is one. */
const MAX_MESSAGE = 4_096;

let t: TestApp;
beforeAll(async () => {
  const admins = { ADMIN_NOTIFICATIONS_ENABLED: 'true', ADMIN_NOTIFICATIONS_CHAT_ID: '-1006' };
  t = await testApp({ environment: { CONTESTS_ENABLED: 'true', ...admins } });
  await t.app.db.sql('DELETE FROM referral_contests');
  await t.app.db.sql("DELETE FROM jobs.job WHERE name = 'messenger.send'");
});

it('04 11.3: the longest texts of administrators leave a summary that the messenger takes', async () => {
  t.clock.set(new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS + 12 * HOUR_MS));
  const { app } = withMessenger(t.app);
  const contest = await aContest(app, {
    title: 'T'.repeat(255),
    prizeText: `A car & ${'x'.repeat(10_000)}`,
    dailySummaryTimes: '12:00',
  });
  await storeRows(
    t.app,
    'ReferralContestVirtualParticipant',
    Array.from({ length: 9 }, (_, n) => ({
      contestId: contest.id,
      displayName: 'N'.repeat(255),
      referralCount: n + 1,
      totalAmountKopeks: 1,
    })),
  );
  await sendContestSummaries(app);
  const [message] = await jobsOf<{ messengerId: number; html: string }>(t.app, 'messenger.send');
  const shown = message!.html.replace(/<[^>]+>/g, '').replace(/&\w+;/g, '&');
  expect(shown).toContain('A car & xxx');
  expect([...shown].length).toBeLessThanOrEqual(MAX_MESSAGE);
  // Once: it is not sent again because the messenger refuses it.
  t.clock.set(addMs(t.clock.now(), HOUR_MS));
  await sendContestSummaries(app);
  expect(await jobsOf(t.app, 'messenger.send')).toHaveLength(1);
});
