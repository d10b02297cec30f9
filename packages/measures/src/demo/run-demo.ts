/**
 * All steps from sign-up to a working link, over HTTP only, as a client makes them; every result is checked, a wrong one throws.
 * Needs a service with its sandbox on and an API token.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { createRequester, type Reply, type Requester, until } from './http.ts';

export interface DemoOptions {
  url: string;
  apiToken: string;
  /** The payment method of the top-up; default: the sandbox's own. */
  provider?: string;
  /** Called after each step. */
  onStep: (name: string, ms: number, detail: string) => void;
}

export interface DemoResult {
  userId: number;
  balanceKopeks: number;
  subscriptionUrl: string;
}

interface Hook {
  event: string;
  body: string;
  isSignatureValid: boolean;
}

const SANDBOX_HEADER = { 'x-sandbox-page': '1' };
const TOP_UP_KOPEKS = 50_000;
const WEBHOOK_EVENTS = ['user.created', 'payment.completed', 'transaction.created'];

function expect(condition: unknown, what: string, seen?: unknown): asserts condition {
  if (!condition) throw new Error(`${what}; seen: ${JSON.stringify(seen)?.slice(0, 800)}`);
}

function ok(reply: Reply, what: string): Reply['body'] {
  expect(reply.status === 200, `${what}: 200 expected, ${reply.status} answered`, reply.body);
  return reply.body;
}

export async function runDemo({ url, apiToken, provider = 'sandbox', onStep }: DemoOptions): Promise<DemoResult> {
  const operator = createRequester(url, { 'x-api-key': apiToken });
  const stranger = createRequester(url);
  const step = async <T>(name: string, work: () => Promise<[T, string]>): Promise<T> => {
    const startedAt = performance.now();
    const [value, detail] = await work();
    onStep(name, performance.now() - startedAt, detail);
    return value;
  };

  const receiver = await startReceiver();
  const feed = openFeed(url, apiToken);
  try {
    await step('health', async () => {
      const health = ok(await stranger.get('/health'), 'health');
      expect(health.status === 'ok' && health.sandbox.length === 4, 'the sandbox stands in for all four systems', health);
      return [undefined, `fakes: ${health.sandbox.join(', ')}`];
    });
    await step('a dashboard on /ws and a webhook receiver', async () => {
      await feed.opened;
      for (const event of WEBHOOK_EVENTS) {
        ok(
          await operator.post('/webhooks', {
            name: `demo ${event}`,
            url: receiver.url,
            event_type: event,
            secret: receiver.secret,
          }),
          'webhook',
        );
      }
      return [undefined, `${WEBHOOK_EVENTS.length} webhooks with a secret`];
    });

    const email = `demo-${randomUUID().slice(0, 8)}@example.com`;
    const password = randomUUID();
    await step('register by e-mail', async () => {
      const body = ok(
        await stranger.post('/cabinet/auth/email/register/standalone', { email, password, first_name: 'Demo', language: 'en' }),
        'register',
      );
      expect(body.requires_verification === true, 'verification is asked for', body);
      return [undefined, email];
    });
    await step('verify from the sandbox mail box', async () => {
      const token = await verificationToken(stranger, email);
      ok(await stranger.post('/cabinet/auth/email/verify', { token }), 'verify');
      return [undefined, 'the link in the mail works'];
    });
    const session = await step('sign in', async () => {
      const body = ok(await stranger.post('/cabinet/auth/email/login', { email, password }), 'login');
      return [body as { access_token: string; user: { id: number } }, `user ${body.user.id}`];
    });
    const me = createRequester(url, { authorization: `Bearer ${session.access_token}` });
    const userId = session.user.id;

    await step(`top up 500 rubles by ${provider}; callbacks twice and out of order`, () => topUp(me, stranger, provider));
    const bought = await step('buy a tariff', () => buy(me));
    await step('the panel user exists with the right limits', () => checkPanel(stranger, bought.subscription));
    const subscriptionUrl = await step('the connection link resolves', () => checkLink(me));
    await step('/ws saw the events', async () => {
      const types = await until(
        'events on /ws',
        async () => feed.typesOf(userId),
        (seen) => WEBHOOK_EVENTS.every((type) => seen.includes(type)),
      );
      return [undefined, types.join(', ')];
    });
    await step('the webhook receiver got verified signatures', async () => {
      const hooks = await until(
        'webhooks',
        async () => receiver.hooksOf(userId),
        (seen) => WEBHOOK_EVENTS.every((type) => seen.some((hook) => hook.event === type)),
      );
      expect(
        hooks.every((hook) => hook.isSignatureValid),
        'every signature verifies',
        hooks,
      );
      return [undefined, `${hooks.length} deliveries`];
    });
    const balanceKopeks = await step('transactions and balance agree to the kopek', () =>
      checkTransactions(operator, me, userId),
    );
    return { userId, balanceKopeks, subscriptionUrl };
  } finally {
    feed.close();
    await receiver.close();
  }
}

