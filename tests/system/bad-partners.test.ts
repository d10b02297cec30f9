/** Days on which partners of the service are slow, gone or answer nonsense, and on which names do not resolve (docs/drills.md, bad days). */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createRequester, type Reply } from '../../packages/measures/src/demo/http.ts';
import type { BadAnswer } from '../support/bad-partner.ts';
import { type Customer, NAMES, newKey, PARTNER_NAMES, type Surroundings, startSurrounded } from '../support/bad-surroundings.ts';
import { eventually } from '../support/eventually.ts';
import { serverUrl } from '../support/test-database.ts';

const MONEY = 1_000_000;
const TOP_UP = 50_000;
const NOTICES = -1_001_000_000_001;
const MEGABYTE = 1024 * 1024;
/** What the kernel buffers of a connection, on both ends, of an answer that is read no further. */
const IN_BUFFERS = 8 * MEGABYTE;

type BadDay = BadAnswer | 'refused' | 'nowhere';
const DAYS: readonly BadDay[] = ['html', 'endless', 'slow', 'cut', 'refused', 'nowhere'];

/** What a customer had begun or asked for on a bad day. */
interface Waiting {
  day: BadDay;
  customer: Customer;
  email: string;
  priceKopeks: number;
}

let world: Surroundings;
let tariff: { id: number; periods: { days: number; price_kopeks: number }[] };
const waiting: Waiting[] = [];

beforeAll(async () => {
  if (!serverUrl) return;
  const notices = { ADMIN_NOTIFICATIONS_ENABLED: 'true', ADMIN_NOTIFICATIONS_CHAT_ID: String(NOTICES) };
  world = await startSurrounded(notices);
  const { me } = await world.aCustomer(MONEY);
  await eventually(async () => {
    [tariff] = (await me.get('/cabinet/subscription/purchase-options')).body.tariffs;
    expect(tariff).toBeDefined();
  });
});
afterEach(() => (world ? end() : undefined));
afterAll(() => world?.close());

/** The partners behave so, or their names lead so; the messenger has no name, and resets connections then. */
async function begin(day: BadDay): Promise<void> {
  const isOfNames = day === 'refused' || day === 'nowhere';
  if (isOfNames) await world.machine.lead(PARTNER_NAMES, day);
  for (const partner of Object.values(world.partners)) partner.behave(isOfNames ? 'reset' : day);
}

async function end(): Promise<void> {
  await world.machine.lead(PARTNER_NAMES, 'here');
  for (const partner of Object.values(world.partners)) partner.behave(null);
}

const topUp = ({ me }: Customer) =>
  me.post('/cabinet/balance/topup', { amount_kopeks: TOP_UP, payment_method: 'cryptobot' }, newKey());
const starsLink = ({ initData }: Customer) =>
  createRequester(world.service.url).post('/miniapp/payments/create', {
    initData,
    method: 'stars',
    amountKopeks: TOP_UP,
  });
const register = (email: string) =>
  createRequester(world.service.url).post('/cabinet/auth/email/register/standalone', {
    email,
    password: randomUUID(),
    first_name: 'New',
    language: 'en',
  });
const refused = (reply: Reply) => expect([502, 503, 504], JSON.stringify(reply.body)).toContain(reply.status);

