/** Spec 07 section 9: what is looked at after an import, and the way back. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { addDays } from '../../../src/core/clock.ts';
import { checkPanelLinks } from '../../../src/domain/import/check-panel-links.ts';
import { endImport, exportSince, readSwitchOver } from '../../../src/domain/import/switch-over.ts';
import { aUser } from '../../support/builders.ts';
import { type ProvisioningTest, startAppWithPanel } from '../../support/provisioning-setup.ts';
import { aStoredSubscription, topUp } from '../../support/sale-samples.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { testApp } from '../../support/test-app.ts';
import { freshDatabase, type TestDatabase } from '../../support/test-database.ts';

describe.each(['uuid', 'number'] as const)('a panel that addresses users by %s', (generation) => {
  let database: TestDatabase;
  let t: ProvisioningTest;
  beforeAll(async () => {
    database = await freshDatabase();
    t = await startAppWithPanel({ generation, database });
  });
  afterAll(async () => {
    await t.panel.close();
    await database.drop();
  });

  /** A live user with a panel user. */
  async function linked(changes: { shortUuid?: string; days?: number } = {}): Promise<number> {
    const { id } = await aUser(t.app);
    const endDate = addDays(t.clock.now(), 30);
    const made = await t.app.ports.panel.createUser({ username: `moved_${id}`, status: 'ACTIVE', expireAt: endDate });
    await t.app.db.sql('UPDATE users SET vpnpanel_uuid = $2::uuid WHERE id = $1::int RETURNING id', [id, made.uuid]);
    await aStoredSubscription(t.app, id, {
      status: 'active',
      end_date: addDays(endDate, changes.days ?? 0),
      vpnpanel_short_uuid: changes.shortUuid ?? made.shortUuid,
    });
    return id;
  }

  test('knows the users of an import, or the service must not start', async () => {
    const ids = [await linked(), await linked({ shortUuid: 'another-link' }), await linked({ days: 5 })];
    expect(await checkPanelLinks(t.app, false)).toEqual({
      panel: generation,
      links: generation,
      checked: 3,
      unknown: [],
      withoutLink: 0,
      parked: 0,
      isRight: true,
      differing: expect.toSatisfy((found: { userId: number; what: string }[]) => {
        expect(found).toHaveLength(2);
        expect(found).toEqual(
          expect.arrayContaining([
            { userId: ids[1], what: 'another subscription link' },
            { userId: ids[2], what: 'another end' },
          ]),
        );
        return true;
      }),
    });
    const stranger = await linked();
    const unknown = generation === 'uuid' ? '11111111-1111-4111-8111-111111111111' : '00000000-0000-8000-8000-0000000fffff';
    await t.app.db.sql('UPDATE users SET vpnpanel_uuid = $2::uuid WHERE id = $1::int RETURNING id', [stranger, unknown]);
    expect(await checkPanelLinks(t.app, true)).toMatchObject({ checked: 4, unknown: [stranger], isRight: false });
  });
});

test('the way back: new users, payments and movements since the start, none of the import', async () => {
  const database = await freshDatabase();
  onTestFinished(() => database.drop());
  const { app, clock } = await testApp({ database });
  await aUser(app);
  const run = { pass: 1, state: 'finished', sourceKind: 'postgresql', sourceRevision: '0045', snapshotAt: clock.now() } as const;
  await storeRow(app, 'ImportRun', { ...run, startedAt: clock.now(), finishedAt: clock.now() });
  expect(await readSwitchOver(app)).toBeNull();
  clock.advance(1_000);
  await endImport(app);
  const since = (await readSwitchOver(app))!;
  clock.advance(1_000);
  const { id } = await aUser(app);
  await topUp(app, id, 70_000);
  const files: Record<string, string> = {};
  const counts = await exportSince(app, since, async (list, csv) => {
    files[list] = (files[list] ?? '') + csv;
  });
  expect(counts).toEqual({ users: 1, payments: expect.any(Number), movements: 1 });
  expect(files.users!.split('\r\n')[1]).toMatch(new RegExp(`^${id},`));
  expect(files.movements!.split('\r\n')[1]).toContain(',70000,');
});
