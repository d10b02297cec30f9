import { decodeJwt } from 'jose';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { forgetAccess, forgetPolicies, forgetRole } from '../../../src/domain/access/effective-access.ts';
import { seedRoles } from '../../../src/domain/access/roles.ts';
import { authenticateAdmin, isAdmin, readMyAccess } from '../../../src/domain/identity/authenticate.ts';
import { openSession } from '../../../src/domain/identity/sessions/sessions.ts';
import { unique } from '../../support/builders.ts';
import { storeRow, storeRows } from '../../support/stored-rows.ts';
import { testApp } from '../../support/test-app.ts';
import { actorOf, aMessengerAccount, anUnverifiedAccount, aVerifiedAccount } from '../identity/accounts.ts';

let app: App;
beforeAll(async () => {
  app = (await testApp()).app;
});
afterEach(async () => {
  await app.db.sql('DELETE FROM access_policies RETURNING id');
  await forgetPolicies(app);
});

async function aRole(fields: { permissions: string[]; level?: number; isActive?: boolean }): Promise<number> {
  const row = await storeRow(app, 'AdminRole', {
    name: `Role ${unique()}`,
    level: fields.level ?? 10,
    permissions: fields.permissions,
    isActive: fields.isActive ?? true,
  });
  return row.id;
}

async function assign(userId: number, roleId: number, fields: { expiresAt?: Date; isActive?: boolean } = {}): Promise<void> {
  await storeRow(app, 'UserRole', { userId, roleId, expiresAt: fields.expiresAt ?? null, isActive: fields.isActive ?? true });
  await forgetAccess(app, [userId]);
}

async function anAdmin(permissions: string[], level = 10) {
  const user = await aMessengerAccount(app);
  const roleId = await aRole({ permissions, level });
  await assign(user.id, roleId);
  return { user, roleId, bearer: (await openSession(app, user.id)).accessToken };
}

const admit = (bearer: string, permission: string, ip: string | null = null, on: App = app) =>
  authenticateAdmin(on, { bearer, initData: null }, permission, { ip, userAgent: null });
const denied = (reason: string) => ({ status: 403, detail: `Permission denied: ${reason}` });

describe('the access checks of the administration', () => {
  it('admits by active roles and returns the reason of a refusal', async () => {
    const { user, bearer } = await anAdmin(['users:*'], 40);
    expect(await admit(bearer, 'users:edit')).toEqual({ kind: 'admin', userId: user.id, level: 40, isConfigAdmin: false });
    await expect(admit(bearer, 'tariffs:edit')).rejects.toMatchObject(denied('Permission not granted by any role'));
    const nobody = await aMessengerAccount(app);
    await expect(admit((await openSession(app, nobody.id)).accessToken, 'users:read')).rejects.toMatchObject(
      denied('No active roles assigned'),
    );
    await expect(admit('', 'users:read')).rejects.toMatchObject({ status: 401, detail: 'Authentication required' });
  });

  it('does not count expired and inactive assignments nor inactive roles', async () => {
    const user = await aMessengerAccount(app);
    await assign(user.id, await aRole({ permissions: ['*:*'] }), { expiresAt: app.clock.now() });
    await assign(user.id, await aRole({ permissions: ['*:*'] }), { isActive: false });
    await assign(user.id, await aRole({ permissions: ['*:*'], isActive: false }));
    await expect(admit((await openSession(app, user.id)).accessToken, 'users:read')).rejects.toMatchObject(
      denied('No active roles assigned'),
    );
  });

  it('obeys deny policies, with their conditions', async () => {
    const { bearer, roleId } = await anAdmin(['users:*', 'tickets:*']);
    await storeRows(app, 'AccessPolicy', [
      {
        name: 'office only',
        roleId,
        effect: 'deny',
        resource: 'users',
        actions: ['edit'],
        conditions: { ip_whitelist: ['203.0.113.0/24'] },
      },
      { name: 'none', roleId: null, effect: 'allow', resource: '*', actions: ['*'], conditions: {} },
    ]);
    await forgetPolicies(app);
    await expect(admit(bearer, 'users:edit', '203.0.113.9')).rejects.toMatchObject(denied('Denied by policy: office only'));
    await admit(bearer, 'users:edit', '198.51.100.1');
    await admit(bearer, 'users:read', '203.0.113.9');
    const other = await anAdmin(['users:*']);
    await admit(other.bearer, 'users:edit', '203.0.113.9');
  });

  it('sees a changed role at once', async () => {
    const { bearer, roleId } = await anAdmin(['users:read']);
    await admit(bearer, 'users:read');
    await app.db.sql("UPDATE admin_roles SET permissions = '[]' WHERE id = $1::int RETURNING id", [roleId]);
    await forgetRole(app, roleId);
    await expect(admit(bearer, 'users:read')).rejects.toMatchObject(denied('No active roles assigned'));
  });

  it('gives config admins every permission, by e-mail only with a verified one (spec 01 H1)', async () => {
    const byId = await aMessengerAccount(app);
    const byEmail = await aVerifiedAccount(app);
    const unproved = await anUnverifiedAccount(app);
    const on = (
      await testApp({ environment: { ADMIN_IDS: `1,${byId.messengerId}`, ADMIN_EMAILS: `${byEmail.email},${unproved.email}` } })
    ).app;
    const bearer = async (userId: number) => (await openSession(on, userId)).accessToken;
    expect(await admit(await bearer(byId.id), 'roles:delete', null, on)).toMatchObject({ level: 1_000, isConfigAdmin: true });
    expect(await admit(await bearer(byEmail.id), 'roles:delete', null, on)).toMatchObject({ isConfigAdmin: true });
    await expect(admit(await bearer(unproved.id), 'roles:delete', null, on)).rejects.toMatchObject({ status: 403 });
    expect(await readMyAccess(on, actorOf(byId.id))).toEqual({ permissions: ['*:*'], roles: ['superadmin'], level: 1_000 });
    expect(await isAdmin(on, actorOf(byEmail.id))).toBe(true);
    expect(await isAdmin(on, actorOf(unproved.id))).toBe(false);
  });

  it('binds no config admin by a policy for everybody (spec 01 H6)', async () => {
    const configured = await aMessengerAccount(app);
    const { bearer } = await anAdmin(['*:*'], 900);
    const on = (await testApp({ environment: { ADMIN_IDS: `${configured.messengerId}` } })).app;
    await storeRow(app, 'AccessPolicy', { name: 'nobody', effect: 'deny', resource: '*', actions: ['*'], conditions: {} });
    await forgetPolicies(on);
    await expect(admit(bearer, 'roles:read', null, on)).rejects.toMatchObject(denied('Denied by policy: nobody'));
    const accessToken = (await openSession(on, configured.id)).accessToken;
    expect(await admit(accessToken, 'roles:read', null, on)).toMatchObject({ isConfigAdmin: true });
  });

  it('puts roles into the access token and the own permissions', async () => {
    const { user, bearer } = await anAdmin(['users:*'], 40);
    expect(decodeJwt(bearer)).toMatchObject({ permissions: ['users:*'], role_level: 40 });
    expect(await readMyAccess(app, actorOf(user.id))).toMatchObject({ permissions: ['users:*'], level: 40 });
    expect(await isAdmin(app, actorOf(user.id))).toBe(true);
  });
});

