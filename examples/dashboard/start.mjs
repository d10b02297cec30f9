// node examples/dashboard/start.mjs: the service with its sandbox on a new database, an administrator, and this page.
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const serviceUrl = `http://localhost:${process.env.PORT ?? 8080}`;
const pagePort = process.env.PAGE_PORT ?? '5173';
const pageUrl = `http://localhost:${pagePort}`;
const email = 'admin@example.com';
const password = randomBytes(9).toString('base64url');
const LOOK_AGAIN_MS = 500;

// The page's data layer; whoever installed its tarball has it already.
if (!existsSync(join(root, 'packages', 'client', 'dist', 'admin.js'))) {
  const args = [join(root, 'scripts', 'on-runtime.mjs'), 'scripts/build-client.ts'];
  if (spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' }).status !== 0) process.exit(1);
}

const dataFolder = await mkdtemp(join(tmpdir(), 'dashboard-'));
const children = [];
let isEnding = false;

function start(args, environment, cwd) {
  const child = spawn(process.execPath, args, { cwd, stdio: 'inherit', env: { ...process.env, ...environment } });
  child.on('exit', () => void end());
  children.push(child);
}

/** One ends: all end. */
async function end() {
  if (isEnding) return;
  isEnding = true;
  await Promise.all(
    children
      .filter(({ exitCode }) => exitCode === null)
      .map((child) => {
        child.kill('SIGTERM');
        return new Promise((resolve) => child.once('exit', resolve));
      }),
  );
  await rm(dataFolder, { recursive: true, force: true });
  process.exit(0);
}
process.on('SIGINT', end);
process.on('SIGTERM', end);

async function post(path, body) {
  const response = await fetch(`${serviceUrl}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
}

/** Repeats until there is an answer: the service starts, and a letter arrives, after a while. */
async function waitFor(look) {
  for (;;) {
    const found = await look().catch(() => null);
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
}

async function verificationToken() {
  const { mail } = await (await fetch(`${serviceUrl}/sandbox/api/state`)).json();
  const letter = mail.find(({ to }) => to === email);
  return /verify-email\?token=([\w.~%-]+)/.exec(letter?.text ?? '')?.[1] ?? null;
}

start(
  [join(root, 'scripts', 'start.mjs')],
  { ADMIN_EMAILS: email, CABINET_URL: pageUrl, DATA_DIR: dataFolder, PORT: new URL(serviceUrl).port },
  root,
);
await waitFor(async () => (await fetch(`${serviceUrl}/readyz`)).ok);
await post('/cabinet/auth/email/register/standalone', { email, password });
await post('/cabinet/auth/email/verify', { token: decodeURIComponent(await waitFor(verificationToken)) });
start(
  [join(root, 'node_modules', 'vite', 'bin', 'vite.js'), '--port', pagePort, '--strictPort'],
  { VITE_API_URL: serviceUrl },
  import.meta.dirname,
);
console.log(`\nDashboard: ${pageUrl}   ${email}   ${password}\nSandbox:   ${serviceUrl}/sandbox\n`);
