import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { AdminActor } from '../../../src/core/actor.ts';
import type { App } from '../../../src/core/app.ts';
import { authorizeAdmin, forgetPolicies } from '../../../src/domain/access/effective-access.ts';
import { assignRole, listAdmins, listRoleUsers, revokeRole } from '../../../src/domain/access/manage-assignments.ts';
import { createPolicy, deletePolicy, listPolicies, updatePolicy } from '../../../src/domain/access/policies.ts';
import { createRole, deleteRole, listRoles, seedRoles, updateRole } from '../../../src/domain/access/roles.ts';
import { readSessionUser } from '../../../src/domain/identity/authenticate.ts';
import { aUser, unique } from '../../support/builders.ts';
import { cachesStayFresh } from '../../support/eventually.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { testApp } from '../../support/test-app.ts';

const root: AdminActor = { kind: 'admin', userId: 0, level: 1_000, isConfigAdmin: true };
let app: App;
/** A second instance: the same database, a cache of its own. */
let elsewhere: App;
let owner: AdminActor;

beforeAll(async () => {
  const t = await testApp();
  app = t.app;
  elsewhere = (await testApp({ clock: t.clock })).app;
  owner = { ...root, userId: (await aUser(app)).id };
  await seedRoles(app);
});
afterEach(async () => {
  await app.db.sql('DELETE FROM access_policies RETURNING id');
  await forgetPolicies(app);
});

const draft = (permissions: string[], level = 10) => ({
  name: `Role ${unique()}`,
  description: null,
  level,
  permissions,
  color: null,
  icon: null,
});
const policy = (fields: Partial<Parameters<typeof createPolicy>[2]> = {}) => ({
  name: `Policy ${unique()}`,
  description: null,
  roleId: null,
  priority: 0,
  effect: 'deny' as const,
  conditions: {},
  resource: 'users',
  actions: ['*'],
  ...fields,
});

async function anAdmin(permissions: string[], level = 50) {
  const user = await aUser(app);
  const role = await createRole(app, owner, draft(permissions, level));
  const assignment = await assignRole(app, owner, { userId: user.id, roleId: role.id, expiresAt: null });
  const actor: AdminActor = { kind: 'admin', userId: user.id, level, isConfigAdmin: false };
  return { user, role, assignment, actor };
}

const may = async (on: App, userId: number, permission: string) =>
  authorizeAdmin(on, (await readSessionUser(on, userId))!, permission, { ip: null, session: null }).then(
    () => true,
    () => false,
  );
const refused = (status: number, detail: string) => ({ status, detail });

describe('levels', () => {
  it('keeps creation, change, assignment and revocation below the own level', async () => {
    const { actor } = await anAdmin(['roles:*', 'users:*'], 50);
    const peer = await createRole(app, owner, draft(['users:read'], 50));
    const lower = await createRole(app, actor, draft(['users:read'], 49));
    const other = await aUser(app);
    await expect(createRole(app, actor, draft([], 50))).rejects.toMatchObject(
      refused(403, 'Cannot create a role with level >= your own role level'),
    );
    await expect(updateRole(app, actor, peer.id, { description: 'x' })).rejects.toMatchObject(
      refused(403, 'Cannot edit a role at or above your own level'),
    );
    await expect(updateRole(app, actor, lower.id, { level: 50 })).rejects.toMatchObject(
      refused(403, 'Cannot set role level >= your own role level'),
    );
    await expect(deleteRole(app, actor, peer.id)).rejects.toMatchObject(
      refused(403, 'Cannot delete a role at or above your own level'),
    );
    await expect(assignRole(app, actor, { userId: other.id, roleId: peer.id, expiresAt: null })).rejects.toMatchObject(
      refused(403, 'Cannot assign a role with level >= your own role level'),
    );
    const assigned = await assignRole(app, owner, { userId: other.id, roleId: peer.id, expiresAt: null });
    await expect(revokeRole(app, actor, assigned.id)).rejects.toMatchObject(
      refused(403, 'Cannot revoke a role at or above your own level'),
    );
  });

  it('leaves the superadmin role to the environment, even for a config admin', async () => {
    const [superadmin] = await listRoles(app, { includeInactive: false });
    const other = await aUser(app);
    await expect(assignRole(app, owner, { userId: other.id, roleId: superadmin!.id, expiresAt: null })).rejects.toMatchObject(
      refused(
        403,
        'Superadmin role is managed via ADMIN_IDS/ADMIN_EMAILS environment variables. Add the user there and restart the bot.',
      ),
    );
    const row = await storeRow(app, 'UserRole', { userId: other.id, roleId: superadmin!.id });
    await expect(revokeRole(app, owner, row.id)).rejects.toMatchObject({
      status: 403,
      message: expect.stringContaining('Remove the user from env'),
    });
    await app.db.sql('DELETE FROM user_roles WHERE id = $1::int RETURNING id', [row.id]);
  });

  it('protects system roles but not their texts', async () => {
    const support = (await listRoles(app, { includeInactive: true })).find((role) => role.level === 20 && role.isSystem)!;
    await expect(updateRole(app, owner, support.id, { isActive: false, level: 21, name: 'X' })).rejects.toMatchObject(
      refused(403, 'Cannot change is_active, level on a system role'),
    );
    await expect(updateRole(app, owner, support.id, { level: 21 })).rejects.toMatchObject(
      refused(403, 'Cannot change level on a system role'),
    );
    await expect(deleteRole(app, owner, support.id)).rejects.toMatchObject(refused(403, 'Cannot delete a system role'));
    expect(await updateRole(app, owner, support.id, { description: 'Desk', isActive: true, level: 20 })).toMatchObject({
      description: 'Desk',
    });
  });
});

