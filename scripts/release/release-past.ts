/** What users, administrators and bots do on a service before its database is dumped: over HTTP only, so that every release can do it. */
import { randomBytes } from 'node:crypto';
import { createRequester, type Reply, type Requester, until } from '../../packages/measures/src/demo/http.ts';

/** What the next releases must still accept. Of a database that exists in the tests only. */
export interface RetainedCredentials {
  apiToken: string;
  /** Refused since its token was revoked. */
  revokedApiToken: string;
  email: string;
  password: string;
}

/** A request that was answered before the dump; its repeat must get the same answer and change nothing. */
interface AnsweredWrite {
  path: string;
  key: string;
  body: unknown;
  answer: unknown;
}

export interface ReleasePast {
  credentials: RetainedCredentials;
  answeredWrite: AnsweredWrite;
  /** Users whose balances the load of the test changes. */
  loadedUserIds: number[];
}

const FIRST_MESSENGER_ID = 9_800_000_000;
const LOADED_USERS = 12;
const TOP_UP_KOPEKS = 300_000;
/** Nothing listens there: what is sent to it stays to be sent again. */
export const UNREACHABLE = 'http://127.0.0.1:9/webhook';
const FROM_PAGE = { 'x-sandbox-page': '1' };
const SETTINGS = { REFERRAL_COMMISSION_PERCENT: 17, DEFAULT_DEVICE_LIMIT: 2, SUPPORT_SYSTEM_MODE: 'tickets' };
const PASSWORD = 'correct horse battery staple';
export const ADMINISTRATOR = { email: 'admin@example.com', password: PASSWORD };

/**
 * The account of `ADMINISTRATOR` must exist.
 * @param people users that the Web API creates
 */
export async function makePast(url: string, apiToken: string, people: number): Promise<ReleasePast> {
  const operator = createRequester(url, { 'x-api-key': apiToken });
  const userIds = await createUsers(operator, people);
  const loadedUserIds = userIds.slice(-LOADED_USERS);
  await createSubscriptions(operator, userIds.slice(0, -LOADED_USERS));
  const revokedApiToken = await createAdministration(operator);
  const administrator = await signIn(url, ADMINISTRATOR);
  await ok(administrator.patch('/cabinet/branding/gift-enabled', { enabled: true }));
  const emails = ['ann', 'ben', 'cleo'].map((name) => `${name}@example.com`);
  const [ann, ben] = await Promise.all(emails.map((email) => signUp(url, email)));
  await buyAndGive(url, ann!);
  for (const outcome of ['pay', 'leave', 'fail', 'pay', 'leave', 'fail', 'pay'] as const) await topUp(url, ben!, outcome);
  const answeredWrite = await writeOnce(operator, `/users/${userIds[0]}/balance`);
  // Last, so that nothing listens for the events of what comes before.
  await createWebhooks(operator);
  await createUsers(operator, 5, people);
  await ok(operator.post(`/users/${userIds[1]}/balance`, { amount_kopeks: 4_200 }, key('webhook')));
  const credentials = { apiToken, revokedApiToken, email: emails[0]!, password: PASSWORD };
  return { credentials, answeredWrite, loadedUserIds };
}

const key = (name: string) => ({ 'idempotency-key': `past-${name}` });

/** @throws Error unless the answer is 200 */
async function ok(reply: Promise<Reply>): Promise<Reply['body']> {
  const { status, body } = await reply;
  if (status !== 200) throw new Error(`200 expected, ${status} answered: ${JSON.stringify(body).slice(0, 500)}`);
  return body;
}

async function createUsers(operator: Requester, count: number, from = 0): Promise<number[]> {
  const ids: number[] = [];
  for (let number = from; number < from + count; number++) {
    const isReferred = number % 7 === 6 && ids.length > 0;
    const user = await ok(
      operator.post('/users', {
        messenger_id: FIRST_MESSENGER_ID + number,
        username: number % 3 === 0 ? null : `person_${number}`,
        first_name: `Person ${number}`,
        language: number % 2 === 0 ? 'ru' : 'en',
        ...(isReferred ? { referred_by_id: ids[0] } : {}),
      }),
    );
    ids.push(user.id);
    await ok(operator.post(`/users/${user.id}/balance`, { amount_kopeks: 10_000 + number * 137 }, key(`credit-${number}`)));
    if (number % 5 === 0)
      await ok(operator.post(`/users/${user.id}/balance`, { amount_kopeks: -(3_000 + number) }, key(`debit-${number}`)));
  }
  return ids;
}

async function createSubscriptions(operator: Requester, userIds: readonly number[]): Promise<void> {
  for (const [index, userId] of userIds.entries()) {
    if (index % 3 === 2) continue;
    await ok(
      operator.post('/subscriptions', {
        user_id: userId,
        is_trial: index % 6 === 0,
        duration_days: 10 + (index % 90),
        traffic_limit_gb: index % 4 === 0 ? 0 : 50 + index,
        device_limit: 1 + (index % 5),
      }),
    );
  }
}

