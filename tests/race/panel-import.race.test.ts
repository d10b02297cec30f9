import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addDays } from '../../src/core/clock.ts';
import { verifyEmail } from '../../src/domain/identity/email/email-address.ts';
import { importPanelUser } from '../../src/domain/users/import-panel-user.ts';
import { anAddress, anUnverifiedAccount, mailedSecret } from '../domain/identity/accounts.ts';
import { withPanel } from '../support/provisioning-setup.ts';
import { freshDatabase, serverUrl, type TestDatabase } from '../support/test-database.ts';

describe.runIf(serverUrl)('panel import at the same time', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await freshDatabase({ poolSize: 10 });
  });
  afterAll(() => database.drop());

  it('twelve imports of one account at once create one subscription, by the one that imports while the others do nothing', async () => {
    const t = await withPanel({ database });
    const email = anAddress();
    const there = await t.adapter.createUser({
      username: 'bought_elsewhere',
      status: 'ACTIVE',
      expireAt: addDays(t.clock.now(), 9),
      email,
    });
    const { id } = await anUnverifiedAccount(t.app, email);
    await verifyEmail(t.app, await mailedSecret(t.app, email));
    const outcomes = await Promise.all(Array.from({ length: 12 }, () => importPanelUser(t.app, id)));
    expect(outcomes.sort()).toEqual(['imported', ...Array.from({ length: 11 }, () => 'not_applicable')]);
    const rows = await t.app.db.sql(
      'SELECT u.vpnpanel_uuid::text AS panel FROM subscriptions s JOIN users u ON u.id = s.user_id WHERE u.id = $1::int',
      [id],
    );
    expect(rows).toEqual([{ panel: there.uuid }]);
  });
});
