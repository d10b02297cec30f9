import { beforeAll, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/core/clock.ts';
import { isWithinLimit } from '../../../src/core/rate-limit.ts';
import { isConfigAdmin } from '../../../src/domain/access/effective-access.ts';
import { linkEmail, resendVerification, verifyEmail } from '../../../src/domain/identity/email/email-address.ts';
import {
  accountLimitKey,
  mailPasswordReset,
  requestPasswordReset,
  resetPassword,
  signInWithPassword,
} from '../../../src/domain/identity/email/password.ts';
import { registerAccount } from '../../../src/domain/identity/email/register-account.ts';
import { findUserByEmail, findUserById } from '../../../src/domain/identity/find-user.ts';
import { refreshSession } from '../../../src/domain/identity/sessions/sessions.ts';
import { deliverMail } from '../../../src/domain/messaging/send-mail.ts';
import { type TestClock, testApp } from '../../support/test-app.ts';
import {
  actorOf,
  aMessengerAccount,
  anAddress,
  anUnverifiedAccount,
  aVerifiedAccount,
  mailedSecret,
  PASSWORD,
  waitingMails,
} from './accounts.ts';

let app: App;
let clock: TestClock;
beforeAll(async () => {
  ({ app, clock } = await testApp());
});

const registration = (email: string) => ({ email, password: PASSWORD, firstName: null, language: 'ru', referralCode: null });
const wrongCredentials = { status: 401, detail: 'Invalid email or password', headers: { 'WWW-Authenticate': 'Bearer' } };

describe('registration', () => {
  it('stores a lower-cased unverified account, mails a link whose hash alone is stored, and verifies once', async () => {
    const email = anAddress();
    const made = await registerAccount(app, { ...registration(email.toUpperCase()), firstName: 'Ann', language: 'en' });
    expect(made).toEqual({ userId: expect.any(Number), email, requiresVerification: true });
    expect(await findUserByEmail(app, email)).toMatchObject({ authType: 'email', firstName: 'Ann', emailVerified: false });
    const [mail] = await waitingMails(app, email);
    expect(mail!.template).toBe('email_verification');
    expect(mail!.text).toContain('https://cabinet.example.com/verify-email?token=');
    const token = await mailedSecret(app, email);
    const [stored] = await app.db.sql<{ text: string }>('SELECT u::text AS text FROM users u WHERE email = $1', [email]);
    expect(stored!.text).not.toContain(token);
    await expect(signInWithPassword(app, { email, password: PASSWORD })).rejects.toMatchObject({
      status: 403,
      detail: 'Please verify your email first',
    });
    const signIn = await verifyEmail(app, token);
    expect(signIn.user).toMatchObject({ email, emailVerified: true });
    await expect(verifyEmail(app, token)).rejects.toMatchObject({ status: 400, detail: 'Invalid verification token' });
    expect((await signInWithPassword(app, { email: email.toUpperCase(), password: PASSWORD })).user.id).toBe(signIn.user.id);
  });

  it('refuses what the table refuses', async () => {
    const { email } = await anUnverifiedAccount(app);
    await expect(registerAccount(app, registration(email.toUpperCase()))).rejects.toMatchObject({
      status: 400,
      detail: 'This email is already registered',
    });
    await expect(registerAccount(app, registration('x@mailinator.com'))).rejects.toMatchObject({
      status: 400,
      detail: 'Disposable email addresses are not allowed',
    });
    await expect(registerAccount(app, registration('x@mail.test'))).rejects.toMatchObject({ status: 422 });
    const off = (await testApp({ environment: { CABINET_EMAIL_AUTH_ENABLED: 'false' } })).app;
    await expect(registerAccount(off, registration(anAddress()))).rejects.toMatchObject({ status: 403 });
    await expect(signInWithPassword(off, { email, password: PASSWORD })).rejects.toMatchObject({ status: 403 });
  });

  it('remembers the referrer, but not oneself or an unknown code', async () => {
    const referrer = await aVerifiedAccount(app);
    const code = referrer.signIn.user.referralCode;
    const [guest, stranger] = [anAddress(), anAddress()];
    await registerAccount(app, { ...registration(guest), referralCode: code });
    await registerAccount(app, { ...registration(stranger), referralCode: code.toUpperCase() });
    expect((await findUserByEmail(app, guest))!.referredById).toBe(referrer.id);
    expect((await findUserByEmail(app, stranger))!.referredById).toBeNull();
  });

  it('signs an unverified account in where verification is off, and the address stays unverified (spec 01 H1)', async () => {
    const email = anAddress();
    const off = (await testApp({ environment: { CABINET_EMAIL_VERIFICATION_ENABLED: 'false', ADMIN_EMAILS: email } })).app;
    expect(await registerAccount(off, registration(email))).toEqual({
      userId: expect.any(Number),
      email,
      requiresVerification: false,
    });
    const { user } = await signInWithPassword(off, { email, password: PASSWORD });
    expect(await waitingMails(off, email)).toEqual([]);
    expect(isConfigAdmin(off, user)).toBe(false);
  });

  it('knows the test account outside production only', async () => {
    const email = anAddress();
    const test = (await testApp({ environment: { TEST_EMAIL: email, TEST_EMAIL_PASSWORD: 'test-password' } })).app;
    await expect(registerAccount(test, registration(email))).rejects.toMatchObject({ detail: 'Invalid test email password' });
    await expect(signInWithPassword(test, { email, password: PASSWORD })).rejects.toMatchObject(wrongCredentials);
    const { user } = await signInWithPassword(test, { email, password: 'test-password' });
    expect(user).toMatchObject({ firstName: 'Test User', emailVerified: true });
    const admin = anAddress();
    const both = (
      await testApp({ environment: { TEST_EMAIL: admin, TEST_EMAIL_PASSWORD: 'test-password', ADMIN_EMAILS: admin } })
    ).app;
    await expect(signInWithPassword(both, { email: admin, password: 'test-password' })).rejects.toMatchObject(wrongCredentials);
  });
});

describe('verification', () => {
  it('ends after 24 hours and is renewed by resend', async () => {
    const account = await anUnverifiedAccount(app);
    const old = await mailedSecret(app, account.email);
    clock.advance(DAY_MS + 1_000);
    await expect(verifyEmail(app, old)).rejects.toMatchObject({ status: 400, detail: 'Verification token has expired' });
    await resendVerification(app, account.actor);
    await expect(verifyEmail(app, old)).rejects.toMatchObject({ status: 400, detail: 'Invalid verification token' });
    await verifyEmail(app, await mailedSecret(app, account.email));
    await expect(resendVerification(app, account.actor)).rejects.toMatchObject({
      status: 400,
      detail: 'Email is already verified',
    });
  });

  it('issues nothing to a blocked user (spec 01 H27)', async () => {
    const account = await anUnverifiedAccount(app);
    await app.db.sql("UPDATE users SET status = 'blocked' WHERE id = $1 RETURNING id", [account.id]);
    await expect(verifyEmail(app, await mailedSecret(app, account.email))).rejects.toMatchObject({ status: 403 });
    expect((await findUserById(app, account.id))!.emailVerified).toBe(false);
  });

  it('sends at most three mails in 10 minutes (spec 01 H9) and says why it cannot send', async () => {
    const account = await anUnverifiedAccount(app);
    clock.set(new Date(Math.ceil(clock.now().getTime() / (10 * MINUTE_MS)) * 10 * MINUTE_MS));
    for (let send = 0; send < 3; send++) await resendVerification(app, account.actor);
    await expect(resendVerification(app, account.actor)).rejects.toMatchObject({
      status: 429,
      headers: { 'Retry-After': '600' },
    });
    const off = (await testApp({ environment: { CABINET_EMAIL_VERIFICATION_ENABLED: 'false' } })).app;
    await expect(resendVerification(off, account.actor)).rejects.toMatchObject({
      status: 400,
      detail: 'Email verification is disabled',
    });
    const silent = { ...app, ports: { ...app.ports, mail: { ...app.ports.mail, isConfigured: () => false } } };
    await expect(resendVerification(silent, account.actor)).rejects.toMatchObject({
      status: 503,
      detail: 'Email service is not configured',
    });
    const messenger = await aMessengerAccount(app);
    await expect(resendVerification(app, actorOf(messenger.id))).rejects.toMatchObject({ detail: 'No email address to verify' });
  });
});

describe('linking', () => {
  it('sends at most three mails in 10 minutes, to whatever addresses (spec 01 H9)', async () => {
    const { id } = await aMessengerAccount(app);
    const link = () => linkEmail(app, actorOf(id), { email: anAddress(), password: PASSWORD });
    for (let n = 0; n < 3; n++) await link();
    await expect(link()).rejects.toMatchObject({ status: 429, detail: 'Too many requests' });
    clock.advance(10 * MINUTE_MS);
    expect((await link()).requiresVerification).toBe(true);
  });

  it('gives a messenger account a second sign-in method', async () => {
    const user = await aMessengerAccount(app);
    const email = anAddress();
    const request = { email: email.toUpperCase(), password: PASSWORD };
    expect(await linkEmail(app, actorOf(user.id), request)).toEqual({ email, requiresVerification: true });
    await expect(linkEmail(app, actorOf(user.id), request)).rejects.toMatchObject({ detail: 'This email is already registered' });
    const signIn = await verifyEmail(app, await mailedSecret(app, email));
    expect(signIn.user).toMatchObject({ id: user.id, authType: 'messenger', emailVerified: true });
    await expect(linkEmail(app, actorOf(user.id), { email: anAddress(), password: PASSWORD })).rejects.toMatchObject({
      status: 400,
      detail: 'You already have a verified email',
    });
  });

  it('voids the link of an address that was replaced', async () => {
    const user = await aMessengerAccount(app);
    const [wrong, right] = [anAddress(), anAddress()];
    await linkEmail(app, actorOf(user.id), { email: wrong, password: PASSWORD });
    const old = await mailedSecret(app, wrong);
    await linkEmail(app, actorOf(user.id), { email: right, password: PASSWORD });
    await expect(verifyEmail(app, old)).rejects.toMatchObject({ status: 400 });
    expect((await verifyEmail(app, await mailedSecret(app, right))).user.email).toBe(right);
  });
});

describe('password sign-in', () => {
  it('gives the same answer for an unknown address, no password and a wrong one (spec 01 H10)', async () => {
    const { email } = await aVerifiedAccount(app);
    const bare = await aVerifiedAccount(app);
    await app.db.sql('UPDATE users SET password_hash = NULL WHERE id = $1 RETURNING id', [bare.id]);
    for (const address of [anAddress(), bare.email, email]) {
      await expect(signInWithPassword(app, { email: address, password: 'wrong password' })).rejects.toMatchObject(
        wrongCredentials,
      );
    }
  });

  it('stops after ten tries an account, whoever sends them, and counts anew after a success (spec 01 H12)', async () => {
    const { email } = await aVerifiedAccount(app);
    // A window of its own: the limit counts in fixed windows.
    clock.set(new Date(Math.ceil(clock.now().getTime() / HOUR_MS) * HOUR_MS));
    const countTries = async (tries: number) => {
      for (let n = 0; n < tries; n++) await isWithinLimit(app, accountLimitKey(email), 10, 900);
    };
    await countTries(9);
    await signInWithPassword(app, { email, password: PASSWORD });
    await countTries(9);
    await expect(signInWithPassword(app, { email, password: 'wrong password' })).rejects.toMatchObject({ status: 401 });
    await expect(signInWithPassword(app, { email, password: PASSWORD })).rejects.toMatchObject({
      status: 429,
      detail: 'Too many requests',
    });
    clock.advance(15 * MINUTE_MS);
    await signInWithPassword(app, { email, password: PASSWORD });
  });

  it('refuses a user who is not active', async () => {
    const account = await aVerifiedAccount(app);
    await app.db.sql("UPDATE users SET status = 'blocked' WHERE id = $1 RETURNING id", [account.id]);
    await expect(signInWithPassword(app, { email: account.email, password: PASSWORD })).rejects.toMatchObject({
      status: 403,
      detail: 'User account is not active',
    });
  });
});

describe('password reset', () => {
  async function forgotten(email: string): Promise<void> {
    await requestPasswordReset(app, email);
    const [job] = await app.db.sql<{ data: { email: string } }>(
      "SELECT data FROM jobs.job WHERE name = 'identity.password-reset' ORDER BY created_on DESC, ctid DESC LIMIT 1",
    );
    await mailPasswordReset(app, email.toLowerCase());
    expect(job!.data.email).toBe(email.toLowerCase());
  }

  it('is one job for every address, known or not (spec 01 H10)', async () => {
    const unknown = anAddress();
    await forgotten(unknown);
    expect(await waitingMails(app, unknown)).toEqual([]);
  });

  it('sets the password once, ends every session and verifies the address', async () => {
    const account = await aVerifiedAccount(app);
    await forgotten(account.email.toUpperCase());
    const [mail] = await waitingMails(app, account.email);
    expect(mail).toMatchObject({ template: 'password_reset' });
    expect(mail!.text).toContain('https://cabinet.example.com/reset-password?token=');
    const token = await mailedSecret(app, account.email);
    await resetPassword(app, { token, password: 'another password' });
    await expect(resetPassword(app, { token, password: 'once more' })).rejects.toMatchObject({ detail: 'Invalid reset token' });
    await expect(refreshSession(app, account.signIn.refreshToken)).rejects.toMatchObject({ status: 401 });
    await expect(signInWithPassword(app, { email: account.email, password: PASSWORD })).rejects.toMatchObject(wrongCredentials);
    await signInWithPassword(app, { email: account.email, password: 'another password' });
  });

  it('does not verify an account that only asked (spec 01 H1), but one that completed', async () => {
    const account = await anUnverifiedAccount(app);
    await forgotten(account.email);
    expect((await findUserById(app, account.id))!.emailVerified).toBe(false);
    await expect(signInWithPassword(app, { email: account.email, password: PASSWORD })).rejects.toMatchObject({ status: 403 });
    await resetPassword(app, { token: await mailedSecret(app, account.email), password: PASSWORD });
    expect((await signInWithPassword(app, { email: account.email, password: PASSWORD })).user.emailVerified).toBe(true);
  });

  it('sends nothing to an unverified linked address (spec 01 H1) or a blocked user (H27)', async () => {
    const user = await aMessengerAccount(app);
    const email = anAddress();
    await linkEmail(app, actorOf(user.id), { email, password: PASSWORD });
    await forgotten(email);
    expect((await waitingMails(app, email)).map((mail) => mail.template)).toEqual(['email_verification']);
    const blocked = await aVerifiedAccount(app);
    await app.db.sql("UPDATE users SET status = 'blocked' WHERE id = $1 RETURNING id", [blocked.id]);
    await forgotten(blocked.email);
    expect(await waitingMails(app, blocked.email)).toEqual([]);
  });

  it('sends at most three links to an account in 10 minutes, without a different answer (spec 01 H9)', async () => {
    const { email } = await aVerifiedAccount(app);
    for (let n = 0; n < 4; n++) await forgotten(email);
    expect(await waitingMails(app, email)).toHaveLength(3);
    clock.advance(10 * MINUTE_MS);
    await forgotten(email);
    expect(await waitingMails(app, email)).toHaveLength(4);
  });

  it('gives a user who is blocked meanwhile no password (spec 01 H27)', async () => {
    const account = await aVerifiedAccount(app);
    await forgotten(account.email);
    const token = await mailedSecret(app, account.email);
    const setStatus = (status: string) =>
      app.db.sql('UPDATE users SET status = $2 WHERE id = $1 RETURNING id', [account.id, status]);
    await setStatus('blocked');
    await expect(resetPassword(app, { token, password: 'another password' })).rejects.toMatchObject({
      status: 403,
      detail: 'User account is not active',
    });
    await setStatus('active');
    expect((await signInWithPassword(app, { email: account.email, password: PASSWORD })).user.id).toBe(account.id);
  });

  it('ends after an hour', async () => {
    const account = await aVerifiedAccount(app);
    await forgotten(account.email);
    clock.advance(HOUR_MS + 1_000);
    const token = await mailedSecret(app, account.email);
    await expect(resetPassword(app, { token, password: PASSWORD })).rejects.toMatchObject({
      status: 400,
      detail: 'Reset token has expired',
    });
  });
});

describe('the mail job', () => {
  it('sends once, then clears the body', async () => {
    const account = await anUnverifiedAccount(app);
    const [mail] = await waitingMails(app, account.email);
    const sent: string[] = [];
    const counting = {
      ...app,
      ports: { ...app.ports, mail: { ...app.ports.mail, send: async (m: { to: string }) => void sent.push(m.to) } },
    } as App;
    await deliverMail(counting, { mailId: mail!.id });
    await deliverMail(counting, { mailId: mail!.id });
    expect(sent).toEqual([account.email]);
    const [row] = await app.db.sql('SELECT html, text, sent_at IS NOT NULL AS is_sent FROM outgoing_mails WHERE id = $1', [
      mail!.id,
    ]);
    expect(row).toEqual({ html: null, text: null, isSent: true });
  });

  it('goes through the configured mail system', async () => {
    const account = await anUnverifiedAccount(app);
    const [mail] = await waitingMails(app, account.email);
    await deliverMail(app, { mailId: mail!.id });
    expect((await waitingMails(app, account.email))[0]!.text).toBeNull();
  });
});
