/**
 * Builds the image from its Dockerfile and runs it as compose.yaml does, on a new database of the server at TEST_DATABASE_URL: a root file system that
 * cannot be written, the user of the image, its own health check and command line, one process, an orderly end.
 *   node scripts/on-runtime.mjs scripts/release/image.ts
 * With Docker where its daemon answers. Elsewhere with buildah (packages `buildah` and `debootstrap` of Debian), on a base image that is made here of Debian
 * and the Node of the dependencies, because no registry of images need be reachable. Linux, root.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chown, cp, mkdir, mkdtemp, readdir, readFile, readlink, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from '../../packages/measures/src/free-port.ts';

const root = join(import.meta.dirname, '..', '..');
const server = process.env.TEST_DATABASE_URL || 'postgresql://postgres@127.0.0.1:5432/postgres';
const LIMIT_MIB = 150;
/** Time-outs only end what hangs. */
const LIMIT_MS = 600_000;
const BASE = 'node:24-slim';
const TAG = 'subscription-service-check';
const RELEASE_OF_DEBIAN = 'bookworm';

/** What the check reads of the configuration of an image, in the form of Docker. */
interface ImageConfig {
  User: string;
  Env: string[];
  Cmd: string[];
  WorkingDir: string;
  StopSignal: string;
  Volumes: Record<string, object>;
  Healthcheck: { Test: string[] };
}

interface BuiltImage {
  /** Folder with its files. */
  files: string;
  config: ImageConfig;
}

