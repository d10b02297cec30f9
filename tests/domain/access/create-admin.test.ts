import { beforeAll, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { verifyPassword } from '../../../src/core/password-hasher.ts';
import { readEffectiveAccess } from '../../../src/domain/access/effective-access.ts';
import { createAdmin } from '../../../src/domain/identity/create-account.ts';
import { linkEmail } from '../../../src/domain/identity/email/email-address.ts';
import { signInWithInitData } from '../../../src/domain/identity/messenger-sign-in.ts';
import { openSession, refreshSession } from '../../../src/domain/identity/sessions/sessions.ts';
import { unique } from '../../support/builders.ts';
import { recordedEvents } from '../../support/recorded-events.ts';
import { testApp } from '../../support/test-app.ts';
import { actorOf, aMessengerAccount, anUnverifiedAccount, aVerifiedAccount } from '../identity/accounts.ts';
import { signInData } from '../identity/linking-proofs.ts';

const OPERATOR = { kind: 'system', name: 'command line' } as const;
let app: App;
beforeAll(async () => {
  app = (await testApp()).app;
});

const anAddress = () => `Admin${unique()}@Example.com`;

async function accountOf(email: string) {
  const [row] = await app.db.sql<{
    id: number;
    email: string;
    emailVerified: boolean;
    passwordHash: string | null;
    language: string;
  }>('SELECT id, email, email_verified, password_hash, language FROM users WHERE email = $1', [email.toLowerCase()]);
  return row!;
}

describe('making an administrator at the machine', () => {
  it('opens a verified account with the password and every permission', async () => {
    const email = anAddress();
    const made = await createAdmin(app, OPERATOR, { email, password: 'correct horse' });
    const account = await accountOf(email);
    expect(made).toEqual({ userId: account.id, email: email.toLowerCase(), isNew: true, isPasswordSet: true, isLasting: true });
    expect(account.emailVerified).toBe(true);
    expect(await verifyPassword('correct horse', account.passwordHash)).toBe(true);
    expect(await readEffectiveAccess(app, account.id)).toMatchObject({ roles: ['Superadmin'], permissions: ['*:*'], level: 999 });
    expect(await recordedEvents(app, 'user.created', account.id)).toHaveLength(1);
  });

  it('promotes a verified account and does not change password and sessions', async () => {
    const user = await aVerifiedAccount(app);
    const before = await accountOf(user.email);
    const session = await openSession(app, user.id);
    const made = await createAdmin(app, OPERATOR, { email: user.email, password: null });
    expect(made).toMatchObject({ userId: user.id, isNew: false, isPasswordSet: false });
    expect((await accountOf(user.email)).passwordHash).toBe(before.passwordHash);
    expect((await refreshSession(app, session.refreshToken)).accessToken).toBeTruthy();
    expect((await readEffectiveAccess(app, user.id)).level).toBe(999);
  });

  it('does not leave an unverified address to the one who registered it: a new password, no old session', async () => {
    const squatter = await anUnverifiedAccount(app);
    const session = await openSession(app, squatter.id);
    await expect(createAdmin(app, OPERATOR, { email: squatter.email, password: null })).rejects.toMatchObject({
      detail: 'This account needs a password',
    });
    expect((await readEffectiveAccess(app, squatter.id)).level).toBe(0);
    expect((await accountOf(squatter.email)).emailVerified).toBe(false);
    await createAdmin(app, OPERATOR, { email: squatter.email, password: 'the operator’s own' });
    expect(await verifyPassword('the operator’s own', (await accountOf(squatter.email)).passwordHash)).toBe(true);
    await expect(refreshSession(app, session.refreshToken)).rejects.toMatchObject({ status: 401 });
  });

  it('leaves an account that has another way to sign in to its user, without the unverified address', async () => {
    const thief = await aMessengerAccount(app);
    const email = anAddress();
    await linkEmail(app, actorOf(thief.id), { email, password: 'the thief knows it' });
    const session = await openSession(app, thief.id);
    const made = await createAdmin(app, OPERATOR, { email, password: 'the operator’s own' });
    expect(made).toMatchObject({ isNew: true, isPasswordSet: true });
    expect(made.userId).not.toBe(thief.id);
    await expect(refreshSession(app, session.refreshToken)).rejects.toMatchObject({ status: 401 });
    const back = await signInWithInitData(app, { initData: signInData(app, thief.messengerId!), referralCode: null });
    expect(back.user).toMatchObject({ id: thief.id, email: null });
    expect((await readEffectiveAccess(app, thief.id)).level).toBe(0);
    expect((await readEffectiveAccess(app, made.userId)).level).toBe(999);
  });

  it('can be repeated', async () => {
    const email = anAddress();
    const first = await createAdmin(app, OPERATOR, { email, password: 'correct horse' });
    const again = await createAdmin(app, OPERATOR, { email, password: null });
    expect(again).toMatchObject({ userId: first.userId, isNew: false });
    const rows = await app.db.sql('SELECT id FROM user_roles WHERE user_id = $1::int AND is_active', [first.userId]);
    expect(rows).toHaveLength(1);
  });

  it('warns when the lists of the environment will remove the role at the next start', async () => {
    const email = anAddress();
    const listed = (await testApp({ environment: { ADMIN_EMAILS: `someone@example.com,${email}` } })).app;
    const others = (await testApp({ environment: { ADMIN_EMAILS: 'someone@example.com' } })).app;
    expect(await createAdmin(others, OPERATOR, { email, password: 'correct horse' })).toMatchObject({ isLasting: false });
    expect(await createAdmin(listed, OPERATOR, { email, password: null })).toMatchObject({ isLasting: true });
  });

  it('does not wake a blocked or deleted account', async () => {
    const user = await aVerifiedAccount(app);
    await app.db.sql("UPDATE users SET status = 'blocked' WHERE id = $1::int RETURNING id", [user.id]);
    await expect(createAdmin(app, OPERATOR, { email: user.email, password: 'correct horse' })).rejects.toMatchObject({
      status: 403,
      detail: 'User account is not active',
    });
  });

  it.each([
    ['no address', 'correct horse', 'email'],
    ['a@b', 'correct horse', 'email'],
    ['two@example.com, more@example.com', 'correct horse', 'email'],
    ['short@example.com', '1234567', 'password'],
    ['long@example.com', 'x'.repeat(129), 'password'],
  ])('refuses %s', async (email, password, field) => {
    const refusal = await createAdmin(app, OPERATOR, { email, password }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ status: 422, issues: [{ loc: ['body', field] }] });
    if (field === 'password') expect(JSON.stringify(refusal)).not.toContain(password);
  });

  it('is for the operator only', async () => {
    const request = { email: anAddress(), password: 'correct horse' };
    await expect(createAdmin(app, { kind: 'token', tokenId: 1, name: 'any' }, request)).rejects.toMatchObject({ status: 403 });
    await expect(createAdmin(app, { kind: 'user', userId: 1 }, request)).rejects.toMatchObject({ status: 403 });
  });
});
