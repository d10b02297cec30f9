/** A restore of an older backup must not take the second factor away from a superadmin (spec 01 section 4.7, spec 06 section 7). */
import { beforeAll, expect, test } from 'vitest';
import { seedRoles } from '../../../src/domain/access/roles.ts';
import { restoreBackup } from '../../../src/domain/backups/restore-backup.ts';
import { beginTotp, confirmTotp } from '../../../src/domain/identity/second-factor/account-factors.ts';
import { openSession } from '../../../src/domain/identity/sessions/sessions.ts';
import { codeOf } from '../../support/authenticator-app.ts';
import { aBackup, appWithFolder } from '../../support/backup-samples.ts';
import { aUser } from '../../support/builders.ts';
import type { TestApp } from '../../support/test-app.ts';

let t: TestApp;
let userId: number;

beforeAll(async () => {
  t = await appWithFolder({ environment: { SECOND_FACTOR_FOR: 'everyone' } });
  await seedRoles(t.app);
  ({ id: userId } = await aUser(t.app));
  await t.app.db.sql(
    // Raw SQL: the role is Superadmin, which no use case assigns.
    `INSERT INTO user_roles (user_id, role_id) SELECT $1::int, id FROM admin_roles WHERE name = 'Superadmin' RETURNING id`,
    [userId],
  );
});

async function addFactor(id: number): Promise<void> {
  const { accessToken } = await openSession(t.app, id);
  const { sid } = JSON.parse(Buffer.from(accessToken.split('.')[1]!, 'base64url').toString()) as { sid: string };
  const actor = { kind: 'user', userId: id, session: { id: sid, provedAt: t.clock.now(), hasSecondFactor: false } } as const;
  const { secret } = await beginTotp(t.app, actor, 'Phone');
  await confirmTotp(t.app, actor, codeOf(secret, t.clock));
}

const stateOf = (id: number) =>
  t.app.db.sql(
    `SELECT f.name, f.secret, f.last_step, f.confirmed_at,
       (SELECT count(*)::int FROM recovery_codes c WHERE c.user_id = f.user_id) AS codes
     FROM second_factors f WHERE f.user_id = $1::int`,
    [id],
  );

test.each([true, false])('a superadmin and his role keep what they have, clearing the rest: %s', async (clearExisting) => {
  await t.app.db.sql('DELETE FROM second_factors RETURNING id');
  await t.app.db.sql('UPDATE admin_roles SET requires_second_factor = false RETURNING id');
  const { path } = await aBackup(t.app);
  await addFactor(userId);
  await t.app.db.sql(`UPDATE admin_roles SET requires_second_factor = true WHERE name = 'Superadmin' RETURNING id`);
  const before = await stateOf(userId);
  expect(before).toMatchObject([{ name: 'Phone', codes: 10 }]);
  const result = await restoreBackup(t.app, path, { clearExisting, requestedBy: null });
  expect(result.success).toBe(true);
  expect(await stateOf(userId)).toEqual(before);
  const roles = await t.app.db.sql(`SELECT requires_second_factor FROM admin_roles WHERE name = 'Superadmin'`);
  expect(roles).toEqual([{ requiresSecondFactor: true }]);
});
