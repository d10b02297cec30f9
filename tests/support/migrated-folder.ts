import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from './run-cli.ts';

const root = join(import.meta.dirname, '..', '..');
const cacheFolder = join(root, 'node_modules', '.cache', 'test-data-folder');

/** Another build may have another schema. */
async function buildKey(): Promise<string> {
  const stamp = await readFile(join(root, 'dist', '.stamp'), 'utf8').catch(() => '');
  const { mtimeMs } = await stat(join(root, 'dist', 'cli.js'));
  return createHash('sha256').update(`${stamp} ${mtimeMs}`).digest('hex').slice(0, 16);
}

/**
 * Fills a data folder with a database that the built `migrate` command has created: for tests of the running service that are not
 * about its first start. Creating a database and its schema takes three times as long as opening one.
 */
export async function fillMigratedFolder(dataDir: string): Promise<void> {
  const made = join(cacheFolder, await buildKey());
  if (!(await stat(made).catch(() => null))) await make(made);
  await cp(made, dataDir, { recursive: true });
}

async function make(folder: string): Promise<void> {
  await mkdir(cacheFolder, { recursive: true });
  const making = `${folder}.${process.pid}`;
  const { code, err } = await runCommand(['migrate'], { DATA_DIR: making });
  if (code !== 0) throw new Error(`migrate ended with ${code}: ${err}`);
  for (const name of await readdir(cacheFolder)) {
    // Folders of earlier builds; the name of one that another worker is creating has a dot.
    if (!name.includes('.') && join(cacheFolder, name) !== folder)
      await rm(join(cacheFolder, name), { recursive: true, force: true });
  }
  // Fails when another worker has created the same folder first; that one is used.
  await rename(making, folder).catch(() => rm(making, { recursive: true, force: true }));
}
