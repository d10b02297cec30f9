// npm run bench [-- --quick] [--only NAME]
import { join } from 'node:path';
import { prepare, root, run, runtime } from './prepare.mjs';

await prepare();
process.exit(await run(runtime(), [join(root, 'packages', 'measures', 'src', 'bench', 'main.ts'), ...process.argv.slice(2)]));
