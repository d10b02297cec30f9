import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PERMISSION_CATALOGUE } from '../../src/domain/access/permissions.ts';
import { seedRoles } from '../../src/domain/access/roles.ts';
import { type ActorClient, adminClient, userClient } from '../support/actors.ts';
import { testServer } from '../support/api.ts';
import { unique } from '../support/builders.ts';
import { storeRow } from '../support/stored-rows.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const RBAC = '/cabinet/admin/rbac';
let t: TestApp;
let server: FastifyInstance;
let admin: ActorClient;

beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
  await seedRoles(t.app);
  admin = await adminClient(t.app, server, ['*:*'], 900);
});
afterAll(() => server.close());

const roleBody = (fields: object = {}) => ({ name: `Role ${unique()}`, level: 10, permissions: ['users:read'], ...fields });
const makeRole = async (fields: object = {}) => (await admin.post(`${RBAC}/roles`, roleBody(fields))).body;

describe('roles', () => {
  it('lists the permission registry', async () => {
    const { body } = await admin.get(`${RBAC}/permissions`);
    expect(body).toHaveLength(Object.keys(PERMISSION_CATALOGUE).length);
    expect(body.flatMap((section: { actions: string[] }) => section.actions)).toHaveLength(
      Object.values(PERMISSION_CATALOGUE).flat().length,
    );
    expect(body[0]).toEqual({ section: 'users', actions: [...PERMISSION_CATALOGUE.users] });
  });

  it('makes, changes, lists and deletes a role', async () => {
    const body = roleBody({ description: 'Desk', color: '#10B981', icon: 'headset' });
    const made = await admin.post(`${RBAC}/roles`, body);
    expect(made.status).toBe(200);
    expect(made.body).toEqual({
      ...body,
      id: expect.any(Number),
      is_system: false,
      is_active: true,
      requires_second_factor: false,
      user_count: 0,
      created_at: t.clock.now().toISOString(),
    });
    const path = `${RBAC}/roles/${made.body.id}`;
    expect((await admin.put(path, { name: null, level: null, permissions: null, is_active: null, color: null })).body).toEqual({
      ...made.body,
      color: null,
    });
    expect((await admin.put(path, { permissions: ['users:*'], is_active: false })).body).toMatchObject({
      permissions: ['users:*'],
      is_active: false,
      description: 'Desk',
    });
    const ids = async (query = {}) => (await admin.get(`${RBAC}/roles`, { query })).body.map((role: { id: number }) => role.id);
    expect(await ids()).not.toContain(made.body.id);
    expect(await ids({ include_inactive: true })).toContain(made.body.id);
    const levels = (await admin.get(`${RBAC}/roles`)).body.map((role: { level: number }) => role.level);
    expect(levels).toEqual([...levels].sort((a: number, b: number) => b - a));
    expect((await admin.delete(path)).body).toEqual({ message: 'Role deleted', role_id: made.body.id });
    expect(await admin.delete(path)).toMatchObject({ status: 404, body: { detail: 'Role not found' } });
    expect(await admin.get(`${path}/users`)).toMatchObject({ status: 404, body: { detail: 'Role not found' } });
  });

  it('refuses unknown permissions and names that are taken', async () => {
    expect(await admin.post(`${RBAC}/roles`, roleBody({ permissions: ['users:read', 'a:b', 'c:d'] }))).toMatchObject({
      status: 400,
      body: { detail: 'Invalid permissions: a:b, c:d' },
    });
    const [first, second] = [await makeRole(), await makeRole()];
    const taken = { status: 409, body: { detail: 'Role with this name already exists' } };
    expect(await admin.post(`${RBAC}/roles`, roleBody({ name: first.name }))).toMatchObject(taken);
    expect(await admin.put(`${RBAC}/roles/${second.id}`, { name: first.name })).toMatchObject(taken);
    expect((await admin.put(`${RBAC}/roles/${second.id}`, { name: second.name })).status).toBe(200);
    expect((await admin.post(`${RBAC}/roles`, roleBody({ level: 999 }))).status).toBe(422);
  });

  it('needs exactly the permission of each operation', async () => {
    const role = await makeRole();
    const calls = {
      'roles:read': () =>
        [`${RBAC}/permissions`, `${RBAC}/users`, `${RBAC}/roles`, `${RBAC}/policies`].map((path) => ['get', path] as const),
      'roles:create': () => [['post', `${RBAC}/roles`] as const, ['post', `${RBAC}/policies`] as const],
      'roles:edit': () => [['put', `${RBAC}/roles/${role.id}`] as const, ['put', `${RBAC}/policies/1`] as const],
      'roles:delete': () => [['delete', `${RBAC}/roles/${role.id}`] as const, ['delete', `${RBAC}/policies/1`] as const],
      'roles:assign': () => [['post', `${RBAC}/assignments`] as const, ['delete', `${RBAC}/assignments/1`] as const],
    };
    const others = Object.keys(calls);
    for (const [permission, list] of Object.entries(calls)) {
      const without = await adminClient(
        t.app,
        server,
        others.filter((other) => other !== permission),
      );
      for (const [method, path] of list()) {
        const reply = method === 'get' || method === 'delete' ? await without[method](path) : await without[method](path, {});
        expect(reply.body, `${method} ${path}`).toEqual({ detail: 'Permission denied: Permission not granted by any role' });
      }
    }
  });
});

