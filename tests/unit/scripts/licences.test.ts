import { describe, expect, it } from 'vitest';
import { isAllowed, type LockedPackage, type PackageManifest, refusedPackages } from '../../../scripts/checks/licences.ts';

describe('isAllowed', () => {
  it.each([
    'MIT',
    'Apache-2.0',
    '(MPL-2.0 OR Apache-2.0)',
    'GPL-3.0-only OR MIT',
    'MIT and ISC',
    '(MIT OR CC0-1.0) AND (BSD-3-Clause OR GPL-2.0-only)',
    'MIT OR GPL-2.0-only AND AGPL-3.0-only',
  ])('allows %s', (expression) => expect(isAllowed(expression)).toBe(true));

  it.each([
    'AGPL-3.0-only',
    'MIT AND GPL-3.0-only',
    '(MIT OR GPL-2.0-only) AND AGPL-3.0-only',
    'GPL-2.0-only WITH Classpath-exception-2.0',
    'UNLICENSED',
    'SEE LICENSE IN LICENSE.md',
    'mit-like',
    'toString',
    '',
    '()',
    '(MIT',
    'MIT)',
    'MIT ISC',
    'MIT OR',
  ])('refuses %j', (expression) => expect(isAllowed(expression)).toBe(false));
});

describe('refusedPackages', () => {
  /** A tree of packages with the lock's entry and what is installed; null is not installed. */
  const check = (tree: Record<string, [LockedPackage, PackageManifest | null]>) =>
    refusedPackages(Object.fromEntries(Object.entries(tree).map(([path, [locked]]) => [path, locked])), (path) => tree[path]![1]);
  const version = '1.2.3';

  it('08: refuses AGPL in the production tree, wherever it is nested, and not among development dependencies', () => {
    const agpl = { license: 'AGPL-3.0-only' };
    expect(
      check({
        '': [{}, agpl],
        'packages/client': [{}, agpl],
        'node_modules/client': [{ link: true }, agpl],
        'node_modules/permitted': [{ version }, { license: 'MIT' }],
        'node_modules/tests-only': [{ version, dev: true }, agpl],
        'node_modules/@scope/contract': [{ version }, agpl],
        'node_modules/permitted/node_modules/@scope/inner': [{ version, license: 'MIT' }, agpl],
        'packages/client/node_modules/deep': [{ version }, agpl],
      }),
    ).toEqual([
      { name: '@scope/contract', version, licence: 'AGPL-3.0-only' },
      { name: '@scope/inner', version, licence: 'AGPL-3.0-only' },
      { name: 'deep', version, licence: 'AGPL-3.0-only' },
    ]);
  });

  it('takes the statement of the lock only for optional packages that are not installed', () => {
    expect(
      check({
        'node_modules/for-windows': [{ version, optional: true, license: 'MIT' }, null],
        'node_modules/for-macos': [{ version, optional: true, license: 'GPL-3.0-only' }, null],
        'node_modules/shared': [{ version, devOptional: true, license: 'AGPL-3.0-only' }, null],
        'node_modules/missing': [{ version, license: 'MIT' }, null],
      }),
    ).toEqual([
      { name: 'for-macos', version, licence: 'GPL-3.0-only' },
      { name: 'shared', version, licence: 'AGPL-3.0-only' },
      { name: 'missing', version, licence: 'not installed' },
    ]);
  });

  it('reads old forms, and refuses what states nothing', () => {
    expect(
      check({
        'node_modules/object': [{ version }, { license: { type: 'ISC' } }],
        'node_modules/list': [{ version }, { licenses: [{ type: 'GPL-2.0' }, { type: 'MIT' }] }],
        'node_modules/silent': [{ version }, {}],
      }),
    ).toEqual([{ name: 'silent', version, licence: 'no licence stated' }]);
  });

  it('an exception counts for what was stated when it was made', () => {
    expect(check({ 'node_modules/elkjs': [{ version }, { license: 'EPL-2.0' }] })).toEqual([]);
    expect(check({ 'node_modules/elkjs': [{ version }, { license: 'AGPL-3.0-only' }] })).toHaveLength(1);
    expect(check({ 'node_modules/other': [{ version }, { license: 'EPL-2.0' }] })).toHaveLength(1);
  });
});