describe('spec 01 H4: granted permissions are within the own', () => {
  it('on creation, change, activation and assignment', async () => {
    const { actor } = await anAdmin(['roles:*', 'users:*'], 50);
    const beyond = (what: string) => refused(403, `Cannot grant permissions you do not have: ${what}`);
    await expect(createRole(app, actor, draft(['*:*']))).rejects.toMatchObject(beyond('*:*'));
    await expect(createRole(app, actor, draft(['users:read', 'tickets:read', 'stats:*']))).rejects.toMatchObject(
      beyond('tickets:read, stats:*'),
    );
    const created = await createRole(app, actor, draft(['users:read']));
    await expect(updateRole(app, actor, created.id, { permissions: ['users:read', 'tickets:*'] })).rejects.toMatchObject(
      beyond('tickets:*'),
    );
    const foreign = await createRole(app, owner, draft(['tickets:read'], 5));
    // What was granted by somebody else before may stay, but is not brought back to life.
    await updateRole(app, actor, foreign.id, { permissions: ['tickets:read', 'users:read'] });
    await updateRole(app, actor, foreign.id, { isActive: false });
    await expect(updateRole(app, actor, foreign.id, { isActive: true })).rejects.toMatchObject(beyond('tickets:read'));
    await expect(assignRole(app, actor, { userId: actor.userId, roleId: foreign.id, expiresAt: null })).rejects.toMatchObject(
      beyond('tickets:read'),
    );
    expect(await may(app, actor.userId, 'tickets:read')).toBe(false);
  });

  it('does not give away what a deny policy takes', async () => {
    const { actor, role } = await anAdmin(['roles:*', 'users:*'], 50);
    await createPolicy(app, owner, policy({ roleId: role.id, actions: ['delete'] }));
    await expect(createRole(app, actor, draft(['users:delete']))).rejects.toMatchObject({ status: 403 });
    await expect(createRole(app, actor, draft(['users:*']))).rejects.toMatchObject({ status: 403 });
    await createRole(app, actor, draft(['users:read']));
  });

  it('decides by the current roles, not by those at the access check', async () => {
    const { actor, role } = await anAdmin(['roles:*', 'users:*'], 50);
    await updateRole(app, owner, role.id, { permissions: ['roles:*'], level: 5 });
    await expect(createRole(app, actor, draft(['users:read'], 1))).rejects.toMatchObject({ status: 403 });
    await expect(createRole(app, actor, draft([], 10))).rejects.toMatchObject({ status: 403 });
  });
});

