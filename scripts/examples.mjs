// npm run examples [-- CLIENT…] [--fresh] [--users N] [--days N]: a service with a filled sandbox and the example clients, with their addresses.
//   CLIENT     bot, cabinet, dashboard; all unless given
//   --fresh    a new database instead of that of the last time (.tmp/examples)
//   --users N  people of the sandbox (300); --days N  length of its past (120)
// PORT (8080), CABINET_PORT (5173) and DASHBOARD_PORT (5174) choose other ports. Ctrl+C ends everything.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { npmEnd } from './npm-process.mjs';
import { childEnvironment, ensureClientBuilt, prepare, root, run, runtime } from './prepare.mjs';
import { SERVICE_FLAGS } from './service-flags.mjs';

const CLIENTS = ['bot', 'cabinet', 'dashboard'];
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    fresh: { type: 'boolean' },
    users: { type: 'string', default: '300' },
    days: { type: 'string', default: '120' },
  },
});
const unknown = positionals.filter((name) => !CLIENTS.includes(name));
if (unknown.length > 0) {
  console.error(`There is no example ${unknown.join(', ')}; there are ${CLIENTS.join(', ')}.`);
  process.exit(2);
}
const wanted = positionals.length > 0 ? positionals : CLIENTS;

const folder = join(root, '.tmp', 'examples');
const data = join(folder, 'data');
const portOf = (name, usual) => process.env[name] ?? String(usual);
const serviceUrl = `http://localhost:${portOf('PORT', 8080)}`;
const pages = { cabinet: portOf('CABINET_PORT', 5173), dashboard: portOf('DASHBOARD_PORT', 5174) };
const pageUrl = (name) => `http://localhost:${pages[name]}`;
const EMAIL = 'admin@example.com';
const LOOK_AGAIN_MS = 250;

const environment = {
  DATA_DIR: data,
  PORT: new URL(serviceUrl).port,
  NODE_ENV: 'development',
  LOG_LEVEL: process.env.LOG_LEVEL ?? 'warn',
  ADMIN_EMAILS: EMAIL,
  CABINET_URL: pageUrl('cabinet'),
  CABINET_ALLOWED_ORIGINS: [pageUrl('cabinet'), pageUrl('dashboard')].join(','),
};

await prepare();
await ensureClientBuilt();
await fill();

const children = new Set();
let isEnding = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void end(0));
npmEnd(() => void end(0));

const flags = [...SERVICE_FLAGS, join(root, 'dist', 'server.js'), '--end-with-parent'];
start(flags, environment, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
await waitFor(async () => (await fetch(`${serviceUrl}/readyz`)).ok);
const password = await administrator();
for (const name of wanted.filter((client) => client !== 'bot')) {
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js');
  start(
    [vite, '--port', pages[name], '--strictPort', '--logLevel', 'warn'],
    { VITE_API_URL: serviceUrl },
    { cwd: join(root, 'examples', name) },
  );
  await waitFor(async () => (await fetch(pageUrl(name))).ok);
}
if (wanted.includes('bot')) {
  const bot = [`--env-file=${join(data, 'sandbox-bot.env')}`, join(root, 'examples', 'bot', 'src', 'main.ts')];
  start(bot, { BOT_STATE_FOLDER: join(folder, 'bot-state') }, {});
}
console.log(`
  Sandbox    ${serviceUrl}/sandbox   mails, payments, panel${wanted.includes('bot') ? ', and the chat with the example bot' : ''}
${wanted
  .filter((name) => name !== 'bot')
  .map((name) => `  ${name.padEnd(9)}  ${pageUrl(name)}   ${EMAIL}   ${password}`)
  .join('\n')}

  Ctrl+C ends everything.
`);

/** A past for the sandbox, once; a fill that was interrupted is not kept. */
async function fill() {
  if (values.fresh) await rm(folder, { recursive: true, force: true });
  if (existsSync(data)) return;
  const filling = join(folder, 'filling');
  await rm(filling, { recursive: true, force: true });
  await mkdir(filling, { recursive: true });
  console.log(`Filling the sandbox with ${values.users} people and ${values.days} days …`);
  const words = [join(root, 'dist', 'cli.js'), 'sandbox', 'fill', '--users', values.users, '--days', values.days];
  const code = await run(runtime(), words, { env: { ...environment, DATA_DIR: filling } });
  if (code !== 0) process.exit(code);
  await rename(filling, data);
}

/** The administrator signs up as everybody does; the mail is in the box of the sandbox. @returns the password */
async function administrator() {
  const file = join(folder, 'password');
  const known = await readFile(file, 'utf8').catch(() => null);
  if (known) return known;
  const made = randomBytes(9).toString('base64url');
  await post('/cabinet/auth/email/register/standalone', { email: EMAIL, password: made });
  await post('/cabinet/auth/email/verify', { token: decodeURIComponent(await waitFor(verificationToken)) });
  await writeFile(file, made, { mode: 0o600 });
  return made;
}

async function verificationToken() {
  const { mail } = await (await fetch(`${serviceUrl}/sandbox/api/state`)).json();
  const letter = mail.find(({ to }) => to === EMAIL);
  return /verify-email\?token=([\w.~%-]+)/.exec(letter?.text ?? '')?.[1] ?? null;
}

async function post(path, body) {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${serviceUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
}

function start(args, extra, options) {
  const child = spawn(runtime(), args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    cwd: root,
    env: childEnvironment(extra),
    ...options,
  });
  children.add(child);
  child.on('exit', (code) => {
    children.delete(child);
    // One that ends by itself ends all.
    void end(code ?? 1);
  });
}

async function end(code) {
  if (isEnding) return;
  isEnding = true;
  const ended = [...children].map((child) => {
    const exit = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    return exit;
  });
  await Promise.all(ended);
  process.exit(code);
}

/** Repeats until there is an answer: what was just started needs a while. */
async function waitFor(look) {
  while (!isEnding) {
    const found = await look().catch(() => null);
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
  return new Promise(() => undefined);
}
