/** The clock of a running instance jumps, while that of its database goes on (spec 10 F5; docs/drills.md, bad days). */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createRequester } from '../../packages/measures/src/demo/http.ts';
import { newKey, type Surroundings, startSurrounded } from '../support/bad-surroundings.ts';
import { eventually } from '../support/eventually.ts';
import { serverUrl } from '../support/test-database.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** With an interval of a second a new round begins whenever an instance looks for due schedules. */
const FASTEST = 'schedule:receipts.work';

let world: Surroundings;
beforeAll(async () => {
  if (serverUrl) world = await startSurrounded({ NALOGO_QUEUE_CHECK_INTERVAL: '1' });
});
afterEach(() => world?.machine.jump(world.service.process, 0));
afterAll(() => world?.close());

describe.skipIf(!serverUrl)('the clock of an instance (left out without a server: TEST_DATABASE_URL)', () => {
  const ready = () => world.operator.get('/readyz');
  const rows = async (text: string) => (await world.sql.query(text)).rows;
  const roundOf = async (key: string) => {
    const [row] = (await world.sql.query('SELECT value::text AS round FROM service_state WHERE key = $1', [key])).rows;
    return row?.round as string | undefined;
  };
  const stranger = () => createRequester(world.service.url);

  test.each([
    ['an hour back', -HOUR_MS],
    ['a day ahead', DAY_MS],
  ])(
    'jumps %s: sessions, keys, limits, jobs and schedules follow the database, and the instance is not ready until it is right',
    async (_name, clockMs) => {
      const customer = await world.aCustomer(100_000);
      const key = newKey();
      const credit = () => world.operator.post(`/users/${customer.messengerId}/balance`, { amount_kopeks: 100 }, key);
      expect((await credit()).status).toBe(200);
      await eventually(async () => expect((await ready()).status).toBe(200));

      await world.machine.jump(world.service.process, clockMs);
      const said = new RegExp(`^Not ready: the clock of this machine is ${clockMs / 1_000} s from the clock of the database$`);
      await eventually(async () => expect((await ready()).body.detail).toMatch(said));
      await world.sql.query('TRUNCATE rate_limit_windows');
      const round = await roundOf(FASTEST);
      expect((await world.operator.get('/livez')).status).toBe(200);
      expect((await customer.me.get('/cabinet/auth/me')).status).toBe(200);
      expect((await credit()).status).toBe(200);
      // Who signs in meanwhile has a session by the time of the database, which is good on every instance.
      const during = await world.aCustomer(100_000);
      expect(await during.me.get('/cabinet/balance')).toMatchObject({ status: 200, body: { balance_kopeks: 100_000 } });
      const outside = "window_start NOT BETWEEN now() - interval '2 minutes' AND now()";
      expect(await rows(`SELECT key FROM rate_limit_windows WHERE ${outside}`)).toEqual([]);
      expect(await rows('SELECT key FROM rate_limit_windows')).not.toEqual([]);
      // A job is carried out at once, neither an hour later nor never.
      const email = `${randomUUID()}@example.com`;
      const account = { email, password: randomUUID(), first_name: 'Later', language: 'en' };
      expect((await stranger().post('/cabinet/auth/email/register/standalone', account)).status).toBe(200);
      await eventually(() => expect(world.mail.mails.filter(({ to }) => to.join().includes(email))).toHaveLength(1));
      await eventually(async () => expect(await roundOf(FASTEST)).not.toBe(round));
      // As seconds since 1970, and as days; a schedule of the latter by a clock that is ahead would be of tomorrow.
      const early = `key = '${FASTEST}' AND value::bigint > extract(epoch FROM clock_timestamp()) + 1
      OR key = 'schedule:media.purge' AND value::bigint > floor(extract(epoch FROM now()) / 86400)`;
      expect(await rows(`SELECT key FROM service_state WHERE ${early}`)).toEqual([]);
      expect(await rows(`SELECT key FROM service_state WHERE key = '${FASTEST}' AND value::bigint > 0`)).toHaveLength(1);

      await world.machine.jump(world.service.process, 0);
      await eventually(async () => expect((await ready()).status).toBe(200));
      expect((await customer.me.get('/cabinet/balance')).body).toMatchObject({ balance_kopeks: 100_100 });
      expect((await during.me.get('/cabinet/auth/me')).status).toBe(200);
      expect(await rows('SELECT * FROM ledger_check()')).toEqual([]);
    },
  );
});