describe('no self lock-out', () => {
  it('undoes a change that would remove the own permissions for roles', async () => {
    const { actor, user } = await anAdmin(['roles:read'], 50);
    // The rights over roles come from a second, lower role.
    const second = await createRole(app, owner, draft(['roles:*'], 10));
    const assigned = await assignRole(app, owner, { userId: user.id, roleId: second.id, expiresAt: null });
    const lockOut = { status: 403, message: expect.stringContaining('take your own permissions away') };
    await expect(revokeRole(app, actor, assigned.id)).rejects.toMatchObject(lockOut);
    await expect(deleteRole(app, actor, second.id)).rejects.toMatchObject(lockOut);
    await expect(updateRole(app, actor, second.id, { isActive: false })).rejects.toMatchObject(lockOut);
    await expect(updateRole(app, actor, second.id, { permissions: ['roles:read'] })).rejects.toMatchObject(lockOut);
    const inThePast = new Date(app.clock.now().getTime() - 1);
    await expect(assignRole(app, actor, { userId: user.id, roleId: second.id, expiresAt: inThePast })).rejects.toMatchObject(
      lockOut,
    );
    await expect(createPolicy(app, actor, policy({ roleId: second.id, resource: 'roles' }))).rejects.toMatchObject(lockOut);
    await expect(
      createPolicy(app, actor, policy({ roleId: second.id, resource: '*', conditions: { ip_whitelist: ['10.0.0.1'] } })),
    ).rejects.toMatchObject(lockOut);
    expect(await may(elsewhere, user.id, 'roles:assign')).toBe(true);
  });
});

describe('assignments', () => {
  it('overwrite an existing pair, also an inactive one', async () => {
    const { user, role, assignment } = await anAdmin(['users:read']);
    await app.db.sql('UPDATE user_roles SET is_active = false WHERE id = $1::int RETURNING id', [assignment.id]);
    const expiresAt = new Date(app.clock.now().getTime() + 60_000);
    const again = await assignRole(app, owner, { userId: user.id, roleId: role.id, expiresAt });
    expect(again).toMatchObject({ id: assignment.id, isActive: true, expiresAt });
    expect(await listRoleUsers(app, role.id)).toEqual([again]);
  });

  it('name what is missing in the order of the interface', async () => {
    const { role } = await anAdmin(['users:read']);
    await expect(assignRole(app, owner, { userId: 2e9, roleId: 2e9, expiresAt: null })).rejects.toMatchObject(
      refused(404, 'Role not found'),
    );
    await expect(assignRole(app, owner, { userId: 2e9, roleId: role.id, expiresAt: null })).rejects.toMatchObject(
      refused(404, 'Target user not found'),
    );
    await expect(revokeRole(app, owner, 2e9)).rejects.toMatchObject(refused(404, 'Role assignment not found'));
  });

  it('lists administrators with roles in effect only', async () => {
    const kept = await anAdmin(['users:read']);
    const [expired, inactive] = [await anAdmin(['users:read']), await anAdmin(['users:read'])];
    await assignRole(app, owner, { userId: expired.user.id, roleId: expired.role.id, expiresAt: app.clock.now() });
    await updateRole(app, owner, inactive.role.id, { isActive: false });
    const ids = (await listAdmins(app)).map((admin) => admin.userId);
    expect(ids).toContain(kept.user.id);
    expect(ids).not.toContain(expired.user.id);
    expect(ids).not.toContain(inactive.user.id);
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
  });
});

