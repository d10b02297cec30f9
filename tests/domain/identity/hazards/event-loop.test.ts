import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { App } from '../../../../src/core/app.ts';
import { signInWithPassword } from '../../../../src/domain/identity/email/password.ts';
import { type PasswordWork, watchPasswordWork } from '../../../support/password-work.ts';
import { testApp } from '../../../support/test-app.ts';
import { aVerifiedAccount, PASSWORD } from '../accounts.ts';

const LOGINS = 50;

let app: App;
let work: PasswordWork;
beforeAll(async () => {
  ({ app } = await testApp());
});
beforeEach(() => {
  work = watchPasswordWork();
});
afterEach(() => work.stop());

test('fifty sign-ins at once leave the event loop free: each password is compared once, none on this thread', async () => {
  const accounts = await Promise.all(Array.from({ length: LOGINS }, () => aVerifiedAccount(app)));
  const { length: before } = work.computations;
  const signedIn = await Promise.all(accounts.map(({ email }) => signInWithPassword(app, { email, password: PASSWORD })));
  expect(new Set(signedIn.map((signIn) => signIn.user.id)).size).toBe(LOGINS);
  expect(work.computations.slice(before).map(({ kind }) => kind)).toEqual(Array(LOGINS).fill('verify'));
  expect(work.onThisThread).toEqual([]);
});
