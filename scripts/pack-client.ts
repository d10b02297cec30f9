/**
 * Packs `packages/client` and checks the tarball: only the listed files, no dependency, no path into the server, and programs for
 * browsers and for Node that type-check against it alone. `npm run pack:client -- [folder]` leaves the tarball there; a relative folder is one of
 * the folder in which npm was called.
 */
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ensureClientBuilt } from './prepare.mjs';

const root = join(import.meta.dirname, '..');
const packageFolder = join(root, 'packages', 'client');
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const ALLOWED = [
  'LICENSE',
  'README.md',
  'dist/admin.d.ts',
  'dist/admin.js',
  'dist/admin.js.map',
  'dist/client.d.ts',
  'dist/client.js',
  'dist/client.js.map',
  'dist/shared.js',
  'dist/shared.js.map',
  'dist/trpc-license.txt',
  'package.json',
];
/** Names that occur only in server code or server dependencies. */
const FOREIGN = /@prisma|fastify|pg-boss|PrismaClient|@trpc\/server|\/src\/|node_modules|from ['"](?!\.)/;

export interface PackedClient {
  /** Path of the tarball. */
  tarball: string;
  packedBytes: number;
  declarationBytes: number;
  moduleBytes: number;
}

/** Packs the client package, which is built first where it is not up to date. @throws Error when the tarball contains what it must not */
export async function packClient(target: string): Promise<PackedClient> {
  await ensureClientBuilt();
  // `npm pack` runs in the folder of the package, so a relative path would lead elsewhere.
  const folder = resolve(target);
  await mkdir(folder, { recursive: true });
  const [report] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', folder], packageFolder)) as [
    { filename: string; size: number; files: { path: string; size: number }[] },
  ];
  const paths = report.files.map(({ path }) => path).sort();
  if (paths.join() !== ALLOWED.join()) throw new Error(`The tarball has other files: ${paths.join(', ')}`);
  const manifest = JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8')) as Record<string, unknown>;
  for (const key of ['dependencies', 'peerDependencies', 'optionalDependencies']) {
    if (manifest[key] !== undefined) throw new Error(`The package has ${key}`);
  }
  for (const file of ['client.js', 'shared.js', 'admin.js', 'client.d.ts', 'admin.d.ts']) {
    const found = FOREIGN.exec(await readFile(join(packageFolder, 'dist', file), 'utf8'));
    if (found) throw new Error(`${file} names ${found[0]}`);
  }
  const licence = await readFile(join(packageFolder, 'LICENSE'), 'utf8');
  if (licence.split('\n')[0] !== manifest.license) throw new Error('LICENSE begins with another name than the field `license`');
  const map = await readFile(join(packageFolder, 'dist', 'client.js.map'), 'utf8');
  if (map.includes('node_modules/@trpc') || !map.includes('"../src/client.ts"'))
    throw new Error('The source map has other paths');
  const sizeOf = (path: string) => report.files.find((file) => file.path === path)?.size ?? 0;
  return {
    tarball: join(folder, report.filename),
    packedBytes: report.size,
    declarationBytes: sizeOf('dist/client.d.ts'),
    moduleBytes: sizeOf('dist/client.js') + sizeOf('dist/shared.js'),
  };
}

/** Unpacks the tarball as an installed package of the project in `folder`. */
export async function installTarball(tarball: string, folder: string): Promise<void> {
  const target = join(folder, 'node_modules', '@subscription-service', 'client');
  await mkdir(target, { recursive: true });
  run('tar', ['-xzf', tarball, '-C', target, '--strip-components=1'], folder);
}

/** Makes packages of this project visible to a project elsewhere. */
export async function linkInstalledPackages(folder: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const link = join(folder, 'node_modules', name);
    await mkdir(join(link, '..'), { recursive: true });
    await symlink(join(root, 'node_modules', name), link, 'dir');
  }
}

/**
 * Type-checks a project.
 * @returns how many types the compiler instantiated: the work of the check, which is the same on every machine
 * @throws Error with what the compiler says
 */
export function checkTypes(folder: string): number {
  const diagnostics = run(process.execPath, [compiler, '-p', folder, '--extendedDiagnostics'], folder);
  const count = /^Instantiations: +(\d+)$/m.exec(diagnostics)?.[1];
  if (count === undefined) throw new Error(`the compiler counted no instantiations:\n${diagnostics}`);
  return Number(count);
}

