import { describe, expect, it } from 'vitest';
import { matchesPattern } from '../../../src/domain/access/permissions.ts';
import { permissionsBeyond, unknownPermissions } from '../../../src/domain/access/role-rules.ts';

const beyond = (patterns: string[], granted: string[]) =>
  permissionsBeyond((permission) => patterns.some((pattern) => matchesPattern(pattern, permission)), granted);

describe('permissions of a role', () => {
  it.each([
    [['users:read', 'landings:*', '*:*'], []],
    [['users:fly', 'users:read'], ['users:fly']],
    [
      ['nothing:read', '*', 'users', 'users:', '*:read', 'users:re*', ' users:read'],
      ['nothing:read', '*', 'users', 'users:', '*:read', 'users:re*', ' users:read'],
    ],
  ])('%j knows all but %j', (permissions, unknown) => {
    expect(unknownPermissions(permissions)).toEqual(unknown);
  });
});

describe('spec 01 H4: what an administrator may give away', () => {
  it.each([
    ['his own', ['users:read'], ['users:read'], []],
    ['not another of the section', ['users:read'], ['users:edit'], ['users:edit']],
    ['everything under his wildcard', ['users:*'], ['users:read', 'users:*'], []],
    ['no other section', ['users:*'], ['tickets:read'], ['tickets:read']],
    ['not *:* by one section', ['users:*'], ['*:*'], ['*:*']],
    ['anything by *:*', ['*:*'], ['*:*', 'roles:*', 'users:read'], []],
    ['anything by a bare star', ['*'], ['*:*', 'roles:assign'], []],
    [
      'no wildcard by single actions, all of them',
      ['landings:read', 'landings:create', 'landings:edit', 'landings:delete'],
      ['landings:*'],
      ['landings:*'],
    ],
    ['not *:* by every section', ['users:*', 'tickets:*', 'stats:*', 'roles:*'], ['*:*'], ['*:*']],
    ['one action everywhere', ['*:read'], ['users:read', 'users:*'], ['users:*']],
    ['no wildcard by a single-character pattern', ['users:?'], ['users:*'], ['users:*']],
    [
      'no wildcard by a class that spares one',
      ['users:[!d]*'],
      ['users:read', 'users:delete', 'users:*'],
      ['users:delete', 'users:*'],
    ],
    ['nothing by nothing', [], ['users:read'], ['users:read']],
  ])('%s', (_what, patterns, granted, refused) => {
    expect(beyond(patterns, granted)).toEqual(refused);
  });
});
