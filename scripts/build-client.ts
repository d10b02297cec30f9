/**
 * Builds `packages/client/dist`: modules without dependencies, and declarations without a path into `src` or the name of a
 * server package. `npm pack` in that folder then gives the tarball (scripts/pack-client.ts proves it).
 */
import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { countProcedures, filterProcedures, type GroupNode, printGroup, readArea } from './client-declarations.ts';
import { type ClientFacts, readClientFacts } from './client-facts.ts';

const root = join(import.meta.dirname, '..');
const packageFolder = join(root, 'packages', 'client');
const sourceFolder = join(packageFolder, 'src');
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');

/** Modules that users import: `@subscription-service/client`, and `/admin` below it. */
const ENTRIES = ['client', 'admin'] as const;

/** Declarations of the router and of the client's modules. Types are not checked here; `npm run check:types` does that. */
async function emitDeclarations(folder: string): Promise<void> {
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      ...{
        noEmit: false,
        declaration: true,
        emitDeclarationOnly: true,
        noCheck: true,
        incremental: false,
        tsBuildInfoFile: null,
      },
      ...{ rootDir: root, outDir: join(folder, 'out'), typeRoots: [join(root, 'node_modules', '@types')] },
    },
    include: [],
    files: [join(root, 'src', 'routers', 'root.ts'), ...ENTRIES.map((entry) => join(sourceFolder, `${entry}.ts`))],
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const result = spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' });
  if (result.status !== 0) throw new Error(`The declarations could not be emitted:\n${result.stdout}${result.stderr}`);
}

/** Joins the declarations of the client's modules into one and puts the written-out procedures in place of the router. */
async function bundleDeclarations(out: string, facts: ClientFacts, cabinet: GroupNode, open: GroupNode): Promise<string> {
  const describe = (path: string) => facts.summaries.get(path) || null;
  const parts: string[] = [];
  const seen = new Set<string>();
  const add = async (file: string): Promise<void> => {
    if (seen.has(file)) return;
    seen.add(file);
    const text = await readFile(join(out, 'packages', 'client', 'src', file), 'utf8');
    if (file === 'procedures.d.ts') {
      await add('procedure-types.d.ts');
      parts.push(
        `/** What a signed-in user may call, and how one signs in: group, then procedure. */\ninterface CabinetProcedures ${printGroup(cabinet, 'cabinet', describe)}\n`,
      );
      parts.push(
        `/** Procedures outside the cabinet that need no credential. */\ninterface PublicProcedures ${printGroup(open, 'web', describe)}\n`,
      );
      return;
    }
    for (const [, target] of text.matchAll(/^(?:import|export) [^;]*?from ['"]\.\/([\w-]+)\.ts['"];$/gm))
      await add(`${target}.d.ts`);
    const declarations = text.replace(/^(?:import|export) [^;]*?from ['"][^'"]+['"];\n/gm, '').replace(/^export \{\};\n/gm, '');
    // `ProceduresOf` works on routers; its result is what ships.
    parts.push(file === 'procedure-types.d.ts' ? declarations.replace(/\/\*\* What JSON makes[\s\S]*$/, '') : declarations);
  };
  await add('client.d.ts');
  const entry = await readFile(join(sourceFolder, 'client.ts'), 'utf8');
  const names = [...entry.matchAll(/^export (type )?\{([^}]*)\} from/gm)].flatMap(([, isType, list]) =>
    list!
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '')
      .map((name) => (isType ? `type ${name}` : name)),
  );
  const body = parts.join('\n').replace(/^export (?=declare|interface|type|class)/gm, '');
  return `${body.replace(/\n{3,}/g, '\n\n').trim()}\n\nexport { createCabinetClient, ${names.join(', ')} };\n`;
}

/** The declaration of the administration: its procedures written out, everything else from the declaration of the client. */
async function adminDeclaration(out: string, facts: ClientFacts, admin: GroupNode): Promise<string> {
  const text = await readFile(join(out, 'packages', 'client', 'src', 'admin.d.ts'), 'utf8');
  const describe = (path: string) => facts.summaries.get(path) || null;
  const shared = 'CabinetClient, CabinetClientOptions, FeedMessages, LiveFeed, Mutation, Query';
  const body = text.replace(/^(?:import|export) [^;]*?from ['"][^'"]+['"];\n/gm, '').trim();
  const procedures = `/** What an administrator may call: group, then procedure. */\nexport interface AdminProcedures ${printGroup(admin, 'admin', describe)}`;
  return `import type { ${shared} } from './client.js';\n\n${procedures}\n\n${body}\n`;
}

/** The declarations must be complete: every name defined, nothing imported but the client by the administration. */
async function proveDeclarations(folder: string, files: readonly string[]): Promise<void> {
  for (const file of files) await proveAlone(folder, file);
  const compilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    target: 'es2023',
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2023', 'dom'],
    types: [],
  };
  const names = files.map((file) => basename(file));
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: names }));
  const result = spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' });
  if (result.status !== 0) throw new Error(`The bundled declarations are not complete:\n${result.stdout}`);
}

