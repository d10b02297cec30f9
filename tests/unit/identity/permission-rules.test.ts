import { describe, expect, it } from 'vitest';
import {
  type AccessPolicy,
  adminLevel,
  denialReason,
  type EffectiveAccess,
  isConfigAdmin,
  matchesPattern,
  NO_ACCESS,
  PERMISSION_CATALOGUE,
  parseConfigAdmins,
  SYSTEM_ROLES,
} from '../../../src/domain/access/permissions.ts';

const NOON = new Date('2026-03-01T12:00:00Z');
const support: EffectiveAccess = {
  roleIds: [5],
  roles: ['Support'],
  permissions: ['tickets:*', 'users:read'],
  level: 20,
  requiresSecondFactor: false,
};
const policy = (fields: Partial<AccessPolicy>): AccessPolicy => ({
  name: 'p',
  roleId: null,
  effect: 'deny',
  resource: 'tickets',
  actions: ['*'],
  conditions: {},
  ...fields,
});

describe('permission catalogue', () => {
  it('has the 28 sections and 96 permissions of the contract, and approvals, personal data, backups and API tokens', () => {
    expect(Object.keys(PERMISSION_CATALOGUE)).toHaveLength(28 + 4);
    expect(Object.values(PERMISSION_CATALOGUE).flat()).toHaveLength(96 + 10);
  });

  it('gives Admin all but deleting roles and API tokens', () => {
    const admin = SYSTEM_ROLES.find((role) => role.name === 'Admin')!;
    const all = Object.entries(PERMISSION_CATALOGUE).flatMap(([section, actions]) =>
      actions.map((action) => `${section}:${action}`),
    );
    const refused = all.filter((permission) => !admin.permissions.some((pattern) => matchesPattern(pattern, permission)));
    expect(refused).toEqual(['roles:delete', 'api_tokens:read', 'api_tokens:create', 'api_tokens:edit']);
  });
});

describe('matchesPattern', () => {
  it.each([
    ['*:*', 'users:read', true],
    ['users:*', 'users:read', true],
    ['users:*', 'superusers:read', false],
    ['users:rea?', 'users:read', true],
    ['users:[re]*', 'users:edit', true],
    ['users:[!re]*', 'users:edit', false],
    ['Users:read', 'users:read', false],
    ['users.read', 'users:read', false],
    ['users:read', 'users:read:more', false],
    ['[', '[', true],
    ['[]', '[]', true],
    ['[]', 'users', false],
    ['us[]rs', 'us[]rs', true],
    ['[]u]sers', 'users', true],
    ['[!]', '!', true],
    [']{', ']{', true],
    ['a[z-a]b', 'azb', false],
    ['(x)+', '(x)+', true],
    ['a\\b', 'a\\b', true],
  ])('%s on %s: %s', (pattern, text, expected) => expect(matchesPattern(pattern, text)).toBe(expected));
});

describe('denialReason', () => {
  const denial = (permission: string, policies: AccessPolicy[] = [], ip: string | null = null, now = NOON) =>
    denialReason(permission, support, policies, ip, now);

  it('knows its reasons', () => {
    expect(denialReason('users:read', NO_ACCESS, [], null, NOON)).toBe('No active roles assigned');
    expect(denial('users:edit')).toBe('Permission not granted by any role');
    expect(denial('tickets:reply', [policy({ name: 'no tickets' })])).toBe('Denied by policy: no tickets');
    expect(denial('tickets:reply')).toBeNull();
  });

  it('skips policies of other roles, other sections and actions, and those that allow', () => {
    const skipped = [
      policy({ roleId: 6 }),
      policy({ resource: 'users' }),
      policy({ actions: ['read'] }),
      policy({ effect: 'allow' }),
    ];
    expect(denial('tickets:reply', skipped)).toBeNull();
    expect(denial('tickets:reply', [...skipped, policy({ roleId: 5, name: 'mine' })])).toBe('Denied by policy: mine');
  });

  it.each([
    ['09:00', '17:00', '2026-03-01T09:00:00Z', true],
    ['09:00', '17:00', '2026-03-01T17:00:00Z', false],
    ['22:00', '06:00', '2026-03-01T23:30:00Z', true],
    ['22:00', '06:00', '2026-03-01T05:59:00Z', true],
    ['22:00', '06:00', '2026-03-01T06:00:00Z', false],
    ['25:00', '06:00', '2026-03-01T05:00:00Z', false],
  ])('from %s to %s at %s: %s', (start, end, now, isDenied) => {
    const found = denial('tickets:read', [policy({ conditions: { time_range: { start, end } } })], null, new Date(now));
    expect(found !== null).toBe(isDenied);
  });

  it.each([
    [['10.0.0.0/8'], '10.1.2.3', true],
    [['10.0.0.0/8'], '::ffff:10.1.2.3', true],
    [['nonsense', '192.0.2.7'], '192.0.2.7', true],
    [['2001:db8::/32'], '2001:db8::5', true],
    [['::ffff:10.0.0.0/104'], '10.1.2.3', true],
    [['::ffff:10.0.0.0/104'], '::ffff:10.1.2.3', true],
    [['::ffff:10.0.0.0/104'], '11.1.2.3', false],
    [['::ffff:0:0/96'], '11.1.2.3', true],
    [['::ffff:0:0/96'], '2001:db8::5', false],
    [['::ffff:10.0.0.0/95'], '10.1.2.3', false],
    [['::ffff:10.1.2.3'], '10.1.2.3', true],
    [['2001:DB8::0005'], '2001:db8::5', true],
    [['10.0.0.0/8'], '11.0.0.1', false],
    [['10.0.0.0/8'], null, false],
    ['10.0.0.0/8', '10.0.0.1', false],
  ])('addresses %j with %s: %s', (list, ip, isDenied) => {
    expect(denial('tickets:read', [policy({ conditions: { ip_whitelist: list } })], ip) !== null).toBe(isDenied);
  });

  it('ignores max_actions_per_hour', () => {
    expect(denial('tickets:read', [policy({ conditions: { max_actions_per_hour: 1 } })])).toBe('Denied by policy: p');
  });
});

describe('config admins', () => {
  const user = { messengerId: 5, email: 'Boss@Example.com', emailVerified: true };

  it('are named by id or by a verified e-mail', () => {
    const admins = parseConfigAdmins('1, 2', 'boss@example.com, ');
    expect(isConfigAdmin(admins, user)).toBe(true);
    expect(isConfigAdmin(admins, { ...user, emailVerified: false })).toBe(false);
    expect(isConfigAdmin(parseConfigAdmins('5', ''), { ...user, email: null })).toBe(true);
  });

  it('do not exist by id when one item is no number', () => {
    expect(parseConfigAdmins('5,x', '').messengerIds.size).toBe(0);
  });

  it('have the top level, as superadmin roles do', () => {
    expect(adminLevel(NO_ACCESS, true)).toBe(1_000);
    expect(adminLevel({ ...support, level: 999 }, false)).toBe(1_000);
    expect(adminLevel(support, false)).toBe(20);
  });
});
