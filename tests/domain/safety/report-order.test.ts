/** The messenger reports several changes at once, and repeats those that failed: their order is not certain (spec 05 section 13). */

import { expect, test } from 'vitest';
import { SECOND_MS } from '../../../src/core/clock.ts';
import { checkMember, forgetRequiredChannels, receiveChannelUpdate } from '../../../src/domain/safety/channel-gate.ts';
import { aUser, type BuiltUser, unique } from '../../support/builders.ts';
import { aStoredSubscription, rowOf } from '../../support/sale-samples.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { testApp } from '../../support/test-app.ts';
import { workerSandbox } from '../../support/test-sandbox.ts';

test('05 13: a leaving that is reported after the joining that followed it: what the messenger answers counts', async () => {
  const t = await testApp({ environment: { CHANNEL_IS_REQUIRED_SUB: 'true' } });
  await t.app.db.sql('DELETE FROM required_channels RETURNING id');
  const channelId = `-100${String(unique()).padStart(10, '3')}`;
  await storeRow(t.app, 'RequiredChannel', { channelId, disablePaidOnLeave: true });
  await forgetRequiredChannels(t.app);
  const aCustomer = async () => {
    const user = await aUser(t.app);
    return { ...user, subscriptionId: await aStoredSubscription(t.app, user.id, { is_trial: false }) };
  };
  const [joined, left] = [await aCustomer(), await aCustomer()];
  await (await workerSandbox()).servers.messenger.setMembership(channelId, left.messengerId, 'left');
  const report = ({ messengerId }: BuiltUser, isMember: boolean) =>
    receiveChannelUpdate(t.app, {
      updateId: unique(),
      kind: 'membership',
      chatId: Number(channelId),
      memberMessengerId: messengerId,
      member: { status: isMember ? 'member' : 'left', isMember },
    });
  const statusOf = async ({ subscriptionId }: { subscriptionId: number }) =>
    (await rowOf<{ status: string }>(t.app, 'SELECT status FROM subscriptions WHERE id = $1::int', [subscriptionId])).status;

  await report(joined, true);
  await t.app.db.sql("DELETE FROM jobs.job WHERE name = 'safety.check-member' RETURNING id");
  for (const user of [joined, left]) await report(user, false);
  // Leaving takes effect at once.
  expect([await statusOf(joined), await statusOf(left)]).toEqual(['disabled', 'disabled']);
  t.clock.advance(10 * SECOND_MS);
  const jobs = await t.app.db.sql<{ messengerId: number }>(
    `SELECT (data->>'messengerId')::bigint AS messenger_id FROM jobs.job WHERE name = 'safety.check-member'`,
  );
  expect(jobs.map(({ messengerId }) => messengerId).sort()).toEqual([joined.messengerId, left.messengerId].sort());
  for (const { messengerId } of jobs) await checkMember(t.app, messengerId);
  expect([await statusOf(joined), await statusOf(left)]).toEqual(['active', 'disabled']);
});
