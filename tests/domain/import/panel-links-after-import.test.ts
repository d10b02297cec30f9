/** Spec 07 sections 4.3 and 4.6: the first push of an imported subscription finds the panel user that the person has (hazards I8, I43, I44). */
import { describe, expect, test } from 'vitest';
import type { CommandCall } from '../../../src/cli/command.ts';
import { checkProvisioning } from '../../../src/cli/doctor/content-checks.ts';
import { importCheckPanelCommand } from '../../../src/cli/import-review-commands.ts';
import type { Database } from '../../../src/core/db/database.ts';
import { IMPORT_UNSEEN } from '../../../src/domain/provisioning/panel-user.ts';
import { pushSubscription } from '../../../src/domain/provisioning/push-subscription.ts';
import {
  anImportedAccount,
  anImportRun,
  aPanelUser,
  changesSince,
  type ImportedAccount,
} from '../../support/imported-accounts.ts';
import { type ProvisioningTest, readRow, withPanel } from '../../support/provisioning-setup.ts';
import { storeRow } from '../../support/stored-rows.ts';

const UNKNOWN = { uuid: '11111111-1111-4111-8111-111111111111', number: '00000000-0000-8000-8000-0000000fffff' } as const;
const ELSEWHERE = { uuid: '22222222-2222-4222-8222-222222222222', number: '00000000-0000-8000-8000-0000000ffffe' } as const;
const CREATED = 'POST /api/users';

async function start(generation: 'uuid' | 'number', revision = '0106'): Promise<ProvisioningTest> {
  const t = await withPanel({ generation });
  await anImportRun(t, revision);
  return t;
}

/** Pushes, and says what the account is linked to afterwards, and what the panel was made to do. */
async function pushed(t: ProvisioningTest, { subscriptionId }: ImportedAccount) {
  const before = t.panel.calls().length;
  expect(await pushSubscription(t.app, subscriptionId)).toBe('synced');
  const { vpnpanelUuid: uuid, vpnpanelShortUuid: shortUuid } = await readRow(t.app, subscriptionId);
  const changes = changesSince(t, before);
  return { uuid, shortUuid, isCreated: changes.includes(CREATED), isRevoked: changes.some((call) => call.includes('revoke')) };
}

