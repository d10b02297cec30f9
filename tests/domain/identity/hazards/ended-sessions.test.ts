/** Spec 01 section 19, H8: what a session had in its hands when it was ended is worth nothing afterwards. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AdminActor } from '../../../../src/core/actor.ts';
import type { App } from '../../../../src/core/app.ts';
import { authenticateUser } from '../../../../src/domain/identity/authenticate-user.ts';
import { resetPassword } from '../../../../src/domain/identity/email/reset-password.ts';
import { signInWithPassword } from '../../../../src/domain/identity/email/sign-in-with-password.ts';
import { handlePasswordReset } from '../../../../src/domain/identity/jobs.ts';
import { linkMessenger } from '../../../../src/domain/identity/linking/link-messenger.ts';
import { completeLinkingByState, startLinking } from '../../../../src/domain/identity/linking/link-provider.ts';
import { openSession } from '../../../../src/domain/identity/sessions/open-session.ts';
import { mergeAccounts } from '../../../../src/domain/merge/merge-accounts.ts';
import { previewMerge } from '../../../../src/domain/merge/preview-merge.ts';
import { changeUserStatus } from '../../../../src/domain/users/admin/changes/change-status.ts';
import { type OAuthIssuer, startOAuthIssuer } from '../../../fakes/oauth-issuer.ts';
import { type TestClock, testApp } from '../../../support/test-app.ts';
import { aMessengerAccount, aVerifiedAccount, mailedSecret, PASSWORD } from '../accounts.ts';
import { signInData } from '../linking-proofs.ts';
import { someone, withIssuer } from '../oauth-setup.ts';

let app: App;
let clock: TestClock;
let issuer: OAuthIssuer;
beforeAll(async () => {
  issuer = await startOAuthIssuer();
  const t = await testApp();
  app = withIssuer(t.app, issuer);
  clock = t.clock;
});
afterAll(() => issuer.close());

const NEW_PASSWORD = 'another password';
const enter = (bearer: string) => authenticateUser(app, { bearer, initData: null });
const refused = { status: 401, detail: 'Invalid or expired token' };

type Account = Awaited<ReturnType<typeof aVerifiedAccount>>;

async function reset({ email }: Account): Promise<void> {
  clock.advance(2_000);
  await handlePasswordReset(app, { email });
  await resetPassword(app, { token: await mailedSecret(app, email), password: NEW_PASSWORD });
}

describe('H8: after a new password', () => {
  test('access tokens from before are refused, those of the next sign-in are not', async () => {
    const account = await aVerifiedAccount(app);
    const other = await openSession(app, account.id);
    await expect(enter(other.accessToken)).resolves.toMatchObject({ userId: account.id });
    await reset(account);
    for (const { accessToken } of [account.signIn, other]) await expect(enter(accessToken)).rejects.toMatchObject(refused);
    await expect(signInWithPassword(app, { email: account.email, password: PASSWORD })).rejects.toMatchObject({ status: 401 });
    const next = await signInWithPassword(app, { email: account.email, password: NEW_PASSWORD });
    await expect(enter(next.accessToken)).resolves.toMatchObject({ userId: account.id });
  });

  test('a way of linking that was begun before gives nobody a way in', async () => {
    const account = await aVerifiedAccount(app);
    const { authorizeUrl } = await startLinking(app, account.actor, 'google');
    const callback = await issuer.approve(authorizeUrl, someone());
    await reset(account);
    await expect(completeLinkingByState(app, { ...callback, provider: null })).rejects.toMatchObject({
      status: 400,
      detail: 'Invalid or expired OAuth state',
    });
    const again = await startLinking(app, account.actor, 'google');
    const { outcome } = await completeLinkingByState(app, {
      ...(await issuer.approve(again.authorizeUrl, someone())),
      provider: null,
    });
    expect(outcome).toEqual({ kind: 'linked' });
  });

  test('an offer to merge that was made before is void', async () => {
    const account = await aVerifiedAccount(app);
    const thief = await aMessengerAccount(app);
    const initData = signInData(app, thief.messengerId!);
    const outcome = await linkMessenger(app, account.actor, { initData });
    const token = outcome.kind === 'merge_required' ? outcome.mergeToken : '';
    await previewMerge(app, token);
    await reset(account);
    await expect(previewMerge(app, token)).rejects.toMatchObject({ status: 404, detail: 'Merge token is invalid or expired' });
    await expect(mergeAccounts(app, { token, keepSubscriptionFrom: account.id })).rejects.toMatchObject({
      status: 404,
      detail: 'Merge token is invalid, expired, or already consumed',
    });
  });
});

test('H8: a blocked user who is let in again signs in anew', async () => {
  const admin: AdminActor = { kind: 'admin', userId: 2_000_000_000, level: 1_000, isConfigAdmin: true };
  const { id, signIn } = await aVerifiedAccount(app);
  clock.advance(2_000);
  await changeUserStatus(app, admin, id, 'blocked', null);
  await expect(enter(signIn.accessToken)).rejects.toMatchObject({ status: 403 });
  await changeUserStatus(app, admin, id, 'active', null);
  await expect(enter(signIn.accessToken)).rejects.toMatchObject(refused);
  await expect(enter((await openSession(app, id)).accessToken)).resolves.toMatchObject({ userId: id });
});
