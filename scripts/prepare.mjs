// Brings a checkout to the point where the service can run: installed, generated, built. Plain JavaScript for any Node from 18,
// because on a fresh clone nothing is installed yet; everything after that runs on the Node that package.json brings.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const isWindows = process.platform === 'win32';
const binFolder = join(root, 'node_modules', '.bin');
// By its path, because npm 10 does not link `.bin/node`; npm 11 does.
const runtimeFolder = join(root, 'node_modules', `node-${isWindows ? 'win' : process.platform}-${process.arch}`, 'bin');

/** The runtime from the dependencies; where the registry has none for this system, the one that runs this script. */
export function runtime() {
  const installed = join(runtimeFolder, isWindows ? 'node.exe' : 'node');
  return existsSync(installed) ? installed : process.execPath;
}

/** Environment in which `node` and the installed commands are found first. */
export function childEnvironment(extra = {}) {
  return { ...process.env, PATH: [runtimeFolder, binFolder, process.env.PATH ?? ''].join(delimiter), ...extra };
}

/** Runs a command to its end; its output is inherited. Resolves with the exit code. */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: 'inherit',
      shell: isWindows,
      env: childEnvironment(options.env),
    });
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve(signal ? 1 : (code ?? 1)));
  });
}

async function must(what, command, args, options) {
  const code = await run(command, args, options);
  if (code !== 0) {
    console.error(`\n${what} failed (exit code ${code}).`);
    process.exit(code);
  }
}

function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? (entry.name === 'generated' ? [] : filesBelow(path)) : [path];
  });
}

function fingerprint(paths) {
  const hash = createHash('sha256').update(runtime());
  for (const path of paths.flatMap((name) => (statSync(name).isDirectory() ? filesBelow(name) : [name])).sort()) {
    const { size, mtimeMs } = statSync(path);
    hash.update(`${path}\n${size}\n${mtimeMs}\n`);
  }
  return hash.digest('hex');
}

function isCurrent(stampPath, value) {
  return existsSync(stampPath) && readFileSync(stampPath, 'utf8') === value;
}

function stamp(stampPath, value) {
  mkdirSync(dirname(stampPath), { recursive: true });
  writeFileSync(stampPath, value);
}

export async function ensureInstalled() {
  const lock = join(root, 'package-lock.json');
  const stampPath = join(root, 'node_modules', '.install-stamp');
  const wanted = createHash('sha256').update(readFileSync(lock)).digest('hex');
  if (isCurrent(stampPath, wanted)) return;
  console.log('Installing dependencies …');
  // With NODE_ENV=production npm would leave out what generates and builds.
  await must('npm ci', 'npm', ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']);
  stamp(stampPath, wanted);
}

export async function ensureGenerated() {
  const stampPath = join(root, 'src', 'generated', '.stamp');
  const wanted = fingerprint([
    join(root, 'prisma', 'schema.prisma'),
    join(root, 'prisma', 'models'),
    join(root, 'package-lock.json'),
    ...['db-generate.mjs', 'generate-rows.mjs', 'shrink-prisma-client.mjs'].map((name) => join(root, 'scripts', name)),
  ]);
  if (isCurrent(stampPath, wanted)) return;
  console.log('Generating the database client …');
  await must('prisma generate', runtime(), [join(root, 'scripts', 'db-generate.mjs')]);
  stamp(stampPath, wanted);
}

const SERVICE_SOURCES = ['src', 'package.json', 'package-lock.json'];

export async function ensureBuilt() {
  const stampPath = join(root, 'dist', '.stamp');
  const wanted = fingerprint(
    [
      ...[...SERVICE_SOURCES, 'prisma', 'locales', 'packages/sandbox/src'],
      ...['scripts/build.ts', 'scripts/openapi.ts', 'scripts/bundled-licences.ts'],
    ].map((name) => join(root, name)),
  );
  if (isCurrent(stampPath, wanted)) return;
  console.log('Building …');
  await must('The build', runtime(), [join(root, 'scripts', 'build.ts')]);
  stamp(stampPath, wanted);
}

/** The client package, which the example pages import. */
export async function ensureClientBuilt() {
  // Not in `dist`, which is what is packed.
  const stampPath = join(root, 'node_modules', '.cache', 'client-build-stamp');
  const scripts = ['build-client.ts', 'client-declarations.ts', 'client-facts.ts'].map((name) => `scripts/${name}`);
  const wanted = fingerprint([...SERVICE_SOURCES, 'packages/client/src', ...scripts].map((name) => join(root, name)));
  if (existsSync(join(root, 'packages', 'client', 'dist', 'admin.js')) && isCurrent(stampPath, wanted)) return;
  console.log('Building the client package …');
  await must('The build of the client package', runtime(), [join(root, 'scripts', 'build-client.ts')]);
  stamp(stampPath, wanted);
}

/** Everything that `npm start`, `npm run cli` and the others need before the program itself. */
export async function prepare() {
  await ensureInstalled();
  await ensureGenerated();
  await ensureBuilt();
}