// Each day leaves work, which the last test looks for.
describe.skipIf(!serverUrl)('bad days (left out without a server: TEST_DATABASE_URL)', { shuffle: false }, () => {
  test.each(DAYS)('all partners are %s: who needs one is refused, and everything else goes on', async (day) => {
    // Sign-ups are limited by address, and all customers of this test have one.
    await world.sql.query('TRUNCATE rate_limit_windows');
    const customer = await world.aCustomer(MONEY);
    const email = `${randomUUID()}@example.com`;
    // Paid before the day, reported on it.
    const opened = await topUp(customer);
    expect(opened.status, JSON.stringify(opened.body)).toBe(200);
    const [invoice] = await world.payments.list();
    await begin(day);
    const asked = Promise.all([world.operator.get('/vpnpanel/system'), topUp(customer), starsLink(customer)]);
    await expect.poll(() => day === 'refused' || day === 'nowhere' || world.partners.payments.met()).toBeTruthy();

    expect((await customer.me.get('/cabinet/auth/me')).status).toBe(200);
    const period = tariff.periods[0]!;
    const order = { tariff_id: tariff.id, period_days: period.days };
    expect((await customer.me.post('/cabinet/subscription/purchase-tariff', order, newKey())).status).toBe(200);
    expect((await register(email)).status).toBe(200);
    await world.payments.act(invoice!.id, 'pay');
    await expect.poll(async () => (await world.sql.query('SELECT id FROM provider_callbacks')).rowCount).toBe(waiting.length + 1);
    expect((await world.operator.get('/readyz')).status).toBe(200);
    waiting.push({ day, customer, email, priceKopeks: period.price_kopeks });

    const { panel, payments } = world.partners;
    if (day === 'endless') await expect.poll(() => Math.min(panel.sent(), payments.sent())).toBeGreaterThan(MEGABYTE);
    // Until its limit a request waits for a partner that says nothing; that it then ends is tested where time is set.
    if (day === 'slow') await end();
    const replies = await asked;
    if (day === 'endless') {
      expect(panel.sent()).toBeLessThan(10 * MEGABYTE + IN_BUFFERS);
      expect(payments.sent()).toBeLessThan(MEGABYTE + IN_BUFFERS);
    }
    await end();
    // A question is repeated after the connection has ended, and then answered.
    for (const reply of day === 'slow' ? replies.slice(1) : replies) refused(reply);
  });

  test('when partners and names are there again, what waits is done, once each', async () => {
    expect(waiting.length).toBeGreaterThan(0);
    // The pauses between the attempts of jobs pass.
    const passTime = () =>
      world.sql.query("UPDATE jobs.job SET start_after = now() WHERE state = 'retry' AND start_after > now()");
    await eventually(async () => {
      await passTime();
      const { rows } = await world.sql.query("SELECT id FROM subscriptions WHERE provision_state <> 'synced'");
      expect(rows).toEqual([]);
      for (const { email } of waiting)
        expect(world.mail.mails.filter(({ to }) => to.join().includes(email)).length, email).toBeGreaterThan(0);
    });
    await eventually(async () => {
      await passTime();
      const { rows } = await world.sql.query(
        "SELECT id FROM jobs.job WHERE name = 'messenger.send' AND state IN ('created', 'retry', 'active')",
      );
      expect(rows).toEqual([]);
    });
    const users = world.panel.listUsers(1_000).map(({ username }) => username);
    const titlesOf = async (messengerId: unknown) => {
      const notices = (await world.messenger.messages()).filter(({ chatId }) => chatId === NOTICES);
      return notices.flatMap(({ text }) => (text.includes(`(${messengerId})`) ? text.split('\n', 1) : []));
    };
    for (const { day, customer, email, priceKopeks } of waiting) {
      await eventually(async () =>
        expect((await customer.me.get('/cabinet/balance')).body.balance_kopeks, day).toBe(MONEY - priceKopeks + TOP_UP),
      );
      expect(
        users.filter((name) => name.includes(String(customer.messengerId))),
        day,
      ).toHaveLength(1);
      // Where the next day began while a mail was under way, nobody knows whether it has arrived: it is sent again.
      const mails = world.mail.mails.filter(({ to }) => to.join().includes(email)).length;
      expect(mails, day).toBeLessThanOrEqual(1 + world.partners.mail.ended());
      const titles = await titlesOf(customer.messengerId);
      // One whose answer was lost may have arrived, and is not sent again (spec 05 section 3.5).
      expect(new Set(titles).size, day).toBe(titles.length);
    }
    expect((await world.sql.query('SELECT * FROM ledger_check()')).rows).toEqual([]);
  });

  test('the name of the database resolves no more: 503 until it does, and a write is made once', async () => {
    const customer = await world.aCustomer();
    const key = newKey();
    const credit = () => world.operator.post(`/users/${customer.messengerId}/balance`, { amount_kopeks: 100 }, key);
    await world.machine.lead([NAMES.database], 'nowhere');
    // Sessions that are open need no name: all end, as when the server moves to another address.
    await world.sql.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name <> 'test-admin'`,
    );
    await eventually(async () => expect(await credit()).toMatchObject({ status: 503 }));
    expect((await credit()).headers.get('retry-after')).toBe('5');
    expect((await customer.me.get('/cabinet/balance')).status).toBe(503);
    expect((await world.operator.get('/readyz')).status).toBe(503);
    expect((await world.operator.get('/livez')).status).toBe(200);
    await world.machine.lead([NAMES.database], 'here');
    await eventually(async () => expect((await world.operator.get('/readyz')).status).toBe(200));
    await eventually(async () => expect((await credit()).status).toBe(200));
    expect((await customer.me.get('/cabinet/balance')).body).toMatchObject({ balance_kopeks: 100 });
  });
});
