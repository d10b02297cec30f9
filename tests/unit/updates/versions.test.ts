import { expect, test } from 'vitest';
import { isNewer } from '../../../src/domain/updates/releases.ts';

/** 06 14, updates: `v` stripped, `X-devN` sorts before X, unparsable = 0.0.0. */
test.each([
  ['1.2.4', '1.2.3', true],
  ['v1.2.4', '1.2.3', true],
  ['1.2.3', 'v1.2.3', false],
  ['1.10.0', '1.9.9', true],
  ['2.0', '1.9.9', true],
  ['1.2', '1.2.0', false],
  ['1.2.0.1', '1.2.0', true],
  ['1.2.3', '1.2.3-dev5', true],
  ['1.2.3-dev5', '1.2.3', false],
  ['1.2.3-dev10', '1.2.3-dev9', true],
  ['1.2.3-dev', '1.2.3-dev0', false],
  ['1.2.4-dev1', '1.2.3', true],
  ['nightly', '0.0.0', false],
  ['0.0.1', 'nightly', true],
  ['1.2.3-rc1', '0.0.1', false],
  ['', '', false],
])('%s after %s: %s', (version, other, expected) => {
  expect(isNewer(version, other)).toBe(expected);
});