describe('seedRoles', () => {
  const roles = () =>
    app.db.sql<{ name: string; level: number; permissions: string[] }>(
      'SELECT name, level, permissions FROM admin_roles WHERE is_system ORDER BY level DESC',
    );
  const superadmins = async () =>
    (
      await app.db.sql<{ userId: number }>(
        'SELECT ur.user_id FROM user_roles ur JOIN admin_roles r ON r.id = ur.role_id WHERE r.level = 999 AND ur.is_active ORDER BY 1',
      )
    ).map((row) => row.userId);

  it('makes the system roles once and gives back what was taken from them', async () => {
    await seedRoles(app);
    expect((await roles()).map((role) => [role.name, role.level])).toEqual([
      ['Superadmin', 999],
      ['Admin', 100],
      ['Moderator', 50],
      ['Marketer', 30],
      ['Support', 20],
    ]);
    await app.db.sql(
      `UPDATE admin_roles SET permissions = '["stats:read"]', name = 'Helpers' WHERE is_system AND level = 20 RETURNING id`,
    );
    await seedRoles(app);
    expect((await roles()).at(-1)).toEqual({
      name: 'Helpers',
      level: 20,
      permissions: ['stats:read', 'tickets:read', 'tickets:reply', 'users:read'],
    });
  });

  it('gives Superadmin to registered config admins and takes it from all others', async () => {
    const [one, two] = [await aMessengerAccount(app), await aMessengerAccount(app)];
    const [proved, unproved] = [await aVerifiedAccount(app), await anUnverifiedAccount(app)];
    const seed = async (environment: Record<string, string>) => seedRoles((await testApp({ environment })).app);
    await seed({ ADMIN_IDS: `${one.messengerId},${two.messengerId}`, ADMIN_EMAILS: `${proved.email},${unproved.email}` });
    expect(await superadmins()).toEqual([one.id, two.id, proved.id]);
    await seed({});
    expect(await superadmins()).toEqual([one.id, two.id, proved.id]);
    await seed({ ADMIN_IDS: `${two.messengerId}` });
    expect(await superadmins()).toEqual([two.id]);
    await seed({ ADMIN_IDS: `${one.messengerId}` });
    expect(await superadmins()).toEqual([one.id]);
  });

  it('spec 10 G5: takes it from somebody whose listed address is not verified any more, and gives it back with the proof', async () => {
    const listed = await aVerifiedAccount(app);
    const seed = async () => seedRoles((await testApp({ environment: { ADMIN_EMAILS: listed.email } })).app);
    const setVerified = (isVerified: boolean) =>
      app.db.sql('UPDATE users SET email_verified = $2::boolean WHERE id = $1::int RETURNING id', [listed.id, isVerified]);
    await seed();
    expect(await superadmins()).toEqual([listed.id]);
    await setVerified(false);
    await seed();
    expect(await superadmins()).toEqual([]);
    await setVerified(true);
    await seed();
    expect(await superadmins()).toEqual([listed.id]);
  });
});