describe('policies', () => {
  it('take a superadmin when global, and a level above the role otherwise (spec 01 H6)', async () => {
    const { actor } = await anAdmin(['roles:*', 'users:*'], 50);
    const peer = await createRole(app, owner, draft(['users:read'], 50));
    const lower = await createRole(app, owner, draft(['users:read'], 10));
    const onlySuper = refused(403, 'Only a superadmin can manage global policies');
    const tooHigh = refused(403, 'Cannot manage a policy of a role at or above your own level');
    await expect(createPolicy(app, actor, policy())).rejects.toMatchObject(onlySuper);
    await expect(createPolicy(app, actor, policy({ roleId: peer.id }))).rejects.toMatchObject(tooHigh);
    await expect(createPolicy(app, actor, policy({ roleId: 2e9 }))).rejects.toMatchObject(
      refused(404, 'Referenced role not found'),
    );
    const made = await createPolicy(app, actor, policy({ roleId: lower.id }));
    await expect(updatePolicy(app, actor, made.id, { roleId: null })).rejects.toMatchObject(onlySuper);
    await expect(updatePolicy(app, actor, made.id, { roleId: peer.id })).rejects.toMatchObject(tooHigh);
    const global = await createPolicy(app, owner, policy());
    await expect(updatePolicy(app, actor, global.id, { roleId: lower.id })).rejects.toMatchObject(onlySuper);
    await expect(deletePolicy(app, actor, global.id)).rejects.toMatchObject(onlySuper);
    await deletePolicy(app, actor, made.id);
    expect((await listPolicies(app, { roleId: null, includeInactive: true })).map((row) => row.id)).toEqual([global.id]);
  });

  it('are refused with conditions of a wrong shape', async () => {
    const bad = policy({ conditions: { time_range: { start: '9', end: '18:00' } } });
    await expect(createPolicy(app, owner, bad)).rejects.toMatchObject({
      name: 'ValidationError',
      issues: [expect.objectContaining({ loc: ['body', 'conditions', 'time_range'] })],
    });
    const good = await createPolicy(app, owner, policy());
    await expect(updatePolicy(app, owner, good.id, { conditions: { ip_whitelist: [] } })).rejects.toMatchObject({ status: 422 });
  });

  it('lists active ones by priority, all on request', async () => {
    const low = await createPolicy(app, owner, policy({ priority: 1 }));
    const high = await createPolicy(app, owner, policy({ priority: 9 }));
    await updatePolicy(app, owner, low.id, { isActive: false });
    expect((await listPolicies(app, { roleId: null, includeInactive: false })).map((row) => row.id)).toEqual([high.id]);
    expect((await listPolicies(app, { roleId: null, includeInactive: true })).map((row) => row.id)).toEqual([high.id, low.id]);
  });

  it('deny takes precedence over allow, whatever the priority', async () => {
    const { user, role } = await anAdmin(['users:*'], 30);
    await createPolicy(app, owner, policy({ roleId: role.id, effect: 'allow', priority: 1000 }));
    await createPolicy(app, owner, policy({ roleId: role.id, actions: ['edit'] }));
    expect([await may(app, user.id, 'users:edit'), await may(app, user.id, 'users:read')]).toEqual([false, true]);
  });
});

describe('effective at once on every instance', () => {
  it('roles, assignments and policies', async () => {
    const { user, role, assignment } = await anAdmin(['users:*'], 30);
    const everywhere = async (permission: string) => [
      await may(app, user.id, permission),
      await may(elsewhere, user.id, permission),
    ];
    cachesStayFresh();
    const expectEverywhere = (permission: string, allowed: boolean[]) =>
      expect.poll(() => everywhere(permission)).toEqual(allowed);
    await expectEverywhere('users:edit', [true, true]);
    const deny = await createPolicy(app, owner, policy({ roleId: role.id }));
    await expectEverywhere('users:edit', [false, false]);
    await deletePolicy(elsewhere, owner, deny.id);
    await expectEverywhere('users:edit', [true, true]);
    await updateRole(elsewhere, owner, role.id, { permissions: ['users:read'] });
    await expectEverywhere('users:edit', [false, false]);
    await expectEverywhere('users:read', [true, true]);
    await revokeRole(app, owner, assignment.id);
    await expectEverywhere('users:read', [false, false]);
    await assignRole(elsewhere, owner, { userId: user.id, roleId: role.id, expiresAt: null });
    await expectEverywhere('users:read', [true, true]);
    await deleteRole(app, owner, role.id);
    await expectEverywhere('users:read', [false, false]);
  });
});

describe('spec 01 H24: no query a row, none for a permission known just before', () => {
  /** The app with its statements counted. */
  function counted(): { app: App; statements: () => number } {
    let statements = 0;
    const sql: App['db']['sql'] = (text, values) => {
      statements += 1;
      return app.db.sql(text, values);
    };
    return { app: { ...app, db: { ...app.db, sql } }, statements: () => statements };
  }

  it('lists roles, their users, administrators and policies in one statement each', async () => {
    const { role } = await anAdmin(['users:read']);
    await anAdmin(['users:read']);
    await createPolicy(app, owner, policy({ roleId: role.id }));
    const watched = counted();
    await listRoles(watched.app, { includeInactive: true });
    await listAdmins(watched.app);
    await listPolicies(watched.app, { roleId: null, includeInactive: true });
    expect(watched.statements()).toBe(3);
  });

  it('answers a permission check from memory', async () => {
    const { user } = await anAdmin(['users:read']);
    // On a server the notices of changes made just before may still be on their way and empty the memory once more.
    const statementsOfKnownCheck = async () => {
      expect(await may(app, user.id, 'users:read')).toBe(true);
      const watched = counted();
      expect(await may(watched.app, user.id, 'users:read')).toBe(true);
      expect(await may(watched.app, user.id, 'users:edit')).toBe(false);
      return watched.statements();
    };
    await expect.poll(statementsOfKnownCheck).toBe(0);
  });
});
