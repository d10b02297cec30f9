import { beforeAll, describe, expect, it } from 'vitest';
import type { AdminActor } from '../../src/core/actor.ts';
import type { App } from '../../src/core/app.ts';
import { readState } from '../../src/core/service-state.ts';
import { readEffectiveAccess } from '../../src/domain/access/effective-access.ts';
import { assignRole, revokeRole } from '../../src/domain/access/manage-assignments.ts';
import { createRole, deleteRole, updateRole } from '../../src/domain/access/roles.ts';
import { PanelError } from '../../src/domain/provisioning/ports.ts';
import { watchPanel } from '../../src/domain/safety/maintenance.ts';
import { aUser, unique } from '../support/builders.ts';
import { cachesStayFresh } from '../support/eventually.ts';
import { lost, settled, won } from '../support/parallel.ts';
import { testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';

const PARALLEL = 20;
const atOnce = <T>(work: (n: number) => Promise<T>) => settled(PARALLEL, work);

// With one connection everything is sequential: there is nothing to race.
describe.runIf(serverUrl !== null)('roles raced', () => {
  let app: App;
  let elsewhere: App;
  let owner: AdminActor;
  beforeAll(async () => {
    const t = await testApp();
    app = t.app;
    elsewhere = (await testApp({ clock: t.clock })).app;
    owner = { kind: 'admin', userId: (await aUser(app)).id, level: 1_000, isConfigAdmin: true };
  });
  const draft = (fields: object = {}) => ({
    name: `Role ${unique()}`,
    description: null,
    level: 10,
    permissions: ['users:read'],
    color: null,
    icon: null,
    ...fields,
  });
  const taken = { status: 409, detail: 'Role with this name already exists' };

  it('gives one name to one of many new roles, and to one of many renamed ones', async () => {
    const name = `Wanted ${unique()}`;
    const made = await atOnce(() => createRole(app, owner, draft({ name })));
    expect(won(made)).toHaveLength(1);
    for (const reason of lost(made)) expect(reason).toMatchObject(taken);
    const roles = await Promise.all(Array.from({ length: PARALLEL }, () => createRole(app, owner, draft())));
    const wanted = `Wanted ${unique()}`;
    const renamed = await atOnce((n) => updateRole(n % 2 ? app : elsewhere, owner, roles[n]!.id, { name: wanted }));
    expect(won(renamed)).toHaveLength(1);
    for (const reason of lost(renamed)) expect(reason).toMatchObject(taken);
  });

  it('has one row for a pair that is assigned many times, and revokes it once', async () => {
    const [user, role] = [await aUser(app), await createRole(app, owner, draft())];
    const given = won(await atOnce(() => assignRole(app, owner, { userId: user.id, roleId: role.id, expiresAt: null })));
    expect(given).toHaveLength(PARALLEL);
    expect(new Set(given.map((assignment) => assignment.id)).size).toBe(1);
    const taken = await atOnce(() => revokeRole(app, owner, given[0]!.id));
    expect(won(taken)).toHaveLength(1);
    for (const reason of lost(taken)) expect(reason).toMatchObject({ status: 404, detail: 'Role assignment not found' });
  });

  it('never leaves a role in effect that was deleted, changed or raised while it was assigned', async () => {
    cachesStayFresh();
    for (let round = 0; round < 10; round++) {
      const helper = await aUser(app);
      const helperRole = await createRole(app, owner, draft({ level: 50, permissions: ['roles:*', 'users:*'] }));
      await assignRole(app, owner, { userId: helper.id, roleId: helperRole.id, expiresAt: null });
      const actor: AdminActor = { kind: 'admin', userId: helper.id, level: 50, isConfigAdmin: false };
      const [user, role] = [await aUser(app), await createRole(app, owner, draft())];
      await readEffectiveAccess(elsewhere, user.id);
      const change = [
        () => deleteRole(app, owner, role.id),
        () => updateRole(app, owner, role.id, { permissions: ['*:*'] }),
        () => updateRole(app, owner, role.id, { level: 60 }),
      ][round % 3]!;
      const [assigned] = await Promise.allSettled([
        assignRole(elsewhere, actor, { userId: user.id, roleId: role.id, expiresAt: null }),
        change(),
      ]);
      if (assigned.status === 'rejected') expect([403, 404]).toContain(assigned.reason.status);
      // In any order, the access that every instance computes equals the rows.
      const [row] = await app.db.sql<{ permissions: string[] }>(
        'SELECT r.permissions FROM user_roles ur JOIN admin_roles r ON r.id = ur.role_id WHERE ur.user_id = $1::int',
        [user.id],
      );
      await expect.poll(async () => (await readEffectiveAccess(elsewhere, user.id)).permissions).toEqual(row?.permissions ?? []);
      expect((await readEffectiveAccess(app, user.id)).permissions).toEqual(row?.permissions ?? []);
    }
  });

  it('counts every check of the panel on any instance, and starts maintenance once', async () => {
    const panel = {
      configurationError: () => null,
      getSystemStats: () => Promise.reject(new PanelError('unavailable', 'away')),
    } as unknown as App['ports']['panel'];
    const instances = [app, elsewhere].map((instance) => ({ ...instance, ports: { ...instance.ports, panel } }));
    await atOnce((n) => watchPanel(instances[n % 2]!));
    expect(await readState(app.db, 'maintenance')).toMatchObject({ isActive: true, isAuto: true, failures: PARALLEL });
    await app.db.sql("DELETE FROM service_state WHERE key = 'maintenance' RETURNING key");
  });
});
