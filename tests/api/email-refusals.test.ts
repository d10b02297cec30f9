/** What the operations of e-mail and password refuse (spec 01 section 5.2). */
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/clock.ts';
import { mailPasswordReset } from '../../src/domain/identity/email/password.ts';
import { openSession } from '../../src/domain/identity/sessions/sessions.ts';
import {
  aMessengerAccount,
  anAddress,
  anUnverifiedAccount,
  aVerifiedAccount,
  mailedSecret,
  PASSWORD,
} from '../domain/identity/accounts.ts';
import { type ApiClient, type ApiReply, clientOf, testServer } from '../support/api.ts';
import { unique } from '../support/builders.ts';
import { type Switches, switchableApp } from '../support/switchable-app.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { whilePasswordsWait } from '../support/waiting-passwords.ts';

const TEST_EMAIL = 'tester@example.com';

let t: TestApp;
let switches: Switches;
let server: FastifyInstance;
beforeAll(async () => {
  const environment = { TRUSTED_PROXIES: '127.0.0.1', TEST_EMAIL, TEST_EMAIL_PASSWORD: 'the test password' };
  const made = await testApp({ environment });
  const switchable = switchableApp(made.app);
  switches = switchable.switches;
  t = { ...made, app: switchable.app };
  server = await testServer(t.app);
});
beforeEach(() => switches.restore());
afterAll(() => server.close());

let clientCount = 0;
/** A client with an address of its own, so that tests do not use up each other's limits. */
function newClient(headers: Record<string, string> = {}): ApiClient {
  clientCount += 1;
  return clientOf(server, { 'x-forwarded-for': `198.57.0.${clientCount}`, ...headers });
}

async function clientOfUser(id: number): Promise<ApiClient> {
  const { accessToken } = await openSession(t.app, id);
  return newClient({ authorization: `Bearer ${accessToken}` });
}
const member = async () => clientOfUser((await aVerifiedAccount(t.app)).id);
const unverified = async () => clientOfUser((await anUnverifiedAccount(t.app)).id);
const messengerUser = async () => clientOfUser((await aMessengerAccount(t.app)).id);
const takenAddress = async () => (await aVerifiedAccount(t.app)).email;
const disposableAddress = () => `user${unique()}@10minutemail.com`;
const block = (id: number) => t.app.db.sql("UPDATE users SET status = 'blocked' WHERE id = $1::int RETURNING id", [id]);

type Case = [name: string, status: number, detail: string, attempt: () => Promise<ApiReply>];

async function repeated(times: number, attempt: () => Promise<ApiReply>): Promise<ApiReply> {
  for (let count = 0; count < times; count++) expect((await attempt()).status).toBe(200);
  return attempt();
}

async function aRequestedChange() {
  const { id } = await aVerifiedAccount(t.app);
  const newEmail = anAddress();
  expect((await change(await clientOfUser(id), newEmail)).status).toBe(200);
  const code = await mailedSecret(t.app, newEmail);
  // In a session of its own: an access token lives no longer than the code.
  const enter = async (sent: string) => (await clientOfUser(id)).post('/cabinet/auth/email/change/verify', { code: sent });
  return { newEmail, code, enter };
}

async function aResetLink() {
  const { id, email } = await aVerifiedAccount(t.app);
  await mailPasswordReset(t.app, email);
  return { id, token: await mailedSecret(t.app, email) };
}

const link = (api: ApiClient, email: string) => api.post('/cabinet/auth/email/register', { email, password: PASSWORD });
const register = (email: string) =>
  newClient().post('/cabinet/auth/email/register/standalone', { email, password: PASSWORD, first_name: 'Ann' });
const change = (api: ApiClient, email: string) => api.post('/cabinet/auth/email/change', { new_email: email });
const resend = (api: ApiClient) => api.post('/cabinet/auth/email/resend');
const verify = (token: string) => newClient().post('/cabinet/auth/email/verify', { token });
const login = (email: string) => newClient().post('/cabinet/auth/email/login', { email, password: PASSWORD });
const reset = (token: string) => newClient().post('/cabinet/auth/password/reset', { token, password: 'another password' });

const DISPOSABLE = 'Disposable email addresses are not allowed';
const TAKEN = 'This email is already registered';
const OVERLOADED = 'Service temporarily unavailable. Please try again later.';
const otherThan = (code: string) => (code === '111111' ? '222222' : '111111');