/** @returns an API token that was revoked */
async function createAdministration(operator: Requester): Promise<string> {
  for (const [index, type] of ['balance', 'subscription_days', 'balance', 'balance'].entries()) {
    const gain = type === 'balance' ? { balance_bonus_kopeks: 5_000 } : { subscription_days: 3 };
    await ok(operator.post('/promo-codes', { code: `RELEASE${index}`, type, max_uses: 10 + index, ...gain }));
  }
  for (const name of ['spring', 'autumn']) {
    const bonus = { bonus_type: 'balance', balance_bonus_kopeks: 1_000 };
    await ok(operator.post('/campaigns', { name, start_parameter: `${name}_release`, ...bonus }));
  }
  for (const [setting, value] of Object.entries(SETTINGS)) await ok(operator.put(`/settings/${setting}`, { value }));
  await ok(operator.post('/tokens', { name: 'support', scopes: ['users:read', 'transactions:read'] }));
  const revoked = await ok(operator.post('/tokens', { name: 'revoked' }));
  await ok(operator.post(`/tokens/${revoked.id}/revoke`));
  return revoked.token;
}

async function createWebhooks(operator: Requester): Promise<void> {
  const types = ['user.created', 'transaction.created'];
  for (const event_type of types) {
    const secret = randomBytes(16).toString('hex');
    await ok(operator.post('/webhooks', { name: `of ${event_type}`, url: UNREACHABLE, event_type, secret }));
  }
}

/** @returns a requester of the signed-in user */
async function signUp(url: string, email: string): Promise<Requester> {
  const stranger = createRequester(url);
  const form = { email, password: PASSWORD, first_name: email.split('@')[0], language: 'en' };
  await ok(stranger.post('/cabinet/auth/email/register/standalone', form));
  const mails = await until(
    `the mail to ${email}`,
    async () => (await stranger.get('/sandbox/api/state')).body.mail as { to: string; text: string }[],
    (all) => all.some(({ to }) => to === email),
  );
  const token = /token=([A-Za-z0-9_-]+)/.exec(mails.find(({ to }) => to === email)!.text)![1];
  await ok(stranger.post('/cabinet/auth/email/verify', { token }));
  return signIn(url, { email, password: PASSWORD });
}

/** @returns a requester of the signed-in user. @throws Error where the service refuses the password */
export async function signIn(
  url: string,
  { email, password }: Pick<RetainedCredentials, 'email' | 'password'>,
): Promise<Requester> {
  const { access_token: token } = await ok(createRequester(url).post('/cabinet/auth/email/login', { email, password }));
  return createRequester(url, { authorization: `Bearer ${token}` });
}

async function topUp(url: string, user: Requester, outcome: 'pay' | 'fail' | 'leave'): Promise<void> {
  const order = { amount_kopeks: TOP_UP_KOPEKS, payment_method: 'sandbox' };
  const before = (await ok(user.get('/cabinet/balance'))).balance_kopeks as number;
  const number = topUps++;
  const { payment_url: page } = await ok(user.post('/cabinet/balance/topup', order, key(`top-up-${number}`)));
  if (outcome === 'leave') return;
  const path = `/sandbox/api/payments/${page.split('/').at(-1)}/${outcome}`;
  await ok(createRequester(url).post(path, {}, FROM_PAGE));
  if (outcome === 'fail') return;
  await until(
    'the credit',
    async () => (await ok(user.get('/cabinet/balance'))).balance_kopeks as number,
    (balance) => balance === before + TOP_UP_KOPEKS,
  );
}
let topUps = 0;

async function buyAndGive(url: string, user: Requester): Promise<void> {
  await topUp(url, user, 'pay');
  const options = await ok(user.get('/cabinet/subscription/purchase-options'));
  const tariff = options.tariffs[0];
  const order = { tariff_id: tariff.id, period_days: tariff.periods[0].days };
  await ok(user.post('/cabinet/subscription/purchase-tariff', order, key('purchase')));
  for (const number of [1, 2, 3])
    await ok(user.post('/cabinet/gift/purchase', { ...order, payment_mode: 'balance' }, key(`gift-${number}`)));
  const ticket = await ok(user.post('/cabinet/tickets', { title: 'No connection', message: 'It stopped working today.' }));
  await ok(user.post(`/cabinet/tickets/${ticket.id}/messages`, { message: 'It works again.' }));
  await ok(user.post('/cabinet/promocode/activate', { code: 'RELEASE0' }, key('promo-code')));
}

async function writeOnce(operator: Requester, path: string): Promise<AnsweredWrite> {
  const body = { amount_kopeks: 12_345, description: 'answered before the dump' };
  const answer = await ok(operator.post(path, body, { 'idempotency-key': 'answered-before-the-dump' }));
  return { path, key: 'answered-before-the-dump', body, answer };
}