describe('assignments', () => {
  it('give and take a role, at once', async () => {
    const user = await userClient(t.app, server, { email: `holder${unique()}@example.com` });
    const role = await makeRole({ permissions: ['roles:read'] });
    expect((await user.get(`${RBAC}/roles`)).status).toBe(403);
    const given = await admin.post(`${RBAC}/assignments`, {
      user_id: user.user.id,
      role_id: role.id,
      expires_at: '2999-01-01T00:00:00',
    });
    expect(given.body).toEqual({
      id: expect.any(Number),
      user_id: user.user.id,
      role_id: role.id,
      role_name: role.name,
      user_messenger_id: user.user.messengerId,
      user_username: expect.any(String),
      user_first_name: expect.any(String),
      user_email: expect.stringContaining('@example.com'),
      assigned_by: admin.user.id,
      assigned_at: t.clock.now().toISOString(),
      expires_at: '2999-01-01T00:00:00.000Z',
      is_active: true,
    });
    expect((await user.get(`${RBAC}/roles`)).status).toBe(200);
    expect((await admin.get(`${RBAC}/roles/${role.id}/users`)).body).toEqual([given.body]);
    const listed = (await admin.get(`${RBAC}/users`)).body.find((row: { user_id: number }) => row.user_id === user.user.id);
    expect(listed).toMatchObject({ messenger_id: user.user.messengerId, role_names: [role.name] });
    const counted = (await admin.get(`${RBAC}/roles`)).body.find((row: { id: number }) => row.id === role.id);
    expect(counted.user_count).toBe(1);
    const revoked = await admin.delete(`${RBAC}/assignments/${given.body.id}`);
    expect(revoked.body).toEqual({ message: 'Role revoked', assignment_id: given.body.id });
    expect((await user.get(`${RBAC}/roles`)).status).toBe(403);
  });
});