async function verificationToken(stranger: Requester, email: string): Promise<string> {
  const mails = await until(
    'the verification mail',
    async () => (await stranger.get('/sandbox/api/state')).body.mail as { to: string; text: string }[],
    (all) => all.some((mail) => mail.to === email),
  );
  const token = /token=([A-Za-z0-9_-]+)/.exec(mails.find((mail) => mail.to === email)!.text)?.[1];
  expect(token, 'the mail holds a link with a token', mails);
  return token;
}

/** One invoice that fails and one that is paid: the provider reports the later one first, and each twice. */
async function topUp(me: Requester, stranger: Requester, provider: string): Promise<[undefined, string]> {
  const delivery = (wanted: object) => stranger.post('/sandbox/api/payments/delivery', wanted, SANDBOX_HEADER);
  const topUpOnce = async () =>
    ok(
      await me.post(
        '/cabinet/balance/topup',
        { amount_kopeks: TOP_UP_KOPEKS, payment_method: provider },
        { 'idempotency-key': randomUUID() },
      ),
      'top-up',
    ) as { payment_url: string };
  const [abandoned, paid] = [await topUpOnce(), await topUpOnce()];
  const idOf = (invoice: { payment_url: string }) => invoice.payment_url.split('/').at(-1)!;
  await delivery({ duplicates: 1, isPaused: true });
  ok(await stranger.post(`/sandbox/api/payments/${idOf(abandoned)}/fail`, {}, SANDBOX_HEADER), 'fail the first invoice');
  ok(await stranger.post(`/sandbox/api/payments/${idOf(paid)}/pay`, {}, SANDBOX_HEADER), 'pay the second invoice');
  await stranger.post('/sandbox/api/payments/flush', {}, SANDBOX_HEADER);
  await delivery({ duplicates: 0, isPaused: false });
  const balance = await until(
    'the credit',
    async () => (await me.get('/cabinet/balance')).body.balance_kopeks as number,
    (kopeks) => kopeks > 0,
  );
  // A second credit would come with the duplicates; wait until it would be visible.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect((await me.get('/cabinet/balance')).body.balance_kopeks === TOP_UP_KOPEKS, 'credited exactly once', balance);
  return [undefined, `balance ${TOP_UP_KOPEKS / 100} ₽`];
}

interface Bought {
  subscription: {
    traffic_limit_gb: number;
    device_limit: number;
    end_date: string;
    connected_squads: string[];
    subscription_url: string | null;
  };
}

async function buy(me: Requester): Promise<[Bought, string]> {
  const options = await until(
    'a tariff on sale',
    async () => ok(await me.get('/cabinet/subscription/purchase-options'), 'purchase options'),
    (body) => body.tariffs.length > 0,
  );
  const tariff = options.tariffs[0];
  const period = tariff.periods.find((candidate: { price_kopeks: number }) => candidate.price_kopeks <= TOP_UP_KOPEKS);
  expect(period, 'a period that 500 rubles pay for', tariff);
  const order = { tariff_id: tariff.id, period_days: period.days };
  const key = { 'idempotency-key': randomUUID() };
  const first = ok(await me.post('/cabinet/subscription/purchase-tariff', order, key), 'purchase');
  const again = ok(await me.post('/cabinet/subscription/purchase-tariff', order, key), 'the same purchase again');
  expect(isSameAnswer(first, again), 'the repeat with one Idempotency-Key answers the same', { first, again });
  expect(first.charged_amount === period.price_kopeks, 'charged what was shown', first);
  return [first, `${tariff.name}, ${period.days} days, ${period.price_kopeks / 100} ₽`];
}

