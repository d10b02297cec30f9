import { beforeAll, describe, expect, test } from 'vitest';
import { registerReferralAtSignIn } from '../../../src/domain/referrals/register-referral.ts';
import { effectiveCommissionPercent } from '../../../src/domain/referrals/rewards.ts';
import { aUser } from '../../support/builders.ts';
import { setUser, userRow } from '../../support/merge-samples.ts';
import { recordedTypesOf } from '../../support/recorded-events.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

const earningsOf = (referralId: number) =>
  t.app.db.sql<{ userId: number; amountKopeks: number }>(
    'SELECT user_id, amount_kopeks FROM referral_earnings WHERE referral_id = $1::int',
    [referralId],
  );
const messagesTo = async (messengerId: number) =>
  (
    await t.app.db.sql<{ html: string }>(
      `SELECT data->>'html' AS html FROM jobs.job WHERE name = 'messenger.send' AND (data->>'messengerId')::bigint = $1::bigint`,
      [messengerId],
    )
  ).map((row) => row.html);
const codeOf = async (id: number) => (await userRow(t.app, id)).referralCode;

describe('registerReferralAtSignIn', () => {
  test('registers the referrer that the account was created with: once, with a message to both', async () => {
    const [referrer, newcomer] = [await aUser(t.app, { language: 'en' }), await aUser(t.app, { language: 'en' })];
    await setUser(t.app, newcomer.id, { referred_by_id: referrer.id, first_name: 'Eve <b>', last_name: null });
    await registerReferralAtSignIn(t.app, newcomer.id, null);
    await registerReferralAtSignIn(t.app, newcomer.id, null);
    expect(await earningsOf(newcomer.id)).toEqual([{ userId: referrer.id, amountKopeks: 0 }]);
    const [toReferrer, ...more] = await messagesTo(referrer.messengerId);
    expect(more).toEqual([]);
    expect(toReferrer).toContain('Eve &lt;b&gt;');
    expect(toReferrer).toContain('25%');
    const welcome = await messagesTo(newcomer.messengerId);
    expect(welcome).toHaveLength(1);
    expect(welcome[0]).toContain('100');
  });

  test('by the code, for an account without referrer, and the referrer reads the personal commission', async () => {
    const [referrer, newcomer] = [await aUser(t.app), await aUser(t.app)];
    await setUser(t.app, referrer.id, { referral_commission_percent: 40 });
    await registerReferralAtSignIn(t.app, newcomer.id, await codeOf(referrer.id));
    expect(await userRow(t.app, newcomer.id)).toMatchObject({ referredById: referrer.id });
    expect((await messagesTo(referrer.messengerId))[0]).toContain('40%');
  });

  test('nothing for an unknown code, the own code, a code in other letters, a deleted referrer', async () => {
    const [gone, newcomer] = [await aUser(t.app), await aUser(t.app)];
    await setUser(t.app, gone.id, { status: 'deleted' });
    const codes = [
      'refNobody1',
      await codeOf(newcomer.id),
      (await codeOf(gone.id)).toUpperCase(),
      await codeOf(gone.id),
      '',
      null,
    ];
    for (const code of codes) await registerReferralAtSignIn(t.app, newcomer.id, code);
    expect(await userRow(t.app, newcomer.id)).toMatchObject({ referredById: null });
    expect(await earningsOf(newcomer.id)).toEqual([]);
  });

  test('never overwrites a referrer, never makes somebody his own ancestor, never throws', async () => {
    const [first, second, newcomer] = [await aUser(t.app), await aUser(t.app), await aUser(t.app)];
    await setUser(t.app, newcomer.id, { referred_by_id: first.id });
    await registerReferralAtSignIn(t.app, newcomer.id, await codeOf(second.id));
    expect(await userRow(t.app, newcomer.id)).toMatchObject({ referredById: first.id });
    expect(await earningsOf(newcomer.id)).toEqual([{ userId: first.id, amountKopeks: 0 }]);
    await registerReferralAtSignIn(t.app, first.id, await codeOf(newcomer.id));
    expect(await userRow(t.app, first.id)).toMatchObject({ referredById: null });
    await registerReferralAtSignIn(t.app, 2_147_000_000, await codeOf(first.id));
  });

  test('without a messenger a mail is sent to a verified address, and the sockets of the referrer are notified', async () => {
    const stamp = `${Date.now()}`;
    const [referrer, newcomer] = [
      await aUser(t.app, { email: `r${stamp}@example.com` }),
      await aUser(t.app, { email: `n${stamp}@example.com` }),
    ];
    await setUser(t.app, referrer.id, { messenger_id: null });
    await setUser(t.app, newcomer.id, { messenger_id: null, referred_by_id: referrer.id, email_verified: false });
    await registerReferralAtSignIn(t.app, newcomer.id, null);
    const mails = await t.app.db.sql<{ recipient: string; template: string }>(
      'SELECT recipient, template FROM outgoing_mails WHERE recipient = ANY($1::text[])',
      [[`r${stamp}@example.com`, `n${stamp}@example.com`]],
    );
    expect(mails).toEqual([{ recipient: `r${stamp}@example.com`, template: 'referral_registered' }]);
    expect(await recordedTypesOf(t.app, referrer.id, { audience: 'user' })).toEqual([
      'referral.registered',
      'notification.referral_registered',
    ]);
  });

  test('no messages while they are switched off', async () => {
    const quiet = await testApp({ environment: { REFERRAL_NOTIFICATIONS_ENABLED: 'false' } });
    const [referrer, newcomer] = [await aUser(t.app), await aUser(t.app)];
    await registerReferralAtSignIn(quiet.app, newcomer.id, await codeOf(referrer.id));
    expect(await earningsOf(newcomer.id)).toHaveLength(1);
    expect(await messagesTo(referrer.messengerId)).toEqual([]);
  });
});

test('the effective commission is the personal one where it is a percentage, else the global one within 0..100', () => {
  expect(effectiveCommissionPercent(0, 25)).toBe(0);
  expect(effectiveCommissionPercent(null, 25)).toBe(25);
  expect(effectiveCommissionPercent(101, 25)).toBe(25);
  expect(effectiveCommissionPercent(-1, 250)).toBe(100);
});
