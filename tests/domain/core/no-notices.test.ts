import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inTransaction } from '../../../src/core/db/transaction.ts';
import { testApp } from '../../support/test-app.ts';
import { serverUrl } from '../../support/test-database.ts';

const root = join(import.meta.dirname, '..', '..', '..');
/** Sends notices, each in a transaction that contains nothing else. */
const SENDER = join('src', 'core', 'db', 'open-postgres.ts');

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|^\s*(?:--|\/\/).*$|--[^'\n]*$/gm, '');

describe('08 L1: SQL of business transactions sends no notice', () => {
  it('no statement in the source, in SQL functions or in migrations does', async () => {
    const found: string[] = [];
    for (const folder of ['src', 'prisma']) {
      for (const name of await readdir(join(root, folder), { recursive: true })) {
        const path = join(folder, name);
        if (!/\.(ts|sql)$/.test(name) || name.startsWith('generated')) continue;
        if (/pg_notify|\bNOTIFY\s+["\w]/.test(withoutComments(await readFile(join(root, path), 'utf8')))) found.push(path);
      }
    }
    expect(found).toEqual([SENDER]);
  });

  it('no function and no trigger of the database does, those of the job queue included', async () => {
    const { app } = await testApp();
    const functions = await app.db.sql<{ name: string }>(
      `SELECT p.proname AS name FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
       WHERE n.nspname IN ('public', 'jobs')
         AND regexp_replace(p.prosrc, '--[^' || chr(10) || ']*', '', 'g') ~* 'pg_notify|(^|;|begin)\\s*notify\\s'`,
    );
    expect(functions).toEqual([]);
  });

  it.skipIf(!serverUrl)(
    'the databases of these tests refuse one, so that every test of an operation would find it (left out without a server)',
    async () => {
      const { app } = await testApp();
      const notify = "SELECT pg_notify('anything', '')::text AS sent";
      const refusal = /a transaction of the service sends a notice/;
      await expect(inTransaction(app, (t) => t.db.sql(notify))).rejects.toThrow(refusal);
      await expect(app.db.sql(notify)).rejects.toThrow(refusal);
    },
  );
});
