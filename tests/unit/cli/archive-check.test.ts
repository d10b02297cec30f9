import { expect, it } from 'vitest';
import { checkArchive } from '../../../src/cli/doctor/process-checks.ts';

const [earlier, later] = [new Date('2026-11-23T14:00:00Z'), new Date('2026-11-23T14:05:00Z')];

it('warns of an archive whose last attempt failed', () => {
  const failing = checkArchive({ archivedAt: earlier, failedAt: later, failures: 3 });
  expect(failing).toMatchObject({ check: 'WAL archive', verdict: 'warning' });
  expect(failing.detail).toBe(
    'archive_command failed at 2026-11-23T14:05:00.000Z (3 failures); the last segment was archived at 2026-11-23T14:00:00.000Z',
  );
  expect(checkArchive({ archivedAt: null, failedAt: later, failures: 1 }).verdict).toBe('warning');
});

it('is content with failures that were made up for, and with a server that has archived nothing yet', () => {
  expect(checkArchive({ archivedAt: later, failedAt: earlier, failures: 3 }).verdict).toBe('ok');
  expect(checkArchive({ archivedAt: null, failedAt: null, failures: 0 }).verdict).toBe('ok');
});
