/** Spec 07 section 1.4: `import panel-leftovers` lists the panel users of subscriptions that were kept aside, and switches named ones off. */
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { CommandError, UsageError } from '../../../src/cli/command.ts';
import { importLeftoversCommand } from '../../../src/cli/import-leftovers-command.ts';
import type { PanelUser } from '../../../src/domain/provisioning/ports.ts';
import {
  anImportedAccount,
  anImportRun,
  aPanelUser,
  aParkedSubscription,
  changesSince,
} from '../../support/imported-accounts.ts';
import { type ProvisioningTest, withPanel } from '../../support/provisioning-setup.ts';

/** Runs the command in this service. @param answer what the person types at the question */
async function leftovers({ app }: ProvisioningTest, options: { disable?: string } = {}, answer = '') {
  const asked: string[] = [];
  const terminal = { source: {}, out: () => undefined, err: (text: string) => asked.push(text), input: Readable.from([answer]) };
  const call = { words: [], options, terminal, progress: () => undefined, isVerbose: false, isJson: false, app };
  const result = await importLeftoversCommand.run(call);
  return { ...result, asked: asked.join('') };
}

/** A person with two panel users of subscriptions that were kept aside. */
async function someLeftovers(generation: 'uuid' | 'number') {
  const t = await withPanel({ generation });
  const runId = await anImportRun(t, '0106');
  const { userId, messengerId } = await anImportedAccount(t);
  const parked = async (panelUser: PanelUser) => {
    const id = await aParkedSubscription(t, { runId, userId, panelUser });
    const asListed = {
      subscription_id: id,
      user_id: userId,
      panel_uuid: panelUser.uuid,
      ends_at: panelUser.expireAt.toISOString(),
    };
    return { id, panelUser, asListed };
  };
  const first = await parked(await aPanelUser(t, { messengerId }));
  return { t, first, second: await parked(await aPanelUser(t, { messengerId, days: 5 })) };
}

describe.each(['uuid', 'number'] as const)('a panel that addresses users by %s', (generation) => {
  test('are listed with owner, end and state, and nothing is changed', async () => {
    const { t, first, second } = await someLeftovers(generation);
    await t.adapter.deleteUser(second.panelUser.uuid);
    const calls = t.panel.calls().length;
    const { data, text } = await leftovers(t);
    expect(data).toEqual([
      { ...first.asListed, status: 'ACTIVE' },
      { ...second.asListed, status: 'absent' },
    ]);
    expect(text).toContain(`user ${first.asListed.user_id}`);
    expect(changesSince(t, calls)).toEqual([]);
  });

  test('only the named ones are switched off, after a yes', async () => {
    const { t, first, second } = await someLeftovers(generation);
    const { data, asked } = await leftovers(t, { disable: String(first.id) }, 'yes\n');
    expect(asked).toContain('Switch 1 off? (yes/no)');
    expect(data).toEqual([{ ...first.asListed, status: 'DISABLED' }]);
    expect(await t.adapter.findByUuid(first.panelUser.uuid)).toMatchObject({ status: 'DISABLED' });
    expect(await t.adapter.findByUuid(second.panelUser.uuid)).toMatchObject({ status: 'ACTIVE' });
  });

  test.each([
    ['a no', 'no\n'],
    ['an empty line', '\n'],
    ['no answer at all', ''],
  ])('after %s nothing is switched off', async (_name, answer) => {
    const { t, first } = await someLeftovers(generation);
    const calls = t.panel.calls().length;
    await expect(leftovers(t, { disable: String(first.id) }, answer)).rejects.toThrow(new CommandError('Nothing was changed.'));
    expect(changesSince(t, calls)).toEqual([]);
  });

  test('one that somebody has here is neither listed nor switched off', async () => {
    const { t, first, second } = await someLeftovers(generation);
    const link = 'UPDATE users SET vpnpanel_uuid = $2::uuid WHERE id = $1::int RETURNING id';
    await t.app.db.sql(link, [first.asListed.user_id, first.panelUser.uuid]);
    expect((await leftovers(t)).data).toEqual([{ ...second.asListed, status: 'ACTIVE' }]);
    const refused = leftovers(t, { disable: `${second.id},${first.id}` }, 'yes\n');
    await expect(refused).rejects.toThrow(`No panel user was left of the subscriptions ${first.id}. Nothing was changed.`);
    expect(await t.adapter.findByUuid(second.panelUser.uuid)).toMatchObject({ status: 'ACTIVE' });
  });
});

test('ids that are none are refused before anything is asked', async () => {
  const t = await withPanel();
  await expect(leftovers(t, { disable: '1,x' })).rejects.toThrow(UsageError);
});
