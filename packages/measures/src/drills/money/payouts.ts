/** Withdrawals of referral earnings: requested, and decided by two administrators and the user at once. */
import { setTimeout as wait } from 'node:timers/promises';
import type { DrillContext } from './drill-context.ts';

const MIN_KOPEKS = 1_000;
const MAX_DELAY_MS = 1_500;

interface Decision {
  name: 'approve' | 'reject' | 'cancel' | 'complete';
  isOfAdmin: boolean;
}

const FIRST: readonly Decision[] = [
  { name: 'approve', isOfAdmin: true },
  { name: 'approve', isOfAdmin: true },
  { name: 'approve', isOfAdmin: true },
  { name: 'reject', isOfAdmin: true },
  { name: 'cancel', isOfAdmin: false },
];
const COMPLETE: Decision = { name: 'complete', isOfAdmin: true };

/** One request of an earner who has something to withdraw, with two decisions about it at once, then the payout twice at once. */
export async function withdraw(drill: DrillContext): Promise<void> {
  const { random, fixture } = drill;
  const earner = random.pick(fixture.people.earners);
  const [user] = await fixture.app.db.sql<{ balance: number }>('SELECT balance_kopeks AS balance FROM users WHERE id = $1::int', [
    earner.id,
  ]);
  const balance = Number(user!.balance);
  if (balance < MIN_KOPEKS) return;
  const amount = random.between(MIN_KOPEKS, Math.max(MIN_KOPEKS, Math.floor(balance / 2)));
  const request = () =>
    drill.client.post({
      operation: 'withdrawal request',
      path: '/cabinet/referral/withdrawal/create',
      userId: earner.id,
      body: { amount_kopeks: amount, payment_details: 'Card 2200 0000 0000 0004' },
      // The same user asks twice at once: one is pending then.
      isProvoked: ({ status }) => status === 400,
    });
  const made = (await Promise.all([request(), request()])).flatMap((reply) => (reply.outcome === 'done' ? [reply.body.id] : []));
  for (const id of made) {
    await wait(random.between(0, MAX_DELAY_MS));
    const done = await Promise.all([
      decide(drill, earner.id, id, random.pick(FIRST)),
      decide(drill, earner.id, id, random.pick(FIRST)),
    ]);
    // Some wait for the end of the drill in the state approved.
    if (done.includes('approve') && random.next() < 0.8)
      await Promise.all([decide(drill, earner.id, id, COMPLETE), decide(drill, earner.id, id, COMPLETE)]);
  }
}

/** @returns the name of the decision when it was acknowledged */
async function decide(
  drill: DrillContext,
  userId: number,
  id: number,
  { name, isOfAdmin }: Decision,
): Promise<Decision['name'] | null> {
  const { random, fixture, client, deeds } = drill;
  const path = isOfAdmin ? `/cabinet/admin/withdrawals/${id}/${name}` : `/cabinet/referral/withdrawal/${id}/${name}`;
  const reply = await client.post({
    operation: `withdrawal ${name}`,
    path,
    userId: isOfAdmin ? random.pick(fixture.people.admins).id : userId,
    ...(name === 'approve' || name === 'reject' ? { body: { comment: 'drill' } } : {}),
    // Decided by the other one, or the balance is too low by now.
    isProvoked: ({ status }) => status === 400,
  });
  if (reply.outcome !== 'done') return null;
  deeds.decisions.push(`${name} ${id}`);
  return name;
}
