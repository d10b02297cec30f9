import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { createInterface } from 'node:readline';
import { fillMigratedFolder } from './migrated-folder.ts';

/** A bundled page in a web server, and the built service beside it, as their users start them. */

const root = join(import.meta.dirname, '..', '..');
const TYPES: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

/** Runs a program to its end, in the environment of a user rather than of a test. */
export function run(args: string[], cwd: string): void {
  const result = spawnSync(process.execPath, args, { cwd, encoding: 'utf8', env: userEnvironment() });
  if (result.status !== 0) throw new Error(`${args.join(' ')} failed:\n${result.stdout}${result.stderr}`);
}

function userEnvironment(change: Record<string, string> = {}): NodeJS.ProcessEnv {
  const { NODE_ENV: _mode, TEST_DATABASE_URL: _database, DATABASE_URL: _server, ...rest } = process.env;
  return { ...rest, ...change };
}

/** Serves the bundled page; every unknown path is the page itself. */
export async function servePage(dist: string): Promise<{ server: Server; url: string }> {
  const server = createServer(async (request, response) => {
    const path = normalize(new URL(request.url ?? '/', 'http://localhost').pathname);
    const file = extname(path) === '' ? 'index.html' : path;
    try {
      const body = await readFile(join(dist, file));
      response.setHeader('content-type', TYPES[extname(file)] ?? 'application/octet-stream').end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // Passkeys belong to a name, not to an address.
  return { server, url: `http://localhost:${(server.address() as AddressInfo).port}` };
}

/** Starts the built service on a new database. */
export async function startService(
  folder: string,
  cabinetUrl: string,
  environment: Record<string, string>,
): Promise<{ child: ChildProcess; url: string; log: string[] }> {
  const entry = join(root, 'dist', 'server.js');
  if (!existsSync(entry)) run([join(root, 'scripts', 'build.ts')], root);
  const dataDir = join(folder, 'data');
  await fillMigratedFolder(dataDir);
  const settings = {
    PORT: '0',
    HOST: '127.0.0.1',
    DATA_DIR: dataDir,
    LOG_FORMAT: 'json',
    CABINET_URL: cabinetUrl,
    ...environment,
    SHUTDOWN_DRAIN_MS: '0',
  };
  const child = spawn(process.execPath, [entry], {
    cwd: folder,
    env: userEnvironment(settings),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const log: string[] = [];
  child.stderr?.on('data', (chunk) => log.push(String(chunk)));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      log.push(line);
      const found = /"url":"(http[^"]+)".*"msg":"ready"|"msg":"ready".*"url":"(http[^"]+)"/.exec(line);
      if (found) resolve(found[1] ?? found[2]!);
    });
    child.once('exit', (code) => reject(new Error(`The service ended with ${code}:\n${log.slice(-20).join('\n')}`)));
  });
  return { child, url, log };
}

export async function stopService(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
}
