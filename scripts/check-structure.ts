/**
 * Architecture rules as a program (docs/architecture.md): import direction, module order, file names, size, cycles.
 * Run by `npm run check:structure` and CI; prints every violation and exits 1.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const root = join(import.meta.dirname, '..');
const MAX_LINES = 400;

/** Later modules may use earlier ones, never the reverse; an earlier module gets information as an event or an argument. */
const MODULE_ORDER = [
  ...['settings', 'messaging', 'monitoring', 'ledger', 'access', 'identity'],
  ...['activity', 'promo-groups', 'subscription-state', 'catalog', 'pricing', 'provisioning'],
  ...['subscriptions', 'panel-events', 'payments', 'audience', 'promo', 'storefront', 'receipts', 'exchange-rate'],
  ...['users', 'approvals', 'referrals', 'campaigns', 'mass-sends', 'engagement', 'merge'],
  ...['media', 'tickets', 'content', 'broadcasts', 'pinned-messages'],
  ...[
    'webhooks',
    'safety',
    'ban-system',
    'updates',
    'insight',
    'traffic-alarms',
    'ops',
    'backups',
    'personal-data',
    'import',
    'sandbox',
  ],
];

/** What each layer may import, besides itself. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  generated: [],
  core: ['generated'],
  domain: ['core', 'generated'],
  integrations: ['core', 'domain'],
  routers: ['core', 'domain'],
  rest: ['core', 'routers'],
  realtime: ['core', 'domain'],
  jobs: ['core', 'domain'],
  composition: ['core', 'domain', 'integrations', 'routers', 'rest', 'realtime', 'jobs'],
  'server.ts': ['core', 'composition', 'cli'],
  'cli.ts': ['core', 'composition', 'cli'],
  cli: ['core', 'domain', 'composition'],
};

const BANNED_NAMES = /^(?:index|utils?|helpers?|common|misc|manager|shared)\.tsx?$/;
const FILE_NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.(?:router|schemas|worker|test|iso\.test|race\.test))?\.(?:ts|tsx|mjs)$/;

/** Packages that belong to one place. */
const PACKAGE_HOMES: { pattern: RegExp; allowed: RegExp; why: string }[] = [
  { pattern: /^node-fetch$/, allowed: /^src\/core\/http\/outbound/, why: 'outbound calls go through core/http' },
  { pattern: /^@trpc\/server/, allowed: /^src\/(?:routers|rest|composition)\//, why: 'tRPC stays above the domain' },
  { pattern: /^fastify$|^@fastify\//, allowed: /^src\/(?:rest|composition)\//, why: 'HTTP stays above the domain' },
  { pattern: /^ws$/, allowed: /^src\/(?:realtime)\//, why: 'sockets live in realtime' },
  {
    pattern: /^@prisma\/|^pglite-prisma-adapter$|^pg$|^@electric-sql\//,
    // The database of another product is read without what core/db does for the service's own.
    allowed: /^src\/(?:core\/db|generated|cli|integrations\/import-sources)\//,
    why: 'drivers live in core/db',
  },
  {
    pattern: /^@opentelemetry\//,
    allowed: /^src\/core\/telemetry\/(?:otlp|metric-producer)\.ts$/,
    why: 'the SDK is loaded by core/telemetry/otlp, and only with a collector',
  },
  { pattern: /^@silvia-odwyer\//, allowed: /^src\/core\/images\//, why: 'images are decoded in core/images' },
  {
    pattern: /^@remnawave\//,
    allowed: /^src\/integrations\/vpnpanel\//,
    why: "the panel's wire stays in its adapter",
  },
];

interface SourceFile {
  path: string;
  text: string;
  imports: { target: string; isType: boolean }[];
}

const problems: string[] = [];
const report = (path: string, problem: string) => problems.push(`${path}: ${problem}`);

function listFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return ['generated', 'node_modules', 'dist'].includes(entry.name) ? [] : listFiles(path);
    return /\.(?:ts|tsx|mjs)$/.test(entry.name) ? [path] : [];
  });
}

function readSource(path: string): SourceFile {
  const text = readFileSync(join(root, path), 'utf8');
  const imports = [...text.matchAll(/^(?:import|export)\s+(type\s+)?(?:[^'"`;]*?\sfrom\s+)?['"]([^'"]+)['"]/gm)].map((match) => ({
    target: match[2]!,
    isType: match[1] !== undefined,
  }));
  for (const match of text.matchAll(/\bimport\(\s*['"]([^'"]+)['"]\s*\)/g)) imports.push({ target: match[1]!, isType: false });
  return { path, text, imports };
}

/** A relative import as a path from the root; null for a package. */
function resolveImport(file: SourceFile, target: string): string | null {
  if (!target.startsWith('.')) return null;
  return relative(root, join(root, dirname(file.path), target));
}

const layerOf = (path: string) => path.split('/')[1]!;
const moduleOf = (path: string) => (path.startsWith('src/domain/') ? path.split('/')[2]! : null);

function checkNames(file: SourceFile): void {
  const name = file.path.split('/').at(-1)!;
  if (BANNED_NAMES.test(name)) report(file.path, 'a dumping-ground name; name the idea');
  if (!FILE_NAME.test(name) && !name.endsWith('.d.ts')) report(file.path, 'file names are kebab-case');
  const lines = file.text.split('\n').length - 1;
  // The generator of import sources comes from outside of the project as one file.
  const isGiven = file.path.startsWith('tests/fixtures/import-source/');
  if (lines > MAX_LINES && !isGiven) report(file.path, `${lines} lines; split by idea (at most ${MAX_LINES})`);
}

function checkImports(file: SourceFile): void {
  const layer = layerOf(file.path);
  for (const { target, isType } of file.imports) {
    const resolved = resolveImport(file, target);
    if (resolved === null) {
      for (const home of PACKAGE_HOMES) {
        if (home.pattern.test(target) && !home.allowed.test(file.path)) report(file.path, `imports ${target}: ${home.why}`);
      }
      continue;
    }
    if (!resolved.startsWith('src/')) {
      if (!resolved.startsWith('locales/') && resolved !== 'package.json') report(file.path, `imports ${resolved}, outside src`);
      continue;
    }
    const targetLayer = layerOf(resolved);
    if (targetLayer !== layer && !(MAY_IMPORT[layer] ?? []).includes(targetLayer))
      report(file.path, `${layer} must not import ${targetLayer} (${resolved})`);
    if (targetLayer === 'generated' && !/\/repo(?:\/|\.ts$)|-repo\.ts$|^src\/core\/db\//.test(file.path))
      report(file.path, 'Prisma values only in repo.ts and core/db');
    // Plain types are no dependency of behaviour: a type may be imported from any module's types.ts.
    if (!(isType && resolved.endsWith('/types.ts'))) checkModules(file, resolved);
  }
  if (/process\.env\b/.test(file.text) && !['src/core/process-env.ts'].includes(file.path))
    report(file.path, 'reads process.env; only core/process-env.ts does');
  if (/\bfetch\(/.test(file.text) && /^src\/(?!core\/http\/|rest\/)/.test(file.path))
    report(file.path, 'calls fetch; use core/http');
  if (/\bTRPCError\b/.test(file.text) && !/^src\/(?:routers\/trpc|rest\/error-replies|core\/errors)\.ts$/.test(file.path))
    report(file.path, 'TRPCError only in routers/trpc.ts');
}

/**
 * FOR UPDATE also blocks foreign key checks, which a transaction makes when it writes one row twice: two transactions on a user and a
 * subscription would deadlock. Only a merge needs it, because it moves the user's rows and closes the user.
 */
function checkLocks(file: SourceFile): void {
  if (/\bFROM users\b(?:(?!\bFROM |`)[\s\S])*?\bFOR UPDATE\b/.test(file.text) && moduleOf(file.path) !== 'merge')
    report(file.path, 'locks a user FOR UPDATE; FOR NO KEY UPDATE is enough');
}

function checkModules(file: SourceFile, resolved: string): void {
  const [importer, other] = [moduleOf(file.path), moduleOf(resolved)];
  if (other === null) return;
  const isRepo = /\/repo(?:\/|\.ts$)|-repo\.ts$/.test(resolved);
  if (isRepo && importer !== other) report(file.path, `reaches into the queries of ${other} (${resolved})`);
  if (importer === null || importer === other) return;
  const [importerAt, otherAt] = [MODULE_ORDER.indexOf(importer), MODULE_ORDER.indexOf(other)];
  if (importerAt < 0) report(file.path, `module ${importer} is not in MODULE_ORDER`);
  if (otherAt > importerAt) report(file.path, `module ${importer} comes before ${other} and must not import it (${resolved})`);
}

/** Cycles of value imports; types may refer to each other. */
function checkCycles(files: readonly SourceFile[]): void {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const state = new Map<string, 'open' | 'done'>();
  const trail: string[] = [];
  const visit = (path: string): void => {
    if (state.get(path) === 'done') return;
    if (state.get(path) === 'open') {
      report(path, `import cycle: ${[...trail.slice(trail.indexOf(path)), path].join(' → ')}`);
      return;
    }
    state.set(path, 'open');
    trail.push(path);
    const file = byPath.get(path);
    for (const { target, isType } of file?.imports ?? []) {
      const resolved = isType || !file ? null : resolveImport(file, target);
      if (resolved !== null && byPath.has(resolved)) visit(resolved);
    }
    trail.pop();
    state.set(path, 'done');
  };
  for (const file of files) visit(file.path);
}

const sources = listFiles('src').map(readSource);
const others = ['tests', 'scripts', 'packages', 'examples'].flatMap((folder) => {
  try {
    return listFiles(folder);
  } catch {
    return [];
  }
});
for (const file of sources) {
  checkNames(file);
  checkImports(file);
  checkLocks(file);
}
for (const path of others) {
  const file = readSource(path);
  checkNames(file);
  // The fakes stand in for systems that do not know the service.
  if (path.startsWith('packages/sandbox/') && file.imports.some(({ target }) => resolveImport(file, target)?.startsWith('src/')))
    report(path, 'the sandbox must not import the service');
}
checkCycles(sources);
if (problems.length > 0) {
  console.error(problems.sort().join('\n'));
  console.error(`\n${problems.length} violations of the architecture rules (docs/architecture.md).`);
  process.exit(1);
}
console.log(`Structure holds: ${sources.length} source files, ${others.length} others.`);
