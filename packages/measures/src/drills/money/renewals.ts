/** Subscriptions that saved cards renew: how they are set up. The service does the rest by itself. */
import { addMs, DAY_MS, HOUR_MS } from '../../../../../src/core/clock.ts';
import { until } from '../../demo/http.ts';
import { type DrillContext, perform } from './drill-context.ts';
import { openTopup } from './payers.ts';
import { type Person, SHORT_DAYS } from './people.ts';

/** Some callbacks come late, and some payments are found by the check of each minute only. */
const SET_UP_LIMIT_MS = 600_000;

/**
 * Each renewer pays with a card that the provider keeps, buys the short tariff, and switches autopay on. The ends of the terms are spread
 * over the days, so that on each day some renewals are due.
 */
export async function setUpRenewers(drill: DrillContext): Promise<void> {
  const { people } = drill.fixture;
  await Promise.all(people.renewers.map((person, index) => setUp(drill, person, index)));
}

async function setUp(drill: DrillContext, person: Person, index: number): Promise<void> {
  const { app, tariffs } = drill.fixture;
  const invoiceId = await openTopup(drill, person, 'yookassa', tariffs.shortKopeks, 'card');
  if (invoiceId === null) return setUp(drill, person, index);
  await perform(drill, invoiceId, 'pay');
  const balanceOf = async () => {
    const [row] = await app.db.sql<{ balance: number }>('SELECT balance_kopeks AS balance FROM users WHERE id = $1::int', [
      person.id,
    ]);
    return Number(row!.balance);
  };
  await until(`the credit of renewer ${person.id}`, balanceOf, (kopeks) => kopeks === tariffs.shortKopeks, SET_UP_LIMIT_MS);
  const reply = await drill.client.post({
    operation: 'purchase of a renewer',
    path: '/cabinet/subscription/purchase-tariff',
    userId: person.id,
    body: { tariff_id: tariffs.shortId, period_days: SHORT_DAYS },
  });
  if (reply.outcome !== 'done') throw new Error(`renewer ${person.id} could not buy: ${JSON.stringify(reply)}`);
  const endDate = addMs(app.clock.now(), (1 + (index % SHORT_DAYS)) * DAY_MS + HOUR_MS);
  await app.db.sql(
    'UPDATE subscriptions SET autopay_enabled = true, autopay_days_before = 3, end_date = $2::timestamptz WHERE user_id = $1::int RETURNING id',
    [person.id, endDate],
  );
}
