/** Spec 08 S3: the two addresses of a database behind a pooler. Both are direct here, which the check cannot see and need not. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkServer } from '../../../src/cli/doctor/process-checks.ts';
import { openPostgres } from '../../../src/core/db/open-postgres.ts';
import { loadEnv } from '../../../src/core/env.ts';
import { createLogger } from '../../../src/core/log.ts';
import { freshDatabase, migrationsFolder, serverUrl, type TestDatabase } from '../../support/test-database.ts';

const log = createLogger({ level: 'silent', format: 'json' });

const wrongAddress = { verdict: 'problem', next: expect.stringContaining('DATABASE_DIRECT_URL') };

describe.runIf(serverUrl !== null)('doctor behind a pooler', () => {
  let database: TestDatabase;
  let other: TestDatabase;

  beforeAll(async () => {
    database = await freshDatabase();
    other = await freshDatabase();
  });
  afterAll(async () => {
    await database.drop();
    await other.drop();
  });

  async function findingsWith(directUrl: string) {
    const url = database.url!;
    const env = loadEnv({ DATABASE_URL: url, DATABASE_DIRECT_URL: directUrl, DATABASE_POOLER: 'transaction' });
    const opened = await openPostgres({ url, directUrl, poolSize: 1, statementTimeoutMs: 60_000, migrationsFolder, log });
    try {
      const findings = await checkServer(opened, env, 'here');
      return new Map(findings.map((finding) => [finding.check, finding]));
    } finally {
      await opened.close();
    }
  }

  it('accepts a direct address of the same database, and counts the connections past the pooler only', async () => {
    const findings = await findingsWith(database.url!);
    expect(findings.get('pooler')).toMatchObject({ verdict: 'ok' });
    expect(findings.get('connections')?.detail).toContain('an instance needs up to 1;');
  });

  it('names an address of another database', async () => {
    expect((await findingsWith(other.url!)).get('pooler')).toMatchObject(wrongAddress);
  });

  it('names an address at which nobody answers', async () => {
    const nobody = new URL(database.url!);
    nobody.port = '1';
    expect((await findingsWith(nobody.href)).get('pooler')).toMatchObject(wrongAddress);
  });
});