describe('an administrator of level 50', () => {
  const detail = (text: string) => ({ status: 403, body: { detail: text } });

  it('keeps to roles below this level', async () => {
    const actor = await adminClient(t.app, server, ['roles:*', 'users:read'], 50);
    const [peer, lower] = [await makeRole({ level: 50 }), await makeRole({ level: 49 })];
    const { body: assigned } = await admin.post(`${RBAC}/assignments`, { user_id: admin.user.id, role_id: peer.id });
    expect(await actor.post(`${RBAC}/roles`, roleBody({ level: 50 }))).toMatchObject(
      detail('Cannot create a role with level >= your own role level'),
    );
    expect(await actor.put(`${RBAC}/roles/${lower.id}`, { level: 50 })).toMatchObject(
      detail('Cannot set role level >= your own role level'),
    );
    expect(await actor.put(`${RBAC}/roles/${peer.id}`, { color: '#10B981' })).toMatchObject(
      detail('Cannot edit a role at or above your own level'),
    );
    expect(await actor.delete(`${RBAC}/roles/${peer.id}`)).toMatchObject(
      detail('Cannot delete a role at or above your own level'),
    );
    expect(await actor.post(`${RBAC}/assignments`, { user_id: actor.user.id, role_id: peer.id })).toMatchObject(
      detail('Cannot assign a role with level >= your own role level'),
    );
    expect(await actor.delete(`${RBAC}/assignments/${assigned.id}`)).toMatchObject(
      detail('Cannot revoke a role at or above your own level'),
    );
  });

  it('leaves the policies of roles at this level', async () => {
    const actor = await adminClient(t.app, server, ['roles:*'], 50);
    const peer = await makeRole({ level: 50 });
    const policy = { name: 'P', effect: 'deny', resource: 'users', actions: ['*'], role_id: peer.id };
    const { body: made } = await admin.post(`${RBAC}/policies`, policy);
    const refused = detail('Cannot manage a policy of a role at or above your own level');
    expect(await actor.delete(`${RBAC}/policies/${made.id}`)).toMatchObject(refused);
  });

  it('passes on no permission beyond the own', async () => {
    const actor = await adminClient(t.app, server, ['roles:*'], 50);
    const [lower, beyond] = [await makeRole({ permissions: ['roles:read'] }), await makeRole({ permissions: ['tickets:read'] })];
    const refused = detail('Cannot grant permissions you do not have: tickets:read');
    expect(await actor.put(`${RBAC}/roles/${lower.id}`, { permissions: ['tickets:read'] })).toMatchObject(refused);
    expect(await actor.post(`${RBAC}/assignments`, { user_id: actor.user.id, role_id: beyond.id })).toMatchObject(refused);
  });

  it('cannot give up the own rights over roles', async () => {
    const actor = await adminClient(t.app, server, ['users:read'], 50);
    const role = await makeRole({ permissions: ['roles:*'] });
    const assignment = { user_id: actor.user.id, role_id: role.id };
    const { body: assigned } = await admin.post(`${RBAC}/assignments`, assignment);
    const path = `${RBAC}/roles/${role.id}`;
    for (const reply of [
      await actor.put(path, { permissions: ['roles:edit'] }),
      await actor.delete(path),
      await actor.delete(`${RBAC}/assignments/${assigned.id}`),
      await actor.post(`${RBAC}/assignments`, { ...assignment, expires_at: '2000-01-01T00:00:00Z' }),
    ])
      expect(reply).toMatchObject({ status: 403, body: { detail: expect.stringContaining('take your own permissions away') } });
    const policy = { name: 'P', effect: 'deny', resource: 'roles', actions: ['*'], role_id: role.id };
    expect(await actor.post(`${RBAC}/policies`, policy)).toMatchObject({ status: 403 });
    const { body: other } = await admin.post(`${RBAC}/policies`, { ...policy, resource: 'users', role_id: role.id });
    expect(await actor.put(`${RBAC}/policies/${other.id}`, { resource: 'roles' })).toMatchObject({ status: 403 });
    expect((await actor.get(`${RBAC}/roles`)).status).toBe(200);
  });

  it('changes neither level nor state of a system role, nor who is superadmin', async () => {
    const { body: roles } = await admin.get(`${RBAC}/roles`);
    const system = roles.find((role: { is_system: boolean; level: number }) => role.is_system && role.level < 900);
    const [superadmin] = roles;
    expect(await admin.put(`${RBAC}/roles/${system.id}`, { is_active: false })).toMatchObject(
      detail('Cannot change is_active on a system role'),
    );
    const row = await storeRow(t.app, 'UserRole', { userId: admin.user.id, roleId: superadmin.id });
    expect(await admin.delete(`${RBAC}/assignments/${row.id}`)).toMatchObject(
      detail(expect.stringContaining('Remove the user from env') as unknown as string),
    );
    await t.app.db.sql('DELETE FROM user_roles WHERE id = $1::int RETURNING id', [row.id]);
  });
});

