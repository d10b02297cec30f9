// npm start: two commands from a clone to a running service. Installs, generates, builds (each only when something changed),
// then becomes the server, which migrates and serves.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { childEnvironment, prepare, root, runtime } from './prepare.mjs';

await prepare();
// Source maps name the real line of an error; a young generation of 8 MiB keeps the idle service under 250 MiB.
const options = JSON.parse(readFileSync(join(root, 'scripts', 'server-options.json'), 'utf8'));
const server = spawn(runtime(), [...options, join(root, 'dist', 'server.js')], {
  stdio: 'inherit',
  env: childEnvironment(),
  cwd: root,
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => server.kill(signal));
server.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