/** A repeat is the stored answer; only the link may be new, where the panel gave it after the first answer had gone. */
function isSameAnswer(first: Reply['body'], again: Reply['body']): boolean {
  const link = first.subscription.subscription_url ?? again.subscription.subscription_url;
  const expected = { ...first, subscription: { ...first.subscription, subscription_url: link } };
  return isDeepStrictEqual(expected, again);
}

async function checkPanel(stranger: Requester, subscription: Bought['subscription']): Promise<[undefined, string]> {
  const end = new Date(subscription.end_date).getTime();
  interface PanelUser {
    status: string;
    expireAt: string;
    trafficLimitBytes: number;
    username: string;
  }
  const users = await until(
    'the panel user',
    async () => (await stranger.get('/sandbox/api/state')).body.users as PanelUser[],
    (all) => all.some((user) => Math.abs(new Date(user.expireAt).getTime() - end) < 1_000),
  );
  const user = users.find((candidate) => Math.abs(new Date(candidate.expireAt).getTime() - end) < 1_000)!;
  expect(user.status === 'ACTIVE', 'the panel user is active', user);
  expect(user.trafficLimitBytes === subscription.traffic_limit_gb * 1024 ** 3, 'the traffic limit is the tariff’s', user);
  return [undefined, `${user.username}, ${subscription.traffic_limit_gb} GB`];
}

async function checkLink(me: Requester): Promise<[string, string]> {
  const link = await until(
    'the connection link',
    () => me.get('/cabinet/subscription/connection-link'),
    (reply) => reply.status === 200,
  );
  const { subscription_url: url } = link.body as { subscription_url: string };
  const response = await fetch(url);
  const text = await response.text();
  expect(response.status === 200 && text.length > 0, 'the link answers with a configuration', { url, status: response.status });
  return [url, url];
}

async function checkTransactions(operator: Requester, me: Requester, userId: number): Promise<[number, string]> {
  const { items, total } = ok(await operator.get(`/transactions?user_id=${userId}`), 'transactions');
  const sum = (items as { amount_kopeks: number }[]).reduce((all, row) => all + row.amount_kopeks, 0);
  const { balance_kopeks: balance } = ok(await me.get('/cabinet/balance'), 'balance');
  expect(total === 2 && sum === balance, 'two rows whose sum is the balance', { items, balance });
  return [balance, `${total} rows, ${sum / 100} ₽`];
}

async function startReceiver() {
  const secret = randomUUID();
  const hooks: Hook[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const expected = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
    hooks.push({
      event: String(request.headers['x-webhook-event']),
      body: body.toString(),
      isSignatureValid: request.headers['x-webhook-signature'] === expected,
    });
    response.end('ok');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    secret,
    hooksOf: (userId: number) => hooks.filter((hook) => (JSON.parse(hook.body) as { user_id: number }).user_id === userId),
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

function openFeed(url: string, apiToken: string) {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/ws?token=${encodeURIComponent(apiToken)}`);
  const events: { type: string; payload: { user_id?: number } }[] = [];
  const opened = new Promise<void>((resolve, reject) => {
    socket.addEventListener('error', () => reject(new Error('/ws could not be opened')));
    socket.addEventListener('message', (message) => {
      const frame = JSON.parse(String(message.data));
      if (frame.type === 'connection') resolve();
      else events.push(frame);
    });
  });
  return {
    opened,
    typesOf: (userId: number) => events.filter((event) => event.payload?.user_id === userId).map((event) => event.type),
    close: () => socket.close(),
  };
}
