import { decodeJwt } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { signInitData } from '../../../packages/sandbox/src/messenger/messenger-state.ts';
import type { App } from '../../../src/core/app.ts';
import { authenticateUser } from '../../../src/domain/identity/authenticate.ts';
import { signInWithInitData } from '../../../src/domain/identity/messenger-sign-in.ts';
import { unique } from '../../support/builders.ts';
import { testApp } from '../../support/test-app.ts';
import { TEST_BOT_TOKEN } from '../../support/test-sandbox.ts';
import { aMessengerAccount } from './accounts.ts';

let app: App;
beforeAll(async () => {
  app = (await testApp()).app;
});

const dataOf = (id: number, fields: object = {}) =>
  signInitData(TEST_BOT_TOKEN, { id, first_name: 'Ann', username: 'ann', language_code: 'en', ...fields }, app.clock.now());
const signIn = (initData: string, referralCode: string | null = null) => signInWithInitData(app, { initData, referralCode });
const newId = () => 9_000_000_000 + unique();

describe('messenger sign-in', () => {
  it('creates the account once and takes over changed names', async () => {
    const id = newId();
    const first = await signIn(dataOf(id, { last_name: 'Lee' }));
    expect(first.user).toMatchObject({
      messengerId: id,
      authType: 'messenger',
      language: 'en',
      lastName: 'Lee',
      username: 'ann',
    });
    expect(decodeJwt(first.accessToken)).toMatchObject({ messenger_id: id });
    const again = await signIn(dataOf(id, { first_name: '<Anna>', language_code: 'ru' }));
    expect(again.user).toMatchObject({ id: first.user.id, firstName: '‹Anna›', lastName: 'Lee', language: 'en' });
  });

  it('spec 10 O4: a name with a banned word is not stored, at the first sign-in and later', async () => {
    const { app: strict } = await testApp({ environment: { DISPLAY_NAME_BANNED_KEYWORDS: 'casino, t.me/' } });
    const id = newId();
    const signInAs = (fields: object) => signInWithInitData(strict, { initData: dataOf(id, fields), referralCode: null });
    expect((await signInAs({ first_name: 'Best Casino', last_name: 'Lee' })).user).toMatchObject({
      firstName: null,
      lastName: 'Lee',
    });
    expect((await signInAs({ first_name: 'Ann', last_name: 'Lee' })).user).toMatchObject({ firstName: 'Ann', lastName: 'Lee' });
    expect((await signInAs({ first_name: 'see t.me/shop', last_name: 'CASINO' })).user).toMatchObject({
      firstName: 'Ann',
      lastName: 'Lee',
      username: 'ann',
    });
  });

  it('counts a referral code for a new account only, and never its own', async () => {
    const referrer = await aMessengerAccount(app);
    const guest = newId();
    expect((await signIn(dataOf(guest), referrer.referralCode)).user.referredById).toBe(referrer.id);
    const other = await aMessengerAccount(app);
    expect((await signIn(dataOf(guest), other.referralCode)).user.referredById).toBe(referrer.id);
    expect((await signIn(dataOf(other.messengerId!), other.referralCode)).user.referredById).toBeNull();
    expect((await signIn(dataOf(newId()), 'unknown')).user.referredById).toBeNull();
  });

  it('refuses foreign data, data without a user and users who are not active', async () => {
    const unauthorized = { status: 401, headers: { 'WWW-Authenticate': 'Bearer' } };
    await expect(signIn('user=1&hash=2')).rejects.toMatchObject({
      ...unauthorized,
      detail: 'Invalid or expired Messenger authentication data',
    });
    await expect(signIn(dataOf(0))).rejects.toMatchObject({ ...unauthorized, detail: 'Missing Messenger user ID' });
    const user = await aMessengerAccount(app);
    await app.db.sql("UPDATE users SET status = 'blocked' WHERE id = $1 RETURNING id", [user.id]);
    await expect(signIn(dataOf(user.messengerId!))).rejects.toMatchObject({ status: 403, detail: 'User account is not active' });
  });

  it('ends a session that another messenger account opened in the mini-app', async () => {
    const id = newId();
    const { accessToken, user } = await signIn(dataOf(id));
    const gate = (initData: string) => authenticateUser(app, { bearer: accessToken, initData });
    expect(await gate(dataOf(id))).toMatchObject({ kind: 'user', userId: user.id });
    expect(await gate('cannot be verified')).toMatchObject({ kind: 'user', userId: user.id });
    await expect(gate(dataOf(newId()))).rejects.toMatchObject({
      status: 401,
      detail: 'Session belongs to a different Messenger account. Please restart the app.',
    });
  });
});
