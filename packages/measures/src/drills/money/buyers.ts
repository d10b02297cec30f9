/** Purchases from the balance, and gifts: bought, claimed by several at once, refunded while they are claimed. */
import { setTimeout as wait } from 'node:timers/promises';
import { isAppError } from '../../../../../src/core/errors.ts';
import { refundGift } from '../../../../../src/domain/storefront/gifts/refund-gift.ts';
import { type BoughtGift, countOne, type DrillContext } from './drill-context.ts';
import { INVOICE_METHODS, invoiceOf, payLater } from './payers.ts';
import { MONTH_DAYS, type Person } from './people.ts';

const OPERATOR = { kind: 'system', name: 'drill' } as const;
/** Of the gifts: those paid at a provider. */
const PROVIDER_SHARE = 0.35;
/** Of the gifts from the balance: those that the operator refunds, at the time of a claim. */
const REFUND_SHARE = 0.35;
const MAX_DELAY_MS = 2_500;

/** The month tariff, new or prolonged; refused while the balance does not suffice. */
export async function buyTariff(drill: DrillContext, { id }: Person): Promise<void> {
  const { monthId } = drill.fixture.tariffs;
  const reply = await drill.client.post({
    operation: 'purchase',
    path: '/cabinet/subscription/purchase-tariff',
    userId: id,
    body: { tariff_id: monthId, period_days: MONTH_DAYS },
    isProvoked: ({ status }) => status === 402,
  });
  const counts = drill.deeds.purchases.get(id) ?? { acknowledged: 0, unknown: 0 };
  drill.deeds.purchases.set(id, counts);
  if (reply.outcome === 'done') counts.acknowledged += 1;
  if (reply.outcome === 'unknown') counts.unknown += 1;
}

/** A gift that is only a code; it is claimed in the background. */
export async function buyGift(drill: DrillContext, { id }: Person): Promise<void> {
  const { random, fixture } = drill;
  const { monthId, monthKopeks } = fixture.tariffs;
  const method = random.next() < PROVIDER_SHARE ? random.pick(INVOICE_METHODS) : null;
  const reply = await drill.client.post({
    operation: method === null ? 'gift from the balance' : 'gift at a provider',
    path: '/cabinet/gift/purchase',
    userId: id,
    body: {
      ...{ tariff_id: monthId, period_days: MONTH_DAYS, payment_mode: method === null ? 'balance' : 'gateway' },
      ...(method === null ? {} : { payment_method: method }),
    },
    isProvoked: ({ status, body: text }) => status === 502 || (status === 400 && text.includes('Insufficient balance')),
  });
  if (reply.outcome !== 'done') return;
  const gift: BoughtGift = { code: reply.body.purchase_token, buyerId: id, claimedBy: new Set(), isRefunded: false };
  drill.deeds.gifts.push(gift);
  if (reply.body.payment_url)
    payLater(drill, { invoiceId: invoiceOf(reply.body.payment_url), method: method!, amountKopeks: monthKopeks });
  drill.inBackground(() => claim(drill, gift, method === null && random.next() < REFUND_SHARE));
}

/** Two users enter the code at once; at the same time the operator may give the money back. */
async function claim(drill: DrillContext, gift: BoughtGift, isRefunded: boolean): Promise<void> {
  const { random, fixture } = drill;
  await wait(random.between(0, MAX_DELAY_MS));
  const first = random.between(0, fixture.people.claimers.length - 1);
  const both = [first, first + 1].map((index) => fixture.people.claimers[index % fixture.people.claimers.length]!);
  const activations = both.map(async (person) => {
    const reply = await drill.client.post({
      operation: 'gift activation',
      path: '/cabinet/gift/activate',
      userId: person.id,
      body: { code: gift.code },
      // Claimed by the other one, not paid yet, or refunded.
      isProvoked: ({ status }) => [400, 404, 409].includes(status),
    });
    if (reply.outcome === 'done') gift.claimedBy.add(person.id);
  });
  await Promise.all([...activations, ...(isRefunded ? [refund(drill, gift), refund(drill, gift)] : [])]);
}

async function refund(drill: DrillContext, gift: BoughtGift): Promise<void> {
  const { app } = drill.fixture;
  const [row] = await app.db.sql<{ id: number }>('SELECT id FROM guest_purchases WHERE code = $1', [gift.code]);
  try {
    await refundGift(app, OPERATOR, row!.id, 'drill');
    gift.isRefunded = true;
    countOne(drill.deeds.commands, 'gift refunded');
  } catch (error) {
    if (!isAppError(error) || error.status !== 409) throw error;
    countOne(drill.deeds.commands, 'gift refund refused');
  }
}
