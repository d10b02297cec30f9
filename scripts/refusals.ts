/**
 * Compares the refusals that the procedures declare with those that a test run observed, see `tests/support/refusal-recorder.ts`.
 *   npm run refusals                 counts them
 *   npm run refusals -- --check      fails for a refusal that is declared and that no test provoked, or the reverse; for a run of all projects
 * The run is the folder in REFUSALS_FOLDER, by default `node_modules/.cache/refusals`.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DeclaredRefusal } from '../src/core/errors.ts';
import { buildServiceDocument } from '../src/rest/service-document.ts';
import type { ObservedRefusal } from '../tests/support/refusal-recorder.ts';

const folder = process.env.REFUSALS_FOLDER ?? join(import.meta.dirname, '..', 'node_modules', '.cache', 'refusals');
const { routes } = buildServiceDocument();
const observed = await readObserved();

/** Who is admitted and the refusal -> whether it was observed: of a guard, one of its operations is enough. */
const guards = new Map<string, boolean>();
const unprovoked: string[] = [];
const undeclared: string[] = [];
let declaredCount = 0;
for (const { procedurePath, method, path, meta } of routes) {
  const { refuses = [], guardRefuses = [] } = meta;
  const seen = observed.get(procedurePath) ?? new Set();
  const declared = new Set(refuses.map(nameOf));
  declaredCount += declared.size;
  for (const name of guardRefuses.map(nameOf)) {
    const key = `${meta.credential ?? meta.auth}: ${name}`;
    guards.set(key, seen.has(name) || guards.get(key) === true);
  }
  unprovoked.push(...[...declared.difference(seen)].map((name) => `${method} ${path}: ${name}`));
  const others = seen.difference(declared).difference(new Set(guardRefuses.map(nameOf)));
  undeclared.push(...[...others].map((name) => `${method} ${path}: ${name}`));
}
for (const [key, isSeen] of guards) if (!isSeen) unprovoked.push(`every operation of a guard: ${key}`);
if (process.argv.includes('--check') && unprovoked.length + undeclared.length > 0) {
  const lines = [
    ...undeclared.map((line) => `refused, not declared: ${line}`),
    ...unprovoked.map((line) => `declared, provoked by no test: ${line}`),
  ];
  console.error(
    `${lines.join('\n')}\n\n${lines.length} differences between the declarations (\`refuses\`) and a run of all tests.`,
  );
  process.exit(1);
}
console.log(`${declaredCount} refusals are declared at operations; ${declaredCount - unprovoked.length} of them were provoked.`);

function nameOf({ status, code }: DeclaredRefusal | ObservedRefusal): string {
  return `${status} ${code}`;
}

/** Procedure -> `status code` of its refusals. */
async function readObserved(): Promise<Map<string, Set<string>>> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.jsonl'));
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  const found = new Map<string, Set<string>>();
  for (const line of texts.flatMap((text) => text.split('\n').filter(Boolean))) {
    const refusal = JSON.parse(line) as ObservedRefusal;
    found.set(refusal.operation, (found.get(refusal.operation) ?? new Set()).add(nameOf(refusal)));
  }
  return found;
}
