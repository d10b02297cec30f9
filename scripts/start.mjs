// npm start: two commands from a clone to a running service. Installs, generates, builds (each only when something changed),
// then starts the server, which migrates and serves. For production docs/operations.md has one process and a systemd unit.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { npmEnd } from './npm-process.mjs';
import { childEnvironment, prepare, root, runtime } from './prepare.mjs';
import { SERVICE_FLAGS } from './service-flags.mjs';

await prepare();
// Without --enable-source-maps: the parsed map would use 60 MiB all the time. NODE_OPTIONS can add it; the bundle names its sources.
// The channel closes when this process ends, also by SIGKILL: that is how the server learns of it.
const server = spawn(runtime(), [...SERVICE_FLAGS, join(root, 'dist', 'server.js'), '--end-with-parent'], {
  stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  env: childEnvironment(),
  cwd: root,
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => server.kill(signal));
server.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));

npmEnd(() => server.kill('SIGTERM'));
