import { expect, test } from 'vitest';
import { inTransaction } from '../../../src/core/db/transaction.ts';
import { confirmEmailChange, requestEmailChange, verifyEmail } from '../../../src/domain/identity/email/email-address.ts';
import { pushSubscription } from '../../../src/domain/provisioning/push-subscription.ts';
import { requestProvisioning } from '../../../src/domain/provisioning/request-provisioning.ts';
import { importFromPanel } from '../../../src/domain/users/jobs.ts';
import { jobsOf } from '../../support/admin-setup.ts';
import { aSubscription, type ProvisioningTest, readRow, withPanel } from '../../support/provisioning-setup.ts';
import { runNow } from '../../support/run-now.ts';
import { actorOf, anAddress, anUnverifiedAccount, aVerifiedAccount, mailedSecret } from '../identity/accounts.ts';

const IMPORT_JOB = 'users.import-from-panel';

/** A subscription that is provisioned on the panel. */
async function bought(t: ProvisioningTest, userId: number) {
  const { id } = await aSubscription(t.app, { user: { id: userId, messengerId: 0 } });
  await inTransaction(t.app, (inner) => requestProvisioning(inner, id));
  await pushSubscription(t.app, id);
  return { id, uuid: (await readRow(t.app, id)).vpnpanelUuid! };
}

/** What the queues do after the commit. */
async function followUp(t: ProvisioningTest, userId: number, id: number) {
  expect(await jobsOf(t.app, 'userId', userId)).toContain(IMPORT_JOB);
  await runNow(t.app, importFromPanel, { userId });
  expect(await readRow(t.app, id)).toMatchObject({ provisionState: 'pending' });
  await pushSubscription(t.app, id);
}

test('a panel user gets the address that its owner proves after the purchase', async () => {
  const t = await withPanel();
  const email = anAddress();
  const account = await anUnverifiedAccount(t.app, email);
  const { id, uuid } = await bought(t, account.id);
  expect(await t.adapter.findByUuid(uuid)).toMatchObject({ email: null });
  await verifyEmail(t.app, await mailedSecret(t.app, email));
  await followUp(t, account.id, id);
  expect(await t.adapter.findByUuid(uuid)).toMatchObject({ email });
});

test('a panel user gets the address that its owner changes to', async () => {
  const t = await withPanel();
  const account = await aVerifiedAccount(t.app);
  const { id, uuid } = await bought(t, account.id);
  expect(await t.adapter.findByUuid(uuid)).toMatchObject({ email: account.email });
  const newEmail = anAddress();
  await requestEmailChange(t.app, actorOf(account.id), { newEmail });
  await confirmEmailChange(t.app, actorOf(account.id), await mailedSecret(t.app, newEmail));
  await followUp(t, account.id, id);
  expect(await t.adapter.findByUuid(uuid)).toMatchObject({ email: newEmail });
});

test('a change of the address sends no job when the panel has no user', async () => {
  const t = await withPanel();
  const account = await aVerifiedAccount(t.app);
  await t.app.db.sql("DELETE FROM jobs.job WHERE data->>'userId' = $1", [String(account.id)]);
  const newEmail = anAddress();
  await requestEmailChange(t.app, actorOf(account.id), { newEmail });
  await confirmEmailChange(t.app, actorOf(account.id), await mailedSecret(t.app, newEmail));
  expect(await jobsOf(t.app, 'userId', account.id)).not.toContain(IMPORT_JOB);
});