describe.each(['uuid', 'number'] as const)('a panel that addresses users by %s', (generation) => {
  test.each(['0045', '0106'])(
    'from revision %s an account without a handle gets the panel user of its link, not a later one of its messenger id',
    async (revision) => {
      const t = await start(generation, revision);
      const theirs = await aPanelUser(t);
      const account = await anImportedAccount(t, { shortUuid: theirs.shortUuid });
      await aPanelUser(t, { messengerId: account.messengerId, days: 90 });
      const found = { uuid: theirs.uuid, shortUuid: theirs.shortUuid, isCreated: false, isRevoked: false };
      expect(await pushed(t, account)).toEqual(found);
      expect(await t.adapter.findByUuid(theirs.uuid)).toMatchObject({ messengerId: account.messengerId });
    },
  );

  test('an account whose handle the panel does not know is found by its link', async () => {
    const t = await start(generation);
    const theirs = await aPanelUser(t);
    const account = await anImportedAccount(t, { panelUuid: UNKNOWN[generation], shortUuid: theirs.shortUuid });
    const found = { uuid: theirs.uuid, shortUuid: theirs.shortUuid, isCreated: false, isRevoked: false };
    expect(await pushed(t, account)).toEqual(found);
  });

  test('an account whose handle is of the other generation is found by its link', async () => {
    const t = await start(generation);
    const theirs = await aPanelUser(t);
    const other = UNKNOWN[generation === 'uuid' ? 'number' : 'uuid'];
    const account = await anImportedAccount(t, { panelUuid: other, shortUuid: theirs.shortUuid });
    const found = { uuid: theirs.uuid, shortUuid: theirs.shortUuid, isCreated: false, isRevoked: false };
    expect(await pushed(t, account)).toEqual(found);
  });

  test('a panel that knows nobody of the import gets nobody of it a second time', async () => {
    const t = await start(generation);
    const account = await anImportedAccount(t, { panelUuid: UNKNOWN[generation], shortUuid: 'of-another-panel' });
    await anImportedAccount(t, { panelUuid: ELSEWHERE[generation], shortUuid: 'of-another-panel-too' });
    const before = t.panel.calls().length;
    expect(await pushSubscription(t.app, account.subscriptionId)).toBe('failed');
    expect(changesSince(t, before)).toEqual([]);
    const row = { vpnpanelUuid: UNKNOWN[generation], provisionState: 'failed', provisionError: IMPORT_UNSEEN };
    expect(await readRow(t.app, account.subscriptionId)).toMatchObject(row);
    const findings = await checkProvisioning(t.app as unknown as Database);
    expect(findings).toContainEqual(expect.objectContaining({ check: 'imported people', verdict: 'problem' }));
    const call = { words: [], options: { 'create-unknown': true }, app: t.app } as unknown as CommandCall;
    expect(await importCheckPanelCommand.run(call)).toMatchObject({ data: { right: false, unknown: expect.any(Array) } });
    expect(await pushed(t, account)).toMatchObject({ isCreated: true });
  });

  test('one whom a panel of the import does not know any more is created there', async () => {
    const t = await start(generation);
    const theirs = await aPanelUser(t);
    await anImportedAccount(t, { panelUuid: theirs.uuid, shortUuid: theirs.shortUuid });
    const account = await anImportedAccount(t, { panelUuid: UNKNOWN[generation], shortUuid: 'deleted-at-the-panel' });
    expect(await pushed(t, account)).toMatchObject({ isCreated: true, isRevoked: false });
  });

  test('one who was created at a panel without a link of the import says nothing of the others', async () => {
    const t = await start(generation);
    const runId = await anImportRun(t, '0106');
    const unlinked = await anImportedAccount(t);
    const issue = {
      runId,
      code: 'subscription_unprovisioned',
      sourceTable: 'subscriptions',
      subject: String(unlinked.subscriptionId),
    };
    await storeRow(t.app, 'ImportIssue', issue);
    expect(await pushed(t, unlinked)).toMatchObject({ isCreated: true });
    const account = await anImportedAccount(t, { panelUuid: UNKNOWN[generation], shortUuid: 'of-another-panel' });
    expect(await pushSubscription(t.app, account.subscriptionId)).toBe('failed');
  });

  test('a link that the panel does not know ends the search where a person may have several panel users', async () => {
    const t = await start(generation);
    const account = await anImportedAccount(t, { shortUuid: 'gone-from-the-panel' });
    const namesake = await aPanelUser(t, { messengerId: account.messengerId });
    const made = await pushed(t, account);
    expect(made).toMatchObject({ isCreated: true, isRevoked: false });
    expect(made.uuid).not.toBe(namesake.uuid);
  });

  test('the panel user of a link that is linked to another account is left to that account', async () => {
    const t = await start(generation);
    const theirs = await aPanelUser(t);
    const owner = await anImportedAccount(t, { panelUuid: theirs.uuid, shortUuid: theirs.shortUuid });
    const account = await anImportedAccount(t, { shortUuid: theirs.shortUuid });
    const made = await pushed(t, account);
    expect(made.uuid).not.toBe(theirs.uuid);
    expect(await readRow(t.app, owner.subscriptionId)).toMatchObject({ vpnpanelUuid: theirs.uuid });
  });

  test.each([
    ['messenger id', ({ messengerId }: ImportedAccount) => ({ messengerId })],
    ['e-mail', ({ email }: ImportedAccount) => ({ email })],
  ])('without a link the only panel user of its %s is taken', async (_name, identityOf) => {
    const t = await start(generation);
    const account = await anImportedAccount(t);
    const theirs = await aPanelUser(t, identityOf(account));
    const found = { uuid: theirs.uuid, shortUuid: theirs.shortUuid, isCreated: false, isRevoked: false };
    expect(await pushed(t, account)).toEqual(found);
  });

  test.each([
    ['0106', true],
    ['0045', false],
  ])(
    'of two panel users of its messenger id, after an import from revision %s, one is created: %s',
    async (revision, isCreated) => {
      const t = await start(generation, revision);
      const account = await anImportedAccount(t);
      const both = [
        await aPanelUser(t, { messengerId: account.messengerId }),
        await aPanelUser(t, { messengerId: account.messengerId, days: 60 }),
      ];
      const made = await pushed(t, account);
      expect(made.isCreated).toBe(isCreated);
      expect(both.map(({ uuid }) => uuid).includes(made.uuid!)).toBe(!isCreated);
    },
  );
});
