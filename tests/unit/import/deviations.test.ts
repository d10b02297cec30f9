/** Spec 07 section 10: a report says of every code what it is. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { deviationOf } from '../../../src/domain/import/deviations.ts';

const folder = join(import.meta.dirname, '..', '..', '..', 'src', 'domain', 'import');
const codes = readdirSync(folder)
  .flatMap((file) => [...readFileSync(join(folder, file), 'utf8').matchAll(/code: '([a-z_]+)'/g)])
  .map((match) => match[1]!);

describe('a code of the import', () => {
  test.each([...new Set(codes)].sort())('%s is described', (code) => {
    const orphan = deviationOf('any_orphan');
    if (code.endsWith('_orphan')) expect(deviationOf(code).kind).toBe('parked');
    else expect(deviationOf(code)).not.toEqual(orphan);
  });
});