describe('policies', () => {
  it('make, change, list and delete', async () => {
    const role = await makeRole();
    const conditions = { time_range: { start: '22:00', end: '06:00' }, ip_whitelist: ['10.0.0.0/8'] };
    const made = await admin.post(`${RBAC}/policies`, {
      name: 'At night',
      role_id: role.id,
      effect: 'deny',
      resource: 'users',
      actions: ['edit'],
      conditions,
      priority: 5,
    });
    expect(made.body).toEqual({
      id: expect.any(Number),
      name: 'At night',
      description: null,
      role_id: role.id,
      role_name: role.name,
      priority: 5,
      effect: 'deny',
      conditions,
      resource: 'users',
      actions: ['edit'],
      is_active: true,
      created_by: admin.user.id,
      created_at: t.clock.now().toISOString(),
    });
    const path = `${RBAC}/policies/${made.body.id}`;
    expect((await admin.get(`${RBAC}/policies`, { query: { role_id: role.id } })).body).toEqual([made.body]);
    expect((await admin.put(path, { is_active: false, name: null })).body).toEqual({ ...made.body, is_active: false });
    expect((await admin.get(`${RBAC}/policies`, { query: { role_id: role.id } })).body).toEqual([]);
    expect((await admin.get(`${RBAC}/policies`, { query: { role_id: role.id, include_inactive: true } })).body).toHaveLength(1);
    expect((await admin.delete(path)).body).toEqual({ message: 'Policy deleted', policy_id: made.body.id });
    expect(await admin.put(path, {})).toMatchObject({ status: 404, body: { detail: 'Policy not found' } });
    expect(await admin.delete(path)).toMatchObject({ status: 404, body: { detail: 'Policy not found' } });
  });

  it('answers 422 for malformed conditions and effects', async () => {
    const body = { name: 'P', effect: 'deny', resource: 'users', actions: ['*'] };
    const reply = await admin.post(`${RBAC}/policies`, { ...body, conditions: { ip_whitelist: ['office'] } });
    expect(reply.status).toBe(422);
    expect(reply.body.detail[0]).toMatchObject({ loc: ['body', 'conditions', 'ip_whitelist'], type: 'value_error' });
    expect((await admin.post(`${RBAC}/policies`, { ...body, effect: 'Deny' })).body.detail[0]).toMatchObject({
      loc: ['body', 'effect'],
      type: 'string_pattern_mismatch',
    });
    expect(await admin.post(`${RBAC}/policies`, { ...body, role_id: 2_147_000_000 })).toMatchObject({
      status: 404,
      body: { detail: 'Referenced role not found' },
    });
  });
});

it('answers ids beyond what a row can have like any unknown one', async () => {
  const role = await makeRole();
  const policy = { name: 'P', effect: 'deny', resource: 'users', actions: ['*'] };
  for (const id of [2_147_483_648, -2_147_483_649, 2 ** 53 - 1]) {
    const replies = [
      await admin.get(`${RBAC}/roles/${id}/users`),
      await admin.put(`${RBAC}/roles/${id}`, { level: 5 }),
      await admin.delete(`${RBAC}/roles/${id}`),
      await admin.post(`${RBAC}/assignments`, { user_id: id, role_id: role.id }),
      await admin.post(`${RBAC}/assignments`, { user_id: admin.user.id, role_id: id }),
      await admin.delete(`${RBAC}/assignments/${id}`),
      await admin.post(`${RBAC}/policies`, { ...policy, role_id: id }),
      await admin.put(`${RBAC}/policies/${id}`, { name: 'Q' }),
      await admin.delete(`${RBAC}/policies/${id}`),
    ];
    expect(replies.map((reply) => reply.status)).toEqual(replies.map(() => 404));
    expect(await admin.get(`${RBAC}/policies`, { query: { role_id: id } })).toMatchObject({ status: 200, body: [] });
  }
});
