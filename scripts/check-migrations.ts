/**
 * Refuses migrations that the previous release cannot work with: while a deploy lasts both run on one database (docs/database.md).
 *   npm run check:migrations
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSchemaFiles } from '../src/core/db/migrate.ts';
import { refusedStatements } from './checks/compatible-migrations.ts';
import { projectRoot } from './checks/source-files.ts';

/** Earlier ones were written before this rule. */
const FIRST_CHECKED = '0074_webhook_words';

const changelog = readFileSync(join(projectRoot, 'CHANGELOG.md'), 'utf8');
const releases = new Set([...changelog.matchAll(/^## \[(\d[^\]]*)\]/gm)].map(([, version]) => version!));
const { migrations } = await readSchemaFiles(join(projectRoot, 'prisma', 'migrations'));
const refused = await refusedStatements(migrations, FIRST_CHECKED, releases);
if (refused.length > 0) {
  console.error(
    [...refused, `${refused.length} statements break the previous release; docs/database.md says what to do`].join('\n'),
  );
  process.exit(1);
}
const count = migrations.filter(({ name }) => name >= FIRST_CHECKED).length;
console.log(`Migrations: the previous release goes on working with each of the ${count} from ${FIRST_CHECKED} on.`);
