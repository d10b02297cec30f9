import { access, constants, mkdir, readdir, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { SettingsReader } from '../../core/app.ts';
import type { Env } from '../../core/env.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

/** As `engines` of package.json. */
const MIN_NODE: readonly [number, number] = [22, 15];
const GIB = 2 ** 30;
const LOW_DISK_BYTES = GIB;
const FULL_DISK_BYTES = GIB / 10;

export function checkRuntime(version: string, release: string): Finding {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  const detail = `Node ${version}, service ${release}`;
  if (major < MIN_NODE[0] || (major === MIN_NODE[0] && minor < MIN_NODE[1])) {
    return problem('runtime', detail, `Install Node ${MIN_NODE.join('.')} or later; 24 is what the service is tested with.`);
  }
  return ok('runtime', detail);
}

/** @param problems lines that begin with the variable's name and contain no values */
export function checkEnvironment(problems: readonly string[], env: Env | null): Finding {
  if (problems.length > 0) {
    return problem(
      'configuration',
      problems.join('\n'),
      'Correct these variables; .env.example explains each. The service does not start before.',
    );
  }
  return ok(
    'configuration',
    `${env!.nodeEnv}; ${Object.keys(env!.raw).filter((name) => /^[A-Z][A-Z0-9_]*$/.test(name)).length} variables read`,
  );
}

/** Whether the folder of the embedded database, uploads and backups is writable. */
export async function checkDataFolder(dataDir: string): Promise<Finding> {
  const folder = resolve(dataDir);
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    await readdir(folder);
    return ok('data folder', folder);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'error';
    const next =
      code === 'EROFS'
        ? 'The file system is read-only there: mount a volume and point DATA_DIR at it.'
        : `Give the user of the service the right to write there (chown -R of the folder), or set DATA_DIR to another folder.`;
    return problem('data folder', `${folder} cannot be written (${code})`, next);
  }
}

export async function checkDisk(dataDir: string): Promise<Finding> {
  const facts = await statfs(resolve(dataDir))
    .catch(() => statfs(dirname(resolve(dataDir))))
    .catch(() => null);
  if (!facts) return warning('disk', 'the free space is not known', 'Look at the disk of DATA_DIR by hand.');
  const free = facts.bavail * facts.bsize;
  const detail = `${(free / GIB).toFixed(1)} GiB free`;
  if (free < FULL_DISK_BYTES)
    return problem('disk', detail, 'Free some space now: a full disk stops the database in the middle of its work.');
  if (free < LOW_DISK_BYTES) return warning('disk', detail, 'Free some space soon; backups and the database grow.');
  return ok('disk', detail);
}

const SAMPLE_HOST = /(^|\.)example\.(com|org|net)$/;

/** Public addresses of the service, which users, messenger and providers open. */
export function checkPublicUrls(env: Env, settings: SettingsReader): Finding {
  const faults: string[] = [];
  if (env.isCabinetEnabled) faults.push(...faultOf('CABINET_URL', settings.get('CABINET_URL'), env));
  const hook = settings.get('WEBHOOK_URL');
  if (hook) faults.push(...faultOf('WEBHOOK_URL', hook, env));
  if (faults.length === 0) return ok('public URLs', [settings.get('CABINET_URL'), hook].filter(Boolean).join(', '));
  const next = 'Set the address under which people really reach the cabinet; links in mails and messages are made from it.';
  return env.isProduction ? problem('public URLs', faults.join('\n'), next) : warning('public URLs', faults.join('\n'), next);
}

function faultOf(key: string, text: string, env: Env): string[] {
  if (!URL.canParse(text)) return [`${key} is no URL`];
  const url = new URL(text);
  if (SAMPLE_HOST.test(url.hostname)) return [`${key} is still the sample (${url.host})`];
  if (env.isProduction && url.protocol !== 'https:') return [`${key} is not https (${url.host})`];
  return [];
}

/** @param kinds which kinds of systems are fakes now */
export function checkSandbox(env: Env, kinds: readonly string[]): Finding {
  if (kinds.length === 0) return ok('sandbox', 'off: every system is real');
  const detail = `on: fake ${kinds.join(', ')}`;
  if (env.sandbox === 'on' || kinds.length === 4)
    return ok('sandbox', detail, 'Nothing here reaches a real system. Configure real ones, or SANDBOX=off, to sell.');
  return warning('sandbox', detail, 'Set SANDBOX=off once everything real is configured.');
}
