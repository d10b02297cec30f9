// Runs a script or an installed command on the project's own Node, whatever Node npm itself runs on.
//   node scripts/on-runtime.mjs scripts/db-diff.ts --write name      node scripts/on-runtime.mjs tsc --noEmit
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ensureGenerated, ensureInstalled, root, run, runtime } from './prepare.mjs';

await ensureInstalled();
await ensureGenerated();
const [what, ...words] = process.argv.slice(2);
const isScript = existsSync(join(root, what ?? ''));
process.exit(isScript ? await run(runtime(), [what, ...words]) : await run(what, words));