function run(command: string, args: string[], cwd: string): string {
  const result = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (result.status !== 0) throw new Error(`${command} ${args[0]} failed:\n${result.stdout}${result.stderr}`);
  return result.stdout;
}

const CONSUMER = `import { CabinetError, createCabinetClient, createFeedClient } from '@subscription-service/client';

const client = createCabinetClient({ baseUrl: 'http://127.0.0.1:1' });
export async function use(): Promise<string> {
  const signIn = await client.api.auth.email.login.mutate({ email: 'a@b.example', password: 'secret' });
  await client.session.start(signIn);
  const me = await client.api.auth.me.query();
  const createdAt: string = me.created_at;
  // @ts-expect-error a wrong input type must be refused
  await client.api.auth.email.login.mutate({ email: 5, password: 'secret' });
  // @ts-expect-error an unknown procedure must be refused
  await client.api.auth.nothing.query();
  // @ts-expect-error a field that the answer does not have must be refused
  me.unknown_field;
  client.live.onEvent('balance.topup', (event) => event.new_balance_kopeks.toFixed());
  client.live.onEvent('balance.topup', (event) => event.event_id?.toUpperCase());
  // @ts-expect-error an unknown event must be refused
  client.live.onEvent('balance.stolen', () => undefined);
  client.live.onEvent('broadcast.progress', (event) => event.unconfirmed_count.toFixed());
  createFeedClient({ baseUrl: '', apiKey: '' }).onEvent('payment.completed', ({ payload }) => payload.amount_kopeks.toFixed());
  try {
    return createdAt;
  } catch (error) {
    return error instanceof CabinetError ? error.fieldErrors.map(({ path }) => path).join() : '';
  }
}
`;

const ADMIN_CONSUMER = `import { CabinetError } from '@subscription-service/client';
import { createAdminClient, feedPermissions } from '@subscription-service/client/admin';

const client = createAdminClient({ baseUrl: 'http://127.0.0.1:1' });
export async function use(): Promise<string> {
  await client.session.start(await client.api.auth.email.login.mutate({ email: 'a@b.example', password: 'secret' }));
  const { users } = await client.admin.users.list.query({ search: 'vera' });
  client.feed.onEvent('payment.completed', ({ payload }) => payload.amount_kopeks.toFixed());
  // @ts-expect-error an unknown procedure must be refused
  await client.admin.users.nothing.query();
  try {
    return [...users.map(({ full_name }) => full_name), ...feedPermissions].join();
  } catch (error) {
    return error instanceof CabinetError ? error.code : '';
  }
}
`;

/** Programs that know nothing but the tarball, in both worlds. @returns how many types the compiler instantiated in each check */
export async function checkConsumers(tarball: string): Promise<{ inBrowser: number; inNode: number; ofAdmin: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'client-consumer-'));
  try {
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    // As a user does it; the package has no dependencies, so that no registry is asked.
    run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--no-save', tarball], folder);
    await linkInstalledPackages(folder, ['@types/node', 'undici-types']);
    await writeFile(join(folder, 'consumer.ts'), CONSUMER);
    await writeFile(join(folder, 'admin-consumer.ts'), ADMIN_CONSUMER);
    const check = async (change: object, file = 'consumer.ts'): Promise<number> => {
      const compilerOptions = { strict: true, noEmit: true, skipLibCheck: false, target: 'es2023', ...change };
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }));
      return checkTypes(folder);
    };
    const browser = { module: 'esnext', moduleResolution: 'bundler', lib: ['es2023', 'dom'], types: [] };
    return {
      inBrowser: await check(browser),
      inNode: await check({ module: 'nodenext', lib: ['es2023'], types: ['node'], skipLibCheck: true }),
      ofAdmin: await check(browser, 'admin-consumer.ts'),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const kept = process.argv[2];
  // npm runs scripts in the project's folder and leaves the caller's here.
  const folder = kept ? resolve(process.env.INIT_CWD ?? '', kept) : await mkdtemp(join(tmpdir(), 'client-pack-'));
  const packed = await packClient(folder);
  const instantiations = await checkConsumers(packed.tarball);
  console.log({ ...packed, instantiations, files: (await readdir(folder)).filter((name) => name.endsWith('.tgz')) });
  if (!kept) await rm(folder, { recursive: true, force: true });
}
