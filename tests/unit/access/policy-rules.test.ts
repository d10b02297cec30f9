import { describe, expect, it } from 'vitest';
import { denialReason } from '../../../src/domain/access/permissions.ts';
import { conditionIssues } from '../../../src/domain/access/policies.ts';

describe('conditions of a policy', () => {
  it.each([
    {},
    { time_range: { start: '09:00', end: '18:00' } },
    { time_range: { start: '22:00', end: '06:00' } },
    { ip_whitelist: ['203.0.113.7', '10.0.0.0/8', '2001:db8::/32', '::1'] },
    { ip_whitelist: ['::ffff:10.0.0.0/104', '::ffff:10.1.2.3', '::ffff:0:0/96', '::/0'] },
    { max_actions_per_hour: 10 },
  ])('%j is well formed', (conditions) => {
    expect(conditionIssues(conditions)).toEqual([]);
  });

  it.each([
    [{ time_range: '09:00-18:00' }, 'time_range'],
    [{ time_range: { start: '9:00', end: '18:00' } }, 'time_range'],
    [{ time_range: { start: '09:00', end: '24:00' } }, 'time_range'],
    [{ time_range: { start: '09:00' } }, 'time_range'],
    [{ time_range: { start: '09:00', end: '09:00' } }, 'time_range'],
    [{ time_range: null }, 'time_range'],
    [{ time_range: [] }, 'time_range'],
    [{ ip_whitelist: '10.0.0.1' }, 'ip_whitelist'],
    [{ ip_whitelist: [] }, 'ip_whitelist'],
    [{ ip_whitelist: ['10.0.0.0/33'] }, 'ip_whitelist'],
    [{ ip_whitelist: ['10.0.0.1', 'office'] }, 'ip_whitelist'],
    [{ ip_whitelist: ['10'] }, 'ip_whitelist'],
    [{ ip_whitelist: ['::ffff:10.0.0.0/95'] }, 'ip_whitelist'],
    [{ ip_whitelist: ['::ffff:10.0.0.0/8'] }, 'ip_whitelist'],
    [{ ip_whitelist: ['fe80::1%eth0'] }, 'ip_whitelist'],
    [{ ip_whitelist: [5] }, 'ip_whitelist'],
    [{ max_actions_per_hour: 0 }, 'max_actions_per_hour'],
    [{ max_actions_per_hour: '5' }, 'max_actions_per_hour'],
    [{ time_rnage: { start: '09:00', end: '18:00' } }, 'time_rnage'],
  ])('%j is refused at %s', (conditions, name) => {
    expect(conditionIssues(conditions)).toEqual([
      expect.objectContaining({ loc: ['body', 'conditions', name], type: 'value_error' }),
    ]);
  });
});

it('an accepted range matches the addresses in it', () => {
  const conditions = { ip_whitelist: ['::ffff:10.0.0.0/104'] };
  expect(conditionIssues(conditions)).toEqual([]);
  const access = { roleIds: [1], roles: ['r'], permissions: ['*:*'], level: 5, requiresSecondFactor: false };
  const policies = [{ name: 'p', roleId: null, effect: 'deny', resource: '*', actions: ['*'], conditions }];
  expect(denialReason('users:read', access, policies, '10.1.2.3', new Date())).toBe('Denied by policy: p');
});
