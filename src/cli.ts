/** The operator's command line: `npm run cli -- …`. */

import { runCli } from './cli/run-cli.ts';
import { readProcessEnv } from './core/process-env.ts';

const code = await runCli(process.argv.slice(2), {
  source: readProcessEnv(),
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  input: process.stdin,
});
// Pipes are written asynchronously; ending before they are empty would cut the answer.
process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
