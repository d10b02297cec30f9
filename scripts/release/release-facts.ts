/** The kept dumps of released versions: `tests/releases/<version>` has the dump and what its release answered. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { projectRoot } from '../checks/source-files.ts';
import type { AskedAnswer } from './asked-answers.ts';
import type { ReleasePast } from './release-past.ts';
import type { StoredFacts } from './stored-facts.ts';

/** Keys of the databases that are dumped: they exist in tests only. */
export const RELEASE_ENVIRONMENT = {
  CABINET_JWT_SECRET: 'of-the-kept-dumps-of-the-kept-dumps-of-the-kept-dumps',
  WEB_API_TOKEN_HMAC_SECRET: 'of-the-kept-dumps-of-the-kept-dumps',
  WEBHOOK_ALLOWED_PRIVATE_HOSTS: '127.0.0.1,localhost',
};

export interface ReleaseFacts extends ReleasePast {
  version: string;
  /** Time of the service when it was dumped, ISO 8601. */
  dumpedAt: string;
  lastMigration: string;
  answers: AskedAnswer[];
  stored: StoredFacts;
}

const folder = join(projectRoot, 'tests', 'releases');

/** Versions of which a dump is kept, oldest first. */
export function keptReleases(): string[] {
  return readdirSync(folder).sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
}

export function readFacts(version: string): ReleaseFacts {
  return JSON.parse(readKept(version, 'facts.json.gz')) as ReleaseFacts;
}

/** SQL that makes the database, in one script. */
export function readDump(version: string): string {
  return readKept(version, 'dump.sql.gz');
}

const readKept = (version: string, name: string) => gunzipSync(readFileSync(join(folder, version, name))).toString();
