/**
 * Builds `packages/client/dist`: one module without dependencies, and one declaration without a path into `src` or the name of a
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
    files: [join(root, 'src', 'routers', 'root.ts'), join(sourceFolder, 'client.ts')],
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
  const body = parts
    .join('\n')
    .replace(/^export (?=declare|interface|type|class)/gm, '')
    .replace(/^declare const PROCEDURE_FACTS.*\n/m, '');
  return `${body.replace(/\n{3,}/g, '\n\n').trim()}\n\nexport { createCabinetClient, ${names.join(', ')} };\n`;
}

/** The declaration must be complete: every name defined, nothing imported. */
async function proveDeclaration(folder: string, file: string): Promise<void> {
  const text = await readFile(file, 'utf8');
  const foreign = /^\s*(?:import|export)\b[^;]*\bfrom\b|\bimport\(|\brequire\(|\/\/\/ <reference/m.exec(text);
  if (foreign) throw new Error(`The declaration names another module: ${text.slice(foreign.index, foreign.index + 120)}`);
  await cp(file, join(folder, 'client.d.ts'));
  const compilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    target: 'es2023',
    lib: ['es2023', 'dom'],
    types: [],
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['client.d.ts'] }));
  const result = spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' });
  if (result.status !== 0) throw new Error(`The bundled declaration is not complete:\n${result.stdout}`);
}

async function bundleModule(facts: ClientFacts): Promise<void> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [join(sourceFolder, 'client.ts')],
    outfile: join(packageFolder, 'dist', 'client.js'),
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
  await bundleModule(facts);
  const target = join(packageFolder, 'dist', 'client.d.ts');
  await writeFile(target, await bundleDeclarations(join(folder, 'out'), facts, cabinet, open));
  await proveDeclaration(folder, target);
  await cp(join(root, 'node_modules', '@trpc', 'client', 'LICENSE'), join(packageFolder, 'dist', 'trpc-license.txt'));
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const count = `${countProcedures(cabinet)} cabinet and ${countProcedures(open)} open procedures`;
  console.log(`${basename(packageFolder)}: ${count}, ${facts.idempotent.length} with an idempotency key, in ${seconds} s`);
} finally {
  await rm(folder, { recursive: true, force: true });
}