async function proveAlone(folder: string, file: string): Promise<void> {
  const text = (await readFile(file, 'utf8')).replace(/^import type [^;]* from '\.\/client\.js';$/m, '');
  const foreign = /^\s*(?:import|export)\b[^;]*\bfrom\b|\bimport\(|\brequire\(|\/\/\/ <reference/m.exec(text);
  if (foreign) throw new Error(`The declaration names another module: ${text.slice(foreign.index, foreign.index + 120)}`);
  await cp(file, join(folder, basename(file)));
}

/** The entry points and the module of what they share. */
async function bundleModules(facts: ClientFacts): Promise<void> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ENTRIES.map((entry) => join(sourceFolder, `${entry}.ts`)),
    outdir: join(packageFolder, 'dist'),
    splitting: true,
    chunkNames: 'shared',
    write: false,
    bundle: true,
    sourcemap: 'linked',
    banner: { js: '/*! Contains parts of tRPC (MIT, see trpc-license.txt). */' },
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['import'],
    target: 'es2022',
    minifySyntax: true,
    define: {
      PROCEDURE_FACTS: JSON.stringify({ idempotent: facts.idempotent, open: facts.open, signIn: facts.signIn }),
      'process.env.NODE_ENV': '"production"',
    },
    logLevel: 'warning',
  });
  await mkdir(join(packageFolder, 'dist'), { recursive: true });
  for (const { path, text } of outputFiles) {
    // Paths of the building machine must not be published. The lines stay, so that the map remains true.
    const published = path.endsWith('.map')
      ? text.replaceAll('../../../node_modules/', 'npm/')
      : text.replace(/^\/\/ (?:node_modules|packages|<define)\S*$/gm, '');
    await writeFile(join(packageFolder, 'dist', basename(path)), published);
  }
}

const startedAt = performance.now();
const folder = await mkdtemp(join(tmpdir(), 'client-build-'));
try {
  const facts = readClientFacts();
  await rm(join(packageFolder, 'dist'), { recursive: true, force: true });
  await emitDeclarations(folder);
  const declaration = await readFile(join(folder, 'out', 'src', 'routers', 'root.d.ts'), 'utf8');
  const callable = (path: string) => !facts.httpOnly.includes(path);
  const cabinet = filterProcedures(readArea(declaration, 'cabinet'), callable, 'cabinet');
  const open = filterProcedures(readArea(declaration, 'web'), (path) => callable(path) && facts.open.includes(path), 'web');
  await bundleModules(facts);
  const admin = filterProcedures(readArea(declaration, 'admin'), callable, 'admin');
  const [client, administration] = ENTRIES.map((entry) => join(packageFolder, 'dist', `${entry}.d.ts`)) as [string, string];
  await writeFile(client, await bundleDeclarations(join(folder, 'out'), facts, cabinet, open));
  await writeFile(administration, await adminDeclaration(join(folder, 'out'), facts, admin));
  await proveDeclarations(folder, [client, administration]);
  await cp(join(root, 'node_modules', '@trpc', 'client', 'LICENSE'), join(packageFolder, 'dist', 'trpc-license.txt'));
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const count = `${countProcedures(cabinet)} cabinet, ${countProcedures(admin)} administration and ${countProcedures(open)} open procedures`;
  console.log(`${basename(packageFolder)}: ${count}, ${facts.idempotent.length} with an idempotency key, in ${seconds} s`);
} finally {
  await rm(folder, { recursive: true, force: true });
}
