#!/usr/bin/env node
// The command of the packed service (scripts/pack-service.ts): alone it starts the service in the current folder, with words it is the command
// line. Plain JavaScript for older versions of Node, too, which it refuses.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { npmEnd } from './npm-process.mjs';
import { SERVICE_FLAGS } from './service-flags.mjs';

const folder = dirname(fileURLToPath(import.meta.url));
const readManifest = (path) => JSON.parse(readFileSync(path, 'utf8'));
const { name, engines } = readManifest(join(folder, 'package.json'));

const wanted = engines.node.replace('>=', '');
if (isOlder(process.versions.node, wanted)) {
  console.error(`${name} needs Node ${wanted} or later; this is Node ${process.versions.node}.`);
  process.exit(1);
}

process.env.SERVICE_COMMAND = `npx ${specifier()}`;
if (process.argv.length > 2) await import(pathToFileURL(join(folder, 'dist', 'cli.js')).href);
else serve();

function isOlder(version, least) {
  const [major, minor] = version.split('.').map(Number);
  const [leastMajor, leastMinor] = least.split('.').map(Number);
  return major < leastMajor || (major === leastMajor && minor < leastMinor);
}

/** What npx was given: a tarball, which npx keeps in a folder of its own, is not found by the name of the package. */
function specifier() {
  try {
    const [given] = readManifest(join(folder, '..', '..', 'package.json'))._npx.packages;
    // An absolute path alone is a program for npx.
    return isAbsolute(given) ? `file:${given}` : given;
  } catch {
    // Installed in a project, or by another version of npm.
    return name;
  }
}

/** The options of Node are those of a process from its start on, so the server is one of its own. */
function serve() {
  const server = spawn(process.execPath, [...SERVICE_FLAGS, join(folder, 'dist', 'server.js'), '--end-with-parent'], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => server.kill(signal));
  server.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
  npmEnd(() => server.kill('SIGTERM'));
}
