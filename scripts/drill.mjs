// npm run drills, npm run drill -- all|failover|scale|silence|events|restart|money|kill-points|soak [options]
import { join } from 'node:path';
import { prepare, root, run, runtime } from './prepare.mjs';

await prepare();
process.exit(await run(runtime(), [join(root, 'packages', 'measures', 'src', 'drills', 'main.ts'), ...process.argv.slice(2)]));
