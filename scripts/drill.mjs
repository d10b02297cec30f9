// npm run drill -- failover|events|restart|money [options]
import { join } from 'node:path';
import { prepare, root, run, runtime } from './prepare.mjs';

await prepare();
process.exit(await run(runtime(), [join(root, 'packages', 'measures', 'src', 'drills', 'main.ts'), ...process.argv.slice(2)]));