const cases: Record<string, Case[]> = {
  'Linking an e-mail': [
    ['a disposable address', 400, DISPOSABLE, async () => link(await messengerUser(), disposableAddress())],
    ['the address of another user', 400, TAKEN, async () => link(await messengerUser(), await takenAddress())],
    ['a second address', 400, 'You already have a verified email', async () => link(await member(), anAddress())],
    [
      'the fourth within ten minutes',
      429,
      'Too many requests',
      async () => {
        const { id } = await aMessengerAccount(t.app);
        // In a session of its own each: with a new password the ones before end.
        return repeated(3, async () => link(await clientOfUser(id), anAddress()));
      },
    ],
    [
      'more passwords than can wait',
      503,
      OVERLOADED,
      async () => {
        const api = await messengerUser();
        return whilePasswordsWait(() => link(api, anAddress()));
      },
    ],
  ],
  Registering: [
    ['a disposable address', 400, DISPOSABLE, () => register(disposableAddress())],
    ['the address of the test account with another password', 400, 'Invalid test email password', () => register(TEST_EMAIL)],
    ['more passwords than can wait', 503, OVERLOADED, () => whilePasswordsWait(() => register(anAddress()))],
  ],
  'Changing the e-mail': [
    ['of an account without one', 400, 'No email address to change', async () => change(await messengerUser(), anAddress())],
    [
      'to the same',
      400,
      'New email is the same as current email',
      async () => {
        const { id, email } = await aVerifiedAccount(t.app);
        return change(await clientOfUser(id), email.toUpperCase());
      },
    ],
    ['to a disposable address', 400, DISPOSABLE, async () => change(await member(), disposableAddress())],
    ['to the address of another user', 400, TAKEN, async () => change(await member(), await takenAddress())],
    [
      'while no mail can be sent',
      503,
      'Email service is not configured',
      async () => {
        switches.hasMail = false;
        return change(await member(), anAddress());
      },
    ],
    [
      'a fourth time within ten minutes',
      429,
      'Too many requests',
      async () => {
        const api = await member();
        return repeated(3, () => change(api, anAddress()));
      },
    ],
  ],
  'The code of a change': [
    [
      'when it has expired',
      400,
      'Verification code has expired',
      async () => {
        const { code, enter } = await aRequestedChange();
        t.clock.advance(15 * MINUTE_MS + 1_000);
        return enter(code);
      },
    ],
    [
      'when it is another',
      400,
      'Invalid verification code',
      async () => {
        const { code, enter } = await aRequestedChange();
        return enter(otherThan(code));
      },
    ],
    [
      'when another user has taken the address',
      400,
      'This email is already taken',
      async () => {
        const { code, newEmail, enter } = await aRequestedChange();
        await anUnverifiedAccount(t.app, newEmail);
        return enter(code);
      },
    ],
  ],
  'Mailing a new link': [
    ['to an account without an address', 400, 'No email address to verify', async () => resend(await messengerUser())],
    ['to a verified address', 400, 'Email is already verified', async () => resend(await member())],
    [
      'while verification is off',
      400,
      'Email verification is disabled',
      async () => {
        const api = await unverified();
        switches.settings.set('CABINET_EMAIL_VERIFICATION_ENABLED', false);
        return resend(api);
      },
    ],
    [
      'while no mail can be sent',
      503,
      'Email service is not configured',
      async () => {
        const api = await unverified();
        switches.hasMail = false;
        return resend(api);
      },
    ],
    [
      'a fourth time within ten minutes',
      429,
      'Too many requests',
      async () => {
        const api = await unverified();
        return repeated(2, () => resend(api));
      },
    ],
  ],
  'A verification link': [
    [
      'when it has expired',
      400,
      'Verification token has expired',
      async () => {
        const token = await mailedSecret(t.app, (await anUnverifiedAccount(t.app)).email);
        t.clock.advance(DAY_MS + 1_000);
        return verify(token);
      },
    ],
    [
      'of a user who is blocked',
      403,
      'User account is not active',
      async () => {
        const { id, email } = await anUnverifiedAccount(t.app);
        await block(id);
        return verify(await mailedSecret(t.app, email));
      },
    ],
  ],
  'A sign-in with a password': [
    [
      'of a user who is blocked',
      403,
      'User account is not active',
      async () => {
        const { id, email } = await aVerifiedAccount(t.app);
        await block(id);
        return login(email);
      },
    ],
    [
      'with more passwords than can wait',
      503,
      OVERLOADED,
      async () => {
        const { email } = await aVerifiedAccount(t.app);
        return whilePasswordsWait(() => login(email));
      },
    ],
  ],
  'A link to a new password': [
    [
      'when it has expired',
      400,
      'Reset token has expired',
      async () => {
        const { token } = await aResetLink();
        t.clock.advance(HOUR_MS + 1_000);
        return reset(token);
      },
    ],
    [
      'of a user who is blocked',
      403,
      'User account is not active',
      async () => {
        const { id, token } = await aResetLink();
        await block(id);
        return reset(token);
      },
    ],
    [
      'with more passwords than can wait',
      503,
      OVERLOADED,
      async () => {
        const { token } = await aResetLink();
        return whilePasswordsWait(() => reset(token));
      },
    ],
  ],
};

describe.each(Object.entries(cases))('%s', (_group, refused) => {
  test.each(refused)('is refused: %s', async (_name, status, detail, attempt) => {
    const reply = await attempt();
    expect([reply.status, reply.body.detail]).toEqual([status, detail]);
  });
});