/** @returns what it printed @throws Error with what it said */
function run(command: string, words: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, words, { encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (status !== 0)
    throw new Error(
      `${command} ${words.join(' ')} failed: ${error?.message ?? ''}\n${stdout.slice(-4_000)}${stderr.slice(-4_000)}`,
    );
  return stdout;
}

const isThere = (command: string, ...words: string[]) => spawnSync(command, words).status === 0;

function check(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(`The image: ${what}`);
}

async function buildWithDocker(folder: string): Promise<BuiltImage> {
  run('docker', ['build', '--tag', TAG, root]);
  const container = run('docker', ['create', TAG]).trim();
  try {
    const files = join(folder, 'files');
    await mkdir(files);
    const archive = join(folder, 'files.tar');
    run('docker', ['export', '--output', archive, container]);
    run('tar', ['-xf', archive, '-C', files]);
    // Made by Docker in every container.
    for (const name of ['.dockerenv', 'dev', 'proc', 'sys']) await rm(join(files, name), { recursive: true, force: true });
    const [{ Config: config }] = JSON.parse(run('docker', ['image', 'inspect', TAG])) as [{ Config: ImageConfig }];
    return { files, config };
  } finally {
    run('docker', ['rm', container]);
    run('docker', ['image', 'rm', TAG]);
  }
}

/** Debian with the Node of the dependencies and the npm of this machine, and its certificates: what the official image has. */
async function makeBase(folder: string, buildah: (...words: string[]) => string): Promise<void> {
  const files = join(folder, 'base');
  run('debootstrap', ['--variant=minbase', RELEASE_OF_DEBIAN, files]);
  const local = join(files, 'usr', 'local');
  await cp(process.execPath, join(local, 'bin', 'node'));
  const npm = dirname(dirname(await realpath(run('which', ['npm']).trim())));
  await cp(npm, join(local, 'lib', 'node_modules', 'npm'), { recursive: true });
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin', 'npm'));
  const environment = ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'];
  const certificates = process.env.NODE_EXTRA_CA_CERTS;
  if (certificates) {
    await cp(certificates, join(files, 'etc', 'extra-certificates.crt'));
    environment.push('NODE_EXTRA_CA_CERTS=/etc/extra-certificates.crt');
  }
  const container = buildah('from', 'scratch');
  buildah('add', '--quiet', container, files, '/');
  buildah('config', ...environment.flatMap((one) => ['--env', one]), container);
  buildah('commit', '--quiet', container, BASE);
  buildah('rm', container);
  await rm(files, { recursive: true });
}

async function buildWithBuildah(folder: string): Promise<BuiltImage> {
  const store = ['--root', join(folder, 'store'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs'];
  const buildah = (...words: string[]) => run('buildah', [...store, ...words]).trim();
  await makeBase(folder, buildah);
  // Packages that this machine has fetched before are not fetched again.
  const cache = `${run('npm', ['config', 'get', 'cache']).trim()}:/root/.npm`;
  buildah('build', '--isolation', 'chroot', '--format', 'docker', '--pull-never', '--volume', cache, '--tag', TAG, root);
  const container = buildah('from', '--pull-never', TAG);
  const { config } = (JSON.parse(buildah('inspect', '--type', 'image', TAG)) as { Docker: { config: ImageConfig } }).Docker;
  return { files: buildah('mount', container), config };
}

function sizeOf(folder: string): number {
  const bytes = run('du', ['--summarize', '--apparent-size', '--bytes', folder]).split('\t', 1)[0];
  return Number(bytes) / 1024 ** 2;
}

/** In new name spaces of mounts and processes: all that the process can write is /data and /tmp. */
const AS_CONTAINER = `
set -eu
mount --make-rprivate /
mount --bind "$FILES" "$FILES"
mount --bind "$DATA" "$FILES/data"
mount -t tmpfs -o mode=1777 temporary "$FILES/tmp"
mount -t proc processes "$FILES/proc"
for name in null urandom; do mount --bind "/dev/$name" "$FILES/dev/$name"; done
mount -o remount,bind,ro "$FILES"
exec env -i "$@"`;

/** What a runtime of containers makes in each of them. */
async function makeMountPoints(files: string): Promise<void> {
  await mkdir(join(files, 'dev'), { recursive: true });
  await mkdir(join(files, 'proc'), { recursive: true });
  for (const name of ['null', 'urandom']) await writeFile(join(files, 'dev', name), '');
}

class Container {
  readonly #words: (command: readonly string[]) => string[];
  readonly #process: ChildProcess;
  readonly output: string[] = [];
  pid = 0;

  constructor({ files, config }: BuiltImage, data: string, environment: Record<string, string>) {
    const [user, group] = config.User.split(':');
    const variables = [...config.Env, ...Object.entries(environment).map(([name, value]) => `${name}=${value}`)];
    const asUser = ['/usr/bin/setpriv', '--clear-groups', '--no-new-privs', '/usr/bin/unshare', `--root=${files}`];
    this.#words = (command) => [
      ...variables,
      ...asUser,
      `--wd=${config.WorkingDir}`,
      `--setgid=${group}`,
      `--setuid=${user}`,
      ...command,
    ];
    const spaces = ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', AS_CONTAINER, 'sh'];
    this.#process = spawn('unshare', [...spaces, ...this.#words(config.Cmd)], {
      env: { ...process.env, FILES: files, DATA: data },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#process.stdout!, this.#process.stderr!])
      stream.on('data', (part: Buffer) => this.output.push(String(part)));
  }

  /** Waits until a command in it succeeds. @throws Error with what the container printed */
  async until(command: readonly string[]): Promise<void> {
    const end = performance.now() + LIMIT_MS;
    for (;;) {
      if (this.#process.exitCode !== null || performance.now() > end)
        throw new Error(`The image does not serve:\n${this.output.join('')}`);
      const { pid } = this.#process;
      this.pid = Number((await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim());
      if (this.pid > 0 && this.execute(command).status === 0) return;
      await delay(500);
    }
  }

  execute(command: readonly string[]): { status: number | null; stdout: string; stderr: string } {
    const within = ['--target', String(this.pid), '--mount', '--pid', 'env', '-i'];
    return spawnSync('nsenter', [...within, ...this.#words(command)], { encoding: 'utf8' });
  }

  /** @returns the exit code */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    if (this.#process.exitCode !== null) return this.#process.exitCode;
    const exited = once(this.#process, 'exit');
    if (this.pid > 0) process.kill(this.pid, signal);
    else this.#process.kill('SIGKILL');
    const [code] = (await exited) as [number | null];
    return code;
  }
}

/** Process ids of the name space of a process. */
async function processesWith(pid: number): Promise<string[]> {
  const spaceOf = (one: string) => readlink(`/proc/${one}/ns/pid`).catch(() => null);
  const wanted = await spaceOf(String(pid));
  const all = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const spaces = await Promise.all(all.map(spaceOf));
  return all.filter((_, index) => spaces[index] === wanted);
}

async function checkRunning(image: BuiltImage, data: string, databaseUrl: string): Promise<void> {
  const [user, group] = image.config.User.split(':').map(Number) as [number, number];
  await chown(data, user, group);
  await makeMountPoints(image.files);
  const container = new Container(image, data, {
    DATABASE_URL: databaseUrl,
    PORT: String(await freePort()),
    CABINET_JWT_SECRET: randomBytes(32).toString('base64url'),
    SHUTDOWN_DRAIN_MS: '0',
  });
  try {
    const [form, ...health] = image.config.Healthcheck.Test;
    check(form === 'CMD', 'the health check needs a shell');
    await container.until(health);
    const processes = await processesWith(container.pid);
    check(processes.length === 1, `${processes.length} processes`);
    const status = await readFile(`/proc/${container.pid}/status`, 'utf8');
    check(new RegExp(`^Uid:(\t${user}){4}$`, 'm').test(status) && user > 0, 'the process is of another user');
    check(/^Cap(Eff|Prm):\t0+$/m.test(status), 'the process has capabilities');
    const write = container.execute(['node', '-e', "require('fs').writeFileSync('/app/dist/written', '')"]);
    check(write.stderr.includes('EROFS'), `a file beside the program can be written: ${write.stderr}`);
    const ledger = container.execute(['cli', 'ledger', 'check']);
    check(
      ledger.status === 0 && ledger.stdout.startsWith('The ledger is clean'),
      `cli ledger check: ${ledger.stdout}${ledger.stderr}`,
    );
    const doctor = container.execute(['cli', 'doctor']);
    check(/^ok +database .*PostgreSQL/m.test(doctor.stdout), `cli doctor: ${doctor.stdout}${doctor.stderr}`);
    check((await readdir(data)).length > 0, 'nothing was written to /data');
    const code = await container.end(image.config.StopSignal as NodeJS.Signals);
    check(code === 0, `it ends with ${code}:\n${container.output.join('')}`);
  } finally {
    await container.end('SIGKILL');
  }
}

/**
 * Builds the image, compares its size with the limit, and runs it. Leaves nothing.
 * @returns its size unpacked
 * @throws Error with what does not hold
 */
export async function checkImage(): Promise<{ sizeMiB: number }> {
  if (process.getuid?.() !== 0)
    throw new Error('The check of the image needs Linux and root, for the name spaces of a container');
  const hasDocker = isThere('docker', 'info');
  if (!hasDocker && !(isThere('buildah', '--version') && isThere('debootstrap', '--version'))) {
    throw new Error('The check of the image needs Docker, or the packages buildah and debootstrap');
  }
  const folder = await mkdtemp(join(tmpdir(), 'image-'));
  const name = `image_check_${randomBytes(6).toString('hex')}`;
  const onServer = new pg.Client({ connectionString: server });
  await onServer.connect();
  try {
    const image = await (hasDocker ? buildWithDocker(folder) : buildWithBuildah(folder));
    const sizeMiB = sizeOf(image.files);
    check(sizeMiB <= LIMIT_MIB, `${sizeMiB.toFixed(1)} MiB, ${LIMIT_MIB} at most`);
    await onServer.query(`CREATE DATABASE ${name}`);
    const data = join(folder, 'data');
    await mkdir(data);
    const url = new URL(server);
    url.pathname = `/${name}`;
    await checkRunning(image, data, url.href);
    return { sizeMiB };
  } finally {
    await onServer.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await onServer.end();
    await rm(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const { sizeMiB } = await checkImage();
  console.log(
    `Image: ${sizeMiB.toFixed(1)} MiB unpacked, ${LIMIT_MIB} at most; serves as a user without rights on a read-only root, and ends in order.`,
  );
}
