import { expect, test } from 'vitest';
import { timestampOf, UsageError } from '../../../src/cli/command.ts';

/** The tests run in a time zone that is not UTC. */
test.each([
  ['2026-11-01', '2026-11-01T00:00:00.000Z'],
  ['2026-11-01T10:30', '2026-11-01T10:30:00.000Z'],
  ['2026-11-01 10:30:15', '2026-11-01T10:30:15.000Z'],
  ['2026-11-01T10:30Z', '2026-11-01T10:30:00.000Z'],
  ['2026-11-01T00:30+03:00', '2026-10-31T21:30:00.000Z'],
])('%s is %s', (text, iso) => {
  expect(timestampOf(text, '--from').toISOString()).toBe(iso);
});

test.each(['', '2026', '2026-02-31', '2026-13-01', '2026-11-01T25:00', '99999-01-01', 'yesterday'])('%s is no date', (text) => {
  expect(() => timestampOf(text, '--from')).toThrow(UsageError);
});
