// npm run cli -- …
import { join } from 'node:path';
import { prepare, root, run, runtime } from './prepare.mjs';

await prepare();
process.exit(await run(runtime(), ['--enable-source-maps', join(root, 'dist', 'cli.js'), ...process.argv.slice(2)]));
