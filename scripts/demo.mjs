// npm run demo
import { join } from 'node:path';
import { prepare, root, run, runtime } from './prepare.mjs';

await prepare();
process.exit(await run(runtime(), [join(root, 'scripts', 'demo', 'main.ts')]));
