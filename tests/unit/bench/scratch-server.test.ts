import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accountIn, findServerBinaries, packagedFolders } from '../../../packages/measures/src/bench/scratch-server.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'scratch-server-test-'));
  for (const name of ['9', '15', 'common', 'complete', 'half']) mkdirSync(join(folder, name));
  for (const file of ['complete/initdb', 'complete/postgres', 'half/initdb']) writeFileSync(join(folder, file), '');
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('binaries of the server', () => {
  test('of several packages the highest version comes first', () => {
    expect(packagedFolders(folder)).toEqual([join(folder, '15', 'bin'), join(folder, '9', 'bin')]);
    expect(packagedFolders(join(folder, 'nowhere'))).toEqual([]);
  });

  test('a folder of the PATH needs initdb and postgres', () => {
    expect(findServerBinaries(`:${join(folder, 'half')}:${join(folder, 'complete')}`)).toBe(join(folder, 'complete'));
  });
});

test('an account is found by its whole name', () => {
  const text = 'root:x:0:0:root:/root:/bin/sh\npostgres2:x:7:8::/:/bin/sh\npostgres:x:101:104:PostgreSQL,,,:/var:/bin/bash\n';
  expect(accountIn(text, 'postgres')).toEqual({ uid: 101, gid: 104 });
  expect(accountIn(text, 'post')).toBeNull();
});
