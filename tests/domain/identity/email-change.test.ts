import { beforeAll, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { MINUTE_MS } from '../../../src/core/clock.ts';
import {
  cancelEmailChange,
  confirmEmailChange,
  readEmailChange,
  requestEmailChange,
  verifyEmail,
} from '../../../src/domain/identity/email/email-address.ts';
import { findUserById } from '../../../src/domain/identity/find-user.ts';
import { type TestClock, testApp } from '../../support/test-app.ts';
import {
  actorOf,
  aMessengerAccount,
  anAddress,
  anUnverifiedAccount,
  aVerifiedAccount,
  mailedSecret,
  waitingMails,
} from './accounts.ts';

let app: App;
let clock: TestClock;
beforeAll(async () => {
  ({ app, clock } = await testApp());
});

const otherThan = (code: string) => (code === '123456' ? '123457' : '123456');

describe('changing a verified e-mail', () => {
  it('accepts the code from the new address and notifies the old one (spec 01 H9)', async () => {
    const { actor, email, id } = await aVerifiedAccount(app);
    const newEmail = anAddress();
    expect(await readEmailChange(app, actor)).toBeNull();
    expect(await requestEmailChange(app, actor, { newEmail: newEmail.toUpperCase() })).toEqual({
      newEmail,
      isReplaced: false,
      expiresInMinutes: 15,
    });
    expect(await readEmailChange(app, actor)).toEqual({ newEmail, expiresAt: new Date(clock.now().getTime() + 15 * MINUTE_MS) });
    expect((await waitingMails(app, newEmail)).map((mail) => mail.template)).toEqual(['email_change_code']);
    expect(await confirmEmailChange(app, actor, await mailedSecret(app, newEmail))).toBe(newEmail);
    expect(await findUserById(app, id)).toMatchObject({ email: newEmail, emailVerified: true });
    const [notice] = await waitingMails(app, email);
    expect(notice!.template).toBe('email_changed');
    expect(notice!.text).not.toContain(newEmail);
    await expect(confirmEmailChange(app, actor, '123456')).rejects.toMatchObject({
      status: 400,
      detail: 'No pending email change',
    });
  });

  it('ends after five wrong codes, the right one included (spec 01 H9)', async () => {
    const { actor } = await aVerifiedAccount(app);
    const newEmail = anAddress();
    await requestEmailChange(app, actor, { newEmail });
    const code = await mailedSecret(app, newEmail);
    for (let n = 0; n < 5; n++) {
      await expect(confirmEmailChange(app, actor, otherThan(code))).rejects.toMatchObject({
        detail: 'Invalid verification code',
      });
    }
    await expect(confirmEmailChange(app, actor, code)).rejects.toMatchObject({ detail: 'No pending email change' });
  });

  it('sends at most three codes in 10 minutes (spec 01 H9)', async () => {
    const { actor } = await aVerifiedAccount(app);
    const request = () => requestEmailChange(app, actor, { newEmail: anAddress() });
    for (let n = 0; n < 3; n++) await request();
    await expect(request()).rejects.toMatchObject({ status: 429, detail: 'Too many requests' });
    clock.advance(10 * MINUTE_MS);
    expect((await request()).isReplaced).toBe(false);
  });

  it('ends with its time', async () => {
    const { actor } = await aVerifiedAccount(app);
    const newEmail = anAddress();
    await requestEmailChange(app, actor, { newEmail });
    const code = await mailedSecret(app, newEmail);
    clock.advance(15 * MINUTE_MS + 1);
    expect(await readEmailChange(app, actor)).toBeNull();
    await expect(confirmEmailChange(app, actor, code)).rejects.toMatchObject({ detail: 'Verification code has expired' });
    await expect(confirmEmailChange(app, actor, code)).rejects.toMatchObject({ detail: 'No pending email change' });
  });

  it('fails when another user took the address meanwhile', async () => {
    const { actor, id, email } = await aVerifiedAccount(app);
    const newEmail = anAddress();
    await requestEmailChange(app, actor, { newEmail });
    const code = await mailedSecret(app, newEmail);
    await anUnverifiedAccount(app, newEmail);
    await expect(confirmEmailChange(app, actor, code)).rejects.toMatchObject({
      status: 400,
      detail: 'This email is already taken',
    });
    expect(await readEmailChange(app, actor)).toBeNull();
    expect((await findUserById(app, id))!.email).toBe(email);
  });

  it('can be cancelled once', async () => {
    const { actor } = await aVerifiedAccount(app);
    await requestEmailChange(app, actor, { newEmail: anAddress() });
    await cancelEmailChange(app, actor);
    await expect(cancelEmailChange(app, actor)).rejects.toMatchObject({ status: 400, detail: 'No pending email change' });
  });

  it('refuses what the table refuses', async () => {
    const { actor, email } = await aVerifiedAccount(app);
    const other = await anUnverifiedAccount(app);
    const request = (newEmail: string) => requestEmailChange(app, actor, { newEmail });
    await expect(request(email.toUpperCase())).rejects.toMatchObject({ detail: 'New email is the same as current email' });
    await expect(request('a@yopmail.com')).rejects.toMatchObject({ detail: 'Disposable email addresses are not allowed' });
    await expect(request(other.email)).rejects.toMatchObject({ detail: 'This email is already registered' });
    const bare = await aMessengerAccount(app);
    await expect(requestEmailChange(app, actorOf(bare.id), { newEmail: anAddress() })).rejects.toMatchObject({
      detail: 'No email address to change',
    });
    const silent = { ...app, ports: { ...app.ports, mail: { ...app.ports.mail, isConfigured: () => false } } };
    await request(anAddress());
    await expect(requestEmailChange(silent, actor, { newEmail: anAddress() })).rejects.toMatchObject({
      status: 503,
      detail: 'Email service is not configured',
    });
    expect(await readEmailChange(app, actor)).toBeNull();
  });
});

describe('changing an unverified e-mail', () => {
  it('replaces it at once, after which only the new link works', async () => {
    const account = await anUnverifiedAccount(app);
    const old = await mailedSecret(app, account.email);
    const newEmail = anAddress();
    expect(await requestEmailChange(app, account.actor, { newEmail })).toEqual({
      newEmail,
      isReplaced: true,
      expiresInMinutes: 0,
    });
    await expect(verifyEmail(app, old)).rejects.toMatchObject({ status: 400 });
    expect((await verifyEmail(app, await mailedSecret(app, newEmail))).user).toMatchObject({ id: account.id, email: newEmail });
  });
});
