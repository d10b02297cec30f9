// npm start: two commands from a clone to a running service. Installs, generates, builds (each only when something changed),
// then becomes the server, which migrates and serves.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { childEnvironment, prepare, root, runtime } from './prepare.mjs';

await prepare();
// Without --enable-source-maps: the parsed map would use 60 MiB all the time. NODE_OPTIONS can add it; the bundle names its sources.
const server = spawn(runtime(), [join(root, 'dist', 'server.js')], {
  stdio: 'inherit',
  env: childEnvironment(),
  cwd: root,
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => server.kill(signal));
server.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
