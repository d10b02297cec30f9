/**
 * Packs the built service as one package without dependencies, which `npx` starts in an empty folder.
 *   npm run pack:service -- [folder]        leaves the tarball there; the project's folder unless given
 *   node scripts/pack-service.ts --unpacked FOLDER     writes what is in it to a new folder (the Dockerfile)
 */
import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..');
const COMMAND = 'command.mjs';
/** Of the manifest of the project. Whether the package may be published, and under which licence, is its owner's decision and stays as it is. */
const KEPT = ['name', 'version', 'description', 'private', 'license', 'type', 'engines'];
/** Maps are as large as the code: the build of the same release has them. The others serve the project alone. */
const LEFT_OUT = /\.map$|^\.stamp$|^packages\.json$/;

/** Whether the package has this file of the build. */
export const isPacked = (path: string) => !LEFT_OUT.test(basename(path));

export interface PackedService {
  /** Path of the tarball. */
  tarball: string;
  packedBytes: number;
  unpackedBytes: number;
  files: number;
}

/** Writes the package to `folder`, which must not exist. */
export async function writePackage(folder: string): Promise<void> {
  await mkdir(folder);
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Record<string, unknown>;
  const kept = Object.fromEntries(KEPT.map((key) => [key, manifest[key]]));
  const ofPackage = { ...kept, bin: { [manifest.name as string]: COMMAND } };
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(ofPackage, null, 2)}\n`);
  await cp(join(root, 'dist'), join(folder, 'dist'), { recursive: true, filter: isPacked });
  for (const name of ['migrations', 'sql'])
    await cp(join(root, 'prisma', name), join(folder, 'prisma', name), { recursive: true });
  await build({
    entryPoints: [join(root, 'scripts', 'packed-command.mjs')],
    outfile: join(folder, COMMAND),
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node18',
    logLevel: 'warning',
  });
}

/** @throws Error with what npm says */
export async function packService(target: string): Promise<PackedService> {
  const folder = resolve(target);
  await mkdir(folder, { recursive: true });
  const temporary = await mkdtemp(join(tmpdir(), 'pack-service-'));
  try {
    const unpacked = join(temporary, 'package');
    await writePackage(unpacked);
    for (const name of ['README.md', '.env.example']) await cp(join(root, name), join(unpacked, name));
    const { status, stdout, stderr } = spawnSync('npm', ['pack', '--json', '--pack-destination', folder], {
      cwd: unpacked,
      encoding: 'utf8',
      shell: process.platform === 'win32',
    });
    if (status !== 0) throw new Error(`npm pack failed:\n${stdout}${stderr}`);
    const [report] = JSON.parse(stdout) as [{ filename: string; size: number; unpackedSize: number; entryCount: number }];
    return {
      tarball: join(folder, report.filename),
      packedBytes: report.size,
      unpackedBytes: report.unpackedSize,
      files: report.entryCount,
    };
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const [first, second] = process.argv.slice(2);
  if (first === '--unpacked') await writePackage(resolve(second!));
  // npm runs scripts in the project's folder and leaves the caller's here.
  else console.log(await packService(resolve(process.env.INIT_CWD ?? root, first ?? '.')));
}
